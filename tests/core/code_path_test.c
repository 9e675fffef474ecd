/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where code returns to, from each instruction of small functions on.  tests/infer/x86_path_test.c
 * looks at the instructions of whole programs, tests/steps runs them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/code_path.h"
#include "core/entry_code.h"

#define START 0x1000
#define MOST_BYTES 64

struct code {
	const struct bobbin_arch *arch;
	uint8_t bytes[MOST_BYTES + CODE_PATH_BYTES];
};

static struct code code_of(const struct bobbin_arch *arch, const char *bytes, size_t size)
{
	struct code code = {.arch = arch};

	memcpy(code.bytes, bytes, size);
	return code;
}

#define AMD64(bytes) code_of(bobbin_arch_amd64(), bytes, sizeof(bytes) - 1)
#define AARCH64(bytes) code_of(bobbin_arch_aarch64(), bytes, sizeof(bytes) - 1)

/* A path from an offset on; @returned: a call returns there.  The rule in words, or what it ended with. */
static const char *rule_after(const struct code *code, unsigned int at, bool returned, bool taken,
			      char *room)
{
	enum code_turn turn = CODE_TURN_ON;
	struct bobbin_rule rule;
	struct code_path path;

	code_path_begin(START + at, !returned, taken, false, &path);
	for (unsigned int i = 0; i < 32 && turn == CODE_TURN_ON; i++) {
		if (path.pc - START >= MOST_BYTES)
			return "outside";
		turn = code_path_turn(code->arch, &path, code->bytes + (path.pc - START));
	}
	if (turn == CODE_TURN_FRAME)
		return "frame";
	if (turn != CODE_TURN_RETURN || !code_path_rule(code->arch, &path, &rule))
		return "stuck";
	if (path.doubtful)
		return "doubtful";
	bobbin_rule_str(code->arch, &rule, room);
	return room;
}

static const char *rule_at(const struct code *code, unsigned int at, bool taken, char *room)
{
	return rule_after(code, at, false, taken, room);
}

static void expect(const struct code *code, unsigned int at, const char *rule)
{
	char room[BOBBIN_RULE_STR_MAX];

	assert_string_equal(rule_at(code, at, false, room), rule);
}

/* push %rbp; mov %rsp,%rbp; sub $32,%rsp; nop; leave; ret */
static void a_frame_record_is_there_once_it_is_made(void **state)
{
	const struct code c = AMD64("\x55\x48\x89\xe5\x48\x83\xec\x20\x90\xc9\xc3");

	(void)state;
	expect(&c, 0, "CFA=sp+8 RA=c-8 FP=u");
	expect(&c, 1, "CFA=sp+16 RA=c-8 FP=c-16");
	expect(&c, 4, "CFA=fp+16 RA=c-8 FP=c-16");
	expect(&c, 8, "CFA=fp+16 RA=c-8 FP=c-16");
	expect(&c, 9, "CFA=fp+16 RA=c-8 FP=c-16");
	expect(&c, 10, "CFA=sp+8 RA=c-8 FP=u");
}

/* push %rbx; sub $16,%rsp; mov %rbp,8(%rsp); xor %ebp,%ebp; mov 8(%rsp),%rbp; add $16,%rsp; pop %rbx; ret */
static void a_frame_pointer_is_where_it_was_stored(void **state)
{
	const struct code c = AMD64("\x53\x48\x83\xec\x10\x48\x89\x6c\x24\x08\x31\xed"
				    "\x48\x8b\x6c\x24\x08\x48\x83\xc4\x10\x5b\xc3");

	(void)state;
	expect(&c, 0, "CFA=sp+8 RA=c-8 FP=u");
	expect(&c, 5, "CFA=sp+32 RA=c-8 FP=u");
	expect(&c, 10, "CFA=sp+32 RA=c-8 FP=c-24");
	expect(&c, 12, "CFA=sp+32 RA=c-8 FP=c-24");
	expect(&c, 17, "CFA=sp+32 RA=c-8 FP=u");
	expect(&c, 21, "CFA=sp+16 RA=c-8 FP=u");
}

