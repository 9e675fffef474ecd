/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/code_survey.h"

#include "core/bytes.h"
#include "core/x86_bytes.h"

#define REG_SP 4
#define REG_BP 5
/* Places are searched for one after the other. */
#define MOST_PROBES 32u

/* What a value is, as a number; those that are loaded are another kind. */
static uint64_t number_of(const struct code_survey *s, const struct code_value *v)
{
	const uint64_t base = v->base == CODE_SP ? s->query->sp : s->query->fp;

	return base + (uint64_t)(int64_t)v->off;
}

static bool is_same(const struct code_survey *s, const struct code_value *a,
		    const struct code_value *b)
{
	if (a->base == CODE_UNKNOWN || b->base == CODE_UNKNOWN)
		return a->base == b->base;
	return a->loaded == b->loaded && number_of(s, a) == number_of(s, b);
}

/* @kept becomes unknown where another way has another value; whether that is new. */
static bool meet_value(const struct code_survey *s, struct code_value *kept,
		       const struct code_value *other)
{
	if (kept->base == CODE_UNKNOWN || is_same(s, kept, other))
		return false;
	*kept = code_unknown();
	return true;
}

/* The higher of two: returns at or below it are another function's. */
static bool meet_called(const struct code_survey *s, struct code_value *kept,
			const struct code_value *other)
{
	if (other->base == CODE_UNKNOWN || is_same(s, kept, other) ||
	    (kept->base != CODE_UNKNOWN && number_of(s, kept) >= number_of(s, other)))
		return false;
	*kept = *other;
	return true;
}

static bool meet(struct code_survey *s, struct code_path *kept, const struct code_path *other)
{
	const bool saved_differs = !is_same(s, &kept->saved_at, &other->saved_at);
	bool changes;

	changes = meet_value(s, &kept->sp, &other->sp);
	changes |= meet_value(s, &kept->fp, &other->fp);
	changes |= meet_value(s, &kept->saved_at, &other->saved_at);
	if (saved_differs)
		changes |= meet_value(s, &kept->saved, &(struct code_value){0});
	else
		changes |= meet_value(s, &kept->saved, &other->saved);
	changes |= meet_value(s, &kept->filled, &other->filled);
	changes |= meet_called(s, &kept->called, &other->called);
	changes |= meet_called(s, &kept->jumped, &other->jumped);
	return changes;
}

static uint32_t slot_of(uint64_t pc)
{
	return (uint32_t)(pc * 0x9e3779b97f4a7c15ull >> 54) % SURVEY_LABELS;
}

/* The label at an address, or where there is room for it; NULL: neither. */
static struct survey_label *find_label(struct code_survey *s, uint64_t pc)
{
	for (uint32_t i = 0; i < MOST_PROBES; i++) {
		struct survey_label *label = &s->labels[(slot_of(pc) + i) % SURVEY_LABELS];

		if (label->number != s->number || label->path.pc == pc)
			return label;
	}
	return NULL;
}

/* Mostly there is none: then the labels, which are many and large, are not touched. */
static bool may_have_label(const struct code_survey *s, uint64_t pc)
{
	const uint32_t slot = slot_of(pc);

	return s->taken[slot / 64] >> slot % 64 & 1;
}

static void note_label(struct code_survey *s, uint64_t pc)
{
	const uint32_t slot = slot_of(pc);

	s->taken[slot / 64] |= 1ull << slot % 64;
}

static void forget_labels(struct code_survey *s)
{
	s->number++;
	for (uint32_t i = 0; i < SURVEY_LABELS / 64; i++)
		s->taken[i] = 0;
}

static void put_in_queue(struct code_survey *s, struct survey_label *label)
{
	if (label->queued)
		return;
	label->queued = true;
	s->queue[s->queue_count++] = (uint16_t)(label - s->labels);
}

static bool is_within(const struct code_survey *s, uint64_t pc)
{
	return pc >= s->query->start && pc < s->query->end;
}

/* A way comes to a place that is jumped to. */
static void arrive(struct code_survey *s, const struct code_path *path)
{
	struct survey_label *label;

	if (!is_within(s, path->pc)) {
		s->answer.leaves = true;
		return;
	}
	label = find_label(s, path->pc);
	if (!label) {
		s->answer.spent = true;
	} else if (label->number != s->number) {
		*label = (struct survey_label){.path = *path, .number = s->number};
		note_label(s, path->pc);
		put_in_queue(s, label);
	} else if (meet(s, &label->path, path)) {
		put_in_queue(s, label);
	}
}

static void note_target(struct code_survey *s, const struct code_path *path)
{
	struct survey_answer *a = &s->answer;

	if (a->reached) {
		meet_value(s, &a->to_sp, &path->sp);
		meet_value(s, &a->to_fp, &path->fp);
		return;
	}
	a->reached = true;
	a->to_sp = path->sp;
	a->to_fp = path->fp;
}

