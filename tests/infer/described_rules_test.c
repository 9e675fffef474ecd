/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules of small functions that the assembler has made, as compilers of run times make them.  They
 * are data of this program; nobody calls them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bobbin/arch.h>
#include <bobbin/rule.h>
#include <cmocka.h>

#include "infer/described_rules.h"
#include "infer/x86_decode.h"

/* A function, and the first byte after it. */
#define CODE(name, text) \
	extern const uint8_t name[], name##_end[]; \
	__asm__(".pushsection .rodata\n\t.balign 16\n" #name ":\n" text "\n" #name \
		"_end:\n\t.popsection")

#define MOST_RULES 32

int main(void);

static struct described_code code_of(const uint8_t *start, const uint8_t *end, unsigned int kind,
				     uint32_t frame)
{
	const uint32_t size = (uint32_t)(end - start);

	return (struct described_code){
		.bytes = start,
		.addr = (uintptr_t)start,
		.size = size,
		.frame = frame,
		.stubs = size,
		.handlers = size,
		.kind = (uint8_t)kind,
	};
}

#define METHOD(name, frame) code_of(name, name##_end, DESCRIBED_METHOD, frame)
#define OTHER(name, kind) code_of(name, name##_end, kind, 0)

static struct described_rows rows_of(const struct described_code *code)
{
	struct described_rows rows;

	assert_int_equal(described_rules(code, &rows), 0);
	return rows;
}

/* "sp+16 c-16": where the CFA and the caller's frame pointer are; "-": no rule; "?": likely. */
static void spell(const struct described_rows *rows, uint32_t offset, char ret[BOBBIN_RULE_STR_MAX])
{
	char whole[BOBBIN_RULE_STR_MAX], *cfa, *fp;
	const struct described_row *row = NULL;
	struct bobbin_rule rule;

	for (size_t i = 0; i < rows->count && rows->rows[i].start <= offset; i++)
		row = &rows->rows[i];
	assert_non_null(row);
	if (!row->word) {
		strcpy(ret, "-");
		return;
	}
	bobbin_rule_unpack(row->word, &rule);
	bobbin_rule_str(bobbin_arch_amd64(), &rule, whole);
	cfa = strstr(whole, "CFA=") + 4;
	fp = strstr(whole, "FP=") + 3;
	*strchr(cfa, ' ') = 0;
	snprintf(ret, BOBBIN_RULE_STR_MAX, "%s %s%s", cfa, fp, row->likely ? " ?" : "");
}

/* The rules before each instruction, in the order of addresses. */
static void rules_are(const struct described_code *code, const char *const expected[MOST_RULES])
{
	struct insn_decoder *decoder = x86_decoder_open();
	struct described_rows rows = rows_of(code);
	struct insn insn = {0};
	char found[BOBBIN_RULE_STR_MAX];
	unsigned int i = 0;

	assert_non_null(decoder);
	for (uint32_t at = 0; at < code->size; at += insn.len, i++) {
		x86_decode(decoder, code->bytes + at, code->size - at, code->addr + at, &insn);
		assert_true(i < MOST_RULES && expected[i]);
		spell(&rows, at, found);
		if (strcmp(found, expected[i]))
			fail_msg("instruction %u: %s, not %s", i, found, expected[i]);
	}
	x86_decoder_close(decoder);
	free(rows.rows);
	assert_true(i == MOST_RULES || !expected[i]);
}

#define RULES(code, ...) rules_are(code, (const char *const[MOST_RULES]){__VA_ARGS__})

static void rule_at_is(const struct described_code *code, uint32_t offset, const char *expected)
{
	struct described_rows rows = rows_of(code);
	char found[BOBBIN_RULE_STR_MAX];

	spell(&rows, offset, found);
	assert_string_equal(found, expected);
	free(rows.rows);
}

static void return_address_is(const struct described_code *code, uint32_t offset,
			      const char *expected)
{
	struct described_rows rows = rows_of(code);
	const struct described_row *row = rows.rows;
	char text[BOBBIN_RULE_STR_MAX], *ra;
	struct bobbin_rule rule;

	for (size_t i = 0; i < rows.count && rows.rows[i].start <= offset; i++)
		row = &rows.rows[i];
	bobbin_rule_unpack(row->word, &rule);
	bobbin_rule_str(bobbin_arch_amd64(), &rule, text);
	ra = strstr(text, "RA=") + 3;
	ra[strcspn(ra, " ")] = 0;
	assert_string_equal(ra, expected);
	free(rows.rows);
}

/* Offset of a label. */
#define AT(name, label) ((uint32_t)(name##_##label - (name)))

