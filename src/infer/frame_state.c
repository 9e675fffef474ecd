// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/frame_state.h"

#include <stddef.h>
#include <string.h>

#define WORD 8

static bool ra_is_on_stack(const struct machine *machine)
{
	return machine->ra == NO_REG;
}

void frame_state_entry(struct frame_state *ret, const struct machine *machine)
{
	memset(ret, 0, offsetof(struct frame_state, slots));
	ret->machine = machine;
	ret->regs[machine->sp] = value_on_base(VALUE_CFA, machine->entry_sp);
	ret->regs[machine->fp] = VALUE_CALLERS_FP;
	if (!ra_is_on_stack(machine))
		ret->regs[machine->ra] = VALUE_RETURN;
	ret->compared = -1;
	ret->equal = NO_REG;
}

/* Whether calls put the return address at an address. */
static bool is_place_of_ra(const struct frame_state *state, value at)
{
	return ra_is_on_stack(state->machine) && at == value_on_base(VALUE_CFA, -WORD);
}

value frame_state_word(const struct frame_state *state, value at)
{
	if (is_place_of_ra(state, at) && !state->lost_ra)
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
	if (ra_is_on_stack(state->machine) && value_is_cfa(at) && offset < 0 &&
	    offset + (int64_t)size > -WORD)
		state->lost_ra = true;
}

static void store(struct frame_state *state, value at, value held, unsigned int size)
{
	if (value_kind(at) != VALUE_BASE)
		return;
	overwrite(state, at, size);
	if (is_place_of_ra(state, at) && size == WORD && held == VALUE_RETURN)
		state->lost_ra = false;
	else if (size == WORD && held != VALUE_NONE && state->count < FRAME_SLOTS)
		state->slots[state->count++] = (struct frame_slot){at, held};
}

/* Forget all values relative to a base: it means another address from now on. */
static void renew_base(struct frame_state *state, uint32_t base)
{
	for (unsigned int r = 0; r < state->machine->regs; r++)
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
	if (reg >= state->machine->regs)
		return;
	if (reg == state->machine->sp)
		state->left = false;
	if (reg == state->machine->sp && value_kind(v) != VALUE_BASE) {
		uint32_t base = (number + 1) & (VALUE_MAX_BASES - 1);

		renew_base(state, base);
		v = base ? value_on_base(base, 0) : VALUE_NONE;
	}
	state->regs[reg] = v;
}

static value reg_value(const struct frame_state *state, unsigned int reg)
{
	return reg < state->machine->regs ? state->regs[reg] : VALUE_NONE;
}

value frame_state_address(const struct frame_state *state, const struct insn *insn)
{
	value base = insn->base == NO_REG ? value_number(VALUE_CONSTANT, 0)
					  : state->regs[insn->base];
	value index;

	if (insn->index != NO_REG) {
		index = state->regs[insn->index];
		if (value_kind(index) != VALUE_CONSTANT)
			return VALUE_NONE;
		base = value_plus(base, value_of_number(index) * insn->scale);
	}
	return value_plus(base, insn->value);
}

