/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules of frames, of functions by their calls and jumps, and of what is no function. */
#include "assembled_code.h"

CODE(leaf, "endbr64; lea (%rdi,%rsi), %eax; mov %rdi, -16(%rsp); ret");

static void a_leaf_has_its_return_address_on_top(void **state)
{
	struct made *m = *state;

	infer_function(m, leaf, leaf_end);
	RULES(m, "sp+8 u", "sp+8 u", "sp+8 u", "sp+8 u");
	all_are_verified(m, true);
}

CODE(pushes,
     "push %rbx; push %rbp; sub $40, %rsp; mov %edi, %ebp; add $40, %rsp; pop %rbp; pop %rbx; ret");

static void pushes_and_pops_move_the_cfa(void **state)
{
	struct made *m = *state;

	infer_function(m, pushes, pushes_end);
	RULES(m, "sp+8 u", "sp+16 u", "sp+24 u", "sp+64 u", "sp+64 c-24", "sp+24 c-24", "sp+16 u",
	      "sp+8 u");
	all_are_verified(m, true);
}

CODE(framed,
     "push %rbp; mov %rsp, %rbp; sub $32, %rsp; sub %rdi, %rsp; mov %rsp, %rdi; leave; ret");

static void alloca_leaves_the_frame_pointer(void **state)
{
	struct made *m = *state;

	infer_function(m, framed, framed_end);
	RULES(m, "sp+8 u", "sp+16 u", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16",
	      "sp+8 u");
	all_are_verified(m, true);
}

CODE(entered, "enter $16, $0; mov %rdi, -8(%rbp); leave; ret");

static void enter_saves_the_frame_pointer(void **state)
{
	struct made *m = *state;

	infer_function(m, entered, entered_end);
	RULES(m, "sp+8 u", "fp+16 c-16", "fp+16 c-16", "sp+8 u");
	all_are_verified(m, true);
}

CODE(by_pointer, "push %rbp; mov %rsp, %rbp; push $1; call *%rax; nop; leave; ret");

/* It may pop its argument.  What leaves by the frame pointer has it right after each call. */
static void a_frame_is_found_after_a_callee_that_is_not_known(void **state)
{
	struct made *m = *state;

	infer_function(m, by_pointer, by_pointer_end);
	RULES(m, "sp+8 u", "sp+16 u", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16",
	      "sp+8 u");
	all_are_verified(m, true);
}

CODE(realigned,
     "lea 8(%rsp), %r10; and $-32, %rsp; push -8(%r10); push %rbp; mov %rsp, %rbp; push %r10;"
     "sub $40, %rsp; mov -8(%rbp), %r10; leave; lea -8(%r10), %rsp; ret");

static void a_realigned_stack_has_the_cfa_in_memory(void **state)
{
	struct made *m = *state;

	infer_function(m, realigned, realigned_end);
	RULES(m, "sp+8 u", "sp+8 u", "r10+0 u", "r10+0 u", "r10+0 u", "r10+0 (fp+0)",
	      "(fp-8) (fp+0)", "(fp-8) (fp+0)", "(fp-8) (fp+0)", "r10+0 u", "sp+8 u");
	all_are_verified(m, true);
}

CODE(saved_sp,
     "mov %rsp, %rax; push %rbp; sub $256, %rsp; and $-64, %rsp; mov %rax, 152(%rsp); xor %ebp, %ebp;"
     "mov 152(%rsp), %rsi; mov -8(%rsi), %rbp; lea (%rsi), %rsp; ret");

static void a_saved_stack_pointer_is_found(void **state)
{
	struct made *m = *state;

	infer_function(m, saved_sp, saved_sp_end);
	RULES(m, "sp+8 u", "sp+8 u", "sp+16 u", "sp+272 u", "r0+8 u", "(sp+152)+8 u",
	      "(sp+152)+8 c-16", "(sp+152)+8 c-16", "(sp+152)+8 u", "sp+8 u");
	all_are_verified(m, true);
}

CODE(probed,
     "lea -0x3000(%rsp), %r11; 1: sub $0x1000, %rsp; orq $0, (%rsp); cmp %r11, %rsp; jne 1b; xor %r11d, %r11d;"
     "add $0x3000, %rsp; ret");

