/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The loop of walks in a world of made-up stacks: a walk that remembers the last one finds
 * the same frames as one that does not, and asks for fewer rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "unwind/unkept_code.h"
#include "unwind/unsurveyed_code.h"
#include "unwind/walk_loop.h"

#define WORDS 4096
#define BASE 0x100000
#define KINDS 8 /* of functions, whose frames have as many words */
#define CODE 0x400000
/* Functions without tables, which make frame records, and whose frames have as many words. */
#define BARE (CODE + KINDS * 16)
#define BARE_WORDS 6

struct world {
	struct frame_walk frames;
	struct memo_use memo;
	uint64_t words[WORDS];
	unsigned int asked; /* for rules */
};

static inline void world_load(const struct frame_walk *frames, uint64_t at, uint64_t *ret)
{
	memcpy(ret, (const void *)(uintptr_t)at, sizeof(*ret));
}

static inline uint64_t world_shift(const struct frame_walk *frames)
{
	return (uintptr_t)((const struct world *)frames)->words - BASE;
}

static inline void world_near(struct frame_walk *frames, uint64_t sp)
{
	frames->near = (struct near_memory){BASE, WORDS * 8};
}

static inline enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	const struct world *w = world;

	if (addr < BASE || addr - BASE > WORDS * 8 - sizeof(*ret))
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(ret, (const uint8_t *)w->words + (addr - BASE), sizeof(*ret));
	return BOBBIN_REASON_NONE;
}

static enum bobbin_source world_rule(struct frame_walk *frames, uint64_t pc,
				     struct bobbin_rule *ret)
{
	uint64_t kind = (pc - CODE) / 16;

	((struct world *)frames)->asked++;
	*ret = bobbin_rule_none(kind < 2 * KINDS ? BOBBIN_REASON_NO_FUNCTION
						 : BOBBIN_REASON_NO_MAPPING);
	if (kind >= KINDS)
		return BOBBIN_SOURCE_NONE;
	*ret = (struct bobbin_rule){
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 7, .off = 8 * ((int32_t)kind + 3)},
		.ra = {.how = kind ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_UNDEFINED, .off = -8},
		.fp = {.how = kind % 3 ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME, .off = -16},
		.index = BOBBIN_NO_INDEX,
	};
	return BOBBIN_SOURCE_SFRAME;
}

/* Rules of the last kind are never at hand. */
static uint64_t world_packed(struct frame_walk *frames, uint64_t pc, uint8_t *source)
{
	struct bobbin_rule rule;
	uint64_t word;

	*source = (uint8_t)world_rule(frames, pc, &rule);
	if (!*source || (pc - CODE) / 16 == KINDS - 1 || bobbin_rule_pack(&rule, &word))
		return 0;
	return word;
}

static enum bobbin_reason world_table_step(struct frame_walk *frames, uint64_t pc,
					   struct table_step *step)
{
	return BOBBIN_REASON_NO_TABLE;
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	return addr - CODE < 2 * KINDS * 16;
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

static bool world_is_made(struct frame_walk *frames, uint64_t addr)
{
	return false;
}

static bool world_slot(struct frame_walk *frames, uint64_t addr, uint64_t *ret)
{
	return false;
}

/* Of functions without tables: calls before what random_return() gives, else nothing of use. */
static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	uint8_t *bytes = dst;

	if (addr - BARE >= KINDS * 16 || size > 64)
		return false;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (addr + i) % 16 == 12 ? 0xe8 : 0xf4;
	return true;
}

/* Not the first, before which there is no code. */
static uint64_t random_return(void)
{
	return BARE + (uint64_t)(1 + rand() % (KINDS - 1)) * 16 + 1;
}

static uint64_t random_pc(void)
{
	return CODE + (uint64_t)(1 + rand() % (KINDS - 1)) * 16 + 1 + (uint64_t)(rand() % 2);
}

/* Frames from the word @at on: of @depth functions, then of the one without a caller. */
static void push_frames(struct world *w, unsigned int at, unsigned int depth, uint64_t pc)
{
	for (unsigned int i = 0; i < depth && at + 2 * KINDS < WORDS; i++) {
		at += (unsigned int)((pc - CODE - 1) / 16) + 3;
		pc = i + 1 == depth ? CODE + 1 : random_pc();
		w->words[at - 1] = pc;
		w->words[at - 2] = (uint64_t)rand();
	}
}

