// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/infer.h"

#include <errno.h>

#include "base/vector.h"
#include "infer/callbacks.h"
#include "infer/flow.h"
#include "infer/machine.h"

/* Budget: instructions for each byte of code, as parts may be analysed more than once. */
#define INSTRUCTIONS_PER_BYTE 2
#define INSTRUCTIONS 65536
/* Alignment of functions that are found in gaps. */
#define ALIGNMENT 16
/*
 * Rounds in which functions are analysed again because more is known of their callees. A chain of
 * calls takes a round for each link; real chains have fewer than ten.
 */
#define MOST_ROUNDS 32

/* The rows of a certain start; @stale: to be analysed again; @asked: whether calls of it end. */
struct start_rows {
	size_t first, count;
	bool stale, verified, asked;
};

/* A call, or a jump to another function. */
struct call_edge {
	uint64_t callee;
	size_t caller; /* number of its start */
};

struct inference {
	struct program *program;
	const struct infer_options *options;
	struct flow *flow;
	struct insn_decoder *decoder;
	struct infer_rows *out;
	struct code_set covered; /* code of accepted functions */
	struct start_rows *of_starts;
	struct call_edge *edges;
	size_t edge_count, edge_capacity;
	/* functions of which more is known than when their callers were analysed */
	uint64_t *changed;
	size_t changed_count, changed_capacity;
	uint64_t function, function_end;
	bool verified, by_fp;
	bool observed; /* results are final, and reported to the observer */
};

static int keep_rule(void *ctx, const struct flow_visit *visit)
{
	struct inference *f = ctx;
	struct infer_row row = {
		.start = visit->pc,
		.end = visit->pc + visit->insn->len,
		.function = f->function,
		.verified = f->verified && !visit->doubt,
		.own = visit->pc >= f->function && visit->pc < f->function_end,
	};
	struct bobbin_rule rule;
	int r;

	callbacks_note(f->program, visit->insn, visit->state);
	if (f->options->observe && f->observed) {
		r = f->options->observe(f->options->ctx,
					&(struct infer_observation){visit->pc, visit->insn,
								    visit->state, f->function,
								    row.verified});
		if (r)
			return r;
	}
	if (!frame_state_rule(visit->state, f->by_fp, &rule) || bobbin_rule_pack(&rule, &row.word))
		row.word = 0;
	return vector_push(f->out->rows, f->out->count, f->out->capacity, row);
}

static bool goes_on(const struct infer_row *row, const struct infer_row *next)
{
	return row->end == next->start && row->word == next->word && row->own == next->own &&
	       row->verified == next->verified;
}

/* Sort the rows from @first on, one for each instruction, and join neighbours that agree. */
static void join_rows(struct infer_rows *out, size_t first)
{
	struct infer_row *rows = out->rows + first;
	size_t count = out->count - first, kept = 0;

	if (!count)
		return;
	qsort(rows, count, sizeof(*rows), vector_by_start);
	for (size_t i = 0; i < count; i++)
		if (kept && goes_on(&rows[kept - 1], &rows[i]))
			rows[kept - 1].end = rows[i].end;
		else
			rows[kept++] = rows[i];
	out->count = first + kept;
}

static int keep(struct inference *f, uint64_t start, uint64_t end,
		const struct flow_outcome *outcome)
{
	const size_t first = f->out->count;
	int r;

	f->function = start;
	f->function_end = end;
	f->verified = outcome->verified;
	f->by_fp = outcome->by_fp;
	r = flow_visit(f->flow, keep_rule, f);
	join_rows(f->out, first);
	return r;
}