static void a_loop_that_touches_the_frame_ends_where_it_says(void **state)
{
	struct made *m = *state;

	infer_function(m, probed, probed_end);
	RULES(m, "sp+8 u", "r11+12296 u", "r11+12296 u", "r11+12296 u", "r11+12296 u", "sp+12296 u",
	      "sp+12296 u", "sp+8 u");
	all_are_verified(m, true);
}

CODE(wrapped, "test %edi, %edi; je 1f; push %rbx; mov %edi, %ebx; pop %rbx; 1: ret; nop");

static void branches_that_agree_keep_the_rule(void **state)
{
	struct made *m = *state;

	infer_function(m, wrapped, wrapped_end);
	RULES(m, "sp+8 u", "sp+8 u", "sp+8 u", "sp+16 u", "sp+16 u", "sp+8 u", "-");
	all_are_verified(m, true);
}

CODE(unbalanced, "test %edi, %edi; je 1f; push %rbx; 1: mov %edi, %eax; ret");

static void branches_that_disagree_leave_nothing_verified(void **state)
{
	struct made *m = *state;

	infer_function(m, unbalanced, unbalanced_end);
	RULES(m, "sp+8 u", "sp+8 u", "sp+8 u", "-", "-");
	all_are_verified(m, false);
}

CODE(ends, "push %rbx; test %edi, %edi; jne 1f; test %esi, %esi; je 3f; pop %rbx; ret;"
	   "1: call *%rsi; 2: add $8, %rsp; pop %rbx; ret; 3: sub $8, %rsp; jmp 2b");

/* The code after the call has another state than a call that returned would leave. */
static void a_call_that_contradicts_what_follows_does_not_return(void **state)
{
	struct made *m = *state;

	infer_function(m, ends, ends_end);
	RULES(m, "sp+8 u", "sp+16 u", "sp+16 u", "sp+16 u", "sp+16 u", "sp+16 u", "sp+8 u",
	      "sp+16 u", "sp+24 u", "sp+16 u", "sp+8 u", "sp+16 u", "sp+24 u");
	all_are_verified(m, true);
}

CODE(aborts, "sub $8, %rsp; call *%rax; 1: cmp $3, %edi; ja 1b; add $24, %rsp; ret;");

CODE(loses, "sub %rax, %rsp; call *%rdi; add %rbx, %rsp; ret");

static void a_wrong_return_is_not_verified(void **state)
{
	struct made *m = *state;

	infer_function(m, aborts, aborts_end);
	all_are_verified(m, false);
	m = begin_again(state);
	infer_function(m, loses, loses_end);
	all_are_verified(m, false);
}

CODE(counting, "push %rbp; mov %rsp, %rbp; lea 8(%rbp,%rax,8), %r15; call *%rbx; leave; pop %rcx;"
	       "lea 8(%r15), %rsp; push %rcx; ret");
CODE(escaping, "push %rbp; mov %rsp, %rbp; call *%rax; test %eax, %eax; je 1f; leave; ret;"
	       "1: mov 0xd0(%r13), %rsp; mov 0xc8(%r13), %rbp; jmp *%rdi");

/* With its arguments, which it counts; or to the frame of an exception's handler, which was noted. */
static void a_frame_may_be_given_up(void **state)
{
	struct made *m = *state;

	infer_function(m, counting, counting_end);
	RULES(m, "sp+8 u", "sp+16 u", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16", "sp+8 u", "-", "-",
	      "-");
	all_are_verified(m, true);
	m = begin_again(state);
	infer_function(m, escaping, escaping_end);
	RULES(m, "sp+8 u", "sp+16 u", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16",
	      "sp+8 u", "fp+16 c-16", "fp+16 c-16", "-");
	all_are_verified(m, true);
}

CODE(tail, "push %rbx; pop %rbx; jmp tail + 0x10000");

static void a_tail_call_is_an_exit(void **state)
{
	struct made *m = *state;

	infer_function(m, tail, tail_end);
	RULES(m, "sp+8 u", "sp+16 u", "sp+8 u");
	all_are_verified(m, true);
}

