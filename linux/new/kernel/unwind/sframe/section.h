/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* section.h - a table of user space, and the text that it is for. */
#ifndef _KERNEL_UNWIND_SFRAME_SECTION_H
#define _KERNEL_UNWIND_SFRAME_SECTION_H

#include <linux/refcount.h>
#include <linux/types.h>

#include <bobbin/code_abi.h>
#include <bobbin/sframe.h>

enum sframe_kind {
	SFRAME_SECTION,  /* @view, of what is at @key */
	SFRAME_FILE,     /* @view, of what the kernel has mapped at @mapped */
	SFRAME_COMPILED, /* @compiled, likewise at @mapped */
	SFRAME_JIT,      /* a chain of tables from @key on */
	SFRAME_NAMED     /* no table: nothing is known of the text */
};

struct sframe_compiled;

/* Packed rules with a CFA at SP or FP, without an offset, and FP unchanged. */
struct sframe_plain {
	u64 sp, fp;
};

/**
 * struct sframe_section - a table, and the text that it is for
 * @refs: mms that have it, and walks that use it
 * @kind: of the table
 * @rcu: to free it when no walk is about to use it any more
 * @key: by what it is unregistered: address of the table that the process has mapped,
 *	else of the text
 * @mapped, @mapped_size: where pages of a file were mapped for this section; else 0
 * @view: its header, checked
 * @compiled: its head, checked; the section's own, or NULL
 * @plain: what its usual rules differ from but for offsets; or 0
 * @first: number of the range that was named first
 * @range_count, @ranges: all of the text, ascending
 *
 * Nothing but @refs changes once it is in a map.
 */
struct sframe_section {
	refcount_t refs;
	enum sframe_kind kind;
	struct rcu_head rcu;
	unsigned long key;
	unsigned long mapped, mapped_size;
	struct bobbin_sframe_view view;
	struct sframe_compiled *compiled;
	struct sframe_plain plain;
	unsigned int first, range_count;
	struct code_text_range ranges[] __counted_by(range_count);
};

#endif