/* Analyse a function; @others, @called: see flow_analyse(). *@ret: there is a result. */
static int analyse(struct inference *f, uint64_t start, uint64_t end, const struct code_set *others,
		   bool called, struct flow_outcome *outcome, bool *ret)
{
	struct infer_counts *counts = &f->out->counts;
	int r;

	*ret = false;
	if (f->options->stop && *f->options->stop)
		return -ECANCELED;
	if (counts->instructions > f->covered.size * INSTRUCTIONS_PER_BYTE + INSTRUCTIONS) {
		counts->skipped++;
		return 0;
	}
	r = flow_analyse(f->flow, start, end, others, called, outcome);
	if (r)
		return r;
	counts->instructions += outcome->instructions;
	counts->spent += outcome->spent;
	counts->rejected += outcome->rejected;
	*ret = !outcome->spent && !outcome->rejected;
	return 0;
}

/* The first address from @addr on where rules are wanted; UINT64_MAX: there is none. */
static uint64_t next_wanted(const struct inference *f, uint64_t addr)
{
	const struct coverage *only = f->options->only;
	size_t low = 0, high = only ? only->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (only->ranges[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!only)
		return addr;
	if (low == only->count)
		return UINT64_MAX;
	return only->ranges[low].start > addr ? only->ranges[low].start : addr;
}

static bool is_wanted(const struct inference *f, uint64_t addr)
{
	return next_wanted(f, addr) == addr;
}

/* Whether there is a return between a function's start and the next one's. */
static bool has_return(const struct inference *f, uint64_t start)
{
	const uint64_t end = program_next(f->program, start);
	struct insn insn = {0};
	uint64_t size;

	for (uint64_t at = start; at < end; at += insn.len) {
		const uint8_t *code = program_bytes(f->program, at, &size);

		if (!code)
			return true;
		insn_decode(f->decoder, code, size, at, &insn);
		if (insn.op == OP_RETURN || insn.op == OP_BAD)
			return true;
	}
	return false;
}

/*
 * Where rules are not wanted, tables have them.  But a function there that has no return may never
 * come back, which matters to its callers.
 */
static void ask_callee(struct inference *f, uint64_t callee)
{
	const struct program_start *start = program_start(f->program, callee);
	struct start_rows *rows;

	if (!start || start->addr != callee || !(start->flags & START_CERTAIN) ||
	    is_wanted(f, callee))
		return;
	rows = &f->of_starts[start - f->program->starts];
	if (!rows->asked)
		rows->stale = !has_return(f, callee);
	rows->asked = true;
}

static void ask_callees(struct inference *f, const struct bobbin_range *wanted)
{
	struct insn insn = {0};
	uint64_t size;

	for (uint64_t at = wanted->start; at < wanted->end; at += insn.len) {
		const uint8_t *code = program_bytes(f->program, at, &size);

		if (!code)
			return;
		insn_decode(f->decoder, code, size, at, &insn);
		if (insn.op == OP_CALL)
			ask_callee(f, (uint64_t)insn.value);
	}
}

static int keep_edges(struct inference *f, size_t caller)
{
	size_t count;
	const uint64_t *callees = flow_callees(f->flow, &count);
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		ask_callee(f, callees[i]);
		r = vector_push(f->edges, f->edge_count, f->edge_capacity,
				(struct call_edge){callees[i], caller});
	}
	return r;
}

/* Note the effect of a function on its callers, and whether it is new. */
static int learn(struct inference *f, struct program_start *start,
		 const struct flow_outcome *outcome)
{
	const struct callee_effect *old = &start->effect, *found = &outcome->effect;
	const bool ended = start->flags & START_ENDS;

	if (ended == outcome->no_return && old->end == found->end && old->moves == found->moves &&
	    old->keeps == found->keeps && old->loses_fp == found->loses_fp &&
	    old->leaves == found->leaves)
		return 0;
	start->effect = *found;
	start->flags &= (uint8_t)~START_ENDS;
	if (outcome->no_return)
		start->flags |= START_ENDS;
	return vector_push(f->changed, f->changed_count, f->changed_capacity, start->addr);
}

/* Empty the rows of a start that is analysed again. */
static void forget(struct inference *f, struct start_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		f->out->rows[rows->first + i].end = f->out->rows[rows->first + i].start;
	rows->count = 0;
	rows->stale = false;
}

