/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * defects.h - the parts of bobbin_sframe_validate().
 *
 *	validate.c	the header; functions one by one, and as a whole
 *	fde_defects.c	the fields of one function
 *	fre_defects.c	the rows of one function, and what their bytes say
 *	rule_defects.c	what the rule of a row says
 *	defects.c	severities; sorting functions
 */
#ifndef BOBBIN_SFRAME_DEFECTS_H
#define BOBBIN_SFRAME_DEFECTS_H

#include <bobbin/sframe_validate.h>

#include "sframe/layout.h"

/**
 * struct defects - the receiver of defects
 * @view: the section
 * @report, @ctx: of the caller
 * @fde, @fre: what is being looked at
 * @worst: gravest severity so far
 */
struct defects {
	const struct bobbin_sframe_view *view;
	void (*report)(void *ctx, const struct bobbin_sframe_defect *defect);
	void *ctx;
	uint32_t fde, fre;
	enum bobbin_sframe_severity worst;
};

void defects_add(struct defects *d, uint64_t offset, enum bobbin_reason reason);

/* The number in 1, 2 or 4 bytes of the section; 0 where they cannot be read, and a defect. */
uint32_t defects_load(struct defects *d, uint64_t offset, unsigned int bytes);

/* Sort by key, then by function. */
void defects_sort(struct bobbin_sframe_order *order, uint32_t count);

/**
 * defects_of_fde() - report what is wrong with the fields of a function
 * @d: with @fde set
 * @num_fres: out: rows as the entry says, if it can be told
 *
 * Return: whether the entry could be read at all: bobbin_sframe_fde() works.
 */
bool defects_of_fde(struct defects *d, uint32_t *num_fres);

/* Offset of the field of a function's entry with the place of its rows. */
uint64_t defects_rows_field(const struct defects *d);

/**
 * struct rows_walked - the bytes of the last function's rows that were looked at
 * @fde: the function
 * @begin: offset of its first byte among the rows
 * @end: offset after the last byte that could be read
 * @last: offset of the row that starts last
 * @last_start: where in the function that row starts
 * @whole: all rows could be sized
 */
struct rows_walked {
	struct bobbin_sframe_fde fde;
	uint64_t begin, end, last;
	uint32_t last_start;
	bool whole;
};

/* Report what is wrong with the rows of a function that can be read. */
void defects_of_rows(struct defects *d, const struct bobbin_sframe_fde *fde,
		     struct rows_walked *ret);

/* Report where the last row lies, of a function whose rows were walked for another. */
void defects_of_shared_rows(struct defects *d, const struct bobbin_sframe_fde *fde,
			    const struct rows_walked *rows);

/* Report what cannot be true in a row that can be read. */
void defects_of_rule(struct defects *d, const struct bobbin_sframe_fde *fde,
		     const struct bobbin_sframe_fre *fre, const struct bobbin_rule *rule);

#endif
