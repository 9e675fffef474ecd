// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * cost_kunit.c - what walks, lookups and registrations cost: of this unwinder, of frame
 * pointers, and of the posted series.  What fork() costs, and memory.
 *
 * All walk the same stack, whose frames have both a frame pointer and a row of a section.
 * Where a machine's clock counts instructions, as QEMU's does with -icount, these are
 * what is measured.  The least of several turns counts: others were interrupted.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/unwind_user.h>

#include "kunit_section.h"
#include "map.h"
#include "posted_walk.h"
#include "section_registration.h"

#define FRAMES 100
#define FRAME_BYTES 48
#define FUNCTION_SIZE 256
#define CALL_AT 32
#define TURNS 20
#define SECTIONS 4096

DEFINE_STATIC_SRCU(posted_srcu);

/* push %rbp; mov %rsp, %rbp; sub $24, %rsp: the CFA is counted from SP all the same */
static const u8 rows[] = {0, INFO(1, 1), 8, 1, INFO(1, 2), 16, (u8)-16, 5, INFO(1, 2), 48, (u8)-16};

struct record {
	struct section_attributes attributes;
	u8 rows[sizeof(rows)];
} __packed;

struct bench {
	u32 functions;
	unsigned long text, other_text, section, section_size, stack;
	struct code_text_range range;
	struct maple_tree posted;
};

static void fill_section(struct kunit *test, const struct bench *b)
{
	const struct section_head head = section_head(b->functions, 3 * b->functions,
						      b->functions * sizeof(struct record));
	struct record record = {.attributes = {.num_fres = 3}};
	unsigned long at = b->section + sizeof(head);

	memcpy(record.rows, rows, sizeof(rows));
	section_store(test, b->section, &head, sizeof(head));
	for (u32 i = 0; i < b->functions; i++, at += sizeof(struct section_entry)) {
		const struct section_entry entry = {
			.start = b->text + i * FUNCTION_SIZE - at,
			.size = FUNCTION_SIZE,
			.row_off = i * sizeof(record),
		};

		section_store(test, at, &entry, sizeof(entry));
	}
	for (u32 i = 0; i < b->functions; i++, at += sizeof(record))
		section_store(test, at, &record, sizeof(record));
}

/* Where a frame returns to: somewhere in the section, no two to the same address. */
static unsigned long return_address(const struct bench *b, u32 frame)
{
	return b->text + frame * 7919 % b->functions * FUNCTION_SIZE + CALL_AT + 2 * frame;
}

/* Each frame's return address and frame pointer are at its end. */
static void fill_stack(struct kunit *test, const struct bench *b)
{
	for (u32 i = 0; i < FRAMES; i++) {
		unsigned long cfa = b->stack + (i + 1) * FRAME_BYTES;
		const u64 words[] = {cfa + FRAME_BYTES - 16, return_address(b, i + 1)};

		section_store(test, cfa - 16, words, sizeof(words));
	}
}

static struct bench *make_bench(struct kunit *test, u32 functions)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->functions = functions;
	b->section_size = sizeof(struct section_head) +
			  functions * (sizeof(struct section_entry) + sizeof(struct record));
	b->text = section_map(test, functions * FUNCTION_SIZE, PROT_READ | PROT_EXEC);
	b->other_text = section_map(test, PAGE_SIZE, PROT_READ | PROT_EXEC);
	b->section = section_map(test, b->section_size, PROT_READ | PROT_WRITE);
	b->stack = section_map(test, (FRAMES + 2) * FRAME_BYTES, PROT_READ | PROT_WRITE);
	b->range = (struct code_text_range){b->text, b->text + functions * FUNCTION_SIZE};
	mt_init_flags(&b->posted, MT_FLAGS_USE_RCU);
	fill_section(test, b);
	fill_stack(test, b);
	return b;
}

static struct unwind_user_state first_frame(const struct bench *b)
{
	return (struct unwind_user_state){
		.ip = return_address(b, 0),
		.sp = b->stack,
		.fp = b->stack + FRAME_BYTES - 16,
		.ws = sizeof(u64),
	};
}

