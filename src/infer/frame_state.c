// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/frame_state.h"

#include <stddef.h>
#include <string.h>

#define WORD 8
/* Memory below the stack pointer that a function may use if it calls nobody. */
#define ENTRY_SP (-WORD)

void frame_state_entry(struct frame_state *ret)
{
	memset(ret, 0, offsetof(struct frame_state, slots));
	ret->regs[X86_SP] = value_on_base(VALUE_CFA, ENTRY_SP);
	ret->regs[X86_BP] = VALUE_CALLERS_FP;
	ret->compared = -1;
	ret->equal = X86_NO_REG;
}

value frame_state_word(const struct frame_state *state, value at)
{
	if (at == value_on_base(VALUE_CFA, ENTRY_SP) && !state->lost_ra)
		return VALUE_RETURN;
	for (unsigned int i = 0; i < state->count; i++)
		if (state->slots[i].at == at)
			return state->slots[i].held;
	return VALUE_NONE;
}

static void drop_slot(struct frame_state *state, unsigned int i)
{
	state->slots[i] = state->slots[--state->count];
}

static bool same_base(value a, value b)
{
	return value_kind(a) == VALUE_BASE && value_kind(b) == VALUE_BASE &&
	       value_base(a) == value_base(b);
}

/* Forget the slots that a store of @size bytes to a known place overwrites. */
static void overwrite(struct frame_state *state, value at, unsigned int size)
{
	const int64_t offset = value_offset(at);

	for (unsigned int i = 0; i < state->count;) {
		const struct frame_slot *slot = &state->slots[i];
		int64_t distance = same_base(slot->at, at) ? value_offset(slot->at) - offset
							   : WORD * 16;

		if (distance > -WORD && distance < (int64_t)size)
			drop_slot(state, i);
		else
			i++;
	}
	if (value_is_cfa(at) && offset < 0 && offset + (int64_t)size > ENTRY_SP)
		state->lost_ra = true;
}

static void store(struct frame_state *state, value at, value held, unsigned int size)
{
	if (value_kind(at) != VALUE_BASE)
		return;
	overwrite(state, at, size);
	if (at == value_on_base(VALUE_CFA, ENTRY_SP) && size == WORD && held == VALUE_RETURN)
		state->lost_ra = false;
	else if (size == WORD && held != VALUE_NONE && state->count < FRAME_SLOTS)
		state->slots[state->count++] = (struct frame_slot){at, held};
}

/* Forget all values relative to a base: it means another address from now on. */
static void renew_base(struct frame_state *state, uint32_t base)
{
	for (unsigned int r = 0; r < X86_REGS; r++)
		if (value_kind(state->regs[r]) == VALUE_BASE && value_base(state->regs[r]) == base)
			state->regs[r] = VALUE_NONE;
	for (unsigned int i = 0; i < state->count;) {
		const struct frame_slot *s = &state->slots[i];

		if (value_base(s->at) == base ||
		    (value_kind(s->held) == VALUE_BASE && value_base(s->held) == base))
			drop_slot(state, i);
		else
			i++;
	}
}

/* Set the stack pointer; an unknown value becomes a new base. */
static void set(struct frame_state *state, unsigned int reg, value v, uint32_t number)
{
	if (reg >= X86_REGS)
		return;
	if (reg == X86_SP && value_kind(v) != VALUE_BASE) {
		uint32_t base = (number + 1) & (VALUE_MAX_BASES - 1);

		renew_base(state, base);
		v = base ? value_on_base(base, 0) : VALUE_NONE;
	}
	state->regs[reg] = v;
}

static value reg_value(const struct frame_state *state, unsigned int reg)
{
	return reg < X86_REGS ? state->regs[reg] : VALUE_NONE;
}

value frame_state_address(const struct frame_state *state, const struct x86_insn *insn)
{
	value base = insn->base == X86_NO_REG ? value_number(VALUE_CONSTANT, 0)
					      : state->regs[insn->base];
	value index;

	if (insn->index != X86_NO_REG) {
		index = state->regs[insn->index];
		if (value_kind(index) != VALUE_CONSTANT)
			return VALUE_NONE;
		base = value_plus(base, value_of_number(index) * insn->scale);
	}
	return value_plus(base, insn->value);
}