CODE(switched,
     "sub $24, %rsp; cmp $2, %edi; ja 3f; lea switch_table(%rip), %rdx; movslq (%rdx,%rdi,4), %rax;"
     "add %rdx, %rax; notrack jmp *%rax;"
     "1: mov $1, %eax; jmp 3f; 2: push %rdi; pop %rax; 3: add $24, %rsp; ret;"
     ".balign 8; switched_code_end: switch_table: .long 1b - switch_table; .long 2b - switch_table;"
     ".long 3b - switch_table; .long switched - switch_table");
extern const uint8_t switched_code_end[];

static void the_cases_of_a_switch_are_reached(void **state)
{
	struct made *m = *state;

	add_bytes(&m->program, switched_code_end, switched_end, false);
	infer_function(m, switched, switched_code_end);
	all_are_verified(m, true);
	/* the row of `pop`, in which the CFA is farthest */
	for (size_t i = 0; i < m->rows.count; i++) {
		char rule[BOBBIN_RULE_STR_MAX];

		spell(&m->rows.rows[i], rule);
		if (!strcmp(rule, "sp+40 u"))
			return;
	}
	fail_msg("a case was not reached");
}

CODE(unscaled,
     "sub $24, %rsp; mov %edi, 8(%rsp); cmpl $2, 8(%rsp); ja 3f; mov 8(%rsp), %eax; lea 0(,%rax,4), %rdx;"
     "lea unscaled_table(%rip), %rax; mov (%rdx,%rax), %eax; cltq; lea unscaled_table(%rip), %rdx;"
     "add %rdx, %rax; notrack jmp *%rax;"
     "1: mov $1, %eax; jmp 3f; 2: push %rdi; pop %rax; 3: add $24, %rsp; ret;"
     ".balign 8; unscaled_code_end: unscaled_table: .long 1b - unscaled_table;"
     ".long 2b - unscaled_table; .long 3b - unscaled_table; .long unscaled - unscaled_table");
extern const uint8_t unscaled_code_end[];

/* As compilers make it that do not optimise. */
static void the_cases_of_a_switch_with_a_scaled_index_are_reached(void **state)
{
	struct made *m = *state;
	bool reached = false;

	add_bytes(&m->program, unscaled_code_end, unscaled_end, false);
	infer_function(m, unscaled, unscaled_code_end);
	all_are_verified(m, true);
	for (size_t i = 0; i < m->rows.count; i++) {
		char rule[BOBBIN_RULE_STR_MAX];

		spell(&m->rows.rows[i], rule);
		reached |= !strcmp(rule, "sp+40 u");
	}
	assert_true(reached);
}

CODE(callees,
     "call 2f; call 1f; ret; .balign 16; 1: push %rbx; pop %rbx; ret; .balign 16; 2: push %rbp; pop %rbp;"
     "ret; .zero 13; push %r12; pop %r12; ret");

static void functions_are_found_by_calls_and_after_padding(void **state)
{
	struct made *m = *state;

	infer_function(m, callees, callees_end);
	assert_int_equal(m->rows.counts.functions, 4);
	assert_int_equal(m->rows.counts.verified, 4);
}

/* What is called first is at higher addresses, and so is what that calls. */
CODE(dies, "sub $8, %rsp; test %edi, %edi; jne 1f; add $8, %rsp; ret; 1: call 3f;"
	   "2: cmp %edi, %esi; jne 2b; ud2; .balign 16;"
	   "3: push %rax; call 4f; .balign 16; 4: push %rax; 5: mov $60, %eax; syscall; jmp 5b");

static void a_call_that_does_not_return_is_not_followed(void **state)
{
	struct made *m = *state;

	infer_function(m, dies, dies_end);
	/* nothing says of the code after the call what comes before it */
	for (uint64_t pc = m->start + 18; pc < m->start + 32; pc++)
		assert_null(row_at(m, pc));
	all_are_verified(m, true);
}

CODE(pops, "push %rbx; push %rsi; push %rdi; call 1f; mov %rax, %rbx; pop %rbx; ret;"
	   "1: mov 8(%rsp), %rax; ret $16");

