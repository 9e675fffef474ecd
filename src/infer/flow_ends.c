// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* flow_ends.c - returns, indirect jumps and calls, and their effect on the outcome. */
#include <string.h>

#include "base/vector.h"
#include "core/bytes.h"
#include "infer/flow_body.h"

#define WORD 8
/* Entries of a table of jumps. */
#define MOST_ENTRIES 16384

/* The stack pointer at the start. */
static value entry_sp(const struct flow *f)
{
	return value_on_base(VALUE_CFA, f->program->machine->entry_sp);
}

static int add_callee(struct flow *f, uint64_t addr)
{
	if (f->callee_count && f->callees[f->callee_count - 1] == addr)
		return 0;
	return vector_push(f->callees, f->callee_count, f->callee_capacity, addr);
}

/* Note a return to the caller that leaves the stack pointer moved by @moves. */
static void note_return(struct flow *f, int64_t moves, bool loses_fp)
{
	struct callee_effect *effect = &f->out.effect;

	if (moves < INT32_MIN || moves > INT32_MAX) {
		f->moves_differ = true;
		moves = 0;
	}
	if (!f->out.returns++)
		*effect = (struct callee_effect){
			.moves = (int32_t)moves, .end = CALLEE_RETURNS, .loses_fp = loses_fp};
	f->moves_differ |= effect->moves != moves;
	effect->loses_fp &= loses_fp;
}

static bool has_callers_fp(const struct frame_state *state)
{
	return state->regs[state->machine->fp] == VALUE_CALLERS_FP;
}

int flow_call_last(struct flow *f, uint64_t addr, const struct program_start *start)
{
	const bool ends = program_call_ends(f->program, addr);
	const bool exact = start && start->addr == addr;

	f->calls = true;
	f->out.exits += !ends;
	/* a jump to a thunk may be a switch of this function */
	f->out.proofs += !ends && exact && start->flags & START_CERTAIN && start->effect.leaves;
	if (exact && !ends && start->effect.end == CALLEE_RETURNS)
		note_return(f, start->effect.moves, start->effect.loses_fp);
	return add_callee(f, addr);
}

int flow_call_last_with_arguments(struct flow *f, uint64_t addr)
{
	f->calls = true;
	if (!program_call_ends(f->program, addr)) {
		f->out.exits++;
		note_return(f, INT64_MAX, false);
	}
	return add_callee(f, addr);
}

/* The word that a jump goes through, maybe by a register; false: another jump, or it is unknown. */
static bool slot_of(const struct frame_state *state, const struct insn *jump, uint64_t *ret)
{
	if (jump->op == OP_JUMP_MEM && jump->base == NO_REG && jump->index == NO_REG) {
		*ret = (uint64_t)jump->value;
		return true;
	}
	if (jump->op != OP_JUMP_REG || value_kind(state->regs[jump->reg]) != VALUE_SLOT)
		return false;
	*ret = (uint64_t)value_of_number(state->regs[jump->reg]);
	return true;
}

/* Whether a jump through memory goes to a function of another file. */
static bool is_import(const struct flow *f, const struct frame_state *state,
		      const struct insn *jump)
{
	uint64_t slot;

	return slot_of(state, jump, &slot) && program_is_import(f->program, slot);
}

/* The target of a jump through a word that never changes; false: it may change. */
static bool fixed_target(const struct flow *f, const struct frame_state *state,
			 const struct insn *jump, uint64_t *ret)
{
	uint64_t slot;

	return slot_of(state, jump, &slot) && program_fixed_word(f->program, slot, ret) &&
	       program_code(f->program, *ret);
}

/*
 * An indirect jump with unknown target: a tail call if the frame is undone, otherwise an unresolved
 * switch. @import: it is a tail call, which with a frame is a contradiction.
 */
static void jump_somewhere(struct flow *f, const struct frame_state *state, bool import)
{
	f->calls = true;
	if (frame_state_is_undone(state)) {
		f->out.exits++;
		f->out.proofs += import;
	} else if (import) {
		flow_contradict(f);
	} else {
		f->out.unresolved++;
	}
}

/**
 * struct jump_table - where a switch leads, and how far that was read
 * @at: the next entry
 * @end: at most as far
 * @base: of its distances
 * @entry: bytes of one
 * @scale: of distances; 0: entries are addresses
 * @has_sign: distances may be negative
 */
struct jump_table {
	const struct program *program;
	uint64_t at, end, base;
	unsigned int entry, scale;
	bool has_sign;
};

/* Where an indirect jump leads, as far as is known. */
static value jump_value(const struct frame_state *state, const struct insn *jump)
{
	return jump->op == OP_JUMP_MEM ? frame_state_load(state, jump) : state->regs[jump->reg];
}

