/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_ops.h - what a kind of table can be asked.
 *
 * Each kind has one constant structure, in the file that reads such tables.  To add a kind:
 * its place in enum table_kind, and this structure.
 */
#ifndef BOBBIN_UNWIND_TABLE_OPS_H
#define BOBBIN_UNWIND_TABLE_OPS_H

#include <bobbin/step.h>
#include <bobbin/unwind.h>

#include "core/table_step.h"

/* In the order in which they are asked. */
enum table_kind {
	TABLE_REGISTERED,  /* struct code: a section in the own process's memory */
	TABLE_JIT,         /* struct jit_source */
	TABLE_GO,          /* struct pclntab; before those that do not know of Go's roots */
	TABLE_SFRAME,      /* struct indexed_sections */
	TABLE_CACHED_CFI,  /* struct cached_cfi, instead of the sections that it is made of */
	TABLE_CALL_FRAMES, /* struct call_frames */
	TABLE_SIDEFILE,    /* struct late_sidefile */
	TABLE_INFERRED,    /* struct inferred_rules; where nothing else covers the code */
	TABLE_KINDS
};

/* What is known of a PC. */
struct table_answer {
	struct bobbin_row row;
	enum bobbin_source source;   /* NONE: nobody knows, and the rule says why */
	struct bobbin_error dropped; /* of a table that this lookup has found malformed */
};

/* Takes the functions of a table, one by one.  What is not 0 ends this and is returned. */
typedef int (*function_sink)(void *ctx, uint64_t start, uint64_t end);

/**
 * struct table_ops - a kind of table
 * @sources: who answers, unless the lookup says otherwise; and who may answer instead, or NONE.
 *	Neighbours with the same first source are forms of one table: only the first one is asked
 * @drops: a malformed entry is the end of the table; otherwise that of its function
 * @whole: it knows where functions begin, not only where parts of them do
 * @lookup: the row of a PC.  0; -ENOENT: it does not cover the PC; -ENODATA: there is no table;
 *	-EFAULT: its memory cannot be read; -EBADMSG and @err
 * @function: where the function at a PC begins, if @lookup is not to be asked; or NULL
 * @functions: each function of a source, as table_set_functions(); NULL: they cannot be listed
 * @step: a step without a rule, as table_set_step(); or NULL
 */
struct table_ops {
	enum table_kind kind;
	enum bobbin_source sources[2];
	bool drops, whole;
	int (*lookup)(void *table, const struct bobbin_arch *arch, uint64_t pc,
		      struct bobbin_error *err, struct table_answer *ret);
	bool (*function)(const void *table, uint64_t pc, uint64_t *ret);
	int (*functions)(void *table, const struct bobbin_arch *arch, enum bobbin_source source,
			 function_sink sink, void *ctx);
	enum bobbin_reason (*step)(void *table, uint64_t pc, const struct bobbin_mem *mem,
				   struct table_step *step);
};

#endif
