// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/callbacks.h"

#define WORD 8
/* Entries that are looked at, of one table and of all: many calls may choose from one. */
#define MOST_ENTRIES 4096
#define MOST_ENTRIES_IN_ALL (1u << 20)

static void mark(const struct program *p, uint64_t addr)
{
	struct program_start *start = program_pointed(p, addr);

	if (start)
		start->callback = true;
}

static void mark_table(struct program *p, uint64_t table)
{
	const uint64_t end = program_next_table(p, table);
	uint64_t at = table, callee;

	for (unsigned int i = 0; i < MOST_ENTRIES && at < end; i++, at += WORD) {
		if (p->table_entries >= MOST_ENTRIES_IN_ALL || !program_word(p, at, &callee) ||
		    !program_code(p, callee))
			return;
		p->table_entries++;
		mark(p, callee);
	}
}

/* What an indirect call calls. */
static value callee_of(const struct insn *call, const struct frame_state *state)
{
	return call->reg == NO_REG ? frame_state_load(state, call) : state->regs[call->reg];
}

/* Whether a jump is the last call of its function. */
static bool is_tail_call(const struct program *p, const struct insn *insn,
			 const struct frame_state *state)
{
	const uint64_t to = (uint64_t)insn->value;
	const struct program_start *start = insn->op == OP_JUMP ? program_start(p, to) : NULL;

	return start && start->addr == to && start->flags & START_CERTAIN &&
	       frame_state_is_undone(state);
}

/*
 * Whether a function has kept an address with the stack pointer in the next word, as
 * __builtin_setjmp() does with where it goes on: that is in the middle of the function.
 */
static bool is_receiver(const struct frame_state *state, value addr)
{
	for (unsigned int i = 0; i < state->count; i++) {
		const struct frame_slot *slot = &state->slots[i];
		const value next = value_plus(slot->at, WORD);

		if (slot->held == addr && frame_state_word(state, next) == frame_state_sp(state))
			return true;
	}
	return false;
}

void callbacks_note(struct program *program, const struct insn *insn,
		    const struct frame_state *state)
{
	const uint8_t *arguments = program->machine->arguments;
	value v;

	if (!insn_is_call(insn) && !is_tail_call(program, insn, state))
		return;
	for (size_t i = 0; i < MACHINE_ARGUMENTS && arguments[i] != NO_REG; i++) {
		v = state->regs[arguments[i]];
		if (value_kind(v) == VALUE_CONSTANT && !is_receiver(state, v))
			mark(program, (uint64_t)value_of_number(v));
	}
	if (insn->op != OP_CALL_OTHER)
		return;
	v = callee_of(insn, state);
	if (value_kind(v) == VALUE_ENTRY_OF_U64)
		mark_table(program, (uint64_t)value_of_number(v));
	if (value_kind(v) == VALUE_CONSTANT)
		mark(program, (uint64_t)value_of_number(v));
}