/* The address of the table from which a load takes an entry of @size bytes, or VALUE_NONE. */
static value table_address(const struct frame_state *state, const struct x86_insn *insn,
			   unsigned int size)
{
	value base = insn->base == X86_NO_REG ? value_number(VALUE_CONSTANT, 0)
					      : state->regs[insn->base];

	if (insn->index == X86_NO_REG)
		return VALUE_NONE;
	/* without optimisation, the scaled index may be the base of the operand */
	if (size == 4 && insn->scale == 1 && base == VALUE_TIMES_FOUR)
		base = state->regs[insn->index];
	else if (insn->scale != size &&
		 !(size == 4 && insn->scale == 1 && state->regs[insn->index] == VALUE_TIMES_FOUR))
		return VALUE_NONE;
	base = value_plus(base, insn->value);
	return value_kind(base) == VALUE_CONSTANT ? base : VALUE_NONE;
}

/* The base of the load may be the address of a table, computed before. */
value frame_state_load(const struct frame_state *state, const struct x86_insn *insn)
{
	value at = table_address(state, insn, WORD);

	if (at != VALUE_NONE)
		return value_number(VALUE_ENTRY_OF_U64, value_of_number(at));
	at = frame_state_address(state, insn);
	return value_kind(at) == VALUE_BASE ? frame_state_word(state, at) : VALUE_NONE;
}

static value load_s32(const struct frame_state *state, const struct x86_insn *insn)
{
	value at = table_address(state, insn, 4);

	return at == VALUE_NONE ? at : value_number(VALUE_ENTRY_OF_S32, value_of_number(at));
}

static value sum(value a, value b)
{
	if (value_kind(a) == VALUE_CONSTANT && value_kind(b) == VALUE_ENTRY_OF_S32) {
		value swap = a;

		a = b;
		b = swap;
	}
	if (value_kind(b) != VALUE_CONSTANT)
		return value_kind(a) == VALUE_CONSTANT ? value_plus(b, value_of_number(a))
						       : VALUE_NONE;
	if (value_kind(a) != VALUE_ENTRY_OF_S32)
		return value_plus(a, value_of_number(b));
	return value_case(value_of_number(a), value_of_number(b));
}

static value difference(value a, value b)
{
	if (same_base(a, b))
		return value_number(VALUE_CONSTANT, value_offset(a) - value_offset(b));
	return value_kind(b) == VALUE_CONSTANT ? value_plus(a, -value_of_number(b)) : VALUE_NONE;
}

/* The value of an address, or of a sum of two registers, one of which may be a table's entry. */
static value effective(const struct frame_state *state, const struct x86_insn *insn)
{
	if (insn->base != X86_NO_REG && insn->index != X86_NO_REG && insn->scale == 1)
		return value_plus(sum(state->regs[insn->base], state->regs[insn->index]),
				  insn->value);
	if (insn->base == X86_NO_REG && insn->index != X86_NO_REG && insn->scale == 4 &&
	    !insn->value && value_kind(state->regs[insn->index]) != VALUE_CONSTANT)
		return VALUE_TIMES_FOUR;
	return frame_state_address(state, insn);
}

static void push(struct frame_state *state, value held, unsigned int size)
{
	state->regs[X86_SP] = value_plus(state->regs[X86_SP], -(int64_t)size);
	store(state, state->regs[X86_SP], held, size);
}

void frame_state_push(struct frame_state *state, value held)
{
	push(state, held, WORD);
	state->compared = -1;
	state->equal = X86_NO_REG;
}

static void pop(struct frame_state *state, unsigned int reg, unsigned int size, uint32_t number)
{
	value at = state->regs[X86_SP];

	state->regs[X86_SP] = value_plus(at, size);
	set(state, reg, size == WORD ? frame_state_word(state, at) : VALUE_NONE, number);
}

static void leave(struct frame_state *state, uint32_t number)
{
	set(state, X86_SP, state->regs[X86_BP], number);
	pop(state, X86_BP, WORD, number);
}