static void a_return_may_pop_arguments(void **state)
{
	const struct code c = AMD64("\x90\xc2\x10\x00");

	(void)state;
	expect(&c, 0, "CFA=sp+24 RA=c-24 FP=u");
}

/* mov -8(%rbp),%rax: only code with a frame has locals there */
static void a_local_variable_tells_of_the_frame(void **state)
{
	const struct code c = AMD64("\x48\x8b\x45\xf8\xff\xe0");
	const struct code made = AMD64("\x55\x48\x89\xe5\x48\x8b\x45\xf8\x5d\xc3");

	(void)state;
	expect(&c, 0, "frame");
	/* of the frame that is made on the way, which is not there at the PC */
	expect(&made, 0, "CFA=sp+8 RA=c-8 FP=u");
	expect(&made, 4, "frame");
}

/* jmp *slot(%rip), and with the PLT's first entry: push index; jmp; push; jmp */
static void a_plt_has_pushed_nothing_that_stays(void **state)
{
	const struct code c = AMD64(
		"\xff\x35\x00\x00\x00\x00\xff\x25\x00\x00\x00\x00\x0f\x1f\x40\x00"
		"\xff\x25\x00\x00\x00\x00\x68\x00\x00\x00\x00\xe9\xe0\xff\xff\xff");

	(void)state;
	expect(&c, 16, "CFA=sp+8 RA=c-8 FP=u");
	expect(&c, 22, "CFA=sp+8 RA=c-8 FP=u");
	expect(&c, 27, "CFA=sp+16 RA=c-8 FP=u");
	expect(&c, 0, "CFA=sp+16 RA=c-8 FP=u");
}

/* call 1f; pause; lfence; 1: lea 8(%rsp),%rsp; ret */
static void a_return_thunk_takes_its_own_call_off(void **state)
{
	const struct code c =
		AMD64("\xe8\x05\x00\x00\x00\xf3\x90\x0f\xae\xe8\x48\x8d\x64\x24\x08\xc3");

	(void)state;
	expect(&c, 0, "CFA=sp+8 RA=c-8 FP=u");
	expect(&c, 10, "CFA=sp+16 RA=c-8 FP=u");
	expect(&c, 15, "CFA=sp+8 RA=c-8 FP=u");
}

/* shr $3,%rax: the operation is in the place of a register */
static void a_shift_changes_one_register(void **state)
{
	const struct code c = AMD64("\x48\xc1\xe8\x03\xc3");

	(void)state;
	expect(&c, 0, "CFA=sp+8 RA=c-8 FP=u");
}

/* and $-16,%rsp: by how much is not known, but leave does not need it */
static void an_aligned_stack_is_left_by_the_frame_pointer_only(void **state)
{
	const struct code with = AMD64("\x48\x83\xe4\xf0\xc9\xc3");
	const struct code without = AMD64("\x48\x83\xe4\xf0\xc3");

	(void)state;
	expect(&with, 0, "CFA=fp+16 RA=c-8 FP=c-16");
	expect(&without, 0, "stuck");
}

static void what_is_not_known_ends_a_path(void **state)
{
	static const char *const codes[] = {
		"\xff\xe0",             /* jmp *%rax: a switch, or another function */
		"\x48\x89\xc4\xc3",     /* mov %rax,%rsp */
		"\x0f\x0b",             /* ud2 */
		"\x31\xed\xc3",         /* xor %ebp,%ebp: where is the caller's? */
		"\x58\xc8\x00\x00\x00", /* enter */
		"\xea",                 /* no instruction */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		const struct code c = code_of(bobbin_arch_amd64(), codes[i], strlen(codes[i]));

		expect(&c, 0, "stuck");
	}
}