static void a_callee_may_pop_its_arguments(void **state)
{
	struct made *m = *state;

	infer_function(m, pops, pops_end);
	RULES(m, "sp+8 u", "sp+16 u", "sp+24 u", "sp+32 u", "sp+16 u", "sp+16 u", "sp+8 u",
	      "sp+8 u", "sp+8 u");
	all_are_verified(m, true);
}

CODE(pops_last, "push %rsi; push %rdi; call 1f; nop; ret; 1: jmp 2f; 2: nop; jmp 3f; 3: ret $16;"
		"call 1b; call 3b");

static void a_callee_may_leave_its_arguments_to_another_one(void **state)
{
	struct made *m = *state;

	infer_function(m, pops_last, pops_last_end);
	RULES(m, "sp+8 u", "sp+16 u", "sp+24 u", "sp+8 u", "sp+8 u", "sp+8 u", "sp+8 u", "sp+8 u",
	      "sp+8 u", "-", "-");
}

CODE(makes_room, "mov $64, %eax; call 1f; lea 8(%rsp), %rdi; nop; add $64, %rsp; ret;"
		 "1: pop %rcx; sub $64, %rsp; jmp *%rcx");

/* As __chkstk does.  Where the return address is in a register, there is no rule. */
static void a_callee_may_make_room_on_the_stack(void **state)
{
	struct made *m = *state;

	infer_function(m, makes_room, makes_room_end);
	RULES(m, "sp+8 u", "sp+8 u", "sp+72 u", "sp+72 u", "sp+72 u", "sp+8 u", "sp+8 u", "-",
	      "sp+64 u");
}

CODE(loses_fp, "push %rbp; call 1f; mov %rax, %rcx; pop %rbp; ret; 1: xor %ebp, %ebp; nop; ret");

static void a_callee_may_lose_the_frame_pointer(void **state)
{
	struct made *m = *state;

	infer_function(m, loses_fp, loses_fp_end);
	RULES(m, "sp+8 u", "sp+16 u", "sp+16 c-16", "sp+16 c-16", "sp+8 u", "sp+8 u", "-", "-");
}

CODE(return_thunk, "mov %edi, %eax; jmp 1f; .balign 16;"
		   "1: call 3f; 2: pause; lfence; jmp 2b; .balign 16; 3: lea 8(%rsp), %rsp; ret");

static void a_thunk_that_returns_for_others_does_return(void **state)
{
	struct made *m = *state;
	const uint64_t thunk = (uintptr_t)return_thunk + 16;

	infer_function(m, return_thunk, return_thunk_end);
	assert_true(row_at(m, (uintptr_t)return_thunk)->verified);
	assert_true(row_at(m, thunk)->verified);
	assert_non_null(row_at(m, thunk + 16));
	/* its own return address is not on the stack any more, and the other one is no word of its frame */
	assert_null(row_at(m, m->end - 1));
}

CODE(retpoline, "push %rbx; mov %edi, %eax; call 1f; mov %eax, %ebx; pop %rbx; ret; .balign 16;"
		"1: call 3f; 2: pause; lfence; jmp 2b; .balign 16; 3: mov %rax, (%rsp); ret");

static void a_thunk_that_calls_for_others_does_return(void **state)
{
	struct made *m = *state;

	infer_function(m, retpoline, retpoline_end);
	assert_true(row_at(m, m->start)->verified);
	/* the return of the first function */
	assert_non_null(row_at(m, m->start + 11));
	assert_null(row_at(m, m->end - 1));
}

CODE(flags, "pushfq; cli; push %rbx; pop %rbx; popfq; ret");

static void flags_are_a_word_of_the_stack(void **state)
{
	struct made *m = *state;

	infer_function(m, flags, flags_end);
	RULES(m, "sp+8 u", "sp+16 u", "sp+16 u", "sp+24 u", "sp+16 u", "sp+8 u");
	all_are_verified(m, true);
}

CODE(traps, "test %edi, %edi; je 1f; ret; 1: call 2f; ret; .balign 16; 2: int3; ret");

/* A debugger, or a handler, goes on after it. */
static void a_breakpoint_is_not_the_end(void **state)
{
	struct made *m = *state;

	infer_function(m, traps, traps_end);
	assert_non_null(row_at(m, m->start + 10));
}

