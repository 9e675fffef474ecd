// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/flow.h"

#include <string.h>

#include "base/vector.h"
#include "infer/insn_map.h"
#include "infer/jump_table.h"

/* A function that has more is not analysed. */
#define MOST_INSTRUCTIONS (1u << 20)
#define MOST_STATE_BYTES ((size_t)64 << 20)
/* Steps for each instruction, and for each function; and how often it is begun anew. */
#define STEPS_PER_INSTRUCTION 48
#define STEPS 4096
#define MOST_ROUNDS 48
/* Parts of a function that are elsewhere. */
#define MOST_PARTS 64

/* Where control may come from several places. */
struct label {
	uint32_t insn;
	uint32_t after_call; /* number of the call before it from which control came, + 1 */
	size_t state;        /* where its state is in the store, if it has one */
	bool has_state, queued;
};

struct flow {
	struct program *program;
	struct x86_decoder *decoder;
	struct insn_map map;
	struct label *labels;
	size_t label_count, label_capacity;
	uint32_t *queue; /* labels whose states have changed */
	size_t queue_count, queue_capacity;
	uint64_t *ahead; /* addresses to be decoded */
	size_t ahead_count, ahead_capacity;
	uint8_t *store; /* states of labels */
	size_t store_size, store_capacity;
	struct bobbin_range parts[MOST_PARTS];
	unsigned int part_count;
	uint64_t start, steps;
	const struct code_set *others; /* code of other functions, if this may be none */
	bool again;                    /* what was done is void: begin anew */
	bool bad;                      /* something contradicts */
	struct flow_outcome out;
};

int flow_open(struct program *program, struct flow **ret)
{
	struct flow *f;
	int r;

	if (!x86_decoder_exists())
		return -ENOTSUP;
	if (!program->code.count)
		return -ENODATA;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->program = program;
	f->decoder = x86_decoder_open();
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
	x86_decoder_close(flow->decoder);
	insn_map_fini(&flow->map);
	free(flow->labels);
	free(flow->queue);
	free(flow->ahead);
	free(flow->store);
	free(flow);
}

/* Something contradicts. */
static void contradict(struct flow *f)
{
	f->bad = true;
	f->out.rejected |= !!f->others;
}

static uint64_t address_of(const struct flow *f, uint32_t insn)
{
	return f->map.base + f->map.insns[insn].insn.at;
}

static uint64_t after(const struct flow *f, uint32_t insn)
{
	return address_of(f, insn) + f->map.insns[insn].insn.len;
}

static bool owns(const struct flow *f, uint64_t addr)
{
	for (unsigned int i = 0; i < f->part_count; i++)
		if (addr >= f->parts[i].start && addr < f->parts[i].end)
			return true;
	return false;
}

/* Control may come to an instruction from elsewhere.  What passed it before is void. */
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

static int decode(struct flow *f, uint64_t addr, struct x86_insn *ret)
{
	uint64_t size;
	const uint8_t *code = program_bytes(f->program, addr, &size);

	ret->at = (uint32_t)(addr - f->map.base);
	if (!code || f->map.count >= MOST_INSTRUCTIONS) {
		f->out.spent |= !!code;
		*ret = (struct x86_insn){.at = ret->at, .op = OP_BAD, .len = 1};
	} else {
		x86_decode(f->decoder, code, size, addr, ret);
	}
	return insn_map_add(&f->map, ret);
}

static bool goes_on(const struct x86_insn *insn)
{
	switch (insn->op) {
	case OP_RETURN:
	case OP_JUMP:
	case OP_JUMP_REG:
	case OP_JUMP_MEM:
	case OP_STOP:
	case OP_BAD:
		return false;
	default:
		return true;
	}
}