static struct jump_table narrow_table(value v)
{
	const unsigned int form = value_form(v);

	return (struct jump_table){
		.at = (uint64_t)value_narrow_table(v),
		.base = (uint64_t)value_narrow_from(v),
		.entry = 1u << (form & VALUE_ENTRY_SIZE),
		.scale = value_narrow_scaled(v) ? 4 : 1,
		.has_sign = form & VALUE_ENTRY_SIGNED,
	};
}

/* The table that a value is from, without its end; false: from none. */
static bool table_of_value(value v, struct jump_table *ret)
{
	switch (value_kind(v)) {
	case VALUE_CASE:
	case VALUE_CASE_FROM:
		*ret = (struct jump_table){.at = (uint64_t)value_case_table(v),
					   .base = (uint64_t)value_case_from(v),
					   .entry = 4,
					   .scale = 1,
					   .has_sign = true};
		return true;
	case VALUE_ENTRY_OF_U64:
		*ret = (struct jump_table){.at = (uint64_t)value_of_number(v), .entry = 8};
		return true;
	case VALUE_CASE_NARROW:
		*ret = narrow_table(v);
		return true;
	default:
		return false;
	}
}

/* The table of an indirect jump, in the state before it; false: it has none that is known. */
static bool jump_table_of(const struct program *program, const struct insn *jump,
			  const struct frame_state *state, struct jump_table *ret)
{
	uint64_t most = MOST_ENTRIES;

	if (!table_of_value(jump_value(state, jump), ret))
		return false;
	ret->program = program;
	if (state->limit > 0 && state->limit < MOST_ENTRIES)
		most = (uint64_t)state->limit;
	else if (ret->entry < 4)
		return false; /* whatever follows would be an entry, too */
	ret->end = ret->at + most * ret->entry;
	if (program_next_table(program, ret->at) < ret->end)
		ret->end = program_next_table(program, ret->at);
	return true;
}

static uint64_t distance_of(const struct jump_table *table, const uint8_t *bytes)
{
	switch (table->entry) {
	case 1:
		return table->has_sign ? (uint64_t)(int64_t)(int8_t)*bytes : *bytes;
	case 2:
		return table->has_sign ? (uint64_t)(int64_t)(int16_t)load_u16(bytes, false)
				       : load_u16(bytes, false);
	default:
		return (uint64_t)(int64_t)(int32_t)load_u32(bytes, false);
	}
}

/* The next target, which is code; false: there are no more. */
static bool jump_table_next(struct jump_table *table, uint64_t *ret)
{
	const uint64_t at = table->at;
	const uint8_t *bytes;
	uint64_t size;

	if (at >= table->end)
		return false;
	table->at += table->entry;
	if (!table->scale)
		return program_word(table->program, at, ret) && program_code(table->program, *ret);
	bytes = program_bytes(table->program, at, &size);
	if (!bytes || size < table->entry)
		return false;
	*ret = table->base + distance_of(table, bytes) * table->scale;
	return program_code(table->program, *ret);
}

static int jump_by_table(struct flow *f, const struct insn *insn, const struct frame_state *state)
{
	struct jump_table table;
	uint64_t target;
	int r = 0;

	if (!jump_table_of(f->program, insn, state, &table)) {
		jump_somewhere(f, state, is_import(f, state, insn));
		return 0;
	}
	while (!r && jump_table_next(&table, &target)) {
		const struct program_start *start = program_start(f->program, target);

		if (!flow_owns(f, target) &&
		    (!start || start->flags & START_CERTAIN || frame_state_is_undone(state)))
			break;
		r = flow_go_to(f, target, state);
	}
	return r;
}

/* Whether the caller's frame pointer is on the stack, right below what was on top of it at the start. */
static bool has_record(const struct flow *f, const struct frame_state *state)
{
	return f->program->machine->ra == NO_REG &&
	       frame_state_word(state, value_plus(entry_sp(f), -WORD)) == VALUE_CALLERS_FP;
}

/*
 * A jump to a return address that was popped to a register, or that replaces another one.  What may
 * not be a function is one if it returns by a frame record of its own.
 */
static void return_from_elsewhere(struct flow *f, const struct frame_state *state, int64_t moves)
{
	f->out.exits++;
	if (!has_callers_fp(state) || (f->others && !has_record(f, state)))
		flow_contradict(f);
	else if (f->others)
		f->out.proofs++;
	note_return(f, moves, !has_callers_fp(state));
}