static void enter(struct frame_state *state, int64_t bytes)
{
	push(state, state->regs[X86_BP], WORD);
	state->regs[X86_BP] = state->regs[X86_SP];
	state->regs[X86_SP] = value_plus(state->regs[X86_SP], -bytes);
}

static value aligned(value v, int64_t mask)
{
	/* not all code keeps the CFA at a multiple of 16, as the ABI demands */
	return value_kind(v) == VALUE_CONSTANT
		       ? value_number(VALUE_CONSTANT, value_of_number(v) & mask)
		       : VALUE_NONE;
}

static void clobber(struct frame_state *state, unsigned int mask, uint32_t number)
{
	for (unsigned int r = 0; mask; r++, mask >>= 1)
		if (mask & 1)
			set(state, r, VALUE_NONE, number);
}

bool frame_state_has_popped(const struct frame_state *state)
{
	return value_is_cfa(state->regs[X86_SP]) && value_offset(state->regs[X86_SP]) > ENTRY_SP;
}

/* Forget slots below the stack pointer, which a callee may overwrite. */
static void drop_below_sp(struct frame_state *state)
{
	const value sp = state->regs[X86_SP];

	for (unsigned int i = 0; i < state->count;)
		if (same_base(state->slots[i].at, sp) &&
		    value_offset(state->slots[i].at) < value_offset(sp))
			drop_slot(state, i);
		else
			i++;
	if (frame_state_has_popped(state))
		state->lost_ra = true;
}

void frame_state_call(struct frame_state *state)
{
	drop_below_sp(state);
	clobber(state, X86_CALL_CLOBBERS, 0);
	state->limit = 0;
	state->compared = -1;
	state->equal = X86_NO_REG;
}

static void swap(struct frame_state *state, const struct x86_insn *insn, uint32_t number)
{
	value first = state->regs[insn->reg], second = state->regs[insn->base];

	set(state, insn->reg, second, number);
	set(state, insn->base, first, number);
}

static void compute(struct frame_state *s, const struct x86_insn *i, uint32_t number)
{
	switch (i->op) {
	case OP_MOVE:
		set(s, i->reg, s->regs[i->base], number);
		break;
	case OP_CONSTANT:
		set(s, i->reg, value_number(VALUE_CONSTANT, i->value), number);
		break;
	case OP_LEA:
		set(s, i->reg, effective(s, i), number);
		break;
	case OP_ADD:
		set(s, i->reg, value_plus(s->regs[i->reg], i->value), number);
		break;
	case OP_ADD_REG:
		set(s, i->reg, sum(s->regs[i->reg], s->regs[i->base]), number);
		break;
	case OP_SUB_REG:
		set(s, i->reg, difference(s->regs[i->reg], s->regs[i->base]), number);
		break;
	case OP_ALIGN:
		set(s, i->reg, aligned(s->regs[i->reg], i->value), number);
		break;
	case OP_LOAD:
		set(s, i->reg, frame_state_load(s, i), number);
		break;
	case OP_LOAD_S32:
		set(s, i->reg, load_s32(s, i), number);
		break;
	case OP_EXTEND:
		set(s, i->reg,
		    value_kind(s->regs[i->base]) == VALUE_ENTRY_OF_S32 ? s->regs[i->base]
								       : VALUE_NONE,
		    number);
		break;
	case OP_SWAP:
		swap(s, i, number);
		break;
	default:
		break;
	}
}

void frame_state_step(struct frame_state *state, const struct x86_insn *insn, uint32_t number)
{
	switch (insn->op) {
	case OP_STORE:
		store(state, frame_state_address(state, insn), reg_value(state, insn->reg),
		      insn->size);
		break;
	case OP_PUSH:
		push(state, reg_value(state, insn->reg), insn->size);
		break;
	case OP_POP:
		pop(state, insn->reg, insn->size, number);
		break;
	case OP_LEAVE:
		leave(state, number);
		break;
	case OP_ENTER:
		enter(state, insn->value);
		break;
	default:
		compute(state, insn, number);
	}
	state->compared = insn->op == OP_COMPARE && insn->value >= 0 && insn->value < INT32_MAX
				  ? (int32_t)insn->value
			  : insn->op == OP_BRANCH ? state->compared
						  : -1;
	if (insn->op != OP_BRANCH)
		state->equal = insn->op == OP_COMPARE_SP ? insn->base : X86_NO_REG;
	if (insn->mask)
		clobber(state, insn->mask, number);
}