static void walk(struct world *w, struct walk_memo *memo, const struct bobbin_regs *regs,
		 struct bobbin_trace *trace)
{
	struct plain_forms forms;

	plain_forms_of(bobbin_arch_amd64(), &forms);
	frame_walk_init(&w->frames, bobbin_arch_amd64(), &forms, regs);
	memo_none(&w->memo);
	if (memo)
		memo_begin(&w->frames, memo, &w->memo);
	w->asked = 0;
	walk_frames(&w->frames, &w->memo, trace, trace->max);
	memo_end(&w->memo);
}

static void compare(struct world *w, struct walk_memo *memo, const struct bobbin_regs *regs,
		    uint32_t max)
{
	static struct bobbin_frame with[BOBBIN_MAX_DEPTH], without[BOBBIN_MAX_DEPTH];
	struct bobbin_trace a = {.frames = with, .max = max}, b = {.frames = without, .max = max};
	unsigned int asked;

	walk(w, NULL, regs, &b);
	asked = w->asked;
	walk(w, memo, regs, &a);
	assert_true(w->asked <= asked);
	assert_int_equal(a.count, b.count);
	assert_int_equal(a.reason, b.reason);
	for (uint32_t i = 0; i < a.count; i++) {
		assert_int_equal(with[i].pc, without[i].pc);
		assert_int_equal(with[i].source, without[i].source);
		assert_int_equal(with[i].exact, without[i].exact);
	}
}

/* Calls and returns at the leaf, words that change anywhere, walks that stop early. */
static void remembered_walks_find_the_same_frames(void **state)
{
	static struct world w;
	static struct walk_memo memo;
	struct bobbin_regs regs = {0};

	(void)state;
	srand(1);
	for (unsigned int i = 0; i < 200000; i++) {
		unsigned int at = (unsigned int)rand() % (i % 64 ? 256 : WORDS);
		bool again = rand() % 4 == 0;

		if (!again) {
			regs.pc = random_pc();
			regs.sp = BASE + 8 * (uint64_t)at;
			regs.exact = rand() % 2;
		}
		if (!again && rand() % 4)
			push_frames(&w, at, 1 + (unsigned int)rand() % (i % 16 ? 8 : 600), regs.pc);
		if (rand() % 2)
			w.words[rand() % WORDS] = random_pc();
		compare(&w, &memo, &regs, rand() % 8 ? BOBBIN_MAX_DEPTH : 1 + rand() % 32);
	}
}

/* These have to be looked up each time. */
static unsigned int general_frames(const struct bobbin_trace *trace)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < trace->count; i++)
		count += (trace->frames[i].pc - 1 - CODE) / 16 == KINDS - 1;
	return count;
}

static void outer_frames_that_are_the_same_need_no_rules(void **state)
{
	static struct world w;
	static struct walk_memo memo;
	static struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace = {.frames = frames, .max = BOBBIN_MAX_DEPTH};
	struct bobbin_regs regs = {.pc = CODE + 17, .sp = BASE + 64};
	unsigned int general;

	(void)state;
	srand(2);
	push_frames(&w, 8, 300, regs.pc);
	walk(&w, &memo, &regs, &trace);
	general = general_frames(&trace);
	assert_true(trace.count == 301 && general > 20);
	walk(&w, &memo, &regs, &trace);
	assert_true(w.asked <= 2 * general);

	/* a call more */
	w.words[7] = regs.pc;
	w.words[6] = regs.fp;
	regs.sp -= 32;
	walk(&w, &memo, &regs, &trace);
	assert_int_equal(trace.count, 302);
	assert_true(w.asked <= 2 * general + 1);
}

