/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * map.h - from text to the tables that unwind it, of one mm.
 *
 * Changes are made under the mmap lock, held for writing.  Walks look up without it, and
 * have a reference to what they have found: so who waits for a page keeps one section.
 */
#ifndef _KERNEL_UNWIND_SFRAME_MAP_H
#define _KERNEL_UNWIND_SFRAME_MAP_H

#include <linux/maple_tree.h>
#include <linux/mm_types.h>

#include "section.h"
#include "word_cache.h"

/**
 * struct sframe_map - of one mm
 * @ranges: text to sections
 * @keys: keys to sections
 * @pieces: keys to numbers of entries in @ranges, of sections that have lost or split some
 * @pages: what the kernel has mapped, and the process has left alone, to sections
 * @first, @last: all of @ranges lie between them; read without the lock
 * @range_count: entries of @ranges
 * @generation: how often something was taken out of @ranges, and one; read without the lock
 * @cache: of this generation, or an older one
 */
struct sframe_map {
	struct maple_tree ranges, keys, pieces, pages;
	unsigned long first, last, range_count, generation;
	struct sframe_rule_cache cache;
};

struct sframe_section *sframe_section_alloc(unsigned int range_count);

/* Of a section that is in no map.  Pages that were mapped for it are unmapped. */
void sframe_section_free(struct sframe_section *section);

/*
 * Put a section into the map of the current mm; it is the map's then.  The mmap lock is
 * held.  0; -EINVAL: its text is not all mapped and executable; -EEXIST; -ENOSPC: the
 * limit is reached; -ENOMEM.
 */
int sframe_map_insert(struct mm_struct *mm, struct sframe_section *section);

/*
 * Remember that the pages at @section->mapped were mapped for it, until the process unmaps
 * them.  The mmap lock is held.  0; -EFAULT: the mapping is gone already; -ENOMEM.
 */
int sframe_map_keep_pages(struct mm_struct *mm, struct sframe_section *section);

/* By its key, and by its first text if @text is given.  The mmap lock is held.  0, -ENOENT. */
int sframe_map_remove(struct mm_struct *mm, unsigned int kinds, unsigned long key,
		      const struct code_text_range *text);

/* The map of an mm, or NULL; it is there as long as the mm has users. */
static inline struct sframe_map *sframe_map_of(const struct mm_struct *mm)
{
	/* pairs with the store in sframe_map_get() */
	return smp_load_acquire(&mm->sframe_map);
}

/* What is found after this, and is not of the map any more, is of this generation. */
static inline unsigned long sframe_map_generation(const struct sframe_map *map)
{
	/* pairs with the store in sframe_take_out() */
	return smp_load_acquire(&map->generation);
}

/* Whether an address is before all text of the map, or after it, and so has no section. */
static inline bool sframe_map_is_beyond(const struct sframe_map *map, unsigned long addr)
{
	return addr < READ_ONCE(map->first) || addr > READ_ONCE(map->last);
}

/*
 * The section for an address that was not the last one, or NULL.  Without a reference, under RCU
 * from before the generation was read.
 */
struct sframe_section *sframe_map_search(struct sframe_map *map, unsigned long generation,
					 unsigned long addr);

/* The section for an address, likewise. */
static __always_inline struct sframe_section *sframe_map_peek(struct sframe_map *map,
							      unsigned long generation,
							      unsigned long addr)
{
	struct sframe_section *section = sframe_cache_recent(&map->cache, generation, addr);

	return likely(section) ? section : sframe_map_search(map, generation, addr);
}

/* The section for an address, with a reference; or NULL. */
struct sframe_section *sframe_map_find(struct sframe_map *map, unsigned long addr);

/* Give a reference back. */
void sframe_section_put(struct sframe_section *section);

/* Remove a section that a walk has found to be corrupt, once. */
void sframe_map_drop(struct mm_struct *mm, const struct sframe_section *section,
		     const struct bobbin_error *error);

#endif