static int analyse_start(struct inference *f, size_t number)
{
	struct program_start *start = &f->program->starts[number];
	struct start_rows *rows = &f->of_starts[number];
	const uint64_t end = program_next(f->program, start->addr);
	struct flow_outcome outcome;
	bool found;
	int r = analyse(f, start->addr, end, NULL, false, &outcome, &found);

	forget(f, rows);
	if (r || !found)
		return r;
	rows->first = f->out->count;
	if (is_wanted(f, start->addr))
		r = keep(f, start->addr, end, &outcome);
	rows->count = f->out->count - rows->first;
	rows->verified = outcome.verified;
	if (!r)
		r = keep_edges(f, number);
	return r ? r : learn(f, start, &outcome);
}

static int by_callee(const void *a, const void *b)
{
	const struct call_edge *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

/* Mark the callers of changed functions as stale. */
static void find_stale(struct inference *f)
{
	size_t kept = 0, edge = 0;

	if (f->edge_count)
		qsort(f->edges, f->edge_count, sizeof(*f->edges), by_callee);
	for (size_t i = 0; i < f->edge_count; i++)
		if (!kept || by_callee(&f->edges[kept - 1], &f->edges[i]))
			f->edges[kept++] = f->edges[i];
	f->edge_count = kept;
	if (f->changed_count)
		qsort(f->changed, f->changed_count, sizeof(*f->changed), vector_by_start);
	for (size_t i = 0; i < f->changed_count; i++) {
		while (edge < kept && f->edges[edge].callee < f->changed[i])
			edge++;
		for (; edge < kept && f->edges[edge].callee == f->changed[i]; edge++)
			f->of_starts[f->edges[edge].caller].stale = true;
	}
	f->changed_count = 0;
}

/* Rows that are still stale after the last round are not verified. */
static void doubt_stale(struct inference *f)
{
	for (size_t i = 0; i < f->program->start_count; i++)
		for (size_t k = 0; f->of_starts[i].stale && k < f->of_starts[i].count; k++) {
			f->of_starts[i].verified = false;
			f->out->rows[f->of_starts[i].first + k].verified = false;
		}
}

/*
 * Functions that are certain, and again those whose callees turn out not to return, or to move the
 * stack pointer, until nothing new turns out.
 */
static int analyse_certain(struct inference *f)
{
	const struct coverage *only = f->options->only;
	const struct program *p = f->program;
	bool stale = true;
	int r = 0;

	for (size_t i = 0; only && i < only->count; i++)
		ask_callees(f, &only->ranges[i]);
	for (size_t i = 0; i < p->start_count; i++)
		f->of_starts[i].stale |= p->starts[i].flags & START_CERTAIN &&
					 is_wanted(f, p->starts[i].addr);
	for (unsigned int round = 0; stale && round < MOST_ROUNDS && !r; round++) {
		stale = false;
		for (size_t i = 0; i < p->start_count && !r; i++)
			if (f->of_starts[i].stale) {
				r = analyse_start(f, i);
				f->of_starts[i].stale = false;
			}
		find_stale(f);
		for (size_t i = 0; i < p->start_count; i++)
			stale |= f->of_starts[i].stale;
	}
	doubt_stale(f);
	return r;
}

static void count_certain(struct inference *f)
{
	for (size_t i = 0; i < f->program->start_count; i++) {
		const struct start_rows *rows = &f->of_starts[i];

		f->out->counts.functions += rows->count > 0;
		f->out->counts.verified += rows->count && rows->verified;
	}
}

/* Report the final states of certain functions to the observer. */
static int observe_certain(struct inference *f)
{
	const struct program *p = f->program;
	const size_t count = f->out->count;
	int r = 0;

	f->observed = true;
	for (size_t i = 0; i < p->start_count && f->options->observe && !r; i++) {
		struct flow_outcome outcome;
		const uint64_t start = p->starts[i].addr;

		if (!f->of_starts[i].count)
			continue;
		r = flow_analyse(f->flow, start, program_next(p, start), NULL, false, &outcome);
		f->verified = f->of_starts[i].verified;
		f->function = start;
		if (!r)
			r = flow_visit(f->flow, keep_rule, f);
		/* they are there already */
		f->out->count = count;
	}
	return r;
}

/* Add all rows to the covered code, and drop those without a rule. */
static void cover(struct inference *f)
{
	struct infer_rows *out = f->out;
	size_t kept = 0;

	for (size_t i = 0; i < out->count; i++) {
		const struct infer_row *row = &out->rows[i];

		if (row->start == row->end)
			continue;
		code_set_add(&f->covered, row->start, row->end);
		if (row->word)
			out->rows[kept++] = *row;
	}
	out->count = kept;
}

/* How likely it is that a function starts at an address; the likeliest are analysed first. */
enum sureness {
	CERTAIN,
	CALLBACK,          /* called by its address, see callbacks.h */
	PART_WITH_ADDRESS, /* what has a range of its own, and an address in data or code */
	ADDRESS,
	PART, /* all that is left to nobody else */
	LABEL,
};

/* Analyse a possible function, and keep it if it is one. */
static int try_start(struct inference *f, uint64_t start, enum sureness sureness, bool *ret)
{
	const bool part = sureness == PART || sureness == PART_WITH_ADDRESS;
	const bool called = sureness == CALLBACK;
	const uint64_t end = program_next(f->program, start);
	struct infer_rows *out = f->out;
	const size_t first = out->count;
	struct flow_outcome outcome = {0};
	int r = analyse(f, start, end, part ? NULL : &f->covered, called, &outcome, ret);
	size_t kept = first;

	/* the range of a table may be a part of a function, which begins with any frame */
	outcome.verified &= outcome.proofs > 0 || called;
	if (!r && *ret) {
		out->counts.functions++;
		out->counts.verified += outcome.verified;
		r = keep(f, start, end, &outcome);
	}
	for (size_t i = first; i < out->count; i++) {
		code_set_add(&f->covered, out->rows[i].start, out->rows[i].end);
		if (out->rows[i].word)
			out->rows[kept++] = out->rows[i];
	}
	out->count = kept;
	return r;
}

static enum sureness sureness_of(const struct program_start *start)
{
	if (start->flags & START_CERTAIN)
		return CERTAIN;
	if (!(start->flags & START_PART))
		return LABEL;
	return start->flags & START_POINTER ? PART_WITH_ADDRESS : PART;
}

static int try_starts(struct inference *f, enum sureness sureness)
{
	struct program *p = f->program;
	const bool pointed = sureness == ADDRESS || sureness == CALLBACK;
	const size_t count = pointed ? p->pointed_count : p->start_count;
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		const struct program_start *start = pointed ? &p->pointed[i] : &p->starts[i];
		bool kept;

		if ((pointed ? sureness == CALLBACK && !start->callback
			     : sureness_of(start) != sureness) ||
		    !is_wanted(f, start->addr) || code_set_has(&f->covered, start->addr))
			continue;
		r = try_start(f, start->addr, sureness, &kept);
	}
	return r;
}

