// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* map_kunit.c - the map from text to sections, of a process that the test is. */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/unwind_user_sframe.h>

#include "map.h"
#include "section_registration.h"

#define TEXT_PAGES 8
#define TEXT_SIZE (TEXT_PAGES * PAGE_SIZE)

static unsigned long map_text(struct kunit *test)
{
	unsigned long at = kunit_vm_mmap(test, NULL, 0, TEXT_SIZE, PROT_READ | PROT_EXEC,
					 MAP_PRIVATE | MAP_ANONYMOUS, 0);

	KUNIT_ASSERT_NE(test, at, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(at));
	return at;
}

static struct sframe_section *named(struct kunit *test, unsigned long start, unsigned long end)
{
	struct sframe_section *section = sframe_section_alloc(1);

	KUNIT_ASSERT_NOT_NULL(test, section);
	section->kind = SFRAME_NAMED;
	section->key = start;
	section->text = (struct code_text_range){start, end};
	section->ranges[0] = section->text;
	return section;
}

/* 0, and the section is the map's; or an error, and it is no more. */
static int add(struct kunit *test, unsigned long start, unsigned long end)
{
	return sframe_register_section(named(test, start, end));
}

static int drop(unsigned long key)
{
	return sframe_unregister_section(BIT(SFRAME_NAMED), key, NULL);
}

/* By what the section for an address is unregistered; or 0. */
static unsigned long found_in(struct mm_struct *mm, unsigned long addr)
{
	int idx = srcu_read_lock(&sframe_srcu);
	struct sframe_section *section = sframe_map_find(mm, addr);
	unsigned long key = section ? section->key : 0;

	srcu_read_unlock(&sframe_srcu, idx);
	return key;
}

static unsigned long found(unsigned long addr)
{
	return found_in(current->mm, addr);
}

static void finds_text(struct kunit *test)
{
	unsigned long at = map_text(test), end = at + PAGE_SIZE;

	KUNIT_EXPECT_FALSE(test, sframe_mm_has_map(current->mm));
	KUNIT_EXPECT_EQ(test, found(at), 0);
	KUNIT_EXPECT_EQ(test, add(test, at, end), 0);
	KUNIT_EXPECT_TRUE(test, sframe_mm_has_map(current->mm));
	KUNIT_EXPECT_EQ(test, found(at - 1), 0);
	KUNIT_EXPECT_EQ(test, found(at), at);
	KUNIT_EXPECT_EQ(test, found(end - 1), at);
	KUNIT_EXPECT_EQ(test, found(end), 0);
	KUNIT_EXPECT_EQ(test, drop(at), 0);
	KUNIT_EXPECT_EQ(test, found(at), 0);
	KUNIT_EXPECT_EQ(test, drop(at), -ENOENT);
}

static void finds_each_range(struct kunit *test)
{
	unsigned long at = map_text(test);
	struct sframe_section *section = sframe_section_alloc(2);

	KUNIT_ASSERT_NOT_NULL(test, section);
	section->kind = SFRAME_NAMED;
	section->key = at;
	section->ranges[0] = (struct code_text_range){at, at + 16};
	section->ranges[1] = (struct code_text_range){at + 32, at + 48};
	KUNIT_EXPECT_EQ(test, sframe_register_section(section), 0);
	KUNIT_EXPECT_EQ(test, found(at + 15), at);
	KUNIT_EXPECT_EQ(test, found(at + 16), 0);
	KUNIT_EXPECT_EQ(test, found(at + 32), at);
	KUNIT_EXPECT_EQ(test, add(test, at + 16, at + 32), 0);
	KUNIT_EXPECT_EQ(test, found(at + 16), at + 16);
	KUNIT_EXPECT_EQ(test, current->mm->sframe_map->range_count, 3);
	KUNIT_EXPECT_EQ(test, drop(at), 0);
	KUNIT_EXPECT_EQ(test, found(at + 32), 0);
	KUNIT_EXPECT_EQ(test, found(at + 16), at + 16);
	KUNIT_EXPECT_EQ(test, current->mm->sframe_map->range_count, 1);
}

