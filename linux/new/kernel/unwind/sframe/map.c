// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * map.c - from text to the tables that unwind it, of one mm.
 *
 * Both trees have their own locks, so that walks can look up while the mmap lock is
 * held; changes follow each other because all hold the mmap lock.
 */
#include "map.h"

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/task_work.h>
#include <linux/unwind_user_sframe.h>

DEFINE_SRCU(sframe_srcu);

/* Ranges of text that a process may register. */
static unsigned int sframe_max_ranges = 65536;

static const struct ctl_table sframe_sysctls[] = {
	{
		.procname = "sframe_max_ranges",
		.data = &sframe_max_ranges,
		.maxlen = sizeof(sframe_max_ranges),
		.mode = 0644,
		.proc_handler = proc_douintvec,
	},
};

static int __init sframe_sysctl_init(void)
{
	register_sysctl("vm", sframe_sysctls);
	return 0;
}
subsys_initcall(sframe_sysctl_init);

struct sframe_section *sframe_section_alloc(unsigned int range_count)
{
	struct sframe_section *section;

	section = kvzalloc(struct_size(section, ranges, range_count), GFP_KERNEL_ACCOUNT);
	if (!section)
		return NULL;
	refcount_set(&section->refs, 1);
	section->range_count = range_count;
	return section;
}

static void sframe_section_free_rcu(struct rcu_head *rcu)
{
	kvfree(container_of(rcu, struct sframe_section, rcu));
}

/* Walks may still use it. */
static void sframe_section_put(struct sframe_section *section)
{
	if (refcount_dec_and_test(&section->refs))
		call_srcu(&sframe_srcu, &section->rcu, sframe_section_free_rcu);
}

/* If a range was refused, a walk may have found it by those before. */
void sframe_section_free(struct sframe_section *section)
{
	if (section->mapped)
		vm_munmap(section->mapped, section->mapped_size);
	sframe_section_put(section);
}

/* Pages of a file that no section needs any more. */
struct sframe_unmapping {
	struct callback_head work;
	unsigned long start, size;
};

static void sframe_unmap_pages(struct callback_head *work)
{
	struct sframe_unmapping *u = container_of(work, struct sframe_unmapping, work);

	vm_munmap(u->start, u->size);
	kfree(u);
}

/*
 * When the current task returns to user space: now it may be in the middle of an
 * munmap(), and has the mmap lock.
 */
