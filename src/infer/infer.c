// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/infer.h"

#include <errno.h>

#include "base/vector.h"
#include "infer/row_overlaps.h"
#include "infer/sweep.h"

/* Instructions that are reached in all, for each byte of code: parts may be reached again. */
#define INSTRUCTIONS_PER_BYTE 2
#define INSTRUCTIONS 65536
/* Functions begin at multiples of this where nothing else says where. */
#define ALIGNMENT 16

/* What an instruction's rule is, before rows are made of them. */
struct ruled {
	uint64_t start, end;
	uint64_t word;
};

struct inference {
	struct program *program;
	const struct infer_options *options;
	struct flow *flow;
	struct x86_decoder *decoder;
	struct infer_rows *out;
	struct ruled *ruled; /* of the function at hand */
	size_t ruled_count, ruled_capacity;
	struct code_set covered; /* code of functions that were kept */
	uint64_t function;
	bool verified;
};

static int keep_rule(void *ctx, uint64_t pc, const struct x86_insn *insn,
		     const struct frame_state *state)
{
	struct inference *f = ctx;
	struct ruled ruled = {.start = pc, .end = pc + insn->len};
	struct bobbin_rule rule;
	int r;

	code_set_add(&f->covered, ruled.start, ruled.end);
	if (f->options->observe) {
		r = f->options->observe(
			f->options->ctx,
			&(struct infer_observation){pc, insn, state, f->function, f->verified});
		if (r)
			return r;
	}
	if (!frame_state_rule(state, &rule) || bobbin_rule_pack(&rule, &ruled.word))
		return 0;
	return vector_push(f->ruled, f->ruled_count, f->ruled_capacity, ruled);
}

/* Instructions that follow each other and have one rule are one row. */
static int make_rows(struct inference *f, uint64_t function)
{
	struct infer_rows *out = f->out;
	int r = 0;

	if (f->ruled_count)
		qsort(f->ruled, f->ruled_count, sizeof(*f->ruled), vector_by_start);
	for (size_t i = 0; i < f->ruled_count && !r; i++) {
		const struct ruled *ruled = &f->ruled[i];
		struct infer_row *last = out->count ? &out->rows[out->count - 1] : NULL;

		if (i && last->end == ruled->start && last->word == ruled->word)
			last->end = ruled->end;
		else
			r = vector_push(out->rows, out->count, out->capacity,
					(struct infer_row){ruled->start, ruled->end, function,
							   ruled->word, f->verified});
	}
	return r;
}

static int keep(struct inference *f, uint64_t start, const struct flow_outcome *outcome)
{
	int r;

	f->function = start;
	f->verified = outcome->verified;
	f->ruled_count = 0;
	r = flow_visit(f->flow, keep_rule, f);
	return r ? r : make_rows(f, start);
}

/* Analyse a function; @doubtful: it may be none, and is kept only if it is verified. */
static int analyse(struct inference *f, uint64_t start, uint64_t end, bool doubtful, bool *kept)
{
	struct infer_counts *counts = &f->out->counts;
	struct flow_outcome outcome;
	int r;

	*kept = false;
	if (f->options->stop && *f->options->stop)
		return -ECANCELED;
	if (counts->instructions > f->covered.size * INSTRUCTIONS_PER_BYTE + INSTRUCTIONS) {
		counts->skipped++;
		return 0;
	}
	r = flow_analyse(f->flow, start, end, doubtful ? &f->covered : NULL, &outcome);
	if (r)
		return r;
	counts->instructions += outcome.instructions;
	counts->spent += outcome.spent;
	counts->rejected += outcome.rejected;
	if (outcome.spent || outcome.rejected)
		return 0;
	*kept = true;
	counts->functions++;
	counts->verified += outcome.verified;
	if (outcome.no_return) {
		struct program_start *s = program_start(f->program, start);

		if (s && s->addr == start)
			s->flags |= START_NO_RETURN;
	}
	return keep(f, start, &outcome);
}

static bool is_wanted(const struct inference *f, uint64_t addr)
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
	return !only || (low < only->count && only->ranges[low].start <= addr);
}

/* How sure it is that functions start where they seem to; the surest are analysed first. */
enum sureness {
	CERTAIN,
	PART_WITH_ADDRESS, /* what has a range of its own, and an address in data or code */
	ADDRESS,
	PART, /* all that is left to nobody else */
	SURENESSES,
};

static enum sureness sureness_of(const struct program_start *start)
{
	if (start->flags & START_CERTAIN)
		return CERTAIN;
	return start->flags & START_POINTER ? PART_WITH_ADDRESS : PART;
}

static int analyse_starts(struct inference *f, enum sureness sureness)
{
	struct program *p = f->program;
	const size_t count = sureness == ADDRESS ? p->pointed_count : p->start_count;
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		const struct program_start *start = sureness == ADDRESS ? &p->pointed[i]
									: &p->starts[i];
		bool kept;

		if ((sureness != ADDRESS && sureness_of(start) != sureness) ||
		    !is_wanted(f, start->addr) ||
		    (sureness != CERTAIN && code_set_has(&f->covered, start->addr)))
			continue;
		r = analyse(f, start->addr, program_next(p, start->addr), sureness >= ADDRESS,
			    &kept);
	}
	return r;
}

/* How many bytes at an address are no start of a function: padding of one instruction, or zero. */
static unsigned int padding_at(const struct inference *f, uint64_t at)
{
	struct x86_insn insn = {0};
	uint64_t size;
	const uint8_t *code = program_bytes(f->program, at, &size);

	if (!code || !*code)
		return 1;
	x86_decode(f->decoder, code, size, at, &insn);
	return x86_is_padding(code, insn.len) ? insn.len : 0;
}

/* Try what nobody has reached, as functions may begin at multiples of sixteen. */
static int analyse_gaps(struct inference *f, uint64_t at, uint64_t end)
{
	bool padded = false;
	int r = 0;

	while (at < end && !r) {
		bool known = code_set_has(&f->covered, at) || !is_wanted(f, at), kept;
		unsigned int padding = known ? 1 : padding_at(f, at);

		if (padding) {
			padded = !known;
			at += padding;
			continue;
		}
		/* the rest of a function whose table ends before it does is none */
		if (!padded && at % ALIGNMENT) {
			at = (at / ALIGNMENT + 1) * ALIGNMENT;
			continue;
		}
		padded = false;
		r = analyse(f, at, program_next(f->program, at), true, &kept);
		if (!kept)
			at = (at / ALIGNMENT + 1) * ALIGNMENT;
	}
	return r;
}

static int infer(struct inference *f)
{
	const struct coverage *code = &f->program->code;
	int r = 0;

	for (int sureness = CERTAIN; sureness < SURENESSES && !r; sureness++)
		r = analyse_starts(f, (enum sureness)sureness);
	for (size_t i = 0; i < code->count && !r; i++)
		r = analyse_gaps(f, code->ranges[i].start, code->ranges[i].end);
	return r ? r : row_overlaps_resolve(f->out);
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
	f->decoder = x86_decoder_open();
	return f->decoder ? sweep_program(f->program, f->decoder) : -ENOMEM;
}

int infer_rows(struct program *program, const struct infer_options *options, struct infer_rows *ret)
{
	struct infer_rows rows = {0};
	struct inference f = {.program = program, .options = options, .out = &rows};
	int r = prepare(&f);

	if (!r)
		r = infer(&f);
	flow_close(f.flow);
	x86_decoder_close(f.decoder);
	code_set_fini(&f.covered);
	free(f.ruled);
	if (r)
		infer_rows_fini(&rows);
	else
		*ret = rows;
	return r;
}
