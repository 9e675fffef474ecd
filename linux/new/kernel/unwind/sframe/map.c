// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * map.c - from text to the tables that unwind it, of one mm.
 *
 * The mmap lock, held for writing, guards all trees, so that changes may wait for memory;
 * walks look up by RCU, while it is held.
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
#include <linux/uaccess.h>
#include <linux/unwind_user_sframe.h>

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

/*
 * A walk may be about to take a reference: it looks the section up under RCU.  It follows
 * pointers only if it has got one.
 */
void sframe_section_put(struct sframe_section *section)
{
	if (!refcount_dec_and_test(&section->refs))
		return;
	kfree(section->compiled);
	kvfree_rcu(section, rcu);
}

/* An entry of a tree: from @first to @last. */
struct sframe_piece {
	unsigned long first, last;
	struct sframe_section *section;
};

/* The first piece that has some of a range; or false. */
static bool sframe_first_piece(struct maple_tree *tree, unsigned long first, unsigned long last,
			       struct sframe_piece *ret)
{
	MA_STATE(mas, tree, first, first);

	ret->section = mas_find(&mas, last);
	ret->first = mas.index;
	ret->last = mas.last;
	return ret->section;
}

/*
 * Without fail, which mas_erase() does not promise to a task that the OOM killer has
 * chosen: a section that stayed in a tree would be used after it was freed.
 */
