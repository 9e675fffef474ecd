// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/flow.h"

#include <string.h>

#include "base/vector.h"
#include "infer/flow_body.h"

/* Limits of a function that is analysed. */
#define MOST_INSTRUCTIONS (1u << 20)
#define MOST_STATE_BYTES ((size_t)64 << 20)
/* Steps for each instruction and for each function, and restarts, before the budget is spent. */
#define STEPS_PER_INSTRUCTION 48
#define STEPS 4096
#define MOST_ROUNDS 48

int flow_open(struct program *program, struct flow **ret)
{
	struct flow *f;
	int r;

	if (!program->machine->exists())
		return -ENOTSUP;
	if (!program->code.count)
		return -ENODATA;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->program = program;
	f->decoder = insn_decoder_open(program->machine);
	r = f->decoder ? insn_map_init(&f->map, program->code.ranges[0].start,
				       program->code.ranges[program->code.count - 1].end)
		       : -ENOMEM;
	if (r)
		flow_close(f);
	else
		*ret = f;
	return r;
}

void flow_close(struct flow *flow)
{
	if (!flow)
		return;
	insn_decoder_close(flow->decoder);
	insn_map_fini(&flow->map);
	free(flow->labels);
	free(flow->queue);
	free(flow->ahead);
	free(flow->store);
	free(flow->callees);
	free(flow);
}

void flow_contradict(struct flow *f)
{
	f->bad = true;
	f->out.rejected |= !!f->others;
}

bool flow_owns(const struct flow *f, uint64_t addr)
{
	for (unsigned int i = 0; i < f->part_count; i++)
		if (addr >= f->parts[i].start && addr < f->parts[i].end)
			return true;
	return false;
}

/* Make an instruction a label. If it has been stepped over before, the results are invalid. */
static int mark_label(struct flow *f, uint32_t insn)
{
	struct mapped_insn *mapped = &f->map.insns[insn];

	if (mapped->label)
		return 0;
	if (vector_push(f->labels, f->label_count, f->label_capacity, (struct label){.insn = insn}))
		return -ENOMEM;
	mapped->label = (uint32_t)f->label_count;
	f->again |= mapped->reached;
	return 0;
}

static int look_ahead(struct flow *f, uint64_t addr)
{
	return vector_push(f->ahead, f->ahead_count, f->ahead_capacity, addr);
}

static int decode(struct flow *f, uint64_t addr, struct insn *ret)
{
	uint64_t size;
	const uint8_t *code = program_bytes(f->program, addr, &size);

	ret->at = (uint32_t)(addr - f->map.base);
	if (!code || f->map.count >= MOST_INSTRUCTIONS) {
		f->out.spent |= !!code;
		*ret = (struct insn){
			.at = ret->at, .op = OP_BAD, .len = f->program->machine->shortest};
	} else {
		insn_decode(f->decoder, code, size, addr, ret);
	}
	return insn_map_add(&f->map, ret);
}

/* Decode from an address on, as long as control goes on and the code is the function's. */
static int decode_run(struct flow *f, uint64_t addr)
{
	struct insn insn;
	int r;

	do {
		uint32_t known = insn_map_find(&f->map, addr);

		if (known != NO_INSN)
			return mark_label(f, known);
		r = decode(f, addr, &insn);
		if (r)
			return r;
		if ((insn.op == OP_BRANCH || insn.op == OP_JUMP) &&
		    flow_owns(f, (uint64_t)insn.value))
			r = look_ahead(f, (uint64_t)insn.value);
		addr += insn.len;
	} while (!r && insn_goes_on(&insn) && flow_owns(f, addr));
	return r;
}

/* Make the instruction at an address a label, and decode all that follows it. */
static int reach(struct flow *f, uint64_t addr, uint32_t *ret)
{
	int r = look_ahead(f, addr);

	while (!r && f->ahead_count) {
		uint64_t next = f->ahead[--f->ahead_count];
		uint32_t insn = insn_map_find(&f->map, next);

		if (insn == NO_INSN) {
			r = decode_run(f, next);
			insn = insn_map_find(&f->map, next);
		}
		if (!r)
			r = mark_label(f, insn);
	}
	if (!r)
		*ret = insn_map_find(&f->map, addr);
	return r;
}