/* A place after a call is that of a call that returns; what jumps there may be another function. */
static bool is_call(const struct x86_bytes *b)
{
	return b->map == X86_MAP_ONE && !b->vector &&
	       (b->opcode == 0xe8 || (b->opcode == 0xff && (b->reg & 7) == 2));
}

/* hlt, ud2 */
static bool is_end(const struct x86_bytes *b)
{
	return !b->vector && ((b->map == X86_MAP_ONE && b->opcode == 0xf4) ||
			      (b->map == X86_MAP_0F && b->opcode == 0x0b));
}

static bool same_place(const struct bobbin_place *a, const struct bobbin_place *b)
{
	return a->how == b->how && a->reg == b->reg && a->off == b->off;
}

/* @counted: it takes off arguments that were counted; another return says how many were expected. */
static void note_return(struct code_survey *s, const struct code_path *path, bool counted)
{
	struct survey_answer *a = &s->answer;
	const uint64_t at = number_of(s, &path->sp);
	struct bobbin_rule rule;

	/* what the code has pushed itself: a jump */
	if (path->sp.base == CODE_SP && path->sp.off < 0) {
		a->leaves = true;
		return;
	}
	a->doubtful |= path->doubtful;
	a->undone |= path->sp.base == CODE_SP && !path->sp.off && path->fp.base == CODE_FP &&
		     !path->fp.loaded && !path->fp.off;
	if (!code_path_rule(bobbin_arch_amd64(), path, &rule)) {
		a->conflict = true;
		return;
	}
	if (!a->returns || (s->counted && !counted)) {
		a->conflict |= a->returns && at != s->returned;
		a->returns = true;
		a->rule = rule;
		s->returned = at;
		s->counted = counted;
		return;
	}
	a->conflict |= at != s->returned ||
		       (same_place(&a->rule.cfa, &rule.cfa) && !same_place(&a->rule.fp, &rule.fp));
}

/* Code at an address: CODE_PATH_BYTES of it; NULL: it cannot be read. */
static const uint8_t *code_at(struct code_survey *s, uint64_t pc)
{
	const struct code_reader *code = &s->query->code;

	if (pc >= s->window_at && pc - s->window_at + CODE_PATH_BYTES <= s->window_size)
		return s->window + (pc - s->window_at);
	s->window_at = pc;
	s->window_size = SURVEY_WINDOW;
	if (pc + SURVEY_WINDOW <= s->query->end &&
	    code->read(code->ctx, pc, s->window, SURVEY_WINDOW))
		return s->window;
	s->window_size = CODE_PATH_BYTES;
	if (code->read(code->ctx, pc, s->window, CODE_PATH_BYTES))
		return s->window;
	s->window_size = 0;
	return NULL;
}

static bool is_branch(const struct x86_bytes *b)
{
	if (b->vector)
		return false;
	if (b->map == X86_MAP_0F)
		return (b->opcode & 0xf0) == 0x80;
	return b->map == X86_MAP_ONE && ((b->opcode & 0xf0) == 0x70 || (b->opcode & 0xfc) == 0xe0);
}

/* mov %rsp, %rbp */
static bool makes_record(const struct x86_bytes *b)
{
	return b->map == X86_MAP_ONE && !b->vector && b->opcode == 0x89 && b->mod == 3 &&
	       b->reg == REG_SP && b->rm == REG_BP && b->wide && !b->operand16;
}

/* A constant that code loads to a register: where a table of jumps may be. */
static void note_constant(struct code_survey *s, uint64_t pc, const struct x86_bytes *b,
			  const uint8_t *code)
{
	if (b->map != X86_MAP_ONE || b->vector)
		return;
	if ((b->opcode & 0xf8) == 0xb8 && b->wide)
		s->table = load_u64(code + 2, false);
	else if (b->opcode == 0x8d && b->rip)
		s->table = pc + b->size + (uint64_t)(int64_t)b->disp;
}

/* The addresses of a table are places that the way may go on at. */
static void jump_by_table(struct code_survey *s, struct code_path *path)
{
	const struct code_reader *code = &s->query->code;
	uint8_t word[8];

	for (uint32_t i = 0; i < SURVEY_ENTRIES; i++) {
		const uint64_t at = s->table + sizeof(word) * i;

		if (!is_within(s, at) || !code->read(code->ctx, at, word, sizeof(word)))
			return;
		path->pc = load_u64(word, false);
		if (!is_within(s, path->pc))
			return;
		s->insns++;
		arrive(s, path);
	}
}

/* To a place that the instruction does not tell, be it another function or a switch. */
static bool jumps_somewhere(const struct x86_bytes *b)
{
	return b->map == X86_MAP_ONE && !b->vector && b->opcode == 0xff && (b->reg & 6) == 4;
}

