/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * function_list.h - the functions of a section to be made.
 *
 * Rows are encoded once, after they have been divided among FDEs.
 */
#ifndef BOBBIN_CONVERT_FUNCTION_LIST_H
#define BOBBIN_CONVERT_FUNCTION_LIST_H

#include <bobbin/sframe_builder.h>

#include "convert/rule_pool.h"
#include "sframe/built_function.h"

/* A section builder whose memory grows. */
struct section_maker {
	struct bobbin_sframe_builder builder;
	bool in_place; /* V3: whatever address was given, the section will be where it is made */
};

/*
 * Start an empty section at @addr.  @share: functions with equal rows share
 * them.  @functions: how many there will be, about; more may come, but share
 * less.  -EINVAL for an unknown @version, -ENOMEM.
 */
int section_maker_init(const struct bobbin_arch *arch, uint64_t addr, unsigned int version,
		       bool share, uint32_t functions, struct section_maker *ret);

/* Have room for so many functions and bytes of rows in all.  0, -ENOMEM, -ERANGE. */
int section_maker_reserve(struct section_maker *maker, uint64_t fdes, uint64_t bytes);

/* The section in memory of its own, which becomes the caller's.  0, -ENOMEM. */
int section_maker_finish(struct section_maker *maker, uint8_t **data, uint64_t *size);

void section_maker_fini(struct section_maker *maker);

/* There is no body for an ordinary function; shifted by one, for a flexible one. */
#define ROW_NO_BODY 0x100u

/**
 * struct row_form - a rule
 * @body: offset of its bodies: a row without its start, as in an ordinary function and,
 *	after it, as in a flexible one
 * @size: bytes of the two, 0 where there is none
 * @flags: a bit for its BOBBIN_RULE_…, of which there are eight sets, and ROW_NO_BODY
 */
struct row_form {
	uint32_t body;
	uint8_t size[2];
	uint16_t flags;
};

/**
 * struct row_forms - those of a section
 * @arch, @version: of the section
 * @forms, @count: of the rules with these numbers
 * @bodies: their bytes
 */
struct row_forms {
	const struct bobbin_arch *arch;
	unsigned int version;
	struct row_form *forms;
	size_t count, capacity;
	uint8_t *bodies;
	size_t body_size, body_capacity;
};

/* A body; @flex: as in a flexible function. */
static inline const uint8_t *row_form_body(const struct row_forms *forms,
					   const struct row_form *form, bool flex)
{
	return forms->bodies + form->body + (flex ? form->size[0] : 0);
}

/* Bytes that may be written, or read, after those of a body. */
#define ROW_SLACK 8

/* Copy a body with that many bytes of memory after it. */
static inline uint8_t *row_form_copy(uint8_t *at, const uint8_t *body, unsigned int size)
{
	/* more than that is rare, and a call */
	memcpy(at, body, ROW_SLACK);
	if (size > ROW_SLACK)
		memcpy(at + ROW_SLACK, body + ROW_SLACK, size - ROW_SLACK);
	return at + size;
}

/* Whether a row can have a rule. */
bool row_forms_express(const struct row_forms *forms, const struct bobbin_rule *rule);

/**
 * struct listed_function - a function
 * @start, @size: its code
 * @first, @count: its rows in the list; those that repeat are in the first block
 * @rep_size: rows repeat every so many bytes; 0: they do not
 * @signal: the caller was interrupted by a signal
 * @flex: its rows are flexible ones
 * @info: an FDE's info byte without the width of starts
 * @last: start of the last row, from the first address
 * @bytes: of the rows without their starts
 *
 * function_list_add() fills in what is below @signal.
 */
struct listed_function {
	uint64_t start;
	size_t first;
	uint32_t size, count;
	uint8_t rep_size;
	bool signal;
	bool flex;
	uint8_t info;
	uint32_t last, bytes;
};

