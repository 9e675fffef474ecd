// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* map_kunit.c - the map from text to sections, of a process that the test is. */
#include <linux/kthread.h>

#include "kunit_section.h"
#include "map.h"
#include "section_registration.h"

#define TEXT_PAGES 8
#define TEXT_SIZE (TEXT_PAGES * PAGE_SIZE)

static unsigned long map_text(struct kunit *test)
{
	return section_map(test, TEXT_SIZE, PROT_READ | PROT_EXEC);
}

static struct sframe_section *named(struct kunit *test, unsigned long start, unsigned long end)
{
	struct sframe_section *section = sframe_section_alloc(1);

	KUNIT_ASSERT_NOT_NULL(test, section);
	section->kind = SFRAME_NAMED;
	section->key = start;
	section->ranges[0] = (struct code_text_range){start, end};
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
	struct sframe_map *map = sframe_map_of(mm);
	struct sframe_section *section = map ? sframe_map_find(map, addr) : NULL;
	unsigned long key = section ? section->key : 0;

	if (section)
		sframe_section_put(section);
	return key;
}

static unsigned long found(unsigned long addr)
{
	return found_in(current->mm, addr);
}

static void finds_text(struct kunit *test)
{
	unsigned long at = map_text(test), end = at + PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, found(at), 0);
	KUNIT_EXPECT_EQ(test, add(test, at, end), 0);
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

static void finds_text_before_and_after(struct kunit *test)
{
	unsigned long at = map_text(test), inner = at + PAGE_SIZE, outer = at + 2 * PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, add(test, inner, inner + 16), 0);
	KUNIT_EXPECT_EQ(test, found(at), 0);
	KUNIT_EXPECT_EQ(test, found(outer), 0);
	KUNIT_EXPECT_EQ(test, add(test, at, at + 16), 0);
	KUNIT_EXPECT_EQ(test, add(test, outer, outer + 16), 0);
	KUNIT_EXPECT_EQ(test, found(at), at);
	KUNIT_EXPECT_EQ(test, found(inner), inner);
	KUNIT_EXPECT_EQ(test, found(outer + 15), outer);
}

/* What is not guessed: code in a mapping that has a table, and what is not mapped. */
static void covers_the_mapping_of_its_text(struct kunit *test)
{
	unsigned long at = map_text(test), hole = at + PAGE_SIZE, other = hole + PAGE_SIZE;
	struct sframe_section *section = named(test, at + 16, at + 32);

	KUNIT_ASSERT_EQ(test, vm_munmap(hole, PAGE_SIZE), 0);
	KUNIT_EXPECT_FALSE(test, sframe_mm_covers_mapping(current->mm, at));
	KUNIT_EXPECT_EQ(test, add(test, other, other + 16), 0);
	KUNIT_EXPECT_FALSE_MSG(test, sframe_mm_covers_mapping(current->mm, other), "by a name");
	section->kind = SFRAME_JIT;
	KUNIT_ASSERT_EQ(test, sframe_register_section(section), 0);
	KUNIT_EXPECT_TRUE(test, sframe_mm_covers_mapping(current->mm, at));
	KUNIT_EXPECT_TRUE(test, sframe_mm_covers_mapping(current->mm, hole - 1));
	KUNIT_EXPECT_TRUE(test, sframe_mm_covers_mapping(current->mm, hole));
	KUNIT_EXPECT_FALSE(test, sframe_mm_covers_mapping(current->mm, other));
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

	KUNIT_ASSERT_NOT_NULL(test, section);
	section->kind = SFRAME_NAMED;
	section->key = at;
	section->ranges[0] = (struct code_text_range){at, at + 16};
	section->ranges[1] = (struct code_text_range){at + 32, at + 48};
	KUNIT_EXPECT_EQ(test, add(test, at + 32, at + 48), 0);
	refcount_inc(&section->refs);
	KUNIT_EXPECT_EQ(test, sframe_register_section(section), -EEXIST);
	KUNIT_EXPECT_EQ(test, found(at), 0);
	next = sframe_section_alloc(2);
	/* what was free would be given out again */
	KUNIT_EXPECT_PTR_NE(test, next, section);
	KUNIT_EXPECT_EQ(test, section->key, at);
	KUNIT_EXPECT_EQ(test, refcount_read(&section->refs), 1);
	sframe_section_put(section);
	if (next)
		sframe_section_free(next);
}

