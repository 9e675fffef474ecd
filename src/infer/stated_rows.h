/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stated_rows.h - what a file's call-frame information says, to be compared with what its code does.
 *
 *	stated_rows_init(views, count, &rows);
 *	stated_rows_bound(views, count, &rows, &program);
 *	infer_rows(&program, …);	for each instruction:
 *		row = stated_rows_at(&rows, pc);
 *		stated_rule_check(&row->rule, row->plt, state, pc);
 *
 * A rule is checked in the state that was inferred: rsp+32 and rbp+16 may be the same address.
 */
#ifndef BOBBIN_INFER_STATED_ROWS_H
#define BOBBIN_INFER_STATED_ROWS_H

#include "convert/fde_list.h"
#include "infer/frame_state.h"
#include "infer/program_code.h"

/**
 * struct stated_row - addresses with one rule
 * @start, @end: of them
 * @function: start of the FDE
 * @rule: what it says
 * @plt: see struct bobbin_cfi_rows
 * @view: index of the section
 */
struct stated_row {
	uint64_t start, end, function;
	struct bobbin_rule rule;
	uint8_t plt, view;
};

/**
 * struct stated_rows - those of a file
 * @fdes: its functions
 * @rows, @count: ascending
 */
struct stated_rows {
	struct fde_list fdes;
	struct stated_row *rows;
	size_t count, capacity;
};

/* 0, -ENOMEM; in either case to be given to stated_rows_fini(). */
int stated_rows_init(const struct bobbin_cfi_view *views, unsigned int count,
		     struct stated_rows *ret);
void stated_rows_fini(struct stated_rows *rows);

/* Where its functions begin becomes known to a program, with @parts, and its landing pads. */
int stated_rows_bound(const struct stated_rows *rows, const struct bobbin_cfi_view *views,
		      unsigned int count, bool parts, struct program *program);

/* The row for an address, or NULL. */
const struct stated_row *stated_rows_at(const struct stated_rows *rows, uint64_t pc);

/* Whether a rule says something that can be compared: where the caller is. */
bool stated_rule_has_caller(const struct bobbin_rule *rule);

/* What a rule says that is not so. */
enum stated_fault {
	STATED_CFA_DIFFERS = 1 << 0,
	STATED_FP_DIFFERS = 1 << 1,
};

unsigned int stated_rule_check(const struct bobbin_rule *rule, unsigned int plt,
			       const struct frame_state *state, uint64_t pc);

#endif
