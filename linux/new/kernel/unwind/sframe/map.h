/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * map.h - from text to the tables that unwind it, of one mm.
 *
 * Changes are made under the mmap lock, held for writing.  Walks look up under
 * sframe_srcu, and hold it as long as they use what they have found.
 */
#ifndef _KERNEL_UNWIND_SFRAME_MAP_H
#define _KERNEL_UNWIND_SFRAME_MAP_H

#include <linux/maple_tree.h>
#include <linux/refcount.h>
#include <linux/srcu.h>

#include <bobbin/code_abi.h>
#include <bobbin/sframe.h>

enum sframe_kind {
	SFRAME_SECTION, /* @view, of what is at @key */
	SFRAME_FILE,    /* @view, of what the kernel has mapped at @mapped */
	SFRAME_JIT,     /* a chain of tables from @key on */
	SFRAME_NAMED    /* no table: nothing is known of the text */
};

/**
 * struct sframe_section - a table, and the text that it is for
 * @refs: mms that have it
 * @rcu: to free it when no walk uses it any more
 * @kind: of the table
 * @key: by what it is unregistered: address of the table that the process has mapped,
 *	else of the text
 * @mapped, @mapped_size: pages of a file, mapped for this section; else 0
 * @view: its header, checked
 * @text: the range that was named first
 * @range_count, @ranges: all of the text, ascending
 *
 * Nothing but @refs changes once it is in a map.
 */
struct sframe_section {
	refcount_t refs;
	struct rcu_head rcu;
	enum sframe_kind kind;
	unsigned long key;
	unsigned long mapped, mapped_size;
	struct bobbin_sframe_view view;
	struct code_text_range text;
	unsigned int range_count;
	struct code_text_range ranges[] __counted_by(range_count);
};

/**
 * struct sframe_map - of one mm
 * @ranges: text to sections
 * @keys: keys to sections
 * @range_count: entries of @ranges
 */
struct sframe_map {
	struct maple_tree ranges, keys;
	unsigned long range_count;
};

extern struct srcu_struct sframe_srcu;

struct sframe_section *sframe_section_alloc(unsigned int range_count);

/* Of a section that is in no map.  Pages that were mapped for it are unmapped. */
void sframe_section_free(struct sframe_section *section);

/*
 * Put a section into the map of the current mm; it is the map's then.  The mmap lock is
 * held.  0; -EINVAL: its text is not all mapped and executable; -EEXIST; -ENOSPC: the
 * limit is reached; -ENOMEM.
 */
int sframe_map_insert(struct mm_struct *mm, struct sframe_section *section);

/* By its key, and by its first text if @text is given.  The mmap lock is held.  0, -ENOENT. */
int sframe_map_remove(struct mm_struct *mm, unsigned int kinds, unsigned long key,
		      const struct code_text_range *text);

/* The section for an address, valid under sframe_srcu; or NULL. */
struct sframe_section *sframe_map_find(struct mm_struct *mm, unsigned long addr);

/* Remove a section that a walk has found to be corrupt, once.  sframe_srcu is held. */
void sframe_map_drop(struct mm_struct *mm, const struct sframe_section *section,
		     const struct bobbin_error *error);

#endif