/* lea (%rsp,%rcx,8), %rsp; or lea 8(%r15), %rsp; of other registers, too */
static bool sets_sp_to_address(const uint8_t *code)
{
	if (code[1] != 0x8d)
		return false;
	if (code[2] == 0x24)
		return (code[0] & 0xfd) == 0x48 && (code[3] & 0xc7) == 0xc4;
	return (code[0] & 0xfe) == 0x48 && (code[2] & 0xf8) == 0x60 && code[2] != 0x64;
}

/*
 * Whether a function returns which has counted its arguments, and takes them off:
 *
 *	pop %r10; lea (%rsp,%rcx,8), %rsp; push %r10; ret
 *
 * The return address is where the stack pointer is.
 */
static bool is_counted_return(const uint8_t *code)
{
	const bool high = code[0] == 0x41;
	const uint8_t *lea = code + 1 + high, *push = lea + 4;

	return (code[high] & 0xf8) == 0x58 && sets_sp_to_address(lea) &&
	       (push[0] == 0x41) == high && push[high] == code[high] - 8 && push[1 + high] == 0xc3;
}

/* Over an instruction that is no branch; whether the way goes on. */
static bool go(struct code_survey *s, struct code_path *path, const struct x86_bytes *b,
	       const uint8_t *code)
{
	const uint64_t next = path->pc + b->size;
	const bool crossed = path->crossed;
	enum code_turn turn;

	if (makes_record(b)) {
		path->fp = path->sp;
		path->pc = next;
		return true;
	}
	if (is_counted_return(code)) {
		note_return(s, path, true);
		return false;
	}
	note_constant(s, path->pc, b, code);
	if (jumps_somewhere(b)) {
		s->answer.leaves = true;
		jump_by_table(s, path);
		return false;
	}
	turn = x86_path_step(path, b, code);
	if (turn == CODE_TURN_RETURN)
		note_return(s, path, false);
	else if (turn != CODE_TURN_ON)
		s->answer.leaves |= !is_end(b);
	if (turn != CODE_TURN_ON || (path->crossed && !crossed && !s->query->over_calls))
		return false;
	if (path->pc == next) {
		if (next == s->query->to && !s->query->to_exact && is_call(b))
			note_target(s, path);
		return true;
	}
	arrive(s, path);
	return false;
}

/* Over one instruction; whether the way goes on. */
static bool turn_once(struct code_survey *s, struct code_path *path)
{
	const uint8_t *code = code_at(s, path->pc);
	struct x86_bytes b;
	struct code_path taken;

	if (!code || !x86_bytes_split(code, &b)) {
		s->answer.leaves = true;
		return false;
	}
	s->called = is_call(&b);
	path->taken = false;
	if (!is_branch(&b))
		return go(s, path, &b, code);
	taken = *path;
	taken.taken = true;
	if (x86_path_step(&taken, &b, code) == CODE_TURN_ON)
		arrive(s, &taken);
	return x86_path_step(path, &b, code) == CODE_TURN_ON;
}

/* Whether a way has come to a place that others come to, which go on from there. */
static bool joins(struct code_survey *s, const struct code_path *path)
{
	const struct survey_label *label;

	if (!may_have_label(s, path->pc))
		return false;
	label = find_label(s, path->pc);
	if (!label || label->number != s->number)
		return false;
	arrive(s, path);
	return true;
}

/* From a label to where the way ends, or to the next label. */
static void follow(struct code_survey *s, struct survey_label *label)
{
	struct code_path path = label->path;

	s->table = 0;
	for (bool first = true; s->insns < SURVEY_INSNS; first = false) {
		if (!is_within(s, path.pc)) {
			s->answer.leaves |= !s->called;
			return;
		}
		if (!first && joins(s, &path))
			return;
		if (s->query->to_exact && path.pc == s->query->to)
			note_target(s, &path);
		s->insns++;
		if (!turn_once(s, &path))
			return;
	}
	s->answer.spent = true;
}

uint32_t code_survey_run(struct code_survey *survey, const struct survey_query *query,
			 struct survey_answer *ret)
{
	struct code_path path;

	survey->query = query;
	survey->answer = (struct survey_answer){0};
	survey->window_size = 0;
	survey->insns = survey->queue_count = 0;
	forget_labels(survey);
	code_path_begin(query->from, query->exact, false, false, &path);
	arrive(survey, &path);
	while (survey->queue_count && survey->insns < SURVEY_INSNS) {
		struct survey_label *label = &survey->labels[survey->queue[--survey->queue_count]];

		label->queued = false;
		follow(survey, label);
	}
	survey->answer.spent |= survey->queue_count > 0;
	/* how much the return takes off is not known */
	survey->answer.conflict |= survey->answer.returns && survey->counted;
	*ret = survey->answer;
	return survey->insns;
}