/* sub $8,%rsp; call; sub $24,%rsp; nop; add $24,%rsp; ret */
static void what_comes_after_a_call_may_be_the_next_function(void **state)
{
	const struct code c = AMD64("\x48\x83\xec\x08\xe8\x10\x00\x00\x00"
				    "\x48\x83\xec\x18\x90\x48\x83\xc4\x18\xc3");
	char room[BOBBIN_RULE_STR_MAX];

	(void)state;
	/* its return address would be where the call has put its own */
	expect(&c, 0, "stuck");
	expect(&c, 4, "stuck");
	assert_string_equal(rule_after(&c, 9, true, false, room), "stuck");
	/* what is called itself may be there */
	expect(&c, 9, "CFA=sp+8 RA=c-8 FP=u");
	assert_string_equal(rule_after(&c, 13, true, false, room), "CFA=sp+32 RA=c-8 FP=u");
}

/* call; push %rbp; mov %rsp,%rbp */
static void a_frame_record_after_a_call_is_the_next_functions(void **state)
{
	const struct code c = AMD64("\xe8\x10\x00\x00\x00\x55\x48\x89\xe5\x5d\xc3");

	(void)state;
	expect(&c, 0, "stuck");
	expect(&c, 5, "CFA=sp+8 RA=c-8 FP=u");
}

/* call *%rax; add $8,%rsp; ret */
static void a_return_above_a_call_is_the_functions_own(void **state)
{
	const struct code c = AMD64("\xff\xd0\x48\x83\xc4\x08\xc3");
	char room[BOBBIN_RULE_STR_MAX];

	(void)state;
	expect(&c, 0, "CFA=sp+16 RA=c-8 FP=u");
	assert_string_equal(rule_after(&c, 2, true, false, room), "CFA=sp+16 RA=c-8 FP=u");
}

/* call; jmp to the end of what is elsewhere: add $8,%rsp; ret */
static void a_call_of_a_cold_part_may_be_its_end(void **state)
{
	const struct code far = AMD64("\xe8\x00\x01\x00\x00\xe9\x02\x00\x00\x00\xcc\xcc"
				      "\x48\x83\xc4\x08\xc3");
	const struct code near = AMD64("\xe8\x00\x01\x00\x00\xeb\x02\xcc\xcc"
				       "\x48\x83\xc4\x08\xc3");
	/* call; add $8,%rsp; jmp: of a function, or of a return thunk */
	const struct code last = AMD64("\xe8\x00\x01\x00\x00\x48\x83\xc4\x08"
				       "\xe9\x02\x00\x00\x00\xcc\xcc\xc3");
	char room[BOBBIN_RULE_STR_MAX];

	(void)state;
	expect(&last, 0, "CFA=sp+16 RA=c-8 FP=u");
	expect(&far, 0, "doubtful");
	assert_string_equal(rule_after(&far, 5, true, false, room), "doubtful");
	expect(&far, 5, "CFA=sp+16 RA=c-8 FP=u");
	expect(&near, 0, "CFA=sp+16 RA=c-8 FP=u");
}

/* je over a jump that leads nowhere */
static void a_branch_may_be_taken(void **state)
{
	const struct code c = AMD64("\x74\x02\xff\xe0\x48\x83\xc4\x08\xc3");
	char room[BOBBIN_RULE_STR_MAX];

	(void)state;
	expect(&c, 0, "stuck");
	assert_string_equal(rule_at(&c, 0, true, room), "CFA=sp+16 RA=c-8 FP=u");
}

/* stp x29,x30,[sp,#-32]!; mov x29,sp; nop; ldp x29,x30,[sp],#32; ret */
static void a_record_of_aarch64_is_loaded_again(void **state)
{
	const struct code c = AARCH64("\xfd\x7b\xbe\xa9\xfd\x03\x00\x91\x1f\x20\x03\xd5"
				      "\xfd\x7b\xc2\xa8\xc0\x03\x5f\xd6");

	(void)state;
	expect(&c, 8, "CFA=sp+32 RA=c-24 FP=c-32");
	expect(&c, 12, "CFA=sp+32 RA=c-24 FP=c-32");
	expect(&c, 16, "CFA=sp+0 RA=u FP=u");
}