CODE(threaded, "push %rbx; mov %rdi, %rbx; jmp *(%rbx); .balign 16;"
	       "add $1, %rax; add $8, %rbx; jmp *(%rbx); .balign 16;"
	       "add $2, %rax; add $8, %rbx; jmp *%rcx; .balign 16; mov $7, %eax; ret");

/* Cases of a switch whose frame is not known; the last one tells by its return. */
static void a_gap_that_ends_with_a_jump_is_no_function(void **state)
{
	struct made *m = *state;

	infer_function(m, threaded, threaded_end);
	assert_null(row_at(m, m->start + 16));
	assert_null(row_at(m, m->start + 32));
	assert_true(row_at(m, m->end - 1)->verified);
}

/* At the second multiple of sixteen, inside of an instruction, there is `ret`. */
CODE(inside,
     "ret; .balign 16; push %rbx; mov $0, %ebx; mov $0, %ebx; movabs $0xc3c3c3c3c3c3, %rax; hlt");

static void a_gap_is_not_read_from_inside_an_instruction(void **state)
{
	struct made *m = *state;

	infer_function(m, inside, inside_end);
	for (uint64_t pc = m->start + 1; pc < m->end; pc++)
		assert_null(row_at(m, pc));
}

CODE(label, "push %rbx; mov %rdi, %rbx; jmp *(%rbx); 1: add $1, %eax; jmp *(%rbx)");

static void a_label_in_a_function_proves_nothing(void **state)
{
	struct made *m = *state;

	assert_int_equal(program_add_start(&m->program, (uintptr_t)label + 6, START_LABEL), 0);
	infer_function(m, label, label_end);
	assert_null(row_at(m, m->start + 6));
}

CODE(padded, "push %rbx; test %edi, %edi; je 1f; pop %rbx; ret; 1: call *%rax; .balign 16, 0x90;"
	     "mov %edi, %eax; 2: dec %eax; jne 2b; ud2");

/* Code is aligned where a function begins, or where something jumps to. */
static void what_padding_parts_from_a_call_is_not_its_function(void **state)
{
	struct made *m = *state;

	infer_function(m, padded, padded_end);
	assert_true(row_at(m, m->start)->verified);
	assert_null(row_at(m, m->start + 16));
}

CODE(looped,
     "push %rbx; mov %edi, %ebx; call *%rax; .balign 16, 0x90; 1: dec %ebx; jne 1b; pop %rbx; ret");

static void a_loop_behind_padding_is_of_the_function(void **state)
{
	struct made *m = *state;

	infer_function(m, looped, looped_end);
	assert_true(row_at(m, m->end - 1)->verified);
	assert_true(row_at(m, m->end - 2)->verified);
}

CODE(thunked,
     "push %rbx; mov %rdi, %rbx; jmp 2f; .balign 16, 0x90; add $8, %rbx; mov (%rbx), %rax; jmp 1f;"
     ".balign 16, 0x90; 1: call 3f; 4: pause; jmp 4b; .balign 16, 0x90;"
     "3: mov %rax, (%rsp); ret; .balign 16, 0x90; 2: call 1b; pop %rbx; ret");

/* A case of a switch that jumps by a thunk: its frame is not known. */
static void a_jump_to_a_thunk_is_no_tail_call(void **state)
{
	struct made *m = *state;

	infer_function(m, thunked, thunked_end);
	assert_true(row_at(m, m->end - 1)->verified);
	assert_null(row_at(m, m->start + 16));
}

CODE(cold,
     "push %rbx; push %rsi; test %edi, %edi; je cold + 0x20; pop %rsi; pop %rbx; ret; .balign 16, 0x90;"
     ".skip 16, 0x90; call *%rax; mov %ebx, %edi; call *%rbx; hlt; .balign 16, 0x90;"
     "push %rax; call cold; pop %rax; ret");

/* The code behind the first call may be that of another function. */
static void cold_code_behind_a_call_is_likely_at_most(void **state)
{
	struct made *m = *state;

	assert_int_equal(program_add_start(&m->program, (uintptr_t)cold + 32, START_LABEL), 0);
	infer_function(m, cold, cold_end);
	assert_true(row_at(m, m->start)->verified);
	assert_true(row_at(m, m->start + 32)->verified);
	assert_false(row_at(m, m->start + 34)->verified);
	assert_false(row_at(m, m->start + 36)->verified);
	assert_true(row_at(m, m->end - 1)->verified);
}

