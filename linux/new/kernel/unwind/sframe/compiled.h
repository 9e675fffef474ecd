/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compiled.h - compiled tables of user space, which the kernel has mapped.
 *
 * Their format is specified in docs/compiled-table.md of bobbin.  A lookup makes three copies from
 * user memory, of 8, 64 and 8 bytes; one more for each quarter of an entry of the index that is
 * split, of which there are three at most.
 */
#ifndef _KERNEL_UNWIND_SFRAME_COMPILED_H
#define _KERNEL_UNWIND_SFRAME_COMPILED_H

#include "section.h"
#include "table/table_parts.h"

/**
 * struct sframe_compiled - a table whose head is checked
 * @table: its parts, in user memory; all of them lie in the bytes that were registered
 * @bias: added to the addresses of the table, it gives those of the process
 * @pairs: a copy of the part that all lookups need
 */
struct sframe_compiled {
	struct compiled_table table;
	u64 bias;
	u8 pairs[TABLE_PAIRS_SIZE];
};

/*
 * Look at the head of a table of @size bytes at @data, before it is inserted for the text of
 * @section.  @build_id: of the code, @length bytes, 0: it is not known.  0; -EBADMSG: malformed,
 * of another file or of other text; -EFAULT; -ENOMEM.
 */
int sframe_open_compiled(struct sframe_section *section, unsigned long data, u64 size, u64 bias,
			 const u8 *build_id, unsigned int length);

/*
 * The row of a PC.  0; -ENOENT: nothing is known of it; -EBADMSG and @error: the table is
 * malformed, or cannot be read.
 */
int sframe_lookup_compiled(const struct sframe_section *section, u64 pc, struct bobbin_error *error,
			   struct bobbin_row *row);

#endif