static void sframe_unmap_later(const struct sframe_section *section)
{
	struct sframe_unmapping *u;

	if (!section->mapped || current->flags & PF_KTHREAD)
		return;
	u = kmalloc_obj(*u, GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	u->start = section->mapped;
	u->size = section->mapped_size;
	init_task_work(&u->work, sframe_unmap_pages);
	/* who exits unmaps everything */
	if (task_work_add(current, &u->work, TWA_RESUME))
		kfree(u);
}

static struct sframe_map *sframe_map_alloc(void)
{
	struct sframe_map *map = kzalloc_obj(*map, GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	mt_init_flags(&map->ranges, MT_FLAGS_USE_RCU);
	mt_init(&map->keys);
	return map;
}

/* The mm's, which begins to have one. */
static struct sframe_map *sframe_map_get(struct mm_struct *mm)
{
	struct sframe_map *map = mm->sframe_map;

	if (map)
		return map;
	map = sframe_map_alloc();
	if (!map)
		return NULL;
	/* pairs with the load in sframe_map_find() */
	smp_store_release(&mm->sframe_map, map);
	return map;
}

static bool sframe_text_is_mapped(struct mm_struct *mm, const struct code_text_range *range)
{
	VMA_ITERATOR(vmi, mm, range->start);
	unsigned long at = range->start;
	struct vm_area_struct *vma;

	for_each_vma_range(vmi, vma, range->end) {
		if (vma->vm_start > at || !(vma->vm_flags & VM_EXEC))
			return false;
		at = vma->vm_end;
	}
	return at >= range->end;
}

/*
 * Without fail, which mtree_erase() does not promise to a task that the OOM killer has
 * chosen: a section that stayed in a tree would be used after it was freed.
 */
static void sframe_clear(struct maple_tree *tree, unsigned long first, unsigned long last)
{
	mtree_store_range(tree, first, last, NULL, GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
}

/* Take the first ranges of a section out again. */
static void sframe_erase_ranges(struct sframe_map *map, const struct sframe_section *section,
				unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		sframe_clear(&map->ranges, section->ranges[i].start, section->ranges[i].end - 1);
	map->range_count -= count;
}

static int sframe_insert_ranges(struct sframe_map *map, struct sframe_section *section)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < section->range_count && !error; i++) {
		error = mtree_insert_range(&map->ranges, section->ranges[i].start,
					   section->ranges[i].end - 1, section, GFP_KERNEL_ACCOUNT);
		if (!error)
			map->range_count++;
		else
			sframe_erase_ranges(map, section, i);
	}
	return error;
}

int sframe_map_insert(struct mm_struct *mm, struct sframe_section *section)
{
	struct sframe_map *map;
	int error;

	mmap_assert_write_locked(mm);
	for (unsigned int i = 0; i < section->range_count; i++)
		if (!sframe_text_is_mapped(mm, &section->ranges[i]))
			return -EINVAL;
	map = sframe_map_get(mm);
	if (!map)
		return -ENOMEM;
	if (mtree_load(&map->keys, section->key))
		return -EEXIST;
	if (map->range_count + section->range_count > READ_ONCE(sframe_max_ranges))
		return -ENOSPC;
	error = mtree_insert(&map->keys, section->key, section, GFP_KERNEL_ACCOUNT);
	if (error)
		return error;
	error = sframe_insert_ranges(map, section);
	if (error)
		sframe_clear(&map->keys, section->key, section->key);
	return error;
}

/* An entry of the map: from @first to @last, of which @section is told to unwind it. */
struct sframe_piece {
	unsigned long first, last;
	struct sframe_section *section;
};

/* The first piece that has some of the text; or false. */
static bool sframe_first_piece(struct sframe_map *map, unsigned long first, unsigned long last,
			       struct sframe_piece *ret)
{
	MA_STATE(mas, &map->ranges, first, first);

	mas_lock(&mas);
	ret->section = mas_find(&mas, last);
	ret->first = mas.index;
	ret->last = mas.last;
	mas_unlock(&mas);
	return ret->section;
}

/* Erase what the tree has of a section: parts of its text may serve others by now. */
static void sframe_forget(struct sframe_map *map, struct sframe_section *section)
{
	for (unsigned int i = 0; i < section->range_count; i++) {
		unsigned long at = section->ranges[i].start, last = section->ranges[i].end - 1;
		struct sframe_piece piece;

		while (at <= last && sframe_first_piece(map, at, last, &piece)) {
			at = piece.last + 1;
			if (piece.section != section)
				continue;
			sframe_clear(&map->ranges, piece.first, piece.last);
			map->range_count--;
		}
	}
	sframe_clear(&map->keys, section->key, section->key);
	sframe_unmap_later(section);
	sframe_section_put(section);
}

int sframe_map_remove(struct mm_struct *mm, unsigned int kinds, unsigned long key,
		      const struct code_text_range *text)
{
	struct sframe_section *section;
	struct sframe_map *map = mm->sframe_map;

	mmap_assert_write_locked(mm);
	section = map ? mtree_load(&map->keys, key) : NULL;
	if (!section || !(kinds & BIT(section->kind)))
		return -ENOENT;
	if (text && (section->text.start != text->start || section->text.end != text->end))
		return -ENOENT;
	sframe_forget(map, section);
	return 0;
}

struct sframe_section *sframe_map_find(struct mm_struct *mm, unsigned long addr)
{
	/* pairs with the store in sframe_map_get() */
	struct sframe_map *map = smp_load_acquire(&mm->sframe_map);

	return map ? mtree_load(&map->ranges, addr) : NULL;
}

static const char *sframe_file_name(struct mm_struct *mm, unsigned long addr, char *room,
				    size_t size)
{
	struct vm_area_struct *vma = vma_lookup(mm, addr);
	char *name;

	if (!vma || !vma->vm_file)
		return "anonymous memory";
	name = file_path(vma->vm_file, room, size);
	return IS_ERR(name) ? "a file" : name;
}

static void sframe_tell(struct mm_struct *mm, const struct sframe_section *section,
			const struct bobbin_error *error)
{
	char room[128];

	pr_debug_ratelimited("sframe: %s[%d]: table at %#lx of %s: offset %llu: %s: removed\n",
			     current->comm, task_pid_nr(current), section->key,
			     sframe_file_name(mm, section->ranges[0].start, room, sizeof(room)),
			     error->offset, bobbin_reason_str(error->reason));
}

void sframe_map_drop(struct mm_struct *mm, const struct sframe_section *section,
		     const struct bobbin_error *error)
{
	struct sframe_map *map = mm->sframe_map;

	if (mmap_write_lock_killable(mm))
		return;
	/* another thread may have been faster */
	if (map && mtree_load(&map->keys, section->key) == section) {
		sframe_tell(mm, section, error);
		sframe_forget(map, (struct sframe_section *)section);
	}
	mmap_write_unlock(mm);
}

/*
 * A map that no task can find, because its mm is not in use yet, or no more.
 *
 * The tree of ranges leaves RCU mode first, as the mm's own tree does in exit_mmap(), and
 * its nodes are freed here.  In RCU mode mtree_destroy() would leave them to mt_free_walk().
 * That takes for a child whatever a slot holds (Linux 7.2).  In a tree that does not track
 * gaps the last slot of a node holds its metadata, if there are no 16 children, and of the
 * root only it is cleared.  So a node below the root with 15 children, which have children
 * themselves, makes it read memory near NULL: from four levels on.  A store over all that
 * such a node covers would do the same.  Here each store is of one entry.
 */
static void sframe_map_free(struct sframe_map *map)
{
	struct sframe_section *section;
	unsigned long key = 0;

	mt_for_each(&map->keys, section, key, ULONG_MAX) {
		sframe_section_put(section);
		cond_resched();
	}
	mt_clear_in_rcu(&map->ranges);
	mtree_destroy(&map->ranges);
	mtree_destroy(&map->keys);
	kfree(map);
}

/* Entry by entry: mtree_dup() allocates under its spinlock.  The mmap lock keeps changes away. */
static int sframe_copy(struct sframe_map *from, struct sframe_map *to)
{
	struct sframe_section *section;
	struct sframe_piece piece;
	unsigned long key = 0, at = 0;
	int error = 0;

	while (!error && sframe_first_piece(from, at, ULONG_MAX, &piece)) {
		error = mtree_insert_range(&to->ranges, piece.first, piece.last, piece.section,
					   GFP_KERNEL_ACCOUNT);
		at = piece.last + 1;
		cond_resched();
	}
	if (error)
		return error;
	to->range_count = from->range_count;
	mt_for_each(&from->keys, section, key, ULONG_MAX) {
		error = mtree_insert(&to->keys, section->key, section, GFP_KERNEL_ACCOUNT);
		if (error)
			return error;
		refcount_inc(&section->refs);
		cond_resched();
	}
	return 0;
}

int sframe_mm_dup(struct mm_struct *mm, struct mm_struct *from)
{
	struct sframe_map *map, *old = from->sframe_map;
	int error;

	mmap_assert_write_locked(from);
	if (!old)
		return 0;
	map = sframe_map_alloc();
	if (!map)
		return -ENOMEM;
	error = sframe_copy(old, map);
	if (error)
		sframe_map_free(map);
	else
		mm->sframe_map = map;
	return error;
}

static bool sframe_has_text(struct sframe_map *map, const struct sframe_section *section)
{
	for (unsigned int i = 0; i < section->range_count; i++) {
		unsigned long at = section->ranges[i].start, last = section->ranges[i].end - 1;
		void *entry;

		mt_for_each(&map->ranges, entry, at, last) {
			if (entry == section)
				return true;
		}
	}
	return false;
}

/*
 * Take text out of a piece.  A hole makes two of one: a process that makes holes without
 * end, which new mappings of other text can fill, loses the section.
 */
static void sframe_cut(struct sframe_map *map, const struct sframe_piece *piece,
		       unsigned long first, unsigned long last)
{
	bool head = first > piece->first;
	bool tail = last < piece->last;

	if (head && tail && map->range_count >= READ_ONCE(sframe_max_ranges)) {
		sframe_forget(map, piece->section);
		return;
	}
	sframe_clear(&map->ranges, max(piece->first, first), min(piece->last, last));
	map->range_count += head + tail;
	map->range_count--;
	if (!sframe_has_text(map, piece->section))
		sframe_forget(map, piece->section);
}

/* What is left of a section serves on; a section of which nothing is left is removed. */
void sframe_mm_unmap(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct sframe_map *map = mm->sframe_map;
	struct sframe_piece piece;

	/* a new mapping that takes nobody's place has an empty range here */
	if (!map || start >= end)
		return;
	while (sframe_first_piece(map, start, end - 1, &piece))
		sframe_cut(map, &piece, start, end - 1);
}

/* Walks are of the current task, and by now the mm is no task's. */
void sframe_mm_exit(struct mm_struct *mm)
{
	struct sframe_map *map = mm->sframe_map;

	if (!map)
		return;
	mm->sframe_map = NULL;
	sframe_map_free(map);
}