int flow_pass_jump(struct flow *f, const struct insn *insn, const struct frame_state *state)
{
	const value to = jump_value(state, insn), sp = frame_state_sp(state);
	uint64_t target;

	if (to == VALUE_RETURN && value_is_cfa(sp)) {
		return_from_elsewhere(f, state, value_offset(sp));
		return 0;
	}
	if (value_kind(to) == VALUE_CONSTANT &&
	    program_code(f->program, (uint64_t)value_of_number(to)))
		return flow_go_to(f, (uint64_t)value_of_number(to), state);
	if (fixed_target(f, state, insn, &target))
		return flow_go_to(f, target, state);
	return jump_by_table(f, insn, state);
}

/* The function's own return address is not on the stack any more. */
static void return_without_address(struct flow *f, value sp)
{
	const bool popped = value_offset(sp) > -WORD;

	if (!f->out.returns && value_offset(sp) <= INT32_MAX)
		f->out.effect =
			(struct callee_effect){.moves = popped ? (int32_t)value_offset(sp) : 0,
					       .end = popped ? CALLEE_DROPS : CALLEE_REPLACES};
	flow_contradict(f);
}

/* Leaves the function with the stack pointer of its start, moved by @moves once it has returned. */
static void return_undone(struct flow *f, const struct frame_state *state, int64_t moves)
{
	if (has_callers_fp(state)) {
		f->out.exits++;
		f->out.proofs++;
	} else {
		flow_contradict(f);
	}
	note_return(f, moves, !has_callers_fp(state));
}

static void return_to_caller(struct flow *f, const struct insn *insn,
			     const struct frame_state *state)
{
	const value sp = frame_state_sp(state);

	if (sp == entry_sp(f))
		return_undone(f, state, insn->value);
	else /* callers cannot know how far it is moved if the function counts what it takes off */
		return_from_elsewhere(f, state,
				      value_is_cfa(sp) ? value_offset(sp) + WORD + insn->value
						       : INT64_MAX);
}

/* To the address in a register, which may have been signed. */
static int return_by_register(struct flow *f, const struct insn *insn,
			      const struct frame_state *state)
{
	const value to = state->regs[insn->reg];

	if (frame_state_sp(state) == entry_sp(f) &&
	    to == (insn->cond ? VALUE_SIGNED_RETURN(insn->cond) : VALUE_RETURN))
		return_undone(f, state, 0);
	else if (value_kind(to) == VALUE_CONSTANT &&
		 program_code(f->program, (uint64_t)value_of_number(to)))
		return flow_go_to(f, (uint64_t)value_of_number(to), state);
	else
		flow_contradict(f);
	return 0;
}

int flow_pass_return(struct flow *f, const struct insn *insn, const struct frame_state *state)
{
	const value sp = frame_state_sp(state), to = frame_state_word(state, sp);
	struct frame_state after = *state;

	if (insn->reg != NO_REG)
		return return_by_register(f, insn, state);
	after.regs[after.machine->sp] = value_plus(sp, WORD);
	if (to == VALUE_RETURN)
		return_to_caller(f, insn, state);
	else if (value_kind(to) == VALUE_CONSTANT &&
		 program_code(f->program, (uint64_t)value_of_number(to)))
		return flow_go_to(f, (uint64_t)value_of_number(to), &after);
	else if (value_is_cfa(sp) && value_offset(sp) >= -WORD)
		return_without_address(f, sp);
	else
		flow_contradict(f);
	return 0;
}

bool flow_is_padded(const struct flow *f, uint32_t number)
{
	const uint64_t first = flow_after(f, number);
	struct insn insn = {0};
	uint64_t size;

	/* one of the shortest may be a statement, without optimisation */
	if ((first + f->program->machine->shortest) % FLOW_ALIGNMENT == 0)
		return false;
	for (uint64_t at = first; at % FLOW_ALIGNMENT || at == first; at += insn.len) {
		const uint8_t *code = program_bytes(f->program, at, &size);

		if (!code)
			return false;
		insn_decode(f->decoder, code, size, at, &insn);
		if (!f->program->machine->is_padding(code, insn.len))
			return false;
	}
	return true;
}

/* A call of the next instruction, with which position-independent code finds its address. */
static bool pushes_its_place(const struct flow *f, uint32_t number)
{
	const struct insn *insn = &f->map.insns[number].insn;

	return insn->op == OP_CALL && f->program->machine->ra == NO_REG &&
	       (uint64_t)insn->value == flow_after(f, number);
}

/* The callee of a call; false: it is unknown. */
static bool callee_of(const struct flow *f, const struct insn *call, uint64_t *ret)
{
	if (call->op == OP_CALL_SLOT)
		return program_fixed_word(f->program, (uint64_t)call->value, ret);
	*ret = (uint64_t)call->value;
	return call->op == OP_CALL;
}