/* How control comes to an address in a gap from the instruction before it. */
enum before {
	STOPPED, /* it does not: something may start here */
	GOES_ON,
	LOST, /* it is not known where the instructions before it are */
};

/* A gap that is being read. */
struct gap {
	uint64_t at;
	enum before before;
	unsigned int padding; /* instructions of it, or zero bytes, that are just before */
};

/* No function starts with padding of one instruction, or with zeros. */
static bool is_padding_at(const struct inference *f, uint64_t at)
{
	struct insn insn = {0};
	uint64_t size;
	const uint8_t *code = program_bytes(f->program, at, &size);

	if (!code || machine_is_zero(f->program->machine, code, size))
		return true;
	insn_decode(f->decoder, code, size, at, &insn);
	return f->program->machine->is_padding(code, insn.len);
}

/* Past an instruction that nobody reaches. */
static void skip_instruction(const struct inference *f, struct gap *g)
{
	struct insn insn = {0};
	uint64_t size;
	const uint8_t *code = program_bytes(f->program, g->at, &size);
	const struct machine *machine = f->program->machine;
	bool zero, padding;

	if (!code || g->at % machine->shortest) {
		g->at++;
		return;
	}
	insn_decode(f->decoder, code, size, g->at, &insn);
	zero = machine_is_zero(machine, code, size);
	padding = zero || machine->is_padding(code, insn.len);
	g->at += zero ? machine->shortest : insn.len;
	g->padding = padding ? g->padding + 1 : 0;
	if (insn.op == OP_BAD)
		g->before = LOST;
	else if (!padding && g->before != LOST)
		g->before = insn_goes_on(&insn) ? GOES_ON : STOPPED;
	/* after what cannot be read, where padding leads to */
	else if (g->padding > 1 && g->before == LOST && !(g->at % ALIGNMENT))
		g->before = STOPPED;
}