CODE(pushing,
     "push %rbp; sub $16, %rsp; pushing_built: mov %rdi, 8(%rsp); add $16, %rsp; pop %rbp;"
     "cmp 40(%r15), %rsp; ja 1f; ret; 1: lea 1b(%rip), %r10; mov %r10, 64(%r15); jmp *%rax");
extern const uint8_t pushing_built[];

/* The way out is behind, of a frame that is gone. */
static void a_method_that_pushes_has_a_slow_way_out(void **state)
{
	struct described_code code = METHOD(pushing, 32);

	(void)state;
	code.complete = AT(pushing, built);
	RULES(&code, "sp+8 u", "sp+16 c-16", "sp+32 c-16", "sp+32 c-16", "sp+16 c-16", "sp+8 u",
	      "sp+8 u", "sp+8 u", "sp+8 u", "sp+8 u", "sp+8 u");
	/* no contradiction either, where it is not told when the frame is built */
	code.complete = 0;
	RULES(&code, "sp+8 u", "sp+16 c-16", "sp+32 c-16", "sp+32 c-16", "sp+16 c-16", "sp+8 u",
	      "sp+8 u", "sp+8 u", "sp+8 u", "sp+8 u", "sp+8 u");
}

/* The body's rule is what the run time goes by, whatever the code is like. */
static void a_frame_that_is_not_built_as_described_is_likely(void **state)
{
	struct described_code code = METHOD(pushing, 16);

	(void)state;
	code.complete = AT(pushing, built);
	RULES(&code, "sp+8 u ?", "sp+16 c-16", "sp+32 c-16 ?", "sp+32 c-16 ?", "sp+16 c-16",
	      "sp+8 u ?", "sp+8 u ?", "sp+8 u ?", "sp+8 u ?", "sp+8 u ?", "sp+8 u ?");
}

CODE(storing,
     ".byte 0x48, 0x81, 0xec; .long 0x28; mov %rbp, 0x20(%rsp); storing_built: mov %edi, %ebp;"
     "pushq 8(%rsp); popq 24(%rsp); pushfq; popfq; add $0x20, %rsp; pop %rbp; ret");
extern const uint8_t storing_built[];

static void a_method_that_stores_moves_words_by_the_stack(void **state)
{
	struct described_code code = METHOD(storing, 48);

	(void)state;
	code.complete = AT(storing, built);
	RULES(&code, "sp+8 u", "sp+48 u", "sp+48 c-16", "sp+48 c-16", "sp+56 c-16", "sp+48 c-16",
	      "sp+56 c-16", "sp+48 c-16", "sp+16 c-16", "sp+8 u");
}

CODE(ending,
     "push %rbp; sub $16, %rsp; test %edi, %edi; jne 1f; add $16, %rsp; pop %rbp; call *%rax;"
     "1: add $16, %rsp; pop %rbp; ret");
CODE(going_on, "push %rbp; sub $16, %rsp; jne 1f; add $16, %rsp; pop %rbp; 1: ret");

static void a_call_that_does_not_return_contradicts_nothing(void **state)
{
	struct described_code code = METHOD(ending, 32);

	(void)state;
	RULES(&code, "sp+8 u", "sp+16 c-16", "sp+32 c-16", "sp+32 c-16", "sp+32 c-16", "sp+16 c-16",
	      "sp+8 u", "sp+32 c-16", "sp+16 c-16", "sp+8 u");
}

static void two_ways_of_different_depth_contradict(void **state)
{
	struct described_code code = METHOD(going_on, 32);

	(void)state;
	rule_at_is(&code, 0, "sp+8 u ?");
	rule_at_is(&code, 1, "sp+16 c-16 ?");
	rule_at_is(&code, 5, "sp+32 c-16");
}

CODE(branching, "push %rbp; sub $16, %rsp; jne 1f; push %rax; jne 1f; pop %rax; jmp 2f; 1: nop;"
		"2: add $16, %rsp; pop %rbp; ret");

static void two_branches_of_different_depth_contradict(void **state)
{
	struct described_code code = METHOD(branching, 32);

	(void)state;
	rule_at_is(&code, 0, "sp+8 u ?");
	rule_at_is(&code, 5, "sp+32 c-16");
}

CODE(replaced, "push %rbp; sub $16, %rsp; 1: dec %edi; jne 1b; add $16, %rsp; pop %rbp; ret;"
	       "replaced_osr: push %rbp; sub $16, %rsp; jmp 1b");
extern const uint8_t replaced_osr[];

