/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * indexed_sections.h - SFrame sections that stand back to back, with their indexes.
 *
 * Linkers put sections one after the other without merging them.  What they say of their own stubs
 * (SFRAME_STUB) is not believed: other tables of the file, or the code, say it.
 */
#ifndef BOBBIN_UNWIND_INDEXED_SECTIONS_H
#define BOBBIN_UNWIND_INDEXED_SECTIONS_H

#include <bobbin/range.h>
#include <bobbin/sframe.h>

#include "unwind/table_set.h"

/* What is after these is not looked at. */
#define INDEXED_SECTIONS_MAX 8

struct indexed_section {
	struct bobbin_sframe_view view;
	uint32_t *buckets;         /* of its index; NULL: searched without */
	struct bobbin_range stubs; /* a function that is not believed; or empty */
};

struct indexed_sections {
	struct indexed_section *list;
	size_t count, room;
};

/*
 * Open the sections in @data, which is borrowed; @addr: its address in the space of
 * the PCs.  @sections is empty before.  0; -EBADMSG and @err: one is malformed or
 * another architecture's, those before it are open; -ENOMEM.  Each time
 * indexed_sections_fini() is due, which leaves it empty.
 */
int indexed_sections_open(const void *data, size_t size, uint64_t addr,
			  const struct bobbin_arch *arch, struct bobbin_error *err,
			  struct indexed_sections *sections);
void indexed_sections_fini(struct indexed_sections *sections);

/* The row of the first that knows @pc.  0; -ENOENT; -EBADMSG and @err: one is malformed. */
int indexed_sections_lookup(const struct indexed_sections *sections, uint64_t pc,
			    struct bobbin_error *err, struct bobbin_row *row);

/* The version of the first one; 0: there is none, or @sections is NULL. */
unsigned int indexed_sections_version(const struct indexed_sections *sections);

extern const struct table_ops indexed_sections_ops;

#endif