/**
 * struct function_list - the functions of a section
 * @builder: the section, for its version and address
 * @rows: of functions, and those pushed after them
 * @forms: of the rules of functions
 * @functions, @count: the functions
 * @num_fres, @fre_len: of their rows, if each function was one FDE
 */
struct function_list {
	const struct bobbin_sframe_builder *builder;
	struct rule_rows rows;
	struct row_forms forms;
	struct listed_function *functions;
	size_t count, capacity;
	uint64_t num_fres, fre_len;
};

/*
 * @builder: without functions, for the address, the version and the reach of the section.
 * @functions: how many there will be, about.  0, -ENOMEM.
 */
int function_list_init(const struct bobbin_sframe_builder *builder, size_t functions,
		       struct function_list *ret);
void function_list_fini(struct function_list *list);

/*
 * Add a function, whose rows ascend and start inside it.  0; -ENOMEM; -EINVAL or -ERANGE
 * as from bobbin_sframe_builder_add().
 */
int function_list_add(struct function_list *list, struct listed_function *function);

/**
 * struct row_run - rows of a list that are to be in functions
 * @first, @count: the rows
 * @end: of the last one
 * @signal: the caller was interrupted by a signal
 * @lost: called for each row that no function can have
 * @ctx: for it
 */
struct row_run {
	size_t first, count;
	uint64_t end;
	bool signal;
	void (*lost)(void *ctx, uint64_t start, uint64_t end);
	void *ctx;
};

/* Add them as few functions, which are found by halving and doubling.  0, -ENOMEM. */
int function_list_add_run(struct function_list *list, const struct row_run *run);

/* Whether rows that could be functions one by one cannot be one function. */
static inline bool function_list_refused(int r)
{
	return r == -ERANGE || r == -EINVAL;
}

/* Whether a row can have the rule with a number. */
static inline bool function_list_expresses(const struct function_list *list, uint32_t rule)
{
	return row_forms_express(&list->forms, &list->rows.rules.rules[rule].rule);
}

/* Bytes of a row's start if the first and the last are @span apart. */
static inline uint32_t start_width(uint32_t span)
{
	return span > 0xffff ? 4 : span > 0xff ? 2 : 1;
}

/* Bytes of a function's rows, with V3's attribute record. */
static inline uint32_t function_list_size(const struct function_list *list,
					  const struct listed_function *f)
{
	return sframe_attribute_size(list->builder->version) + f->bytes +
	       f->count * start_width(f->last);
}

/*
 * Write a function's rows, as many bytes as function_list_size() says, and give its FDE.
 * ROW_SLACK bytes after them are overwritten.
 */
uint8_t *function_list_write(const struct function_list *list, const struct listed_function *f,
			     uint8_t *at, struct bobbin_sframe_built *ret);

/* Make each function an FDE, after those that @maker has.  0, -ENOMEM, -ERANGE. */
int function_list_make(const struct function_list *list, struct section_maker *maker);

/* The same, and forget all functions and rows, but for the rules. */
int function_list_move(struct function_list *list, struct section_maker *maker);

/*
 * The same rules in fewer bytes.
 *
 *	functions ── chains of rows ── cuts ── pieces, one FDE each
 *
 * An FDE need not be a function: readers only search for the one that covers a PC.  Long
 * functions with many rows are cut so that their rows' starts become narrow.  If rows can be
 * shared, functions that touch become one FDE, too, while starts stay narrow, and are cut so
 * that their prologues and epilogues are found in others.  Every PC keeps its rule.
 *
 * Choose the FDEs of a section and make them in @maker, which has none.  Functions do not
 * overlap and ascend for the best result.  @share: FDEs with equal rows share them and may
 * hold several functions; otherwise an FDE lies within one.  Rows of code on both sides
 * of one of @count ascending @bounds are not shared; functions do not touch there.
 *
 * Time and memory are linear in rows.  0, -ENOMEM, -ERANGE.
 */
int compact_functions(const struct function_list *list, bool share, const uint64_t *bounds,
		      size_t count, struct section_maker *maker);

#endif