/* Registers of the last frame's caller, by whatever way */
static void expect_the_end(struct kunit *test, const struct bench *b,
			   const struct unwind_user_state *state)
{
	KUNIT_EXPECT_EQ(test, state->ip, return_address(b, FRAMES));
	KUNIT_EXPECT_EQ(test, state->sp, b->stack + FRAMES * FRAME_BYTES);
	KUNIT_EXPECT_EQ(test, state->fp, b->stack + (FRAMES + 1) * FRAME_BYTES - 16);
}

static int step_by_sframe(struct bench *b, struct unwind_user_state *state)
{
	return unwind_user_next_sframe(state);
}

static int step_by_fp(struct bench *b, struct unwind_user_state *state)
{
	const int ws = sizeof(u64);
	const struct unwind_user_frame frame = {ARCH_INIT_USER_FP_FRAME(ws)};

	return posted_apply(state, &frame);
}

static int step_as_posted(struct bench *b, struct unwind_user_state *state)
{
	return posted_next(&b->posted, &posted_srcu, state);
}

static struct sframe_section *named(struct kunit *test, unsigned long at)
{
	struct sframe_section *section = sframe_section_alloc(1);

	KUNIT_ASSERT_NOT_NULL(test, section);
	section->kind = SFRAME_NAMED;
	section->key = at;
	section->ranges[0] = (struct code_text_range){at, at + FUNCTION_SIZE};
	return section;
}

/* A change of the map: nothing that was looked up before counts. */
static void forget_all(struct kunit *test, const struct bench *b)
{
	unsigned long at = b->other_text;

	KUNIT_ASSERT_EQ(test, sframe_register_section(named(test, at)), 0);
	KUNIT_ASSERT_EQ(test, sframe_unregister_section(BIT(SFRAME_NAMED), at, NULL), 0);
}

/* Nanoseconds for a frame; @anew: of which nothing is known from before. */
static u64 time_of(struct kunit *test, struct bench *b, bool anew,
		   int (*step)(struct bench *b, struct unwind_user_state *state))
{
	struct unwind_user_state state;
	u64 least = U64_MAX;

	for (int turn = 0; turn < TURNS; turn++) {
		int status = 0;
		u64 start;

		if (anew)
			forget_all(test, b);
		start = ktime_get_ns();
		state = first_frame(b);
		for (int i = 0; i < FRAMES && !status; i++)
			status = step(b, &state);
		least = min(least, ktime_get_ns() - start);
		KUNIT_EXPECT_EQ(test, status, 0);
	}
	expect_the_end(test, b, &state);
	return least / FRAMES;
}

static int add(const struct bench *b)
{
	return sframe_register_memory(b->section, b->section + b->section_size, &b->range, 1,
				      SFRAME_SECTION_END);
}

static int drop(const struct bench *b)
{
	return sframe_unregister_section(BIT(SFRAME_SECTION), b->section, NULL);
}

static u64 time_of_adding(struct kunit *test, const struct bench *b)
{
	u64 least = U64_MAX;

	for (int turn = 0; turn < TURNS; turn++) {
		u64 start = ktime_get_ns();

		KUNIT_ASSERT_EQ(test, add(b), 0);
		least = min(least, ktime_get_ns() - start);
		KUNIT_ASSERT_EQ(test, drop(b), 0);
	}
	return least;
}

static struct posted_section posted_section(const struct bench *b)
{
	unsigned long entries = b->section + sizeof(struct section_head);

	return (struct posted_section){
		.start = b->section,
		.end = b->section + b->section_size,
		.text_start = b->range.start,
		.text_end = b->range.end,
		.entries = entries,
		.rows = entries + b->functions * sizeof(struct section_entry),
		.rows_end = b->section + b->section_size,
		.num_fdes = b->functions,
		.fixed_ra = -8,
	};
}

static void time_section(struct kunit *test, u32 functions)
{
	struct bench *b = make_bench(test, functions);
	struct posted_section posted = posted_section(b);
	u64 anew, again, as_posted, by_fp;

	KUNIT_ASSERT_EQ(test,
			mtree_insert_range(&b->posted, b->range.start, b->range.end - 1, &posted,
					   GFP_KERNEL),
			0);
	kunit_info(test, "cost: %u functions: registered in %llu\n", functions,
		   time_of_adding(test, b));
	KUNIT_ASSERT_EQ(test, add(b), 0);
	anew = time_of(test, b, true, step_by_sframe);
	again = time_of(test, b, false, step_by_sframe);
	kunit_info(test, "cost: %u functions: a frame %llu, seen before %llu\n", functions, anew,
		   again);
	as_posted = time_of(test, b, false, step_as_posted);
	by_fp = time_of(test, b, false, step_by_fp);
	kunit_info(test, "cost: %u functions: a frame as posted %llu, by frame pointer %llu\n",
		   functions, as_posted, by_fp);
	mtree_destroy(&b->posted);
}