/*
 * A comparison bounds the index of a table. And a loop that probes the pages of a large frame ends
 * when the stack pointer equals a value that was computed before.
 */
void frame_state_branch(struct frame_state *state, const struct x86_insn *branch, bool taken)
{
	if (state->compared >= 0 && branch->cond == (taken ? X86_NOT_ABOVE : X86_ABOVE))
		state->limit = state->compared + 1;
	if (state->equal != X86_NO_REG && branch->cond == (taken ? X86_EQUAL : X86_NOT_EQUAL) &&
	    value_is_cfa(state->regs[state->equal]))
		state->regs[X86_SP] = state->regs[state->equal];
}

bool frame_state_leaves(const struct frame_state *state, const struct x86_insn *insn)
{
	return value_is_cfa(state->regs[X86_BP]) &&
	       (insn->op == OP_LEAVE || ((insn->op == OP_MOVE || insn->op == OP_LEA) &&
					 insn->reg == X86_SP && insn->base == X86_BP));
}

bool frame_state_is_undone(const struct frame_state *state)
{
	return state->regs[X86_SP] == value_on_base(VALUE_CFA, ENTRY_SP) &&
	       state->regs[X86_BP] == VALUE_CALLERS_FP && !state->lost_ra;
}

static bool knows_cfa(const struct frame_state *state)
{
	struct bobbin_rule rule;

	return value_is_cfa(state->regs[X86_SP]) || value_is_cfa(state->regs[X86_BP]) ||
	       frame_state_rule(state, false, &rule);
}

static bool join_slots(struct frame_state *into, const struct frame_state *from)
{
	bool changed = false;

	for (unsigned int i = 0; i < into->count;) {
		const struct frame_slot *slot = &into->slots[i];

		if (i < from->count && from->slots[i].at == slot->at &&
		    from->slots[i].held == slot->held) {
			i++;
		} else if (frame_state_word(from, slot->at) == slot->held) {
			i++;
		} else {
			drop_slot(into, i);
			changed = true;
		}
	}
	return changed;
}

/*
 * Whether one state knows the stack pointer and the other has lost it, because paths disagreed, and
 * the frame pointer does not give the CFA either.
 */
static bool loses_sp(const struct frame_state *a, const struct frame_state *b)
{
	const value x = a->regs[X86_SP], y = b->regs[X86_SP];

	return ((value_is_cfa(x) && y == VALUE_NONE) || (value_is_cfa(y) && x == VALUE_NONE)) &&
	       !(value_is_cfa(a->regs[X86_BP]) && a->regs[X86_BP] == b->regs[X86_BP]);
}

enum frame_join frame_state_join(struct frame_state *into, const struct frame_state *from,
				 bool *changed)
{
	const bool both = (value_is_cfa(into->regs[X86_SP]) && value_is_cfa(from->regs[X86_SP]) &&
			   into->regs[X86_SP] != from->regs[X86_SP]) ||
			  loses_sp(into, from);
	bool known = true, moved = false;

	if (into->regs[X86_SP] != from->regs[X86_SP] || into->regs[X86_BP] != from->regs[X86_BP])
		known = knows_cfa(into) || knows_cfa(from);
	for (unsigned int r = 0; r < X86_REGS; r++)
		if (into->regs[r] != VALUE_NONE && into->regs[r] != from->regs[r]) {
			into->regs[r] = VALUE_NONE;
			moved = true;
		}
	moved |= join_slots(into, from);
	if (into->limit && into->limit != from->limit) {
		into->limit = 0;
		moved = true;
	}
	if (from->lost_ra && !into->lost_ra)
		into->lost_ra = moved = true;
	into->compared = -1;
	into->equal = X86_NO_REG;
	*changed |= moved;
	if (moved && known && !knows_cfa(into))
		return JOIN_LOSES;
	return both ? JOIN_MOVES : JOIN_AGREES;
}