CODE(unasked,
     "push %rbx; test %edi, %edi; je 1f; pop %rbx; ret; 1: call 3f; mov %edi, %ecx; 2: jmp 2b;"
     ".balign 16, 0x90; 3: mov $231, %eax; syscall; hlt");

/* What tables describe gets no rules, but is looked at: here, what follows the call is not its function's. */
static void what_tables_describe_may_not_return(void **state)
{
	struct made *m = *state;
	struct coverage only = {0};
	const struct infer_options options = {.only = &only};

	m->start = (uintptr_t)unasked;
	m->end = (uintptr_t)unasked_end;
	add_bytes(&m->program, unasked, unasked_end, true);
	assert_int_equal(program_add_start(&m->program, m->start, START_SYMBOL), 0);
	assert_int_equal(coverage_add(&only, m->start, m->end - 8), 0);
	coverage_settle(&only);
	assert_int_equal(infer_rows(&m->program, &options, &m->rows), 0);
	coverage_fini(&only);
	assert_true(row_at(m, m->start)->verified);
	assert_true(row_at(m, m->start + 7)->verified);
	assert_null(row_at(m, m->start + 12));
	assert_null(row_at(m, m->end - 1));
}

CODE(hands_on,
     "push %rbx; mov %edi, %ebx; lea handed(%rip), %rsi; call *%rax; lea callee_table(%rip), %rdx;"
     "call *(%rdx,%rbx,8); lea not_handed(%rip), %rsi; pop %rbx; ret; .balign 16, 0x90;"
     "handed: push %rax; 1: call *%rdi; jmp 1b; .balign 16, 0x90;"
     "chosen: push %rax; 2: call *%rdi; jmp 2b; .balign 16, 0x90;"
     "not_handed: push %rax; 3: call *%rdi; jmp 3b; .balign 16, 0x90;"
     "hands_on_code_end: callee_table: .quad 0");
extern const uint8_t hands_on_code_end[], handed[], chosen[], not_handed[];

/* None of them returns: a return would tell that it is one. */
static void what_is_called_by_its_address_is_a_function(void **state)
{
	const uint64_t callee = (uintptr_t)chosen;
	struct made *m = *state;

	add_bytes(&m->program, hands_on_code_end, hands_on_end, false);
	memcpy(m->program.spans[0].bytes, &callee, sizeof(callee));
	assert_int_equal(program_add_start(&m->program, callee, START_POINTER), 0);
	infer_function(m, hands_on, hands_on_code_end);
	assert_true(row_at(m, (uintptr_t)handed + 1)->verified);
	assert_true(row_at(m, (uintptr_t)chosen + 1)->verified);
	assert_null(row_at(m, (uintptr_t)not_handed + 1));
}

/* as GCC's __builtin_setjmp(), with the label still in a register of arguments */
CODE(jumps_back,
     "push %rbx; sub $64, %rsp; lea jumped_to(%rip), %rdx; mov %rbp, 24(%rsp); mov %rdx, 32(%rsp);"
     "mov %rsp, 40(%rsp); mov %rdi, %rbx; call *%rax; 1: add $64, %rsp; pop %rbx; ret;"
     ".balign 16, 0x90; jumped_to: mov 16(%rsp), %rdi; call *%rbx; jmp 1b");
extern const uint8_t jumped_to[];

static void a_label_that_longjmp_goes_to_is_no_function(void **state)
{
	struct made *m = *state;

	infer_function(m, jumps_back, jumps_back_end);
	assert_true(row_at(m, m->start)->verified);
	assert_null(row_at(m, (uintptr_t)jumped_to));
}

CODE(hands_on_last,
     "push %rax; mov 8(%rdi), %rdi; lea bounced(%rip), %rsi; pop %rcx; jmp 1f; .balign 16, 0x90;"
     "1: push %rbx; mov %esi, %ebx; call *%rdi; pop %rbx; ret; .balign 16, 0x90;"
     "2: call 1b; ret; .balign 16, 0x90; bounced: jmp *%rdx");