static void refuses_what_is_taken(struct kunit *test)
{
	unsigned long at = map_text(test);

	KUNIT_EXPECT_EQ(test, add(test, at, at + PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, add(test, at, at + 16), -EEXIST);
	KUNIT_EXPECT_EQ(test, add(test, at + 16, at + 32), -EEXIST);
	KUNIT_EXPECT_EQ(test, add(test, at + PAGE_SIZE - 1, at + PAGE_SIZE + 1), -EEXIST);
	KUNIT_EXPECT_EQ(test, current->mm->sframe_map->range_count, 1);
	KUNIT_EXPECT_EQ(test, add(test, at + PAGE_SIZE, at + 2 * PAGE_SIZE), 0);
}

/* A walk may have found a section by its first range, until the second one was refused. */
static void keeps_what_a_walk_may_have(struct kunit *test)
{
	unsigned long at = map_text(test);
	struct sframe_section *section = sframe_section_alloc(2), *next;
	int idx;

	KUNIT_ASSERT_NOT_NULL(test, section);
	section->kind = SFRAME_NAMED;
	section->key = at;
	section->ranges[0] = (struct code_text_range){at, at + 16};
	section->ranges[1] = (struct code_text_range){at + 32, at + 48};
	KUNIT_EXPECT_EQ(test, add(test, at + 32, at + 48), 0);
	idx = srcu_read_lock(&sframe_srcu);
	KUNIT_EXPECT_EQ(test, sframe_register_section(section), -EEXIST);
	KUNIT_EXPECT_EQ(test, found(at), 0);
	next = sframe_section_alloc(2);
	/* what was free would be given out again */
	KUNIT_EXPECT_PTR_NE(test, next, section);
	KUNIT_EXPECT_EQ(test, section->key, at);
	srcu_read_unlock(&sframe_srcu, idx);
	if (next)
		sframe_section_free(next);
}

static void refuses_what_is_no_text(struct kunit *test)
{
	unsigned long at = map_text(test), data;

	data = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, 0);
	KUNIT_ASSERT_NE(test, data, 0);
	KUNIT_EXPECT_EQ(test, add(test, data, data + PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, vm_munmap(at + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, add(test, at + PAGE_SIZE, at + PAGE_SIZE + 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, add(test, at, at + TEXT_SIZE), -EINVAL);
	KUNIT_EXPECT_FALSE(test, sframe_mm_has_map(current->mm));
}

static void loses_what_is_unmapped(struct kunit *test)
{
	unsigned long at = map_text(test), hole = at + 2 * PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, add(test, at, at + TEXT_SIZE), 0);
	KUNIT_EXPECT_EQ(test, vm_munmap(hole, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, found(hole - 1), at);
	KUNIT_EXPECT_EQ(test, found(hole), 0);
	KUNIT_EXPECT_EQ(test, found(hole + PAGE_SIZE - 1), 0);
	KUNIT_EXPECT_EQ(test, found(hole + PAGE_SIZE), at);
	KUNIT_EXPECT_EQ(test, current->mm->sframe_map->range_count, 2);
	KUNIT_EXPECT_EQ(test, vm_munmap(at, 2 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, found(hole + PAGE_SIZE), at);
	KUNIT_EXPECT_EQ(test, current->mm->sframe_map->range_count, 1);
	KUNIT_EXPECT_EQ(test, vm_munmap(at, TEXT_SIZE), 0);
	KUNIT_EXPECT_EQ(test, current->mm->sframe_map->range_count, 0);
	KUNIT_EXPECT_EQ(test, drop(at), -ENOENT);
}

static void loses_what_is_mapped_over(struct kunit *test)
{
	unsigned long at = map_text(test), over = at + PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, add(test, over, over + PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, add(test, at, over), 0);
	KUNIT_EXPECT_EQ(test,
			vm_mmap(NULL, over, PAGE_SIZE, PROT_READ | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, 0),
			over);
	KUNIT_EXPECT_EQ(test, found(over), 0);
	KUNIT_EXPECT_EQ(test, found(at), at);
	KUNIT_EXPECT_EQ(test, add(test, over, over + PAGE_SIZE), 0);
}

/* A copy has what there was, and a life of its own. */
static void copies(struct kunit *test)
{
	unsigned long at = map_text(test);
	struct mm_struct *child = mm_alloc();

	KUNIT_ASSERT_NOT_NULL(test, child);
	KUNIT_EXPECT_EQ(test, add(test, at, at + PAGE_SIZE), 0);
	mmap_write_lock(current->mm);
	KUNIT_EXPECT_EQ(test, sframe_mm_dup(child, current->mm), 0);
	mmap_write_unlock(current->mm);
	KUNIT_EXPECT_EQ(test, found_in(child, at), at);
	KUNIT_EXPECT_EQ(test, drop(at), 0);
	KUNIT_EXPECT_EQ(test, found_in(child, at), at);
	KUNIT_EXPECT_EQ(test, add(test, at, at + 16), 0);
	KUNIT_EXPECT_EQ(test, found_in(child, at + 16), at);
	mmput(child);
	KUNIT_EXPECT_EQ(test, found(at), at);
}

/*
 * Maps of up to four levels of nodes, which have from few children to all that fit: in a
 * node that is not full, nothing else must be taken for a child when RCU lets it be freed.
 */
static void frees_deep_maps(struct kunit *test)
{
	unsigned long at = map_text(test);
	struct mm_struct *child;

	for (unsigned int n = 0; n < TEXT_SIZE / 16; n++) {
		KUNIT_ASSERT_EQ(test, add(test, at + 16 * n, at + 16 * n + 8), 0);
		if (n % 64)
			continue;
		child = mm_alloc();
		KUNIT_ASSERT_NOT_NULL(test, child);
		mmap_write_lock(current->mm);
		KUNIT_EXPECT_EQ(test, sframe_mm_dup(child, current->mm), 0);
		mmap_write_unlock(current->mm);
		mmput(child);
	}
	rcu_barrier();
}

static void drops_once(struct kunit *test)
{
	const struct bobbin_error error = {.reason = BOBBIN_REASON_SFRAME_FDE, .offset = 28};
	unsigned long at = map_text(test);
	struct sframe_section *section;
	int idx;

	KUNIT_EXPECT_EQ(test, add(test, at, at + PAGE_SIZE), 0);
	idx = srcu_read_lock(&sframe_srcu);
	section = sframe_map_find(current->mm, at);
	sframe_map_drop(current->mm, section, &error);
	KUNIT_EXPECT_EQ(test, found(at), 0);
	KUNIT_EXPECT_EQ(test, add(test, at, at + PAGE_SIZE), 0);
	/* another one, though with the same key */
	sframe_map_drop(current->mm, section, &error);
	KUNIT_EXPECT_EQ(test, found(at), at);
	srcu_read_unlock(&sframe_srcu, idx);
}

static struct kunit_case map_cases[] = {
	KUNIT_CASE(finds_text),
	KUNIT_CASE(finds_each_range),
	KUNIT_CASE(refuses_what_is_taken),
	KUNIT_CASE(keeps_what_a_walk_may_have),
	KUNIT_CASE(refuses_what_is_no_text),
	KUNIT_CASE(loses_what_is_unmapped),
	KUNIT_CASE(loses_what_is_mapped_over),
	KUNIT_CASE(copies),
	KUNIT_CASE(frees_deep_maps),
	KUNIT_CASE(drops_once),
	{},
};

static struct kunit_suite map_suite = {
	.name = "sframe_map",
	.test_cases = map_cases,
};

kunit_test_suite(map_suite);