/* Decode from an address on, as long as control goes on and the code is the function's. */
static int decode_run(struct flow *f, uint64_t addr)
{
	struct x86_insn insn;
	int r;

	do {
		uint32_t known = insn_map_find(&f->map, addr);

		if (known != NO_INSN)
			return mark_label(f, known);
		r = decode(f, addr, &insn);
		if (r)
			return r;
		if ((insn.op == OP_BRANCH || insn.op == OP_JUMP) && owns(f, (uint64_t)insn.value))
			r = look_ahead(f, (uint64_t)insn.value);
		addr += insn.len;
	} while (!r && goes_on(&insn) && owns(f, addr));
	return r;
}

/* The instruction at an address of the function becomes a label, and all behind it known. */
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

static struct frame_state *state_of(const struct flow *f, const struct label *label)
{
	return (struct frame_state *)(void *)(f->store + label->state);
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

/* A call does not return here; nor do the others of the same function. */
static void end_calls(struct flow *f, uint32_t number)
{
	const struct x86_insn *call = &f->map.insns[number].insn;

	f->map.insns[number].ends = true;
	for (size_t i = 0; i < f->map.count && call->op == OP_CALL; i++) {
		struct mapped_insn *other = &f->map.insns[i];

		if (other->insn.op == OP_CALL && other->insn.value == call->value)
			other->ends = true;
	}
}

/*
 * Two paths disagree about the stack.  If one of them comes from a call, that call does not return
 * here.
 */
static void disagree(struct flow *f, const struct label *label, enum frame_join how)
{
	if (label->after_call) {
		end_calls(f, label->after_call - 1);
		f->again = true;
	} else if (how == JOIN_LOSES) {
		contradict(f);
	}
}

/* A state arrives at a label.  @call: the call that it comes from, + 1, or 0. */
static int arrive(struct flow *f, uint32_t insn, const struct frame_state *state, uint32_t call)
{
	struct label *label = &f->labels[f->map.insns[insn].label - 1];
	bool changed = false;
	enum frame_join how;
	int r = 0;

	if (call)
		label->after_call = call;
	if (!label->has_state) {
		r = keep_state(f, label, state);
		changed = label->has_state;
	} else {
		how = frame_state_join(state_of(f, label), state, &changed);
		if (how != JOIN_AGREES)
			disagree(f, label, how);
	}
	return r || !changed ? r : queue(f, label);
}

/* Control leaves the code that is taken to be the function's. */
static int leave(struct flow *f, uint64_t addr, const struct frame_state *state, bool *joined)
{
	const struct bobbin_range *code = program_code(f->program, addr);
	struct program_start *start = code ? program_start(f->program, addr) : NULL;

	*joined = false;
	if (frame_state_is_undone(state)) {
		f->out.exits += !program_call_ends(f->program, addr);
		/* from what may be no function, into another one */
		f->out.rejected |= f->others && (!start || start->addr != addr);
		return 0;
	}
	if (!code || f->part_count == MOST_PARTS ||
	    (start && start->addr == addr && start->flags & START_CERTAIN)) {
		contradict(f);
		return 0;
	}
	f->parts[f->part_count++] = (struct bobbin_range){
		start && start->addr >= code->start ? start->addr : code->start,
		program_next(f->program, addr)};
	*joined = true;
	return 0;
}

static int go_to(struct flow *f, uint64_t addr, const struct frame_state *state)
{
	bool joined = owns(f, addr);
	uint32_t insn;
	int r = joined ? 0 : leave(f, addr, state, &joined);

	if (r || !joined)
		return r;
	r = reach(f, addr, &insn);
	return r ? r : arrive(f, insn, state, 0);
}

/* Exceptions come to a landing pad with the arguments of the call taken off the stack. */
static int go_to_pad(struct flow *f, uint64_t addr, const struct frame_state *at_call)
{
	struct frame_state state = *at_call;
	const uint32_t known = insn_map_find(&f->map, addr);
	const struct label *label;
	struct frame_state *there;
	value *sp = &state.regs[X86_SP];

	if (known != NO_INSN && f->map.insns[known].label) {
		label = &f->labels[f->map.insns[known].label - 1];
		there = label->has_state ? state_of(f, label) : NULL;
		if (there && value_is_cfa(*sp) && value_is_cfa(there->regs[X86_SP])) {
			value higher = (int64_t)*sp > (int64_t)there->regs[X86_SP]
					       ? *sp
					       : there->regs[X86_SP];

			*sp = there->regs[X86_SP] = higher;
		}
	}
	return go_to(f, addr, &state);
}

static int jump_by_table(struct flow *f, const struct x86_insn *insn,
			 const struct frame_state *state)
{
	struct jump_table table;
	uint64_t target;
	int r = 0;

	if (!jump_table_of(f->program, insn, state, &table)) {
		if (frame_state_is_undone(state))
			f->out.exits++;
		else
			f->out.unresolved++;
		return 0;
	}
	while (!r && jump_table_next(&table, &target)) {
		const struct program_start *start = program_start(f->program, target);

		if (!owns(f, target) &&
		    (!start || start->flags & START_CERTAIN || frame_state_is_undone(state)))
			break;
		r = go_to(f, target, state);
	}
	return r;
}

static bool call_ends(const struct flow *f, uint32_t number)
{
	const struct x86_insn *insn = &f->map.insns[number].insn;

	if (f->map.insns[number].ends)
		return true;
	if (insn->op == OP_CALL_SLOT)
		return program_slot_ends(f->program, (uint64_t)insn->value);
	return insn->op == OP_CALL && program_call_ends(f->program, (uint64_t)insn->value);
}

/* false: control does not go on after the call. */
static int pass_call(struct flow *f, uint32_t number, struct frame_state *state, bool *on)
{
	const struct x86_insn *insn = &f->map.insns[number].insn;
	uint64_t pad;
	int r = 0;

	/* the next instruction's address, by which code that is not linked finds itself */
	if (insn->op == OP_CALL && (uint64_t)insn->value == after(f, number)) {
		const struct x86_insn push = {.op = OP_PUSH, .reg = X86_NO_REG, .size = 8};

		frame_state_step(state, &push, number);
		return 0;
	}
	*on = !call_ends(f, number);
	frame_state_call(state);
	if (program_pad_of(f->program, after(f, number), &pad))
		r = go_to_pad(f, pad, state);
	return r;
}

/* All that an instruction does; @on: control goes on to the next one. */
static int pass(struct flow *f, uint32_t number, struct frame_state *state, bool *on)
{
	/* a copy: where control goes, instructions are added */
	const struct x86_insn insn = f->map.insns[number].insn;
	struct frame_state taken;

	*on = goes_on(&insn);
	switch (insn.op) {
	case OP_CALL:
	case OP_CALL_SLOT:
	case OP_CALL_OTHER:
		return pass_call(f, number, state, on);
	case OP_RETURN:
		if (frame_state_is_undone(state))
			f->out.exits++;
		else
			contradict(f);
		return 0;
	case OP_JUMP:
		return go_to(f, (uint64_t)insn.value, state);
	case OP_JUMP_REG:
	case OP_JUMP_MEM:
		return jump_by_table(f, &insn, state);
	case OP_BAD:
		contradict(f);
		return 0;
	case OP_BRANCH:
		frame_state_step(state, &insn, number);
		taken = *state;
		frame_state_branch(&taken, &insn, true);
		frame_state_branch(state, &insn, false);
		return go_to(f, (uint64_t)insn.value, &taken);
	default:
		frame_state_step(state, &insn, number);
		return 0;
	}
}

static bool is_call(const struct x86_insn *insn)
{
	return insn->op == OP_CALL || insn->op == OP_CALL_SLOT || insn->op == OP_CALL_OTHER;
}

static uint32_t next_insn(const struct flow *f, uint32_t number)
{
	const struct x86_insn *insn = &f->map.insns[number].insn;

	if (number + 1 < f->map.count && f->map.insns[number + 1].insn.at == insn->at + insn->len)
		return number + 1;
	return insn_map_find(&f->map, after(f, number));
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
	/* what may be no function does not prove to be one by running into the next */
	f->out.rejected |= !!f->others;
	return go_to(f, after(f, number), state);
}

/* From a label on, to where control ends or comes to the next label. */
static int run(struct flow *f, uint32_t number, struct frame_state *state)
{
	uint32_t call = 0, next;
	bool on = true;

	for (;; number = next) {
		const struct x86_insn *insn = &f->map.insns[number].insn;
		int r;

		if (is_call(insn))
			call = number + 1;
		else if (insn->op != OP_NOTHING || insn->mask)
			call = 0;
		f->map.insns[number].reached = true;
		if (f->others && code_set_has(f->others, address_of(f, number)))
			f->out.rejected = true;
		if (++f->steps > STEPS + (uint64_t)f->map.count * STEPS_PER_INSTRUCTION)
			f->out.spent = true;
		r = pass(f, number, state, &on);
		if (r || !on || f->out.spent || f->out.rejected)
			return r;
		next = next_insn(f, number);
		if (next == NO_INSN)
			return run_out(f, number, state, call);
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
	f->again = f->bad = false;
	f->out = (struct flow_outcome){.spent = f->out.spent, .rejected = f->out.rejected};
}

/* Until no state changes any more. */
static int settle(struct flow *f)
{
	struct frame_state state;
	uint32_t first;
	int r = reach(f, f->start, &first);

	begin_round(f);
	if (r)
		return r;
	frame_state_entry(&state);
	r = arrive(f, first, &state, 0);
	while (!r && f->queue_count && !f->again && !f->out.spent && !f->out.rejected) {
		struct label *label = &f->labels[f->queue[--f->queue_count]];
		const struct frame_state *kept = state_of(f, label);

		label->queued = false;
		memcpy(&state, kept, FRAME_STATE_SIZE(kept->count));
		r = run(f, label->insn, &state);
	}
	return r;
}

/* Counted is in the last round, in which instructions may be passed more than once. */
static int count(void *ctx, uint64_t pc, const struct x86_insn *insn,
		 const struct frame_state *state)
{
	struct flow *f = ctx;
	struct bobbin_rule rule;

	f->out.instructions++;
	f->bad |= !frame_state_rule(state, &rule);
	return 0;
}

/* The function's ends, once all is known. */
static void conclude(struct flow *f)
{
	struct flow_outcome *out = &f->out;

	out->verified = !f->bad && (out->exits || !out->unresolved);
	out->no_return = out->verified && !out->exits && !out->unresolved;
	out->rejected |= f->others && (!out->verified || !out->exits);
}

int flow_analyse(struct flow *flow, uint64_t start, uint64_t end, const struct code_set *others,
		 struct flow_outcome *ret)
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

/* What an instruction does to the state, without what it does elsewhere. */
static bool repeat(struct flow *f, uint32_t number, struct frame_state *state)
{
	const struct x86_insn *insn = &f->map.insns[number].insn;
	bool on = goes_on(insn);

	if (!is_call(insn) || (insn->op == OP_CALL && (uint64_t)insn->value == after(f, number))) {
		const struct x86_insn push = {.op = OP_PUSH, .reg = X86_NO_REG, .size = 8};

		frame_state_step(state, is_call(insn) ? &push : insn, number);
		if (insn->op == OP_BRANCH)
			frame_state_branch(state, insn, false);
		return on;
	}
	frame_state_call(state);
	return !call_ends(f, number);
}

int flow_visit(struct flow *flow, flow_visitor visit, void *ctx)
{
	struct frame_state state;
	int r = 0;

	for (size_t i = 0; i < flow->label_count && !r; i++) {
		uint32_t number = flow->labels[i].insn;
		const struct frame_state *kept;

		if (!flow->labels[i].has_state)
			continue;
		kept = state_of(flow, &flow->labels[i]);
		memcpy(&state, kept, FRAME_STATE_SIZE(kept->count));
		do {
			r = visit(ctx, address_of(flow, number), &flow->map.insns[number].insn,
				  &state);
			if (r || !repeat(flow, number, &state))
				break;
			number = next_insn(flow, number);
		} while (number != NO_INSN && !flow->map.insns[number].label);
	}
	return r;
}
