/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jump_table.h - where an indirect jump of a switch leads.
 */
#ifndef BOBBIN_INFER_JUMP_TABLE_H
#define BOBBIN_INFER_JUMP_TABLE_H

#include "infer/frame_state.h"
#include "infer/program_code.h"

/**
 * struct jump_table - a table, and how far it was read
 * @at: the next entry
 * @end: at most as far
 * @base: of its distances
 * @distances: entries are 32-bit distances, not addresses
 */
struct jump_table {
	const struct program *program;
	uint64_t at, end, base;
	bool distances;
};

/* Where an indirect jump leads, as far as is known. */
value jump_value(const struct frame_state *state, const struct x86_insn *jump);

/* The table of an indirect jump, in the state before it; false: it has none that is known. */
bool jump_table_of(const struct program *program, const struct x86_insn *jump,
		   const struct frame_state *state, struct jump_table *ret);

/* The next target, which is code; false: there are no more. */
bool jump_table_next(struct jump_table *table, uint64_t *ret);

#endif
