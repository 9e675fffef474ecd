/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* section_registration.h - check what is registered for the current mm, and put it into its map. */
#ifndef _KERNEL_UNWIND_SFRAME_SECTION_REGISTRATION_H
#define _KERNEL_UNWIND_SFRAME_SECTION_REGISTRATION_H

#include "core/deps.h"
#include "map.h"

/*
 * How much of a section is looked at: its header, or also what follows it and, if that is
 * configured, each byte.  Functions and rows are looked at when they are used.
 */
enum sframe_scrutiny {
	SFRAME_HEADER,
	SFRAME_SECTION_END
};

/* Of one section. */
#define SFRAME_MAX_TABLE (256ull << 20)

/* Sort ranges of text; -EINVAL: they overlap, are empty or too large. */
int sframe_check_ranges(struct code_text_range *ranges, unsigned int count);

/* 0; -EINVAL: no range; -EFBIG. */
int sframe_check_table(u64 start, u64 end);

/* bobbin_sframe_view() of user memory at @data; -EBADMSG also where lookups would take long. */
int sframe_view(unsigned long data, u64 size, u64 addr, struct bobbin_error *error,
		struct bobbin_sframe_view *ret);

/*
 * Look at a section of @size bytes at @data, which counts as at @addr, before it is
 * inserted for the text of @section.  0; -EBADMSG; -EFAULT: not all of it is mapped, or the
 * header cannot be read; -EINTR.  One that begins with zeros is empty.
 */
int sframe_open_section(struct sframe_section *section, unsigned long data, u64 size, u64 addr,
			enum sframe_scrutiny scrutiny);

/* Insert into the map of the current mm, or free.  Errors of sframe_map_insert(), -EINTR. */
int sframe_register_section(struct sframe_section *section);

/*
 * A section in memory, for text whose ranges are checked.  Errors of the three above; -ENOMEM.
 */
int sframe_register_memory(u64 start, u64 end, const struct code_text_range *text,
			   unsigned int count, enum sframe_scrutiny scrutiny);

/* Remove one from the map of the current mm.  0, -ENOENT, -EINTR. */
int sframe_unregister_section(unsigned int kinds, unsigned long key,
			      const struct code_text_range *text);

#endif
