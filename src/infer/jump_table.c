// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/jump_table.h"

#include "core/bytes.h"

/* Entries of one table. */
#define MOST_ENTRIES 16384

value jump_value(const struct frame_state *state, const struct x86_insn *jump)
{
	return jump->op == OP_JUMP_MEM ? frame_state_load(state, jump) : state->regs[jump->reg];
}

bool jump_table_of(const struct program *program, const struct x86_insn *jump,
		   const struct frame_state *state, struct jump_table *ret)
{
	const value v = jump_value(state, jump);
	unsigned int entry;
	uint64_t most;

	if (value_kind(v) != VALUE_CASE && value_kind(v) != VALUE_CASE_FROM &&
	    value_kind(v) != VALUE_ENTRY_OF_U64)
		return false;
	entry = value_kind(v) == VALUE_ENTRY_OF_U64 ? 8 : 4;
	ret->program = program;
	ret->distances = entry == 4;
	ret->at = (uint64_t)(ret->distances ? value_case_table(v) : value_of_number(v));
	ret->base = ret->distances ? (uint64_t)value_case_from(v) : 0;
	most = state->limit > 0 && state->limit < MOST_ENTRIES ? (uint64_t)state->limit
							       : MOST_ENTRIES;
	ret->end = ret->at + most * entry;
	if (program_next_table(program, ret->at) < ret->end)
		ret->end = program_next_table(program, ret->at);
	return true;
}

bool jump_table_next(struct jump_table *table, uint64_t *ret)
{
	const uint8_t *bytes;
	uint64_t size;

	if (table->at >= table->end)
		return false;
	if (!table->distances) {
		if (!program_word(table->program, table->at, ret))
			return false;
		table->at += 8;
		return program_code(table->program, *ret);
	}
	bytes = program_bytes(table->program, table->at, &size);
	if (!bytes || size < 4)
		return false;
	*ret = table->base + (uint64_t)(int64_t)(int32_t)load_u32(bytes, false);
	table->at += 4;
	return program_code(table->program, *ret);
}