static void refuses_what_is_no_text(struct kunit *test)
{
	unsigned long at = map_text(test), data = section_map(test, PAGE_SIZE, PROT_READ);

	KUNIT_EXPECT_EQ(test, add(test, data, data + PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, vm_munmap(at + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, add(test, at + PAGE_SIZE, at + PAGE_SIZE + 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, add(test, at, at + TEXT_SIZE), -EINVAL);
	KUNIT_EXPECT_NULL(test, sframe_map_of(current->mm));
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
	struct mm_struct *child;

	KUNIT_EXPECT_EQ(test, add(test, at, at + PAGE_SIZE), 0);
	child = section_fork(test, mm_alloc());
	KUNIT_EXPECT_EQ(test, found_in(child, at), at);
	KUNIT_EXPECT_EQ(test, drop(at), 0);
	KUNIT_EXPECT_EQ(test, found_in(child, at), at);
	KUNIT_EXPECT_EQ(test, add(test, at, at + 16), 0);
	KUNIT_EXPECT_EQ(test, found_in(child, at + 16), at);
	mmput(child);
	KUNIT_EXPECT_EQ(test, found(at), at);
}

/* MADV_DONTFORK */
static void keeps_text_from_children(struct kunit *test)
{
	unsigned long at = map_text(test), hidden = at + 2 * PAGE_SIZE;
	struct mm_struct *child;

	KUNIT_EXPECT_EQ(test, add(test, at, hidden + PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, add(test, hidden + PAGE_SIZE, hidden + 2 * PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, do_madvise(current->mm, hidden, 2 * PAGE_SIZE, MADV_DONTFORK), 0);
	child = section_fork(test, mm_alloc());
	KUNIT_EXPECT_EQ(test, found_in(child, hidden - 1), at);
	KUNIT_EXPECT_EQ(test, found_in(child, hidden), 0);
	KUNIT_EXPECT_EQ(test, found_in(child, hidden + PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, child->sframe_map->range_count, 1);
	mmput(child);
	KUNIT_EXPECT_EQ(test, found(hidden), at);
}

/*
 * Maps of up to four levels of nodes, which have from few children to all that fit: in a
 * node that is not full, nothing else must be taken for a child when RCU lets it be freed.
 */
static void frees_deep_maps(struct kunit *test)
{
	unsigned long at = map_text(test);

	for (unsigned int n = 0; n < TEXT_SIZE / 16; n++) {
		KUNIT_ASSERT_EQ(test, add(test, at + 16 * n, at + 16 * n + 8), 0);
		if (n % 64)
			continue;
		mmput(section_fork(test, mm_alloc()));
	}
	rcu_barrier();
}

static void drops_once(struct kunit *test)
{
	const struct bobbin_error error = {.reason = BOBBIN_REASON_SFRAME_FDE, .offset = 28};
	unsigned long at = map_text(test);
	struct sframe_section *section;

	KUNIT_EXPECT_EQ(test, add(test, at, at + PAGE_SIZE), 0);
	section = sframe_map_find(sframe_map_of(current->mm), at);
	KUNIT_ASSERT_NOT_NULL(test, section);
	sframe_map_drop(current->mm, section, &error);
	KUNIT_EXPECT_EQ(test, found(at), 0);
	KUNIT_EXPECT_EQ(test, add(test, at, at + PAGE_SIZE), 0);
	/* another one, though with the same key */
	sframe_map_drop(current->mm, section, &error);
	KUNIT_EXPECT_EQ(test, found(at), at);
	sframe_section_put(section);
}

/* Work that is done when a task has left its mm, after the last walk. */
static void leaves_pages_to_a_task_that_exits(struct kunit *test)
{
	unsigned long at = map_text(test);
	struct sframe_section *section = named(test, at, at + PAGE_SIZE);
	struct mm_struct *mm = current->mm;

	section->mapped = at;
	section->mapped_size = PAGE_SIZE;
	refcount_inc(&section->refs);
	kthread_unuse_mm(mm);
	sframe_section_free(section);
	kthread_use_mm(mm);
	KUNIT_EXPECT_EQ(test, refcount_read(&section->refs), 1);
	mmap_read_lock(mm);
	KUNIT_EXPECT_NOT_NULL(test, vma_lookup(mm, at));
	mmap_read_unlock(mm);
	sframe_section_put(section);
}

static struct kunit_case map_cases[] = {
	KUNIT_CASE(finds_text),
	KUNIT_CASE(finds_each_range),
	KUNIT_CASE(finds_text_before_and_after),
	KUNIT_CASE(covers_the_mapping_of_its_text),
	KUNIT_CASE(refuses_what_is_taken),
	KUNIT_CASE(keeps_what_a_walk_may_have),
	KUNIT_CASE(refuses_what_is_no_text),
	KUNIT_CASE(loses_what_is_unmapped),
	KUNIT_CASE(loses_what_is_mapped_over),
	KUNIT_CASE(copies),
	KUNIT_CASE(keeps_text_from_children),
	KUNIT_CASE(frees_deep_maps),
	KUNIT_CASE(drops_once),
	KUNIT_CASE(leaves_pages_to_a_task_that_exits),
	{},
};

SECTION_SUITE("sframe_map", map_cases);
