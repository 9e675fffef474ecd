/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remote_table.h - what another process unwinds its code by, as it was read there.
 *
 * An SFrame section, call-frame information, or both, which are copies and are asked
 * in this order; or a JIT table, which grows, so it is read in the process's memory
 * for each address that is not cached.
 */
#ifndef BOBBIN_UNWIND_REMOTE_TABLE_H
#define BOBBIN_UNWIND_REMOTE_TABLE_H

#include <bobbin/code_abi.h>
#include <bobbin/unwind.h>

#include "base/process_reader.h"
#include "target/remote_code.h"
#include "unwind/call_frames.h"
#include "unwind/indexed_sections.h"

/* Several ranges and several generations of struct remote_code share one. */
struct remote_table {
	unsigned int users;
	bool jit;
	bool counted;              /* among the bytes of what is being built */
	bool dropped;              /* the section or the JIT table */
	struct bobbin_error error; /* why it was dropped */
	struct elf_bytes section;  /* .sframe */
	struct indexed_sections sections;
	struct elf_bytes frames; /* .eh_frame */
	struct call_frames cfi;
	/* a JIT table */
	struct remote_process process;
	struct code_jit_info info;
};

/* Each piece of code of a table.  What is not 0 ends that and is returned. */
typedef int (*function_sink)(void *ctx, uint64_t start, uint64_t end);

/* With one user, and nothing in it; NULL: no memory. */
struct remote_table *remote_table_open(void);
struct remote_table *remote_table_share(struct remote_table *table);
void remote_table_release(struct remote_table *table); /* NULL: nothing */

/* The section or JIT table is not to be asked any more. */
void remote_table_drop(struct remote_table *table, struct bobbin_error error);

/*
 * Make views of @table->section, or of @table->frames, whose bytes are malloc()'s and
 * @table's.  A malformed section is dropped.  0 or -ENOMEM.
 */
int remote_table_open_section(struct remote_table *table, const struct bobbin_arch *arch);
int remote_table_open_frames(struct remote_table *table, const struct bobbin_arch *arch);

/* Forget the section, or the call-frame information. */
void remote_table_close_section(struct remote_table *table);
void remote_table_close_frames(struct remote_table *table);

/* Bytes that were copied. */
uint64_t remote_table_bytes(const struct remote_table *table);

/* Each piece of code that @source knows: SFRAME, EH_FRAME, JIT.  Or -EBADMSG. */
int remote_table_functions(const struct bobbin_arch *arch, struct remote_table *table,
			   enum bobbin_source source, function_sink sink, void *ctx);

/* Whether a range has a table that is of use. */
bool remote_range_serves(const struct remote_range *range);

/*
 * The row for an address of a range.  false: its table does not know, or there is
 * none.  A malformed section or JIT table is dropped for good.
 */
bool remote_range_lookup(const struct bobbin_arch *arch, const struct remote_range *range,
			 uint64_t pc, struct bobbin_row *row, enum bobbin_source *source);

/* The version of its SFrame section; 0: it is another table, or empty. */
unsigned int remote_range_version(const struct remote_range *range);

/* As remote_table_functions(), of the range's table, which there may not be. */
int remote_range_functions(const struct bobbin_arch *arch, const struct remote_range *range,
			   enum bobbin_source source, function_sink sink, void *ctx);

/* Why a range's table was dropped; false: it was not. */
bool remote_range_dropped(const struct remote_range *range, struct bobbin_error *ret);

#endif