static int keep_state(struct flow *f, struct label *label, const struct frame_state *state)
{
	const size_t size = FRAME_STATE_SIZE(state->count);

	if (f->store_size + size > MOST_STATE_BYTES) {
		f->out.spent = true;
		return 0;
	}
	if (vector_reserve(&f->store, &f->store_capacity, f->store_size + size, 1))
		return -ENOMEM;
	label->state = f->store_size;
	label->has_state = true;
	memcpy(f->store + f->store_size, state, size);
	f->store_size += size;
	return 0;
}

static int queue(struct flow *f, struct label *label)
{
	if (label->queued)
		return 0;
	label->queued = true;
	return vector_push(f->queue, f->queue_count, f->queue_capacity,
			   (uint32_t)(label - f->labels));
}

/* Note that a call does not return, nor do other calls of the same callee. */
static void end_calls(struct flow *f, uint32_t number)
{
	const struct insn *call = &f->map.insns[number].insn;

	f->map.insns[number].ends = true;
	for (size_t i = 0; i < f->map.count && call->op == OP_CALL; i++) {
		struct mapped_insn *other = &f->map.insns[i];

		if (other->insn.op == OP_CALL && other->insn.value == call->value)
			other->ends = true;
	}
}

/*
 * Two paths disagree about the stack pointer. If one of them returns from a call, assume that this
 * call does not return.
 */
static void disagree(struct flow *f, const struct label *label, enum frame_join how)
{
	if (label->after_call) {
		end_calls(f, label->after_call - 1);
		f->again = true;
	} else if (how == JOIN_LOSES) {
		flow_contradict(f);
	}
}

/* Join a state into that of a label. @call: 1 + the call that control returns from, or 0. */
static int arrive(struct flow *f, uint32_t insn, const struct frame_state *state, uint32_t call)
{
	struct label *label = &f->labels[f->map.insns[insn].label - 1];
	bool changed = false;
	enum frame_join how;
	int r = 0;

	if (call)
		label->after_call = call;
	if (!call)
		label->after_padding = false;
	if (!label->has_state) {
		label->doubt = f->doubt;
		label->after_padding = call && flow_is_padded(f, call - 1);
		r = keep_state(f, label, state);
		changed = label->has_state;
	} else {
		how = frame_state_join(flow_label_state(f, label), state, &changed);
		if (how != JOIN_AGREES)
			disagree(f, label, how);
	}
	/* one path without doubt is enough */
	changed |= label->doubt && !f->doubt;
	label->doubt &= f->doubt;
	return r || !changed ? r : queue(f, label);
}

/* Control leaves the code that is assumed to be the function's. */
static int leave(struct flow *f, uint64_t addr, const struct frame_state *state, bool *joined)
{
	const struct bobbin_range *code = program_code(f->program, addr);
	struct program_start *start = code ? program_start(f->program, addr) : NULL;
	const bool is_function = start && start->addr == addr && start->flags & START_CERTAIN;

	*joined = false;
	if (frame_state_is_undone(state))
		return flow_call_last(f, addr, start);
	if (is_function && frame_state_may_return(state))
		return flow_call_last_with_arguments(f, addr);
	if (is_function || !code || f->part_count == MOST_PARTS) {
		flow_contradict(f);
		return 0;
	}
	f->parts[f->part_count++] = (struct bobbin_range){
		start && start->addr >= code->start ? start->addr : code->start,
		program_next(f->program, addr)};
	*joined = true;
	return 0;
}

int flow_go_to(struct flow *f, uint64_t addr, const struct frame_state *state)
{
	bool joined = flow_owns(f, addr);
	uint32_t insn;
	int r = joined ? 0 : leave(f, addr, state, &joined);

	if (r || !joined)
		return r;
	r = reach(f, addr, &insn);
	return r ? r : arrive(f, insn, state, 0);
}

