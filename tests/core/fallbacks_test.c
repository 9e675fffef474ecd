/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of code that no table covers: which callers are proved, and which are guesses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "core/unwind_frame.h"
#include "unwind/unkept_code.h"

#define STACK 0x7000
#define WORDS 64
#define CODE 0x4000
#define BYTES 256

struct world {
	struct frame_walk frames;
	uint64_t words[WORDS];
	uint8_t code[BYTES];
	bool unreadable; /* the code */
};

static inline enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	const struct world *w = world;

	if (addr < STACK || addr - STACK > sizeof(w->words) - sizeof(*ret))
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(ret, (const uint8_t *)w->words + (addr - STACK), sizeof(*ret));
	return BOBBIN_REASON_NONE;
}

static inline uint64_t world_shift(const struct frame_walk *frames)
{
	return 0;
}

static inline void world_load(const struct frame_walk *frames, uint64_t at, uint64_t *ret)
{
	*ret = 0;
}

static uint64_t world_packed(struct frame_walk *frames, uint64_t pc, uint8_t *source)
{
	*source = BOBBIN_SOURCE_NONE;
	return 0;
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	return addr - CODE < BYTES;
}

static enum bobbin_source world_rule(struct frame_walk *frames, uint64_t pc,
				     struct bobbin_rule *ret)
{
	*ret = bobbin_rule_none(world_is_code(frames, pc) ? BOBBIN_REASON_NO_TABLE
							  : BOBBIN_REASON_NO_MAPPING);
	return BOBBIN_SOURCE_NONE;
}

static enum bobbin_reason world_table_step(struct frame_walk *frames, uint64_t pc,
					   struct table_step *step)
{
	return BOBBIN_REASON_NO_TABLE;
}

static bool world_is_entry(struct frame_walk *frames, uint64_t addr)
{
	return false;
}

static bool world_is_root(struct frame_walk *frames, uint64_t addr)
{
	const struct code_reader code = {world_code, frames};

	return known_code_root(frames->arch, &code, addr);
}

static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	const struct world *w = world;

	if (w->unreadable || addr < CODE || addr - CODE > BYTES - size)
		return false;
	memcpy(dst, w->code + (addr - CODE), size);
	return true;
}

/* Calls at these places return after them. */
#define CALL_SIZE 5
#define CALLER (CODE + 0x40 + CALL_SIZE)
#define OUTER (CODE + 0x60 + CALL_SIZE)
#define FUNCTION (CODE + 0x80)

static void world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	memset(w->code, 0xcc, sizeof(w->code));
	w->code[0x40] = w->code[0x60] = 0xe8;
}

static void put_word(struct world *w, unsigned int at, uint64_t word)
{
	w->words[at] = BOBBIN_HOST_BIG_ENDIAN ? __builtin_bswap64(word) : word;
}

static void put_code(struct world *w, const char *bytes, size_t size)
{
	memcpy(w->code + (FUNCTION - CODE), bytes, size);
}

/* One step from @regs; the source of the rule, and the reason. */
static enum bobbin_source step(struct world *w, const struct bobbin_regs *regs,
			       enum bobbin_reason *reason)
{
	struct plain_forms forms;
	uint8_t source;

	plain_forms_of(bobbin_arch_amd64(), &forms);
	frame_walk_init(&w->frames, bobbin_arch_amd64(), &forms, regs);
	*reason = frame_general(&w->frames, &source);
	return (enum bobbin_source)source;
}

static void expect(struct world *w, const struct bobbin_regs *regs, enum bobbin_source source,
		   uint64_t caller)
{
	enum bobbin_reason reason;

	assert_int_equal(step(w, regs, &reason), source);
	assert_int_equal(reason, BOBBIN_REASON_NONE);
	assert_int_equal(w->frames.regs.pc, caller);
	assert_int_equal(frame_walk_end(&w->frames, BOBBIN_REASON_OUTERMOST),
			 source == BOBBIN_SOURCE_GUESS ? BOBBIN_REASON_LIKELY
						       : BOBBIN_REASON_OUTERMOST);
}

/* A record at word @at of the stack: of a caller at @pc, whose own is at word @next. */
static void put_record(struct world *w, unsigned int at, uint64_t pc, unsigned int next)
{
	put_word(w, at, STACK + 8 * next);
	put_word(w, at + 1, pc);
}

/* push %rbp; mov %rsp,%rbp; pop %rbp; ret, called with the caller's record in the register */
static void a_leaf_without_a_frame_does_not_lose_its_caller(void **state)
{
	struct bobbin_regs regs = {
		.pc = FUNCTION, .sp = STACK + 16, .fp = STACK + 48, .exact = true};
	struct world w;

	(void)state;
	world_init(&w);
	put_code(&w, "\x55\x48\x89\xe5\x5d\xc3", 6);
	put_word(&w, 2, CALLER);
	put_record(&w, 6, OUTER, 10);
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
	/* at the return; after push %rbp the word is the next one */
	regs.pc = FUNCTION + 5;
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
	regs.pc = FUNCTION + 1;
	regs.sp = STACK + 8;
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
}

/* jmp *%rax: the code does not tell */
static void put_silent_code(struct world *w)
{
	put_code(w, "\xff\xe0", 2);
	/* a call returns there, too */
	w->code[FUNCTION - CODE - CALL_SIZE] = 0xe8;
}