/* bl; ret: the link register is the call's */
static void a_link_register_does_not_survive_a_call(void **state)
{
	const struct code c = AARCH64("\x04\x00\x00\x94\xc0\x03\x5f\xd6");

	(void)state;
	expect(&c, 0, "stuck");
	expect(&c, 4, "CFA=sp+0 RA=u FP=u");
}

/* musl: _start calls a function that comes directly after it */
static void entry_code_ends_where_what_it_calls_begins(void **state)
{
	static const uint8_t musl[ENTRY_CODE_READ] = {
		0x48, 0x31, 0xed, 0x48, 0x89, 0xe7, 0x48, 0x8d, 0x35, 0, 0,    0,
		0,    0x48, 0x83, 0xe4, 0xf0, 0xe8, 0x00, 0,    0,    0, 0x55, 0x48};
	static const uint8_t glibc[ENTRY_CODE_READ] = {0x31, 0xed, 0x49, 0x89, 0xd1, 0x5e, 0xff,
						       0x15, 0,    0,    0,    0,    0xf4};

	(void)state;
	assert_int_equal(entry_code_size(bobbin_arch_amd64(), musl), 22);
	assert_int_equal(entry_code_size(bobbin_arch_amd64(), glibc), 13);
}

static void entry_code_ends_after_what_does_not_go_on(void **state)
{
	/* add x2,sp,#8; bl; bl; nop */
	static const uint8_t aarch64[ENTRY_CODE_READ] = {
		0xe2, 0x23, 0x00, 0x91, 4, 0, 0, 0x94, 5, 0, 0, 0x94, 0x1f, 0x20, 0x03, 0xd5};
	/* mov x0,sp; b */
	static const uint8_t musl_aarch64[ENTRY_CODE_READ] = {0xe0, 0x03, 0x00, 0x91, 1,    0,
							      0,    0x14, 0xe0, 0x03, 0x00, 0x91};
	/* lgr %r3,%r2; brasl %r14; 0 */
	static const uint8_t s390[ENTRY_CODE_READ] = {0xb9, 0x04, 0x00, 0x32, 0xc0, 0xe5, 0,
						      0,    0,    9,    0,    0,    0x07, 0x07};
	/* xor %ebp,%ebp; jmp *slot(%rip); nop */
	static const uint8_t amd64[ENTRY_CODE_READ] = {0x31, 0xed, 0xff, 0x25, 1, 0, 0, 0, 0x90};

	(void)state;
	assert_int_equal(entry_code_size(bobbin_arch_aarch64(), aarch64), 12);
	assert_int_equal(entry_code_size(bobbin_arch_aarch64(), musl_aarch64), 8);
	assert_int_equal(entry_code_size(bobbin_arch_s390x(), s390), 12);
	assert_int_equal(entry_code_size(bobbin_arch_amd64(), amd64), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_record_is_there_once_it_is_made),
		cmocka_unit_test(a_frame_pointer_is_where_it_was_stored),
		cmocka_unit_test(a_return_may_pop_arguments),
		cmocka_unit_test(a_local_variable_tells_of_the_frame),
		cmocka_unit_test(a_plt_has_pushed_nothing_that_stays),
		cmocka_unit_test(a_return_thunk_takes_its_own_call_off),
		cmocka_unit_test(an_aligned_stack_is_left_by_the_frame_pointer_only),
		cmocka_unit_test(a_shift_changes_one_register),
		cmocka_unit_test(what_is_not_known_ends_a_path),
		cmocka_unit_test(what_comes_after_a_call_may_be_the_next_function),
		cmocka_unit_test(a_frame_record_after_a_call_is_the_next_functions),
		cmocka_unit_test(a_return_above_a_call_is_the_functions_own),
		cmocka_unit_test(a_call_of_a_cold_part_may_be_its_end),
		cmocka_unit_test(a_branch_may_be_taken),
		cmocka_unit_test(a_record_of_aarch64_is_loaded_again),
		cmocka_unit_test(a_link_register_does_not_survive_a_call),
		cmocka_unit_test(entry_code_ends_where_what_it_calls_begins),
		cmocka_unit_test(entry_code_ends_after_what_does_not_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
