/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapped_tables.h - the unwind tables of a loaded ELF object, where its segments have them.
 *
 * PT_GNU_EH_FRAME leads to call-frame information, PT_GNU_SFRAME to SFrame sections.  Nothing is
 * copied, indexed or allocated, so this can be done in a signal handler, and each time anew.  All
 * is in the process's own addresses.
 */
#ifndef BOBBIN_UNWIND_MAPPED_TABLES_H
#define BOBBIN_UNWIND_MAPPED_TABLES_H

#include <bobbin/cfi.h>
#include <elf.h>
#include <link.h>

#include "unwind/loader_link.h"
#include "unwind/table_set.h"

/* Program headers, as the loader or the object has them; borrowed. */
struct program_headers {
	const ElfW(Phdr) * headers;
	size_t count;
	uint64_t bias; /* addresses are this much more than the headers say */
};

/**
 * struct mapped_tables - the tables of one object
 * @start, @end: the object's addresses, those between its segments included
 * @headers: borrowed
 * @cfi: @cfi.frame NULL: there is none with a search table
 * @sframe, @sframe_size: SFrame sections back to back; used if there is no @cfi, which says
 *	more
 * @set: of these; it points into this structure, which must not be moved
 */
struct mapped_tables {
	uint64_t start, end;
	struct program_headers headers;
	struct bobbin_cfi_view cfi;
	const uint8_t *sframe;
	size_t sframe_size;
	struct table_set set;
};

/*
 * Find the tables of an object, which must be mapped for as long as @ret is asked.  An object
 * without tables has an empty set.  Async-signal-safe.
 */
void mapped_tables_init(const struct program_headers *headers, struct mapped_tables *ret);

/* Headers of the object whose ELF header is in memory at @start; false: there is none. */
bool mapped_headers(const void *start, struct program_headers *ret);

/* Its first function has no caller.  @entry: its address, in the object. */
void mapped_tables_enter(struct mapped_tables *tables, uint64_t entry);

/* The executable segment with an address; false: there is none. */
bool mapped_segment(const struct program_headers *headers, uint64_t addr, struct bobbin_range *ret);

/* The object's build ID; NULL: it has none.  @size: its bytes. */
const uint8_t *mapped_build_id(const struct program_headers *headers, uint8_t *size);

#endif