static void the_second_entry_is_called_too(void **state)
{
	struct described_code code = METHOD(replaced, 32);

	(void)state;
	code.second = AT(replaced, osr);
	RULES(&code, "sp+8 u", "sp+16 c-16", "sp+32 c-16", "sp+32 c-16", "sp+32 c-16", "sp+16 c-16",
	      "sp+8 u", "sp+8 u", "sp+16 c-16", "sp+32 c-16");
}

/* A jump to elsewhere, over an instruction of seven bytes. */
#define BAR ".byte 0xe9; .long 0x1000; .byte 0, 0;"

CODE(probing, "nop; " BAR "push %rbp; sub $16, %rsp; nop; add $16, %rsp; pop %rbp; ret");
CODE(barred, "nop; " BAR "mov %rbp, 0x20(%rsp); nop; add $0x20, %rsp; pop %rbp; ret");

static void a_barred_method_goes_on_after_what_was_its_first_instruction(void **state)
{
	struct described_code code = METHOD(probing, 32);

	(void)state;
	code.entry = 1;
	rule_at_is(&code, 1, "sp+8 u");
	rule_at_is(&code, 8, "sp+8 u");
	rule_at_is(&code, 9, "sp+16 c-16");
	rule_at_is(&code, 13, "sp+32 c-16");
	rule_at_is(&code, code.size - 1, "sp+8 u");
	code = METHOD(barred, 48);
	code.entry = 1;
	rule_at_is(&code, 1, "sp+8 u");
	rule_at_is(&code, 7, "sp+8 u");
	rule_at_is(&code, 8, "sp+48 u");
	rule_at_is(&code, 13, "sp+48 c-16");
	rule_at_is(&code, code.size - 1, "sp+8 u");
}

CODE(regions,
     "cmp %rax, 8(%rsi); jne 1f; regions_entry: push %rbp; sub $16, %rsp; nop; ud2; regions_stubs: mov $1, %ebx;"
     "jmp *%rax; 1: jmp *%rbx; regions_handlers: mov $2, %ebx; jmp *%rax");
extern const uint8_t regions_entry[], regions_stubs[], regions_handlers[];

static void stubs_are_called_and_handlers_are_in_the_frame(void **state)
{
	struct described_code code = METHOD(regions, 32);

	(void)state;
	code.entry = AT(regions, entry);
	code.stubs = AT(regions, stubs);
	code.handlers = AT(regions, handlers);
	RULES(&code, "sp+8 u", "sp+8 u", "sp+8 u", "sp+16 c-16", "sp+32 c-16", "sp+32 c-16",
	      "sp+8 u", "sp+8 u", "sp+8 u", "sp+32 c-16", "sp+32 c-16");
}

CODE(wrapper,
     "push %rbp; mov %rsp, %rbp; sub $16, %rsp; wrapper_built: mov %rsp, %r12; and $-16, %rsp; call *%rax;"
     "mov %r12, %rsp; nop; leave; ret");
extern const uint8_t wrapper_built[];

static void a_wrapper_that_aligns_the_stack_goes_by_the_frame_pointer(void **state)
{
	struct described_code code = METHOD(wrapper, 32);

	(void)state;
	code.complete = AT(wrapper, built);
	RULES(&code, "sp+8 u", "sp+16 c-16", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16",
	      "fp+16 c-16", "fp+16 c-16", "fp+16 c-16", "sp+8 u");
}

CODE(keeping,
     "push %rbp; mov %rsp, %rbp; sub $32, %rsp; mov %rbp, 8(%rsp); mov %rdi, (%rsp); xor %ebp, %ebp;"
     "call *%rax; mov 8(%rsp), %rbp; add $32, %rsp; pop %rbp; ret");
CODE(frameless,
     "sub $16, %rsp; mov %rbp, 8(%rsp); xor %ebp, %ebp; mov 8(%rsp), %rbp; add $16, %rsp; ret");
CODE(elsewhere, "sub $24, %rsp; mov %rbp, 8(%rsp); mov 16(%rsp), %rbp; add $24, %rsp; ret");

static void a_routine_stores_and_loads_the_frame_pointer(void **state)
{
	struct described_code code = OTHER(keeping, DESCRIBED_ROUTINE);

	(void)state;
	RULES(&code, "sp+8 u", "sp+16 c-16", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16", "fp+16 c-16",
	      "sp+48 c-16", "sp+48 c-16", "fp+16 c-16", "fp+16 c-16", "sp+8 u");
	code = OTHER(frameless, DESCRIBED_ROUTINE);
	RULES(&code, "sp+8 u", "sp+24 u", "sp+24 c-16", "sp+24 c-16", "sp+24 u", "sp+8 u");
	/* another word than the one that was stored */
	code = OTHER(elsewhere, DESCRIBED_ROUTINE);
	RULES(&code, "sp+8 u ?", "sp+32 u ?", "sp+32 c-24 ?", "sp+32 c-24 ?", "sp+8 c-24 ?");
}