/*
 * Try what nobody has reached.  What is tried begins where an instruction does, and where control
 * does not come from the one before it: after padding, or at a multiple of what functions
 * are aligned to.
 */
static int read_gaps(struct inference *f, const struct bobbin_range *code)
{
	const struct machine *machine = f->program->machine;
	struct gap g = {.at = code->start};
	int r = 0;

	while (g.at < code->end && !r) {
		const uint64_t wanted = next_wanted(f, g.at);
		bool kept = false;

		if (wanted != g.at) {
			/* a table may end before its function does */
			g = (struct gap){.at = wanted, .before = GOES_ON};
			continue;
		}
		if (code_set_has(&f->covered, g.at)) {
			/* or else what follows it would be covered */
			g = (struct gap){.at = g.at + 1, .before = STOPPED};
			continue;
		}
		if (g.before == STOPPED && (g.padding || !(g.at % machine->alignment)) &&
		    !(g.at % machine->shortest) && !is_padding_at(f, g.at))
			r = try_start(f, g.at, LABEL, &kept);
		if (!kept)
			skip_instruction(f, &g);
	}
	return r;
}

static int infer(struct inference *f)
{
	/* what has an address may hand on others */
	static const enum sureness order[] = {CALLBACK, PART_WITH_ADDRESS, ADDRESS, CALLBACK, PART,
					      LABEL};
	const struct coverage *code = &f->program->code;
	int r = analyse_certain(f);

	if (!r)
		r = observe_certain(f);
	count_certain(f);
	cover(f);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order) && !r; i++)
		r = try_starts(f, order[i]);
	for (size_t i = 0; i < code->count && !r; i++)
		r = read_gaps(f, &code->ranges[i]);
	return r ? r : infer_rows_resolve(f->out);
}

static int prepare(struct inference *f)
{
	const struct coverage *code = &f->program->code;
	int r;

	r = program_settle(f->program);
	if (!r)
		r = flow_open(f->program, &f->flow);
	if (r)
		return r;
	r = code_set_init(&f->covered, code->ranges[0].start, code->ranges[code->count - 1].end);
	if (r)
		return r;
	f->decoder = insn_decoder_open(f->program->machine);
	if (!f->decoder)
		return -ENOMEM;
	r = main_start_find(f->program, f->decoder);
	if (!r)
		r = sweep_program(f->program, f->decoder);
	if (r)
		return r;
	f->of_starts = calloc(f->program->start_count + 1, sizeof(*f->of_starts));
	return f->of_starts ? 0 : -ENOMEM;
}

int infer_rows(struct program *program, const struct infer_options *options, struct infer_rows *ret)
{
	struct infer_rows rows = {0};
	struct inference f = {.program = program, .options = options, .out = &rows};
	int r = prepare(&f);

	if (!r)
		r = infer(&f);
	flow_close(f.flow);
	insn_decoder_close(f.decoder);
	code_set_fini(&f.covered);
	free(f.of_starts);
	free(f.edges);
	free(f.changed);
	if (r)
		infer_rows_fini(&rows);
	else
		*ret = rows;
	return r;
}