static void sframe_store(struct maple_tree *tree, unsigned long first, unsigned long last,
			 void *entry)
{
	MA_STATE(mas, tree, first, last);

	mas_store_gfp(&mas, entry, GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
}

/* Where nothing is.  0; -EEXIST; -ENOMEM. */
static int sframe_insert(struct maple_tree *tree, unsigned long first, unsigned long last,
			 void *entry)
{
	MA_STATE(mas, tree, first, first);

	if (mas_find(&mas, last))
		return -EEXIST;
	mas_set_range(&mas, first, last);
	return mas_store_gfp(&mas, entry, GFP_KERNEL_ACCOUNT);
}

/*
 * Unmap the pages that the kernel has mapped for a section, but for those where the process
 * has unmapped them, or has put something else.  If there is no lock, the process is ending.
 * So it is if there is no mm: work that a walk of do_exit() has left is done after exit_mm().
 */
static void sframe_unmap_pages(struct sframe_section *section)
{
	unsigned long last = section->mapped + section->mapped_size - 1;
	struct mm_struct *mm = current->mm;
	struct sframe_piece piece;
	unsigned long at = section->mapped;

	if (!mm || mmap_write_lock_killable(mm))
		return;
	while (mm->sframe_map && at <= last &&
	       sframe_first_piece(&mm->sframe_map->pages, at, last, &piece)) {
		at = piece.last + 1;
		/* which takes the piece out of the tree */
		if (piece.section == section)
			do_munmap(mm, piece.first, at - piece.first, NULL);
	}
	mmap_write_unlock(mm);
}

/* If a range was refused, a walk may have found it by those before. */
void sframe_section_free(struct sframe_section *section)
{
	if (section->mapped)
		sframe_unmap_pages(section);
	sframe_section_put(section);
}

/* Of a section that is in no map any more. */
struct sframe_unmapping {
	struct callback_head work;
	struct sframe_section *section;
};

static void sframe_unmap_work(struct callback_head *work)
{
	struct sframe_unmapping *u = container_of(work, struct sframe_unmapping, work);

	sframe_section_free(u->section);
	kfree(u);
}

/*
 * When the current task returns to user space: now it may be in the middle of an
 * munmap(), and has the mmap lock.
 */
static void sframe_unmap_later(struct sframe_section *section)
{
	struct sframe_unmapping *u;

	u = kmalloc_obj(*u, GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	u->section = section;
	refcount_inc(&section->refs);
	init_task_work(&u->work, sframe_unmap_work);
	if (!task_work_add(current, &u->work, TWA_RESUME))
		return;
	/* who exits unmaps everything */
	sframe_section_put(section);
	kfree(u);
}

static void sframe_tree_init(struct maple_tree *tree, struct mm_struct *mm, unsigned int flags)
{
	mt_init_flags(tree, MT_FLAGS_LOCK_EXTERN | flags);
	mt_set_external_lock(tree, &mm->mmap_lock);
}

static struct sframe_map *sframe_map_alloc(struct mm_struct *mm)
{
	struct sframe_map *map = kzalloc_obj(*map, GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	sframe_tree_init(&map->ranges, mm, MT_FLAGS_USE_RCU);
	sframe_tree_init(&map->keys, mm, 0);
	sframe_tree_init(&map->pieces, mm, 0);
	sframe_tree_init(&map->pages, mm, 0);
	map->first = ULONG_MAX;
	map->generation = 1;
	sframe_cache_init(&map->cache);
	return map;
}

/* The mm's, which begins to have one. */
static struct sframe_map *sframe_map_get(struct mm_struct *mm)
{
	struct sframe_map *map = mm->sframe_map;

	if (map)
		return map;
	map = sframe_map_alloc(mm);
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

/* Text that has no section any more.  What walks have looked up before counts no more. */
static void sframe_take_out(struct sframe_map *map, unsigned long first, unsigned long last)
{
	sframe_store(&map->ranges, first, last, NULL);
	/* pairs with the load in sframe_map_generation() */
	smp_store_release(&map->generation, map->generation + 1);
	sframe_cache_empty(&map->cache);
}

/* Take the first ranges of a section out again. */
static void sframe_erase_ranges(struct sframe_map *map, const struct sframe_section *section,
				unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		sframe_take_out(map, section->ranges[i].start, section->ranges[i].end - 1);
	map->range_count -= count;
}

static void sframe_map_stretch(struct sframe_map *map, const struct sframe_section *section)
{
	unsigned long last = section->ranges[section->range_count - 1].end - 1;

	WRITE_ONCE(map->first, min_t(unsigned long, map->first, section->ranges[0].start));
	WRITE_ONCE(map->last, max(map->last, last));
}

static int sframe_insert_ranges(struct sframe_map *map, struct sframe_section *section)
{
	unsigned int i;
	int error = 0;

	sframe_map_stretch(map, section);
	for (i = 0; i < section->range_count && !error; i++) {
		error = sframe_insert(&map->ranges, section->ranges[i].start,
				      section->ranges[i].end - 1, section);
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
	if (map->range_count + section->range_count > READ_ONCE(sframe_max_ranges))
		return -ENOSPC;
	error = sframe_insert(&map->keys, section->key, section->key, section);
	if (error)
		return error;
	error = sframe_insert_ranges(map, section);
	if (error)
		sframe_store(&map->keys, section->key, section->key, NULL);
	return error;
}

int sframe_map_keep_pages(struct mm_struct *mm, struct sframe_section *section)
{
	unsigned long end = section->mapped + section->mapped_size;
	struct vm_area_struct *vma = vma_lookup(mm, section->mapped);
	struct sframe_map *map;

	mmap_assert_write_locked(mm);
	/* another thread may have put something else there */
	if (!vma || !vma->vm_file || vma->vm_end < end)
		return -EFAULT;
	map = sframe_map_get(mm);
	return map ? sframe_insert(&map->pages, section->mapped, end - 1, section) : -ENOMEM;
}

/* The map has no text of a section any more.  fork() has its own sections, and no pages. */
static void sframe_retire(struct sframe_map *map, struct sframe_section *section)
{
	sframe_store(&map->keys, section->key, section->key, NULL);
	if (mtree_load(&map->pieces, section->key))
		sframe_store(&map->pieces, section->key, section->key, NULL);
	if (section->mapped && current->mm && current->mm->sframe_map == map &&
	    !(current->flags & PF_KTHREAD))
		sframe_unmap_later(section);
	sframe_section_put(section);
}

/* Erase what the tree has of a section: parts of its text may serve others by now. */
static void sframe_forget(struct sframe_map *map, struct sframe_section *section)
{
	for (unsigned int i = 0; i < section->range_count; i++) {
		unsigned long at = section->ranges[i].start, last = section->ranges[i].end - 1;
		struct sframe_piece piece;

		while (at <= last && sframe_first_piece(&map->ranges, at, last, &piece)) {
			at = piece.last + 1;
			if (piece.section != section)
				continue;
			sframe_take_out(map, piece.first, piece.last);
			map->range_count--;
		}
		cond_resched();
	}
	sframe_retire(map, section);
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
	if (text && memcmp(text, &section->ranges[section->first], sizeof(*text)))
		return -ENOENT;
	sframe_forget(map, section);
	return 0;
}

struct sframe_section *sframe_map_search(struct sframe_map *map, unsigned long generation,
					 unsigned long addr)
{
	MA_STATE(mas, &map->ranges, addr, addr);
	struct sframe_section *section;

	if (sframe_map_is_beyond(map, addr))
		return NULL;
	section = mas_walk(&mas);
	if (section)
		sframe_cache_remember(&map->cache, &map->generation, generation, section, mas.index,
				      mas.last);
	return section;
}

struct sframe_section *sframe_map_find(struct sframe_map *map, unsigned long addr)
{
	struct sframe_section *section;

	rcu_read_lock();
	section = sframe_map_peek(map, sframe_map_generation(map), addr);
	/* the last reference may be gone already */
	if (section && !refcount_inc_not_zero(&section->refs))
		section = NULL;
	rcu_read_unlock();
	return section;
}

/* By the first that has a range there.  Who only gives a name to code has no table for it. */
static bool sframe_covers_some(struct sframe_map *map, const struct vm_area_struct *vma)
{
	struct sframe_piece piece;

	return sframe_first_piece(&map->ranges, vma->vm_start, vma->vm_end - 1, &piece) &&
	       piece.section->kind != SFRAME_NAMED;
}

bool sframe_mm_covers_mapping(struct mm_struct *mm, unsigned long addr)
{
	struct sframe_map *map = sframe_map_of(mm);
	struct vm_area_struct *vma;
	bool covers;

	if (!map)
		return false;
	if (faulthandler_disabled() || mmap_read_lock_killable(mm))
		return true;
	vma = vma_lookup(mm, addr);
	covers = !vma || sframe_covers_some(map, vma);
	mmap_read_unlock(mm);
	return covers;
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

/* In a walk it is mostly the stack that cannot be read. */
static const char *sframe_reason(const struct bobbin_error *error)
{
	if (error->reason == BOBBIN_REASON_NO_MEMORY)
		return "the table is not readable";
	return bobbin_reason_str(error->reason);
}

static void sframe_tell(struct mm_struct *mm, const struct sframe_section *section,
			const struct bobbin_error *error)
{
	char room[128];

	pr_debug_ratelimited("sframe: %s[%d]: table at %#lx of %s: offset %llu: %s: removed\n",
			     current->comm, task_pid_nr(current), section->key,
			     sframe_file_name(mm, section->ranges[0].start, room, sizeof(room)),
			     error->offset, sframe_reason(error));
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
static void sframe_trees_free(struct sframe_map *map)
{
	mt_clear_in_rcu(&map->ranges);
	__mt_destroy(&map->ranges);
	__mt_destroy(&map->keys);
	__mt_destroy(&map->pieces);
	__mt_destroy(&map->pages);
	sframe_cache_fini(&map->cache);
	kfree(map);
}

/* Node by node: both mmap locks are held. */
static int sframe_copy(struct sframe_map *from, struct sframe_map *to)
{
	struct sframe_section *section;
	unsigned long key = 0;
	int error;

	error = __mt_dup(&from->ranges, &to->ranges, GFP_KERNEL_ACCOUNT);
	if (!error)
		error = __mt_dup(&from->keys, &to->keys, GFP_KERNEL_ACCOUNT);
	if (!error)
		error = __mt_dup(&from->pieces, &to->pieces, GFP_KERNEL_ACCOUNT);
	if (!error)
		error = __mt_dup(&from->pages, &to->pages, GFP_KERNEL_ACCOUNT);
	if (error)
		return error;
	to->first = from->first;
	to->last = from->last;
	to->range_count = from->range_count;
	mt_for_each(&to->keys, section, key, ULONG_MAX) {
		refcount_inc(&section->refs);
		cond_resched();
	}
	return 0;
}

/* What a child does not have, as its parent has said by MADV_DONTFORK. */
static void sframe_leave_out(struct mm_struct *mm, struct mm_struct *from)
{
	VMA_ITERATOR(vmi, from, 0);
	struct vm_area_struct *vma;

	for_each_vma_range(vmi, vma, ULONG_MAX) {
		if (vma->vm_flags & VM_DONTCOPY)
			sframe_mm_unmap(mm, vma->vm_start, vma->vm_end);
	}
}

int sframe_mm_dup(struct mm_struct *mm, struct mm_struct *from)
{
	struct sframe_map *map, *old = from->sframe_map;
	int error;

	mmap_assert_write_locked(from);
	if (!old)
		return 0;
	map = sframe_map_alloc(mm);
	if (!map)
		return -ENOMEM;
	error = sframe_copy(old, map);
	if (error) {
		sframe_trees_free(map);
		return error;
	}
	mm->sframe_map = map;
	sframe_leave_out(mm, from);
	return 0;
}

/*
 * The number of entries of the text's tree that are a section's changes.  It is kept apart,
 * where they are not those of its ranges, as sections are shared with the children of fork().
 */
static void sframe_count_pieces(struct sframe_map *map, struct sframe_section *section, int more)
{
	void *entry = mtree_load(&map->pieces, section->key);
	unsigned long count = entry ? xa_to_value(entry) : section->range_count;

	map->range_count += more;
	if (count + more)
		sframe_store(&map->pieces, section->key, section->key, xa_mk_value(count + more));
	else
		sframe_retire(map, section);
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
	sframe_take_out(map, max(piece->first, first), min(piece->last, last));
	if (head + tail != 1)
		sframe_count_pieces(map, piece->section, head + tail - 1);
}

/* Pages that are not the kernel's mapping any more. */
static void sframe_cut_pages(struct sframe_map *map, unsigned long first, unsigned long last)
{
	struct sframe_piece piece;

	while (sframe_first_piece(&map->pages, first, last, &piece))
		sframe_store(&map->pages, max(piece.first, first), min(piece.last, last), NULL);
}

/* What is left of a section serves on; a section of which nothing is left is removed. */
void sframe_mm_unmap(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	struct sframe_map *map = mm->sframe_map;
	struct sframe_piece piece;

	/* a new mapping that takes nobody's place has an empty range here */
	if (!map || start >= end)
		return;
	while (sframe_first_piece(&map->ranges, start, end - 1, &piece)) {
		sframe_cut(map, &piece, start, end - 1);
		cond_resched();
	}
	sframe_cut_pages(map, start, end - 1);
}

/* Walks are of the current task, and by now the mm is no task's. */
void sframe_mm_exit(struct mm_struct *mm)
{
	struct sframe_map *map = mm->sframe_map;
	struct sframe_section *section;
	unsigned long key = 0;

	if (!map)
		return;
	mm->sframe_map = NULL;
	mt_for_each(&map->keys, section, key, ULONG_MAX) {
		sframe_section_put(section);
		cond_resched();
	}
	mmap_write_lock(mm);
	sframe_trees_free(map);
	mmap_write_unlock(mm);
}