/* Execute an instruction on the state, and follow its targets; @on: control continues. */
static int pass(struct flow *f, uint32_t number, struct frame_state *state, bool *on)
{
	/* a copy: following targets may move the array */
	const struct insn insn = f->map.insns[number].insn;
	struct frame_state taken;

	*on = insn_goes_on(&insn);
	switch (insn.op) {
	case OP_CALL:
	case OP_CALL_SLOT:
	case OP_CALL_OTHER:
		return flow_pass_call(f, number, state, on);
	case OP_RETURN:
		return flow_pass_return(f, &insn, state);
	case OP_STOP:
		f->out.unresolved += insn.value != 0;
		return 0;
	case OP_JUMP:
		return flow_go_to(f, (uint64_t)insn.value, state);
	case OP_JUMP_REG:
	case OP_JUMP_MEM:
		return flow_pass_jump(f, &insn, state);
	case OP_BAD:
		flow_contradict(f);
		return 0;
	case OP_BRANCH:
		frame_state_step(state, &insn, number);
		taken = *state;
		frame_state_branch(&taken, &insn, true);
		frame_state_branch(state, &insn, false);
		return flow_go_to(f, (uint64_t)insn.value, &taken);
	default:
		if (frame_state_mistakes_return(state, &insn))
			flow_contradict(f);
		f->out.by_fp |= frame_state_leaves(state, &insn);
		frame_state_step(state, &insn, number);
		return 0;
	}
}

static uint32_t next_insn(const struct flow *f, uint32_t number)
{
	const struct insn *insn = &f->map.insns[number].insn;

	if (number + 1 < f->map.count && f->map.insns[number + 1].insn.at == insn->at + insn->len)
		return number + 1;
	return insn_map_find(&f->map, flow_after(f, number));
}

/*
 * Control runs out of the function's code.  After a call and nothing but padding, the call does
 * not return.
 */
static int run_out(struct flow *f, uint32_t number, const struct frame_state *state, uint32_t call)
{
	if (call) {
		f->map.insns[call - 1].ends = true;
		return 0;
	}
	/* running into the next function does not prove that this is one */
	f->out.rejected |= !!f->others;
	return flow_go_to(f, flow_after(f, number), state);
}

/*
 * Whether another function follows the padding after a call. Inside a function, code after padding
 * is the target of a jump.
 */
static bool begins_another(const struct flow *f, uint32_t next, uint32_t call)
{
	return call && !f->map.insns[next].label &&
	       flow_address(f, next) ==
		       (flow_after(f, call - 1) / FLOW_ALIGNMENT + 1) * FLOW_ALIGNMENT &&
	       flow_is_padded(f, call - 1);
}

/* A call does not return if the code behind the padding after it has no other predecessor. */
static void end_padded_calls(struct flow *f)
{
	for (size_t i = 0; i < f->label_count; i++)
		if (f->labels[i].after_padding) {
			f->map.insns[f->labels[i].after_call - 1].ends = true;
			f->again = true;
		}
}

/* Execute from a label to the end of control flow, or to the next label. */
static int run(struct flow *f, uint32_t number, struct frame_state *state)
{
	uint32_t call = 0, next;
	bool on = true;

	for (;; number = next) {
		const struct insn *insn = &f->map.insns[number].insn;
		int r;

		if (insn_is_call(insn)) {
			call = number + 1;
			f->doubt |= flow_call_is_doubtful(f, number);
		} else if (insn->op != OP_NOTHING || insn->mask)
			call = 0;
		f->map.insns[number].reached = true;
		if (f->others && code_set_has(f->others, flow_address(f, number)))
			f->out.rejected = true;
		if (++f->steps > STEPS + (uint64_t)f->map.count * STEPS_PER_INSTRUCTION)
			f->out.spent = true;
		r = pass(f, number, state, &on);
		if (r || !on || f->out.spent || f->out.rejected)
			return r;
		next = next_insn(f, number);
		if (next == NO_INSN)
			return run_out(f, number, state, call);
		if (begins_another(f, next, call)) {
			f->map.insns[call - 1].ends = true;
			return 0;
		}
		if (f->map.insns[next].label)
			return arrive(f, next, state, call);
	}
}