/* But soon after they have come to share frames again, they take them over. */
static void walks_that_share_nothing_mostly_do_without(void **state)
{
	static struct world w;
	static struct walk_memo memo;
	static struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace = {.frames = frames, .max = BOBBIN_MAX_DEPTH};
	struct bobbin_regs regs = {.pc = CODE + 17};
	unsigned int without = 0;

	(void)state;
	srand(3);
	for (unsigned int i = 0; i < 80; i++) {
		regs.sp = BASE + 8 * (uint64_t)(i % 2 ? 8 : 16);
		push_frames(&w, i % 2 ? 8 : 16, 100, regs.pc);
		walk(&w, &memo, &regs, &trace);
		assert_int_equal(trace.count, 101);
		without += !w.memo.memo;
	}
	assert_true(without > 50);
	for (unsigned int i = 0; i < MEMO_REST + 2; i++)
		walk(&w, &memo, &regs, &trace);
	for (unsigned int i = 0; i < 20; i++) {
		walk(&w, &memo, &regs, &trace);
		assert_true(w.asked <= 2 * general_frames(&trace));
	}
}

/* Frames from the word @at on, with a frame record each; the last has the caller of all. */
static void push_bare(struct world *w, unsigned int at, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++) {
		unsigned int end = at + BARE_WORDS;

		for (unsigned int word = at; word < end - 2; word++)
			w->words[word] = (uint64_t)rand();
		w->words[end - 2] = i + 1 == depth ? 0
						   : BASE + 8 * (uint64_t)(end + BARE_WORDS - 2);
		w->words[end - 1] = i + 1 == depth ? CODE + 1 : random_return();
		at = end;
	}
}

static struct bobbin_regs bare_regs(unsigned int at)
{
	return (struct bobbin_regs){.pc = random_return(),
				    .sp = BASE + 8 * (uint64_t)at,
				    .fp = BASE + 8 * (uint64_t)(at + BARE_WORDS - 2)};
}

/* They are proved by all of their words. */
static void frames_without_tables_that_are_the_same_need_no_proof(void **state)
{
	static struct world w;
	static struct walk_memo memo;
	static struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace = {.frames = frames, .max = BOBBIN_MAX_DEPTH};
	struct bobbin_regs regs = bare_regs(8);

	(void)state;
	srand(4);
	push_bare(&w, 8, 100);
	walk(&w, &memo, &regs, &trace);
	assert_int_equal(trace.count, 101);
	assert_int_equal(frames[50].source, BOBBIN_SOURCE_FRAME_POINTER);
	assert_true(w.asked > 100);
	walk(&w, &memo, &regs, &trace);
	assert_int_equal(trace.count, 101);
	assert_true(w.asked < 12);

	/* an old return address in the way: nothing is proved any more */
	w.words[8 + 50 * BARE_WORDS + 1] = random_return();
	walk(&w, &memo, &regs, &trace);
	assert_int_equal(frames[49].source, BOBBIN_SOURCE_FRAME_POINTER);
	assert_int_equal(frames[50].source, BOBBIN_SOURCE_GUESS);
	assert_int_equal(trace.reason, BOBBIN_REASON_LIKELY);
}

static void remembered_walks_prove_as_much(void **state)
{
	static struct world w;
	static struct walk_memo memo;
	struct bobbin_regs regs = bare_regs(0);

	(void)state;
	srand(5);
	push_bare(&w, 0, 60);
	for (unsigned int i = 0; i < 100000; i++) {
		unsigned int at = (unsigned int)rand() % 32;

		if (rand() % 2)
			regs = bare_regs(at * BARE_WORDS);
		if (rand() % 4 == 0)
			push_bare(&w, at * BARE_WORDS, 60 - at);
		if (rand() % 4 == 0)
			w.words[rand() % (60 * BARE_WORDS)] = rand() % 2 ? random_return()
									 : (uint64_t)rand();
		compare(&w, &memo, &regs, rand() % 8 ? BOBBIN_MAX_DEPTH : 1 + rand() % 32);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remembered_walks_find_the_same_frames),
		cmocka_unit_test(outer_frames_that_are_the_same_need_no_rules),
		cmocka_unit_test(walks_that_share_nothing_mostly_do_without),
		cmocka_unit_test(frames_without_tables_that_are_the_same_need_no_proof),
		cmocka_unit_test(remembered_walks_prove_as_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