static void a_record_is_proved_where_nothing_else_can_be_the_caller(void **state)
{
	const struct bobbin_regs regs = {.pc = FUNCTION, .sp = STACK + 16, .fp = STACK + 48};
	struct world w;

	(void)state;
	world_init(&w);
	put_silent_code(&w);
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	expect(&w, &regs, BOBBIN_SOURCE_FRAME_POINTER, CALLER);
	/* an old return address, or that of a function without a frame record */
	put_word(&w, 4, OUTER);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

/* A register that points to an object, next to an old return address. */
static void a_record_is_not_proved_by_itself(void **state)
{
	const struct bobbin_regs regs = {.pc = FUNCTION, .sp = STACK + 48, .fp = STACK + 48};
	struct world w;

	(void)state;
	world_init(&w);
	put_silent_code(&w);
	put_record(&w, 6, CALLER, 8);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

/* lea 1f(%rip),%rax; push %rax; jmp FUNCTION: 1f is after no call, and the function's caller */
static void a_return_address_that_was_pushed_is_not_passed_over(void **state)
{
	const struct bobbin_regs regs = {
		.pc = FUNCTION, .sp = STACK + 16, .fp = STACK + 48, .exact = true};
	struct world w;

	(void)state;
	world_init(&w);
	put_code(&w, "\x90\xc3", 2);
	put_word(&w, 2, CALLER + 8);
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

/* jmp, with a distance of four bytes, after a call: add $8,%rsp; ret, of this function or another */
static void code_of_another_function_maybe_is_a_guess(void **state)
{
	const struct bobbin_regs regs = {.pc = FUNCTION, .sp = STACK + 16, .fp = 0};
	struct bobbin_regs framed = regs;
	struct world w;

	(void)state;
	world_init(&w);
	put_code(&w, "\xe9\x02\x00\x00\x00\xcc\xcc\x48\x83\xc4\x08\xc3", 12);
	w.code[FUNCTION - CODE - CALL_SIZE] = 0xe8;
	put_word(&w, 3, CALLER);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
	/* nor does it refute what proves itself */
	put_word(&w, 3, 0);
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	framed.fp = STACK + 48;
	expect(&w, &framed, BOBBIN_SOURCE_FRAME_POINTER, CALLER);
	/* the same distance in one byte */
	put_code(&w, "\xeb\x05", 2);
	put_word(&w, 3, CALLER);
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
}

static void code_that_cannot_be_read_proves_nothing(void **state)
{
	const struct bobbin_regs regs = {
		.pc = FUNCTION, .sp = STACK + 16, .fp = STACK + 48, .exact = true};
	struct world w;

	(void)state;
	world_init(&w);
	w.unreadable = true;
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

static void a_call_of_what_is_no_code_has_its_caller_on_the_stack(void **state)
{
	struct bobbin_regs regs = {.sp = STACK + 16, .fp = STACK + 48, .exact = true};
	enum bobbin_reason reason;
	struct world w;

	(void)state;
	world_init(&w);
	put_word(&w, 2, CALLER);
	put_record(&w, 6, OUTER, 10);
	put_word(&w, 1, OUTER);
	expect(&w, &regs, BOBBIN_SOURCE_PATH, CALLER);
	/* no call returns there */
	put_word(&w, 2, CALLER + 1);
	assert_int_equal(step(&w, &regs, &reason), BOBBIN_SOURCE_NONE);
	assert_int_equal(reason, BOBBIN_REASON_NO_MAPPING);
}

/* ret, to what has overwritten the return address: the caller is not known */
static void a_return_to_what_is_no_code_proves_nothing(void **state)
{
	const struct bobbin_regs regs = {
		.pc = 0x4141, .sp = STACK + 16, .fp = STACK + 48, .exact = true};
	struct world w;

	(void)state;
	world_init(&w);
	put_word(&w, 1, 0x4141);
	put_word(&w, 2, CALLER);
	expect(&w, &regs, BOBBIN_SOURCE_GUESS, CALLER);
}

static void a_return_address_outside_of_code_ends_a_walk(void **state)
{
	const struct bobbin_regs regs = {.pc = 7, .sp = STACK + 16, .fp = STACK + 48};
	enum bobbin_reason reason;
	struct world w;

	(void)state;
	world_init(&w);
	put_record(&w, 6, CALLER, 10);
	put_record(&w, 10, OUTER, 0);
	assert_int_equal(step(&w, &regs, &reason), BOBBIN_SOURCE_NONE);
	assert_int_equal(reason, BOBBIN_REASON_NO_MAPPING);
	assert_int_equal(w.frames.regs.pc, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leaf_without_a_frame_does_not_lose_its_caller),
		cmocka_unit_test(a_record_is_proved_where_nothing_else_can_be_the_caller),
		cmocka_unit_test(a_record_is_not_proved_by_itself),
		cmocka_unit_test(a_return_address_that_was_pushed_is_not_passed_over),
		cmocka_unit_test(code_of_another_function_maybe_is_a_guess),
		cmocka_unit_test(code_that_cannot_be_read_proves_nothing),
		cmocka_unit_test(a_call_of_what_is_no_code_has_its_caller_on_the_stack),
		cmocka_unit_test(a_return_to_what_is_no_code_proves_nothing),
		cmocka_unit_test(a_return_address_outside_of_code_ends_a_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