static void begin_round(struct flow *f)
{
	for (size_t i = 0; i < f->label_count; i++)
		f->labels[i] = (struct label){.insn = f->labels[i].insn};
	for (size_t i = 0; i < f->map.count; i++)
		f->map.insns[i].reached = false;
	f->queue_count = 0;
	f->store_size = 0;
	f->callee_count = 0;
	f->calls = false;
	f->changes = 0;
	f->again = f->bad = f->moves_differ = f->doubt = false;
	f->out = (struct flow_outcome){.spent = f->out.spent, .rejected = f->out.rejected};
}

/* Execute until no state changes. */
static int settle(struct flow *f)
{
	struct frame_state state;
	uint32_t first;
	int r = reach(f, f->start, &first);

	begin_round(f);
	if (r)
		return r;
	frame_state_entry(&state, f->program->machine);
	r = arrive(f, first, &state, 0);
	while (!r && f->queue_count && !f->again && !f->out.spent && !f->out.rejected) {
		struct label *label = &f->labels[f->queue[--f->queue_count]];
		const struct frame_state *kept = flow_label_state(f, label);

		label->queued = false;
		memcpy(&state, kept, FRAME_STATE_SIZE(kept->count));
		f->doubt = label->doubt;
		r = run(f, label->insn, &state);
	}
	if (!f->again)
		end_padded_calls(f);
	return r;
}

/* Count after the last round: before, an instruction may be executed more than once. */
static int count(void *ctx, const struct flow_visit *visit)
{
	struct flow *f = ctx;
	struct bobbin_rule rule;

	f->out.instructions++;
	f->changes |= insn_changes(visit->insn);
	f->bad |= !frame_state_rule(visit->state, false, &rule) &&
		  !frame_state_is_left(visit->state);
	return 0;
}

/* Registers that functions may change, but for that which the call itself changes. */
static uint32_t keepable(const struct machine *machine)
{
	return machine->ra == NO_REG ? machine->call_clobbers
				     : machine->call_clobbers & ~(1u << machine->ra);
}

/* Set the outcome, once all states are final. */
static void conclude(struct flow *f)
{
	struct flow_outcome *out = &f->out;

	/* a called function without calls of unknown effect needs no exit to be verified */
	out->verified = !f->bad &&
			(out->exits || !out->unresolved || (!f->others && !out->assumed));
	out->no_return = out->verified && !out->exits && !out->unresolved;
	out->rejected |= f->others && (!out->verified || !(out->proofs || f->called));
	if (f->moves_differ || (out->exits && !out->returns))
		out->effect = (struct callee_effect){0};
	if (out->verified && !f->calls && !out->unresolved && out->effect.end == CALLEE_RETURNS)
		out->effect.keeps = keepable(f->program->machine) & ~f->changes;
	out->effect.leaves = out->proofs > 0;
}

int flow_analyse(struct flow *flow, uint64_t start, uint64_t end, const struct code_set *others,
		 bool called, struct flow_outcome *ret)
{
	unsigned int rounds = 0;
	int r;

	insn_map_empty(&flow->map);
	flow->label_count = 0;
	flow->ahead_count = 0;
	flow->steps = 0;
	flow->out = (struct flow_outcome){0};
	flow->start = start;
	flow->others = others;
	flow->called = called;
	flow->parts[0] = (struct bobbin_range){start, end};
	flow->part_count = 1;
	do {
		r = settle(flow);
		flow->out.spent |= ++rounds == MOST_ROUNDS && flow->again;
	} while (!r && flow->again && !flow->out.spent && !flow->out.rejected);
	if (!r && !flow->out.spent && !flow->out.rejected) {
		r = flow_visit(flow, count, flow);
		conclude(flow);
	}
	if (!r)
		*ret = flow->out;
	return r;
}