static void times_a_small_section(struct kunit *test)
{
	time_section(test, 1);
}

static void times_a_usual_section(struct kunit *test)
{
	time_section(test, 1000);
}

static void times_a_large_section(struct kunit *test)
{
	time_section(test, 10000);
}

/* Without what waits for RCU. */
static long slab_bytes(void)
{
	kvfree_rcu_barrier();
	rcu_barrier();

	return (global_node_page_state_pages(NR_SLAB_RECLAIMABLE_B) +
		global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B)) *
	       PAGE_SIZE;
}

static void add_many(struct kunit *test, unsigned int count)
{
	unsigned long text = section_map(test, count * FUNCTION_SIZE, PROT_READ | PROT_EXEC);

	for (unsigned int i = 0; i < count; i++) {
		struct sframe_section *section = named(test, text + i * FUNCTION_SIZE);

		KUNIT_ASSERT_EQ(test, sframe_register_section(section), 0);
	}
}

/* What fork() takes longer, and exit() of the child. */
static void time_fork(struct kunit *test, unsigned int sections)
{
	u64 copied = U64_MAX, freed = U64_MAX;

	add_many(test, sections);
	for (int turn = 0; turn < TURNS; turn++) {
		struct mm_struct *child = mm_alloc();
		u64 start = ktime_get_ns();

		section_fork(test, child);
		copied = min(copied, ktime_get_ns() - start);
		start = ktime_get_ns();
		sframe_mm_exit(child);
		freed = min(freed, ktime_get_ns() - start);
		mmput(child);
	}
	kunit_info(test, "cost: %u sections: copied in %llu, freed in %llu\n", sections, copied,
		   freed);
}

static void times_fork_of_one_section(struct kunit *test)
{
	time_fork(test, 1);
}

static void times_fork_of_usual_sections(struct kunit *test)
{
	time_fork(test, 64);
}

static void times_fork_of_many_sections(struct kunit *test)
{
	time_fork(test, SECTIONS);
}

static void weighs_sections(struct kunit *test)
{
	long before = slab_bytes();

	add_many(test, SECTIONS);
	kunit_info(test, "cost: %ld bytes a section\n", (slab_bytes() - before) / SECTIONS);
}

static void weighs_posted_sections(struct kunit *test)
{
	struct posted_section *section;
	long before = slab_bytes();
	struct maple_tree tree;
	unsigned long at = 0;

	mt_init_flags(&tree, MT_FLAGS_USE_RCU);
	for (int i = 0; i < SECTIONS; i++) {
		unsigned long start = PAGE_SIZE + i * FUNCTION_SIZE;

		section = kzalloc_obj(*section, GFP_KERNEL_ACCOUNT);
		KUNIT_ASSERT_NOT_NULL(test, section);
		KUNIT_ASSERT_EQ(test,
				mtree_insert_range(&tree, start, start + FUNCTION_SIZE - 1, section,
						   GFP_KERNEL_ACCOUNT),
				0);
	}
	kunit_info(test, "cost: %ld bytes a section as posted\n",
		   (slab_bytes() - before) / SECTIONS);
	mt_for_each(&tree, section, at, ULONG_MAX)
		kfree(section);
	mt_clear_in_rcu(&tree); /* as in sframe_trees_free() */
	mtree_destroy(&tree);
}

static struct kunit_case cost_cases[] = {
	KUNIT_CASE(times_a_small_section),
	KUNIT_CASE(times_a_usual_section),
	/* what a process leaves is freed while the next test runs */
	KUNIT_CASE(times_a_large_section),
	KUNIT_CASE(weighs_posted_sections),
	KUNIT_CASE(weighs_sections),
	KUNIT_CASE(times_fork_of_one_section),
	KUNIT_CASE(times_fork_of_usual_sections),
	KUNIT_CASE(times_fork_of_many_sections),
	{},
};

SECTION_SUITE("sframe_cost", cost_cases);