static void a_routine_says_nothing_of_code_that_nothing_leads_to(void **state)
{
	struct described_code code = OTHER(regions, DESCRIBED_ROUTINE);

	(void)state;
	RULES(&code, "sp+8 u", "sp+8 u", "sp+8 u", "sp+16 c-16", "sp+32 c-16", "sp+32 c-16", "-",
	      "-", "sp+8 u", "-", "-");
}

CODE(several,
     "push %rbx; pop %rbx; ret; push %rbx; ret; jne 1f; push %rbx; pop %rbx; ret; 1: jmp *%rax; ret");

static void a_contradiction_is_one_routine_s(void **state)
{
	struct described_code code = OTHER(several, DESCRIBED_ROUTINES);

	(void)state;
	RULES(&code, "sp+8 u", "sp+16 u", "sp+8 u", "sp+8 u ?", "sp+16 u ?", "sp+8 u", "sp+8 u",
	      "sp+16 u", "sp+8 u", "sp+8 u", "sp+8 u");
}

CODE(looping,
     "push %rbp; mov %rsp, %rbp; jmp 2f; looping_head: inc %rax; 2: dec %rcx; jne looping_head;"
     "jmp 4f; .p2align 5; looping_padded: 3: inc %rdx; 4: dec %rsi; jne 3b; leave; ret;"
     ".p2align 5; looping_next: ret");
extern const uint8_t looping_head[], looping_padded[], looping_next[];

#define INTERPRETED "(fp-8) (fp+0)"

CODE(template,
     "push %rax; mov (%r14), %eax; and $-16, %rsp; call *%rax; ret; leave; pop %rsi; jmp *%rsi; pop %rax");

static void a_loop_above_its_entry_is_no_routine(void **state)
{
	struct described_code code = OTHER(looping, DESCRIBED_ROUTINES);

	(void)state;
	rule_at_is(&code, AT(looping, head), "fp+16 c-16");
	rule_at_is(&code, AT(looping, padded), "fp+16 c-16");
	rule_at_is(&code, AT(looping, next), "sp+8 u");
}

static void a_template_has_the_interpreter_s_frame(void **state)
{
	struct described_code code = OTHER(template, DESCRIBED_INTERPRETER);

	(void)state;
	RULES(&code, INTERPRETED, INTERPRETED, INTERPRETED, INTERPRETED, INTERPRETED, INTERPRETED,
	      "-", "-", INTERPRETED);
}

CODE(method_entry, "mov 16(%rbx), %rdx; pop %rax; method_entry_popped: push $0; push %rax;"
		   "method_entry_pushed: push %rbp; method_entry_recorded: mov %rsp, %rbp;"
		   "method_entry_built: push %r13; push $0; jmp *%rax; pop %rax");
extern const uint8_t method_entry_popped[], method_entry_pushed[], method_entry_recorded[],
	method_entry_built[];

static void a_method_s_entry_builds_the_interpreter_s_frame(void **state)
{
	struct described_code code = OTHER(method_entry, DESCRIBED_ENTRY);

	(void)state;
	RULES(&code, "r13+0 u", "r13+0 u", "r13+0 u", "r13+0 u", "r13+0 u", "r13+0 (sp+0)",
	      "r13+0 (fp+0)", INTERPRETED, INTERPRETED, INTERPRETED);
	return_address_is(&code, 0, "(sp+0)");
	return_address_is(&code, AT(method_entry, popped), "r0+0");
	return_address_is(&code, AT(method_entry, pushed), "(sp+0)");
	return_address_is(&code, AT(method_entry, recorded), "(sp+8)");
	return_address_is(&code, AT(method_entry, built), "(fp+8)");
}

CODE(other_entry,
     "pop %rax; call 1f; other_entry_called: push %rax; mov %rdi, %r13; 1: pop %rcx; nop");
extern const uint8_t other_entry_called[];

/* A call may change the register that has the return address. */
static void an_entry_that_calls_has_no_rule(void **state)
{
	struct described_code code = OTHER(other_entry, DESCRIBED_ENTRY);

	(void)state;
	rule_at_is(&code, AT(other_entry, called), "-");
}