extern const uint8_t bounced[];

static void a_tail_call_hands_on_a_function(void **state)
{
	struct made *m = *state;

	infer_function(m, hands_on_last, hands_on_last_end);
	assert_true(row_at(m, (uintptr_t)bounced)->verified);
}

CODE(across_calls,
     "push %rbx; lea kept_table(%rip), %r10; 1: call 5f; cmp $1, %edi; ja 3f; movslq (%r10,%rdi,4), %rax;"
     "add %r10, %rax; jmp *%rax; kept: inc %ebx; jmp 1b; 3: inc %eax; jmp 1b; .balign 16, 0x90;"
     "4: push %rbx; lea lost_table(%rip), %rcx; call 5f; movslq (%rcx,%rdi,4), %rax; add %rcx, %rax;"
     "jmp *%rax; lost: pop %rbx; ret; .balign 16, 0x90;"
     "5: mov %edi, %ecx; xor %eax, %eax; ret; .balign 16, 0x90; call 4b; ret;"
     ".balign 8; across_calls_code_end: kept_table: .long kept - kept_table; .long 3b - kept_table;"
     "lost_table: .long lost - lost_table");
extern const uint8_t across_calls_code_end[], kept[], lost[];

/* Compilers know what the functions of their file change, and keep the rest there across calls. */
static void a_call_changes_what_its_callee_does(void **state)
{
	struct made *m = *state;

	add_bytes(&m->program, across_calls_code_end, across_calls_end, false);
	infer_function(m, across_calls, across_calls_code_end);
	assert_non_null(row_at(m, (uintptr_t)kept));
	assert_true(row_at(m, (uintptr_t)kept)->verified);
	assert_null(row_at(m, (uintptr_t)lost));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_leaf_has_its_return_address_on_top),
		TEST(pushes_and_pops_move_the_cfa),
		TEST(alloca_leaves_the_frame_pointer),
		TEST(enter_saves_the_frame_pointer),
		TEST(a_frame_is_found_after_a_callee_that_is_not_known),
		TEST(a_realigned_stack_has_the_cfa_in_memory),
		TEST(a_saved_stack_pointer_is_found),
		TEST(a_loop_that_touches_the_frame_ends_where_it_says),
		TEST(branches_that_agree_keep_the_rule),
		TEST(branches_that_disagree_leave_nothing_verified),
		TEST(a_call_that_contradicts_what_follows_does_not_return),
		TEST(a_wrong_return_is_not_verified),
		TEST(a_frame_may_be_given_up),
		TEST(a_tail_call_is_an_exit),
		TEST(the_cases_of_a_switch_are_reached),
		TEST(the_cases_of_a_switch_with_a_scaled_index_are_reached),
		TEST(functions_are_found_by_calls_and_after_padding),
		TEST(a_call_that_does_not_return_is_not_followed),
		TEST(a_callee_may_pop_its_arguments),
		TEST(a_callee_may_leave_its_arguments_to_another_one),
		TEST(a_callee_may_make_room_on_the_stack),
		TEST(a_callee_may_lose_the_frame_pointer),
		TEST(a_thunk_that_returns_for_others_does_return),
		TEST(a_thunk_that_calls_for_others_does_return),
		TEST(flags_are_a_word_of_the_stack),
		TEST(a_breakpoint_is_not_the_end),
		TEST(a_gap_that_ends_with_a_jump_is_no_function),
		TEST(a_gap_is_not_read_from_inside_an_instruction),
		TEST(a_label_in_a_function_proves_nothing),
		TEST(what_padding_parts_from_a_call_is_not_its_function),
		TEST(a_loop_behind_padding_is_of_the_function),
		TEST(a_jump_to_a_thunk_is_no_tail_call),
		TEST(what_tables_describe_may_not_return),
		TEST(what_is_called_by_its_address_is_a_function),
		TEST(a_label_that_longjmp_goes_to_is_no_function),
		TEST(a_tail_call_hands_on_a_function),
		TEST(a_call_changes_what_its_callee_does),
		TEST(cold_code_behind_a_call_is_likely_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