/* The address of the table from which a load takes an entry of @size bytes, or VALUE_NONE. */
static value table_address(const struct frame_state *state, const struct insn *insn,
			   unsigned int size)
{
	value base = insn->base == NO_REG ? value_number(VALUE_CONSTANT, 0)
					  : state->regs[insn->base];

	if (insn->index == NO_REG)
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

/* Where a load or store accesses memory. */
static value place_of(const struct frame_state *state, const struct insn *insn)
{
	return insn->cond == INSN_AFTER ? state->regs[insn->base]
					: frame_state_address(state, insn);
}

/* The base of the load may be the address of a table, computed before. */
value frame_state_load(const struct frame_state *state, const struct insn *insn)
{
	value at = table_address(state, insn, WORD);

	if (at != VALUE_NONE)
		return value_number(VALUE_ENTRY_OF_U64, value_of_number(at));
	at = place_of(state, insn);
	if (insn->size != WORD)
		return VALUE_NONE;
	if (value_kind(at) == VALUE_CONSTANT && !ra_is_on_stack(state->machine))
		return value_number(VALUE_SLOT, value_of_number(at));
	return value_kind(at) == VALUE_BASE ? frame_state_word(state, at) : VALUE_NONE;
}

static value load_s32(const struct frame_state *state, const struct insn *insn)
{
	value at = table_address(state, insn, 4);

	return at == VALUE_NONE ? at : value_number(VALUE_ENTRY_OF_S32, value_of_number(at));
}

/* A distance from a table of any form, and the address that it counts from. */
static value narrow_case(value entry, value from, unsigned int scale)
{
	if (value_kind(entry) != VALUE_ENTRY || value_kind(from) != VALUE_CONSTANT ||
	    (scale != 1 && scale != 4))
		return VALUE_NONE;
	return value_case_narrow(entry, value_of_number(from), scale == 4);
}

static value sum(value a, value b)
{
	if (value_kind(a) == VALUE_ENTRY)
		return narrow_case(a, b, 1);
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

/* The base, plus so much of the index as counts. */
static value add_narrow(const struct frame_state *state, const struct insn *insn)
{
	const value from = state->regs[insn->base];
	value entry = state->regs[insn->index];

	if (value_kind(entry) == VALUE_ENTRY && insn->cond == INSN_SIGNED)
		entry |= (value)VALUE_ENTRY_SIGNED << VALUE_KIND_BITS;
	return narrow_case(entry, from, insn->scale);
}

/* An entry of a table whose address is known, or a word of the stack at a known distance. */
static value load_entry(const struct frame_state *state, const struct insn *insn)
{
	const value base = state->regs[insn->base];
	unsigned int form = insn->size == 1 ? 0 : insn->size == 2 ? 1 : 2;

	if (value_kind(base) == VALUE_BASE)
		return insn->size == WORD && insn->index != NO_REG
			       ? frame_state_word(state, frame_state_address(state, insn))
			       : VALUE_NONE;
	if (value_kind(base) != VALUE_CONSTANT || insn->scale != insn->size)
		return VALUE_NONE;
	if (insn->size == WORD)
		return value_number(VALUE_ENTRY_OF_U64, value_of_number(base));
	/* words are always distances with a sign, which may be added later */
	if (insn->cond == INSN_SIGNED || form == 2)
		form |= VALUE_ENTRY_SIGNED;
	return value_entry(value_of_number(base), form);
}

/* What is known of an entry stays, once its sign is taken. */
static value extended(value v, unsigned int size)
{
	if (value_kind(v) == VALUE_ENTRY && size &&
	    size == 1u << (value_form(v) & VALUE_ENTRY_SIZE))
		return v | (value)VALUE_ENTRY_SIGNED << VALUE_KIND_BITS;
	return value_kind(v) == VALUE_ENTRY_OF_S32 && (!size || size == 4) ? v : VALUE_NONE;
}

static value scaled(value v, unsigned int scale)
{
	return scale == 1 ? v
	       : value_kind(v) == VALUE_CONSTANT
		       ? value_number(VALUE_CONSTANT, value_of_number(v) * scale)
		       : VALUE_NONE;
}

static value inserted(value v, const struct insn *insn)
{
	const uint64_t mask = (uint64_t)0xffff << insn->scale;

	if (value_kind(v) != VALUE_CONSTANT)
		return VALUE_NONE;
	return value_number(VALUE_CONSTANT, (int64_t)(((uint64_t)value_of_number(v) & ~mask) |
						      (uint64_t)insn->value));
}

static value signed_by(value v, unsigned int key)
{
	return v == VALUE_RETURN ? VALUE_SIGNED_RETURN(key) : VALUE_NONE;
}

/* Without a key, a signature is taken off as it is. */
static value authenticated(value v, unsigned int key)
{
	const bool is_signed = v == VALUE_SIGNED_RETURN(INSN_KEY_A) ||
			       v == VALUE_SIGNED_RETURN(INSN_KEY_B);

	if (!key)
		return is_signed || v == VALUE_RETURN ? VALUE_RETURN : VALUE_NONE;
	return v == VALUE_SIGNED_RETURN(key) ? VALUE_RETURN : VALUE_NONE;
}

/* The value of an address, or of a sum of two registers, one of which may be a table's entry. */
static value effective(const struct frame_state *state, const struct insn *insn)
{
	if (insn->base != NO_REG && insn->index != NO_REG &&
	    value_kind(state->regs[insn->index]) == VALUE_ENTRY)
		return narrow_case(state->regs[insn->index], state->regs[insn->base], insn->scale);
	if (insn->base != NO_REG && insn->index != NO_REG && insn->scale == 1)
		return value_plus(sum(state->regs[insn->base], state->regs[insn->index]),
				  insn->value);
	if (insn->base == NO_REG && insn->index != NO_REG && insn->scale == 4 && !insn->value &&
	    value_kind(state->regs[insn->index]) != VALUE_CONSTANT)
		return VALUE_TIMES_FOUR;
	return frame_state_address(state, insn);
}

static void push(struct frame_state *state, value held, unsigned int size)
{
	state->regs[state->machine->sp] = value_plus(state->regs[state->machine->sp],
						     -(int64_t)size);
	store(state, state->regs[state->machine->sp], held, size);
}

void frame_state_push(struct frame_state *state, value held)
{
	push(state, held, WORD);
	state->compared = -1;
	state->equal = NO_REG;
}

static void pop(struct frame_state *state, unsigned int reg, unsigned int size, uint32_t number)
{
	value at = state->regs[state->machine->sp];

	state->regs[state->machine->sp] = value_plus(at, size);
	set(state, reg, size == WORD ? frame_state_word(state, at) : VALUE_NONE, number);
}

static void leave(struct frame_state *state, uint32_t number)
{
	set(state, state->machine->sp, state->regs[state->machine->fp], number);
	pop(state, state->machine->fp, WORD, number);
}

static void enter(struct frame_state *state, int64_t bytes)
{
	push(state, state->regs[state->machine->fp], WORD);
	state->regs[state->machine->fp] = state->regs[state->machine->sp];
	state->regs[state->machine->sp] = value_plus(state->regs[state->machine->sp], -bytes);
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

bool frame_state_mistakes_return(const struct frame_state *state, const struct insn *insn)
{
	switch (insn->op) {
	case OP_LOAD:
	case OP_LOAD_S32:
	case OP_STORE:
		return insn->base < state->machine->regs && state->regs[insn->base] == VALUE_RETURN;
	default:
		return false;
	}
}

bool frame_state_has_popped(const struct frame_state *state)
{
	return value_is_cfa(state->regs[state->machine->sp]) &&
	       value_offset(state->regs[state->machine->sp]) > state->machine->entry_sp;
}

/* Forget slots below the stack pointer, which a callee may overwrite. */
static void drop_below_sp(struct frame_state *state)
{
	const value sp = state->regs[state->machine->sp];

	for (unsigned int i = 0; i < state->count;)
		if (same_base(state->slots[i].at, sp) &&
		    value_offset(state->slots[i].at) < value_offset(sp))
			drop_slot(state, i);
		else
			i++;
	if (frame_state_has_popped(state))
		state->lost_ra = true;
}

void frame_state_call(struct frame_state *state, unsigned int keeps)
{
	drop_below_sp(state);
	clobber(state, state->machine->call_clobbers & ~keeps, 0);
	state->limit = 0;
	state->compared = -1;
	state->equal = NO_REG;
}

static void swap(struct frame_state *state, const struct insn *insn, uint32_t number)
{
	value first = state->regs[insn->reg], second = state->regs[insn->base];

	set(state, insn->reg, second, number);
	set(state, insn->base, first, number);
}

static void compute_narrow(struct frame_state *s, const struct insn *i, uint32_t number)
{
	switch (i->op) {
	case OP_INSERT:
		set(s, i->reg, inserted(reg_value(s, i->reg), i), number);
		break;
	case OP_SUB:
		set(s, i->reg, difference(s->regs[i->base], scaled(s->regs[i->index], i->scale)),
		    number);
		break;
	case OP_ADD_NARROW:
		set(s, i->reg, add_narrow(s, i), number);
		break;
	case OP_LOAD_ENTRY:
		set(s, i->reg, load_entry(s, i), number);
		break;
	case OP_SIGN:
		set(s, i->reg, signed_by(s->regs[i->reg], i->cond), number);
		break;
	case OP_AUTHENTICATE:
		set(s, i->reg, authenticated(s->regs[i->reg], i->cond), number);
		break;
	default:
		break;
	}
}

static void load(struct frame_state *s, const struct insn *i, uint32_t number)
{
	const value v = frame_state_load(s, i);

	set(s, i->reg, v, number);
	if (i->reg == s->machine->sp)
		s->left = value_kind(v) != VALUE_BASE;
}

static void compute(struct frame_state *s, const struct insn *i, uint32_t number)
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
		load(s, i, number);
		break;
	case OP_LOAD_S32:
		set(s, i->reg, load_s32(s, i), number);
		break;
	case OP_EXTEND:
		set(s, i->reg, extended(s->regs[i->base], i->size), number);
		break;
	case OP_SWAP:
		swap(s, i, number);
		break;
	default:
		compute_narrow(s, i, number);
	}
}

static value pair_place(const struct frame_state *state, const struct insn *insn)
{
	const value base = state->regs[insn->base];

	return insn->cond == INSN_AFTER ? base : value_plus(base, insn->value);
}

static void store_pair(struct frame_state *state, const struct insn *insn)
{
	const value at = pair_place(state, insn);

	store(state, at, reg_value(state, insn->reg), insn->size);
	store(state, value_plus(at, insn->size), reg_value(state, insn->index), insn->size);
}

/* What is in the stack at an address, if that is a word of it. */
static value stack_word(const struct frame_state *state, value at, unsigned int size)
{
	return size == WORD && value_kind(at) == VALUE_BASE ? frame_state_word(state, at)
							    : VALUE_NONE;
}

static bool has_address(const struct insn *insn)
{
	return insn->base != NO_REG || insn->index != NO_REG;
}

/* Tail calls with other arguments move the return address so. */
static value pushed_value(const struct frame_state *state, const struct insn *insn)
{
	return has_address(insn) ? stack_word(state, frame_state_address(state, insn), insn->size)
				 : reg_value(state, insn->reg);
}

static void load_pair(struct frame_state *state, const struct insn *insn, uint32_t number)
{
	const value at = pair_place(state, insn);
	const value first = stack_word(state, at, insn->size);
	const value second = stack_word(state, value_plus(at, insn->size), insn->size);

	set(state, insn->reg, first, number);
	set(state, insn->index, second, number);
}

void frame_state_step(struct frame_state *state, const struct insn *insn, uint32_t number)
{
	/* what a load or store leaves in its base */
	const value base = insn_writes_base(insn) ? value_plus(state->regs[insn->base], insn->value)
						  : VALUE_NONE;

	value word;

	switch (insn->op) {
	case OP_STORE:
		store(state, place_of(state, insn), reg_value(state, insn->reg), insn->size);
		break;
	case OP_STORE_PAIR:
		store_pair(state, insn);
		break;
	case OP_LOAD_PAIR:
		load_pair(state, insn, number);
		break;
	case OP_PUSH:
		push(state, pushed_value(state, insn), insn->size);
		break;
	case OP_POP:
		word = stack_word(state, frame_state_sp(state), insn->size);
		pop(state, insn->reg, insn->size, number);
		if (has_address(insn))
			store(state, frame_state_address(state, insn), word, insn->size);
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
		state->equal = insn->op == OP_COMPARE_SP ? insn->base : NO_REG;
	if (insn_writes_base(insn))
		set(state, insn->base, base, number);
	if (insn->mask)
		clobber(state, insn->mask, number);
}

/*
 * A comparison bounds the index of a table. And a loop that probes the pages of a large frame ends
 * when the stack pointer equals a value that was computed before.
 */
void frame_state_branch(struct frame_state *state, const struct insn *branch, bool taken)
{
	if (state->compared >= 0 && branch->cond == (taken ? COND_NOT_ABOVE : COND_ABOVE))
		state->limit = state->compared + 1;
	if (state->compared > 0 && branch->cond == (taken ? COND_BELOW : COND_NOT_BELOW))
		state->limit = state->compared;
	if (state->equal != NO_REG && branch->cond == (taken ? COND_EQUAL : COND_NOT_EQUAL) &&
	    value_is_cfa(state->regs[state->equal]))
		state->regs[state->machine->sp] = state->regs[state->equal];
}

bool frame_state_leaves(const struct frame_state *state, const struct insn *insn)
{
	return value_is_cfa(state->regs[state->machine->fp]) &&
	       (insn->op == OP_LEAVE ||
		((insn->op == OP_MOVE || insn->op == OP_LEA) && insn->reg == state->machine->sp &&
		 insn->base == state->machine->fp));
}

/* Whether the return address is where calls leave it. */
static bool has_ra(const struct frame_state *state)
{
	return ra_is_on_stack(state->machine) ? !state->lost_ra
					      : state->regs[state->machine->ra] == VALUE_RETURN;
}

bool frame_state_is_undone(const struct frame_state *state)
{
	return state->regs[state->machine->sp] ==
		       value_on_base(VALUE_CFA, state->machine->entry_sp) &&
	       state->regs[state->machine->fp] == VALUE_CALLERS_FP && has_ra(state);
}

bool frame_state_may_return(const struct frame_state *state)
{
	return ra_is_on_stack(state->machine) &&
	       state->regs[state->machine->fp] == VALUE_CALLERS_FP &&
	       frame_state_word(state, frame_state_sp(state)) == VALUE_RETURN;
}

bool frame_state_is_left(const struct frame_state *state)
{
	if (!ra_is_on_stack(state->machine))
		return false;
	if (state->left)
		return true;
	if (state->regs[state->machine->fp] != VALUE_CALLERS_FP)
		return false;
	for (unsigned int r = 0; r < state->machine->regs; r++)
		if (state->regs[r] == VALUE_RETURN)
			return true;
	return frame_state_may_return(state);
}

static bool knows_cfa(const struct frame_state *state)
{
	struct bobbin_rule rule;

	return value_is_cfa(state->regs[state->machine->sp]) ||
	       value_is_cfa(state->regs[state->machine->fp]) ||
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
	const value x = a->regs[a->machine->sp], y = b->regs[b->machine->sp];

	return ((value_is_cfa(x) && y == VALUE_NONE) || (value_is_cfa(y) && x == VALUE_NONE)) &&
	       !(value_is_cfa(a->regs[a->machine->fp]) &&
		 a->regs[a->machine->fp] == b->regs[b->machine->fp]);
}

enum frame_join frame_state_join(struct frame_state *into, const struct frame_state *from,
				 bool *changed)
{
	const bool both = (value_is_cfa(into->regs[into->machine->sp]) &&
			   value_is_cfa(from->regs[from->machine->sp]) &&
			   into->regs[into->machine->sp] != from->regs[from->machine->sp]) ||
			  loses_sp(into, from);
	bool known = true, moved = false;

	if (into->regs[into->machine->sp] != from->regs[from->machine->sp] ||
	    into->regs[into->machine->fp] != from->regs[from->machine->fp])
		known = knows_cfa(into) || knows_cfa(from);
	for (unsigned int r = 0; r < into->machine->regs; r++)
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
	if (into->left && !from->left) {
		into->left = false;
		moved = true;
	}
	into->compared = -1;
	into->equal = NO_REG;
	*changed |= moved;
	if (moved && known && !knows_cfa(into))
		return JOIN_LOSES;
	return both ? JOIN_MOVES : JOIN_AGREES;
}
