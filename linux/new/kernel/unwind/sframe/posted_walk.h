/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * posted_walk.h - the walk as the posted series, version 15, describes it; to measure what
 * that costs, and for nothing else.
 *
 * Like here, a maple tree leads from text to a section, of which a walk does a binary
 * search.  Unlike here, all of a lookup is one window of user access.  It knows version 3
 * and ordinary functions, of programs whose return addresses have a fixed slot.
 */
#ifndef _KERNEL_UNWIND_SFRAME_POSTED_WALK_H
#define _KERNEL_UNWIND_SFRAME_POSTED_WALK_H

#include <linux/maple_tree.h>
#include <linux/srcu.h>
#include <linux/uaccess.h>
#include <linux/unwind_user.h>

#include "kunit_section.h"

struct posted_section {
	struct rcu_head rcu;
	unsigned long start, end;
	unsigned long text_start, text_end;
	unsigned long entries, rows, rows_end;
	u32 num_fdes;
	s8 fixed_ra;
};

/* The function of an address. */
struct posted_function {
	unsigned long start, rows;
	u32 size, num_fres;
	u8 info, info2, rep_size;
};

struct posted_row {
	unsigned long words;
	u32 start;
	u8 info;
};

static __always_inline int posted_read_function(const struct posted_section *s, unsigned long entry,
						struct posted_function *f)
{
	const struct section_entry __user *e = (const void __user *)entry;
	const struct section_attributes __user *a;
	u32 off;
	s64 start;

	unsafe_get_user(start, &e->start, fault);
	unsafe_get_user(f->size, &e->size, fault);
	unsafe_get_user(off, &e->row_off, fault);
	f->start = entry + start;
	if (f->start < s->text_start || f->start + f->size > s->text_end)
		return -EINVAL;
	a = (const void __user *)(s->rows + off);
	if ((unsigned long)(a + 1) > s->rows_end)
		return -EINVAL;
	unsafe_get_user(f->num_fres, &a->num_fres, fault);
	unsafe_get_user(f->info, &a->info, fault);
	unsafe_get_user(f->info2, &a->info2, fault);
	unsafe_get_user(f->rep_size, &a->rep_size, fault);
	f->num_fres = (u16)f->num_fres;
	f->rows = (unsigned long)(a + 1);
	return f->num_fres > f->size ? -EINVAL : 0;
fault:
	return -EFAULT;
}

static __always_inline int posted_find_function(const struct posted_section *s, unsigned long ip,
						struct posted_function *f)
{
	unsigned long found = 0;
	u32 low = 0, high = s->num_fdes;
	int status;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		unsigned long entry = s->entries + middle * sizeof(struct section_entry);
		s64 start;

		unsafe_get_user(start, (const s64 __user *)entry, fault);
		if (ip >= entry + start) {
			found = entry;
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (!found)
		return -ENOENT;
	status = posted_read_function(s, found, f);
	if (status)
		return status;
	return ip - f->start < f->size ? 0 : -ENOENT;
fault:
	return -EFAULT;
}

static __always_inline int posted_read_number(unsigned long at, unsigned int bytes, u32 *ret)
{
	u8 byte;
	u16 half;

	if (bytes == 1) {
		unsafe_get_user(byte, (const u8 __user *)at, fault);
		*ret = byte;
	} else if (bytes == 2) {
		unsafe_get_user(half, (const u16 __user *)at, fault);
		*ret = half;
	} else {
		unsafe_get_user(*ret, (const u32 __user *)at, fault);
	}
	return 0;
fault:
	return -EFAULT;
}

/* Only starts and sizes of rows are read on the way. */
static __always_inline int posted_find_row(const struct posted_section *s, unsigned long ip,
					   const struct posted_function *f, struct posted_row *row)
{
	unsigned int width = 1 << (f->info & 0x0f), i;
	u32 offset = ip - f->start;
	unsigned long at = f->rows;
	u32 start;
	u8 info;

	if (width > 4 || (f->info & 0x10 && !f->rep_size))
		return -EINVAL;
	if (f->info & 0x10)
		offset %= f->rep_size;
	row->words = 0;
	for (i = 0; i < f->num_fres; i++) {
		if (at + width + 1 > s->rows_end)
			return -EINVAL;
		if (posted_read_number(at, width, &start))
			return -EFAULT;
		if (start > offset)
			break;
		unsafe_get_user(info, (const u8 __user *)(at + width), fault);
		if ((info >> 5 & 3) > 2)
			return -EINVAL;
		row->words = at + width + 1;
		row->start = start;
		row->info = info;
		at = row->words + ((info >> 1 & 0x0f) << (info >> 5 & 3));
		if (at > s->rows_end)
			return -EINVAL;
	}
	return row->words ? 0 : -EINVAL;
fault:
	return -EFAULT;
}

static __always_inline int posted_read_words(const struct posted_section *s,
					     const struct posted_row *row,
					     struct unwind_user_frame *frame)
{
	unsigned int count = row->info >> 1 & 0x0f, bytes = 1 << (row->info >> 5 & 3);
	unsigned int shift = 32 - 8 * bytes;
	u32 word;

	if (!count || count > 2)
		return -EINVAL;
	if (posted_read_number(row->words, bytes, &word))
		return -EFAULT;
	frame->cfa_off = (s32)(word << shift) >> shift;
	frame->ra_off = s->fixed_ra;
	frame->fp_off = 0;
	frame->use_fp = !(row->info & 1);
	if (count == 1)
		return 0;
	if (posted_read_number(row->words + bytes, bytes, &word))
		return -EFAULT;
	frame->fp_off = (s32)(word << shift) >> shift;
	return 0;
}

static int posted_lookup(const struct posted_section *s, unsigned long ip,
			 struct unwind_user_frame *frame)
{
	struct posted_function f;
	struct posted_row row;
	int status;

	if (!user_read_access_begin((const void __user *)s->start, s->end - s->start))
		return -EFAULT;
	status = posted_find_function(s, ip, &f);
	if (!status)
		status = posted_find_row(s, ip, &f, &row);
	if (!status)
		status = posted_read_words(s, &row, frame);
	user_read_access_end();
	return status;
}

/* What both kinds of frames have in common, as kernel/unwind/user.c has it. */
static int posted_apply(struct unwind_user_state *state, const struct unwind_user_frame *frame)
{
	unsigned long cfa = (frame->use_fp ? state->fp : state->sp) + frame->cfa_off, ra, fp;

	if (cfa <= state->sp || cfa & (state->ws - 1))
		return -EINVAL;
	if (get_user(ra, (unsigned long __user *)(cfa + frame->ra_off)))
		return -EINVAL;
	if (frame->fp_off && get_user(fp, (unsigned long __user *)(cfa + frame->fp_off)))
		return -EINVAL;
	state->ip = ra;
	state->sp = cfa;
	if (frame->fp_off)
		state->fp = fp;
	state->topmost = false;
	return 0;
}

static int posted_next(struct maple_tree *sections, struct srcu_struct *srcu,
		       struct unwind_user_state *state)
{
	unsigned long ip = state->topmost ? state->ip : state->ip - 1;
	struct posted_section *section;
	struct unwind_user_frame frame;
	int idx, status = -ENOENT;

	idx = srcu_read_lock(srcu);
	section = mtree_load(sections, ip);
	if (section)
		status = posted_lookup(section, ip, &frame);
	srcu_read_unlock(srcu, idx);
	return status ?: posted_apply(state, &frame);
}

#endif
