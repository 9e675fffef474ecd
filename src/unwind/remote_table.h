/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remote_table.h - the unwind tables of a piece of code that another process registered.
 *
 * An SFrame section, call-frame information, or both, which are copies and are asked
 * in this order; or a compiled table, which is a copy, too; or a JIT table, which grows, so it
 * is read in the process's memory for each address that is not cached; or the code of a Java
 * virtual machine, which is read likewise.
 */
#ifndef BOBBIN_UNWIND_REMOTE_TABLE_H
#define BOBBIN_UNWIND_REMOTE_TABLE_H

#include <bobbin/code_abi.h>
#include <bobbin/unwind.h>

#include "base/process_reader.h"
#include "codemap/code.h"
#include "unwind/call_frames.h"
#include "unwind/hotspot_code.h"
#include "unwind/indexed_sections.h"
#include "unwind/jit_source.h"
#include "unwind/table_set.h"

/* Several ranges and several generations of struct remote_code share one. */
struct remote_table {
	unsigned int users;
	bool counted; /* among the bytes of what is being built */
	struct table_set tables;
	struct elf_bytes section; /* .sframe */
	struct indexed_sections sections;
	struct elf_bytes frames; /* .eh_frame */
	struct call_frames cfi;
	struct elf_bytes table; /* compiled */
	struct compiled_code compiled;
	struct remote_process process; /* whose memory a JIT table is in */
	struct jit_source jit;
	struct hotspot_code *hotspot; /* or NULL */
	/* the recorder's, of walks in the kernel; 0: none */
	uint32_t walk_file;
	bool walk_asked;
	uint64_t walk_tail, walk_used; /* of a JIT table, where it ended when it was last read */
};

/* With one user, and nothing in it; NULL: no memory. */
struct remote_table *remote_table_open(const struct bobbin_arch *arch);
struct remote_table *remote_table_share(struct remote_table *table);
void remote_table_release(struct remote_table *table); /* NULL: nothing */

/* Read a JIT table in the memory of @process. */
void remote_table_open_jit(struct remote_table *table, const struct remote_process *process,
			   const struct code_jit_info *info);

/* The heaps of a Java virtual machine. */
void remote_table_open_hotspot(struct remote_table *table, struct hotspot_code *code);

/*
 * Make views of @table->section, or of @table->frames, whose bytes are malloc()'s and
 * @table's.  A malformed section is dropped.  0 or -ENOMEM.
 */
int remote_table_open_section(struct remote_table *table);
int remote_table_open_frames(struct remote_table *table);

/* The same of @table->table, whose addr is added to its addresses. */
void remote_table_open_compiled(struct remote_table *table);

/* Forget the section, or the call-frame information. */
void remote_table_close_section(struct remote_table *table);
void remote_table_close_frames(struct remote_table *table);

/* Bytes that were copied. */
uint64_t remote_table_bytes(const struct remote_table *table);

#endif