/* Execute an instruction on the state, without following its targets. */
static void repeat(const struct flow *f, uint32_t number, struct frame_state *state)
{
	const struct insn *insn = &f->map.insns[number].insn;

	if (insn_is_call(insn)) {
		flow_step_call(f, number, state);
		return;
	}
	frame_state_step(state, insn, number);
	if (insn->op == OP_BRANCH)
		frame_state_branch(state, insn, false);
}

/* The next instruction of a run, which a label ends; NO_INSN: there is none. */
static uint32_t next_of_run(const struct flow *f, uint32_t number)
{
	const struct insn *insn = &f->map.insns[number].insn;
	uint32_t next;

	if (insn_is_call(insn) ? flow_call_ends(f, number) : !insn_goes_on(insn))
		return NO_INSN;
	next = next_insn(f, number);
	return next == NO_INSN || f->map.insns[next].label ? NO_INSN : next;
}

/* Whether the instruction at an address is reached without doubt. */
static bool is_sure(const struct flow *f, uint64_t addr)
{
	const uint32_t to = insn_map_find(&f->map, addr);
	const struct label *label = to != NO_INSN && f->map.insns[to].label
					    ? &f->labels[f->map.insns[to].label - 1]
					    : NULL;

	return label && label->has_state && !label->doubt;
}

/*
 * Whether control goes from an instruction to one that is reached without doubt: there, the states
 * agree.
 */
static bool confirms(const struct flow *f, uint32_t number)
{
	const struct insn *insn = &f->map.insns[number].insn;
	const bool on = insn_is_call(insn) ? !flow_call_ends(f, number) : insn_goes_on(insn);

	return insn->op == OP_RETURN || (on && is_sure(f, flow_after(f, number))) ||
	       ((insn->op == OP_JUMP || insn->op == OP_BRANCH) &&
		is_sure(f, (uint64_t)insn->value));
}

/* Whether the rest of the run after an instruction leads to one that is reached without doubt. */
static bool is_confirmed(const struct flow *f, uint32_t number)
{
	for (; number != NO_INSN; number = next_of_run(f, number))
		if (confirms(f, number))
			return true;
	return false;
}

/* Clear the doubt of labels from which control reaches instructions without doubt. */
static void settle_doubts(struct flow *f)
{
	bool changed = true;

	for (unsigned int round = 0; changed && round < MOST_ROUNDS; round++) {
		changed = false;
		for (size_t i = 0; i < f->label_count; i++) {
			struct label *label = &f->labels[i];

			if (label->has_state && label->doubt && is_confirmed(f, label->insn)) {
				label->doubt = false;
				changed = true;
			}
		}
	}
}

static int visit_run(struct flow *f, const struct label *label, flow_visitor visit, void *ctx)
{
	const struct frame_state *kept = flow_label_state(f, label);
	bool doubt = label->doubt;
	uint32_t number = label->insn, next;
	struct frame_state state;
	int r = 0;

	memcpy(&state, kept, FRAME_STATE_SIZE(kept->count));
	for (; number != NO_INSN && !r; number = next) {
		const struct insn *insn = &f->map.insns[number].insn;

		r = visit(ctx, &(struct flow_visit){flow_address(f, number), insn, &state, doubt});
		next = next_of_run(f, number);
		repeat(f, number, &state);
		if (insn_is_call(insn) && flow_call_is_doubtful(f, number))
			doubt = !is_confirmed(f, next);
	}
	return r;
}

int flow_visit(struct flow *flow, flow_visitor visit, void *ctx)
{
	int r = 0;

	settle_doubts(flow);
	for (size_t i = 0; i < flow->label_count && !r; i++)
		if (flow->labels[i].has_state)
			r = visit_run(flow, &flow->labels[i], visit, ctx);
	return r;
}

const uint64_t *flow_callees(const struct flow *flow, size_t *count)
{
	*count = flow->callee_count;
	return flow->callees;
}
