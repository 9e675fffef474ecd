/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_set.h - what knows a piece of code, in the order in which it is asked.
 *
 *	struct table_set
 *	  tables	as in enum table_kind; the first that covers the PC has the row
 *	  entry		the first function of a program, whose table does not know that it is
 *	  code bytes	a signal trampoline, or the start of a thread or fiber
 *
 * Each file has one set, each piece of code of another process that it registered, and
 * each code of the own process's map: see module.h, remote_table.h and own_walk.c.
 * Whoever wants a rule, a function or the covered code asks here, in this order.
 *
 * A lookup changes nothing but the mark of a malformed table, waits for nobody and takes no
 * memory, so it can run in signal handlers, except where a side-file is in the set.
 */
#ifndef BOBBIN_UNWIND_TABLE_SET_H
#define BOBBIN_UNWIND_TABLE_SET_H

#include <bobbin/step.h>
#include <bobbin/unwind.h>
#include <stdatomic.h>

#include "core/known_code.h"
#include "core/table_step.h"

/*
 * What a kind of table can be asked.
 *
 * Each kind has one constant structure, in the file that reads such tables.  To add a kind:
 * its place in enum table_kind, and this structure.
 */

/* In the order in which they are asked. */
enum table_kind {
	TABLE_REGISTERED,  /* struct code: a section in the own process's memory; or struct
			    * compiled_code, of any process */
	TABLE_JIT,         /* struct jit_source */
	TABLE_HOTSPOT,     /* struct hotspot_code */
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

struct table {
	const struct table_ops *ops;
	void *data; /* borrowed */
};

struct table_set {
	const struct bobbin_arch *arch;
	struct table tables[TABLE_KINDS]; /* at most one of each, in order */
	unsigned int count;
	bool eh_returns;          /* there may be code as in core/eh_return.h */
	uint64_t entry;           /* address of a program's first function, or 0 */
	uint32_t entry_size;      /* of its code, as far as that tells */
	_Atomic uint64_t dropped; /* why sections and JIT tables are not asked, or 0 */
};

void table_set_init(const struct bobbin_arch *arch, struct table_set *ret);

/* @data is borrowed; the set has no table of the kind. */
void table_set_add(struct table_set *set, const struct table_ops *ops, void *data);
void table_set_remove(struct table_set *set, enum table_kind kind);

/* The table of a kind; NULL: there is none. */
void *table_set_find(const struct table_set *set, enum table_kind kind);

static inline bool table_set_has(const struct table_set *set, enum table_kind kind)
{
	return table_set_find(set, kind);
}

/* The section or JIT table is malformed: it is not asked any more.  The first error counts. */
void table_set_drop(struct table_set *set, const struct bobbin_error *error);

/* Why it is not asked; false: it is, or there is none. */
bool table_set_dropped(const struct table_set *set, struct bobbin_error *ret);

/* Whether any table is left. */
bool table_set_serves(const struct table_set *set);

/*
 * The row for an address of the set's space, of a table or of the entry.  Always gives a
 * row: a table's, true; else one without a rule, from @pc to @pc + 1, false.
 */
bool table_set_row(struct table_set *set, uint64_t pc, struct table_answer *ret);

/*
 * The same with what code bytes say where no table covers the PC, or against it.  @at: the
 * address that @code reads @pc's code at.
 */
void table_set_rule(struct table_set *set, uint64_t pc, const struct code_reader *code, uint64_t at,
		    struct table_answer *ret);

/*
 * A step by what call-frame information says of the code at an address, without a rule, which
 * cannot hold it: of another register than the frame pointer, or by expressions.  @step's
 * architecture is the set's but for @fp.  NO_TABLE: it says nothing.
 */
enum bobbin_reason table_set_step(const struct table_set *set, uint64_t pc,
				  const struct bobbin_mem *mem, struct table_step *step);

/* Whether an address belongs to the first code of a program or of a dynamic loader. */
bool table_set_is_entry(struct table_set *set, uint64_t pc);

/*
 * Where the function at an address begins; false: no table knows.  Call-frame information
 * is asked first: what SFrame calls a function may be part of one.
 */
bool table_set_function(struct table_set *set, uint64_t pc, uint64_t *ret);

/*
 * The function at an address as the table has it that covers this: its first row, and where the last
 * one ends.  false: none covers it, or the function has too many rows.
 */
bool table_set_extent(struct table_set *set, uint64_t pc, struct table_answer *first,
		      uint64_t *end);

/*
 * Each function of a source's table, or block of one, as long as @sink returns 0; what it
 * returned, or -ENOMEM, or -EBADMSG: a JIT table is malformed, or gone, from here on.
 * Malformed entries of other tables are left out.
 */
int table_set_functions(const struct table_set *set, enum bobbin_source source, function_sink sink,
			void *ctx);

/* More sources no set has. */
#define TABLE_SOURCES (2 * TABLE_KINDS)

/* The sources whose functions can be listed, in the order in which walks ask them; how many. */
unsigned int table_set_sources(const struct table_set *set, enum bobbin_source ret[TABLE_SOURCES]);

#endif