bool flow_call_ends(const struct flow *f, uint32_t number)
{
	const struct insn *insn = &f->map.insns[number].insn;
	uint64_t callee;

	if (pushes_its_place(f, number))
		return false;
	/* if this may not be a function, the call may be the last one of another function */
	if (f->map.insns[number].ends || (f->others && !f->called && flow_is_padded(f, number)))
		return true;
	if (insn->op == OP_CALL_SLOT && program_slot_ends(f->program, (uint64_t)insn->value))
		return true;
	return callee_of(f, insn, &callee) && program_call_ends(f->program, callee);
}

static struct callee_effect effect_of(const struct flow *f, const struct insn *call)
{
	uint64_t callee;
	const struct program_start *start = callee_of(f, call, &callee)
						    ? program_start(f->program, callee)
						    : NULL;

	return start && start->addr == callee ? start->effect : (struct callee_effect){0};
}

bool flow_call_is_doubtful(const struct flow *f, uint32_t number)
{
	const uint64_t at = flow_address(f, number);

	return (at < f->parts[0].start || at >= f->parts[0].end) && !pushes_its_place(f, number) &&
	       effect_of(f, &f->map.insns[number].insn).end == CALLEE_UNKNOWN;
}

void flow_step_call(const struct flow *f, uint32_t number, struct frame_state *state)
{
	const struct callee_effect effect = effect_of(f, &f->map.insns[number].insn);
	value *sp = &state->regs[state->machine->sp];

	if (pushes_its_place(f, number)) {
		frame_state_push(state,
				 value_number(VALUE_CONSTANT, (int64_t)flow_after(f, number)));
		return;
	}
	frame_state_call(state, effect.keeps);
	if (effect.end != CALLEE_RETURNS)
		return;
	*sp = value_plus(*sp, effect.moves);
	if (effect.loses_fp)
		state->regs[state->machine->fp] = VALUE_NONE;
}

/* Callees that do not return to their caller: thunks that drop or replace the return address. */
static void pass_thunk(struct flow *f, const struct callee_effect *effect,
		       const struct frame_state *state)
{
	struct frame_state there = *state;

	if (effect->end == CALLEE_REPLACES) {
		f->out.unresolved++;
		jump_somewhere(f, state, false);
		return;
	}
	there.regs[there.machine->sp] = value_plus(frame_state_sp(state), effect->moves);
	if (!frame_state_is_undone(&there)) {
		f->out.unresolved++;
		return;
	}
	f->out.exits++;
	note_return(f, 0, false);
}

/* At a landing pad, the arguments of the call have been taken off the stack. */
static int go_to_pad(struct flow *f, uint64_t addr, const struct frame_state *at_call)
{
	struct frame_state state = *at_call;
	const uint32_t known = insn_map_find(&f->map, addr);
	const struct label *label;
	struct frame_state *there;
	value *sp = &state.regs[state.machine->sp];

	if (known != NO_INSN && f->map.insns[known].label) {
		label = &f->labels[f->map.insns[known].label - 1];
		there = label->has_state ? flow_label_state(f, label) : NULL;
		if (there && value_is_cfa(*sp) && value_is_cfa(there->regs[there->machine->sp])) {
			value higher = (int64_t)*sp > (int64_t)there->regs[there->machine->sp]
					       ? *sp
					       : there->regs[there->machine->sp];

			*sp = there->regs[there->machine->sp] = higher;
		}
	}
	return flow_go_to(f, addr, &state);
}

int flow_pass_call(struct flow *f, uint32_t number, struct frame_state *state, bool *on)
{
	/* a copy: following targets may move the array */
	const struct insn insn = f->map.insns[number].insn;
	const struct callee_effect effect = effect_of(f, &insn);
	struct frame_state at_call = *state;
	uint64_t pad, callee;
	int r = 0;

	f->calls = true;
	*on = !flow_call_ends(f, number);
	flow_step_call(f, number, state);
	if (pushes_its_place(f, number))
		return 0;
	if (callee_of(f, &insn, &callee))
		r = add_callee(f, callee);
	if (effect.end == CALLEE_DROPS || effect.end == CALLEE_REPLACES)
		pass_thunk(f, &effect, &at_call);
	else
		f->out.assumed += *on && effect.end == CALLEE_UNKNOWN;
	if (r || !program_pad_of(f->program, flow_after(f, number), &pad))
		return r;
	frame_state_call(&at_call, 0);
	return go_to_pad(f, pad, &at_call);
}
