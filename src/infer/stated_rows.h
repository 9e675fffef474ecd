/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stated_rows.h - what a file's call-frame information says, to be compared with what its code does.
 *
 *	stated_rows_init(views, count, &rows);
 *	stated_rows_bound(views, count, &rows, &program);
 *	infer_rows(&program, …);	for each instruction:
 *		rule = stated_rows_at(&rows, pc);
 *		stated_rule_check(rule, state);
 *
 * A rule is checked in the state that was inferred: rsp+32 and rbp+16 may be the same address.
 */
#ifndef BOBBIN_INFER_STATED_ROWS_H
#define BOBBIN_INFER_STATED_ROWS_H

#include "convert/fde_list.h"
#include "infer/frame_state.h"
#include "infer/program_code.h"
#include "table/table_builder.h"

/**
 * struct stated_rows - those of a file
 * @fdes: its functions
 * @table: their rows; those of lazy-binding stubs are written out
 */
struct stated_rows {
	struct fde_list fdes;
	struct table_builder table;
};

/* As compile_cfi_rows(); in either case to be given to stated_rows_fini(). */
int stated_rows_init(const struct bobbin_cfi_view *views, unsigned int count,
		     struct stated_rows *ret);
void stated_rows_fini(struct stated_rows *rows);

/* Add its landing pads and, with @parts, the starts of its functions to a program. */
int stated_rows_bound(const struct stated_rows *rows, const struct bobbin_cfi_view *views,
		      unsigned int count, bool parts, struct program *program);

/* The rule for an address, or NULL. */
const struct bobbin_rule *stated_rows_at(const struct stated_rows *rows, uint64_t pc);

/* Whether a rule can be compared: it says where the return address is. */
bool stated_rule_has_caller(const struct bobbin_rule *rule, const struct machine *machine);

/* Faults of a rule, by what it gets wrong. */
enum stated_fault {
	STATED_CFA_DIFFERS = 1 << 0,
	STATED_FP_DIFFERS = 1 << 1,
	STATED_RA_DIFFERS = 1 << 2,
};

unsigned int stated_rule_check(const struct bobbin_rule *rule, const struct frame_state *state);

#endif