static void large_code_and_large_frames_are_refused(void **state)
{
	struct described_rows rows;
	struct described_code code = METHOD(pushing, (1 << 20) + 1);

	(void)state;
	assert_int_equal(described_rules(&code, &rows), -EFBIG);
	assert_null(rows.rows);
	code.frame = 16;
	code.size = DESCRIBED_CODE_MAX + 1;
	assert_int_equal(described_rules(&code, &rows), -EFBIG);
	code.size = 0;
	assert_int_equal(described_rules(&code, &rows), 0);
	assert_int_equal(rows.count, 0);
	free(rows.rows);
}

#define RANDOM_SIZE 600

static uint32_t noise(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % below;
}

static void look_at_noise(uint64_t *seed)
{
	uint8_t *bytes = malloc(RANDOM_SIZE);
	struct described_code code = {.size = 1 + noise(seed, RANDOM_SIZE), .addr = 0x1000};
	struct described_rows rows;

	assert_non_null(bytes);
	/* of its end, so that sanitizers see what is read beyond it */
	code.bytes = bytes + RANDOM_SIZE - code.size;
	for (unsigned int i = 0; i < RANDOM_SIZE; i++)
		bytes[i] = (uint8_t)noise(seed, 256);
	code.kind = (uint8_t)noise(seed, DESCRIBED_ENTRY + 1);
	code.frame = 8 * noise(seed, 9);
	code.entry = noise(seed, 32);
	code.second = noise(seed, RANDOM_SIZE);
	code.complete = noise(seed, RANDOM_SIZE);
	code.stubs = noise(seed, 2 * RANDOM_SIZE);
	code.handlers = noise(seed, 2 * RANDOM_SIZE);
	if (noise(seed, 2) && code.entry < code.size)
		((uint8_t *)code.bytes)[code.entry] = 0xe9;
	rows = rows_of(&code);
	assert_true(rows.count && !rows.rows->start);
	for (size_t i = 1; i < rows.count; i++)
		assert_true(rows.rows[i].start > rows.rows[i - 1].start &&
			    rows.rows[i].start < code.size);
	free(rows.rows);
	free(bytes);
}

static void rows_of_any_bytes_ascend(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned int i = 0; i < 4000; i++)
		look_at_noise(&seed);
}

CODE(dead_parts, "push %rbp; sub $16, %rsp; push %rcx; test %eax, %eax; je 1f; jmp 2f;"
		 "3: neg %eax; jmp 1f;" /* nobody comes here */
		 "1: pop %rcx; jmp 4f; 2: pop %rcx; 4: add $16, %rsp; pop %rbp; ret;"
		 "5: inc %eax; jmp 4b"); /* by a table */

static void code_that_nobody_reaches_does_not_count(void **state)
{
	const struct described_code code = METHOD(dead_parts, 32);

	(void)state;
	RULES(&code, "sp+8 u", "sp+16 c-16", "sp+32 c-16", "sp+40 c-16", "sp+40 c-16", "sp+40 c-16",
	      "-", "-", "sp+40 c-16", "sp+32 c-16", "sp+40 c-16", "sp+32 c-16", "sp+16 c-16",
	      "sp+8 u", "sp+32 c-16", "sp+32 c-16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_that_pushes_has_a_slow_way_out),
		cmocka_unit_test(a_frame_that_is_not_built_as_described_is_likely),
		cmocka_unit_test(a_method_that_stores_moves_words_by_the_stack),
		cmocka_unit_test(a_call_that_does_not_return_contradicts_nothing),
		cmocka_unit_test(two_ways_of_different_depth_contradict),
		cmocka_unit_test(two_branches_of_different_depth_contradict),
		cmocka_unit_test(the_second_entry_is_called_too),
		cmocka_unit_test(a_barred_method_goes_on_after_what_was_its_first_instruction),
		cmocka_unit_test(stubs_are_called_and_handlers_are_in_the_frame),
		cmocka_unit_test(a_wrapper_that_aligns_the_stack_goes_by_the_frame_pointer),
		cmocka_unit_test(a_routine_stores_and_loads_the_frame_pointer),
		cmocka_unit_test(a_routine_says_nothing_of_code_that_nothing_leads_to),
		cmocka_unit_test(a_contradiction_is_one_routine_s),
		cmocka_unit_test(a_loop_above_its_entry_is_no_routine),
		cmocka_unit_test(a_template_has_the_interpreter_s_frame),
		cmocka_unit_test(a_method_s_entry_builds_the_interpreter_s_frame),
		cmocka_unit_test(an_entry_that_calls_has_no_rule),
		cmocka_unit_test(large_code_and_large_frames_are_refused),
		cmocka_unit_test(rows_of_any_bytes_ascend),
		cmocka_unit_test(code_that_nobody_reaches_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
