// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/table_lint.h"

#include <string.h>

#include "base/vector.h"
#include "infer/infer.h"
#include "infer/program_elf.h"
#include "infer/stated_rows.h"

/* Call-frame information is one table, SFrame another. */
#define TABLES 2
#define MOST_INSN_BYTES 15

/* An instruction at which a table is wrong; @inferred_function: the one that was analysed. */
struct finding {
	uint64_t pc, inferred_function;
	struct lint_fault fault;
};

struct lint {
	const struct lint_tables *tables;
	struct program program;
	struct stated_rows stated;
	struct code_set passed_on, jumped_to, right[TABLES];
	struct finding *findings;
	size_t count, capacity;
	uint64_t *uncalled; /* functions whose first instruction is a finding */
	size_t uncalled_count, uncalled_capacity;
	uint64_t *pads; /* landing pads */
	size_t pad_count, pad_capacity;
	uint64_t unknown_to; /* end of code that is not believed because it follows a landing pad */
	struct lint_result *out;
};

/* A rule of a table, and where it is from. */
struct statement {
	struct bobbin_rule rule;
	uint64_t function;
	enum lint_section section;
};

static bool by_cfi(const struct lint *l, uint64_t pc, struct statement *ret)
{
	const struct bobbin_rule *rule = stated_rows_at(&l->stated, pc);
	const struct listed_fde *fde = rule ? fde_list_find(&l->stated.fdes, pc) : NULL;

	if (!fde)
		return false;
	*ret = (struct statement){*rule, fde->start,
				  l->tables->cfi[fde->view].debug_frame ? LINT_DEBUG_FRAME
									: LINT_EH_FRAME};
	return true;
}

static bool by_sframe(const struct lint *l, uint64_t pc, struct statement *ret)
{
	struct bobbin_row row;

	for (unsigned int i = 0; i < l->tables->sframe_count; i++)
		if (!bobbin_sframe_lookup(&l->tables->sframe[i], pc, NULL, &row)) {
			*ret = (struct statement){row.rule, row.function, LINT_SFRAME};
			return true;
		}
	return false;
}

/* Of a PLT, which is called whatever the table says: endbr64; jmp *slot(%rip) */
static bool is_stub(const struct lint *l, uint64_t pc)
{
	static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}, jump[] = {0xff, 0x25};
	uint64_t size;
	const uint8_t *code = program_bytes(&l->program, pc, &size);

	if (code && size > sizeof(mark) && !memcmp(code, mark, sizeof(mark))) {
		code += sizeof(mark);
		size -= sizeof(mark);
	}
	/* bnd, as long as there was MPX */
	if (code && size && *code == 0xf2) {
		code++;
		size--;
	}
	return code && size >= sizeof(jump) && !memcmp(code, jump, sizeof(jump));
}

static int find(struct lint *l, const struct infer_observation *o, const struct statement *s,
		const struct bobbin_rule *inferred, unsigned int kinds)
{
	const struct finding finding = {
		.pc = o->pc,
		.inferred_function = o->function,
		.fault = {.start = o->pc,
			  .end = o->pc + o->insn->len,
			  .function = s->function,
			  .instructions = 1,
			  .section = s->section,
			  .kinds = kinds,
			  .stated = s->rule,
			  .inferred = *inferred},
	};

	if (is_stub(l, o->pc))
		code_set_add(&l->jumped_to, o->pc, o->pc + 1);
	else if (o->pc == o->function &&
		 vector_push(l->uncalled, l->uncalled_count, l->uncalled_capacity, o->pc))
		return -ENOMEM;
	return vector_push(l->findings, l->count, l->capacity, finding);
}

static bool falls_through(const struct insn *insn)
{
	return insn->op != OP_RETURN && insn->op != OP_JUMP && insn->op != OP_JUMP_REG &&
	       insn->op != OP_JUMP_MEM && insn->op != OP_STOP && insn->op != OP_BAD;
}

static int observe(void *ctx, const struct infer_observation *o)
{
	struct lint *l = ctx;
	struct statement s[TABLES];
	const bool has[TABLES] = {by_cfi(l, o->pc, &s[0]), by_sframe(l, o->pc, &s[1])};
	struct bobbin_rule inferred;
	uint64_t word;
	int r = 0;

	if (!o->verified || !frame_state_rule(o->state, false, &inferred) ||
	    bobbin_rule_pack(&inferred, &word))
		return 0;
	if (falls_through(o->insn))
		code_set_add(&l->passed_on, o->pc, o->pc + 1);
	if (o->insn->op == OP_JUMP || o->insn->op == OP_BRANCH)
		code_set_add(&l->jumped_to, (uint64_t)o->insn->value, (uint64_t)o->insn->value + 1);
	for (unsigned int i = 0; i < TABLES && !r; i++) {
		unsigned int kinds;

		if (!has[i] || !stated_rule_has_caller(&s[i].rule, l->program.machine))
			continue;
		l->out->compared++;
		kinds = stated_rule_check(&s[i].rule, o->state);
		if (kinds)
			r = find(l, o, &s[i], &inferred, kinds);
		else
			code_set_add(&l->right[i], o->pc, o->pc + 1);
	}
	return r;
}

static int by_place(const void *a, const void *b)
{
	const struct lint_fault *x = &((const struct finding *)a)->fault;
	const struct lint_fault *y = &((const struct finding *)b)->fault;

	if ((x->section == LINT_SFRAME) != (y->section == LINT_SFRAME))
		return x->section == LINT_SFRAME ? 1 : -1;
	return (x->start > y->start) - (x->start < y->start);
}

static bool is_among(const uint64_t *sorted, size_t count, uint64_t address)
{
	return count && bsearch(&address, sorted, count, sizeof(*sorted), vector_by_start);
}

static bool is_uncalled(const struct lint *l, uint64_t function)
{
	return is_among(l->uncalled, l->uncalled_count, function);
}

static const struct code_set *right_of(const struct lint *l, enum lint_section section)
{
	return &l->right[section == LINT_SFRAME];
}

static bool is_right_between(const struct lint *l, enum lint_section section, uint64_t start,
			     uint64_t end)
{
	for (uint64_t at = start; at < end; at++)
		if (code_set_has(right_of(l, section), at))
			return true;
	return false;
}

/* The instruction before an address from which control goes on to it, or 0. */
static uint64_t one_before(const struct lint *l, const struct insn_decoder *decoder, uint64_t pc)
{
	struct insn insn = {0};

	for (uint64_t at = pc - 1; at && pc - at <= MOST_INSN_BYTES; at--) {
		uint64_t size;
		const uint8_t *code = program_bytes(&l->program, at, &size);

		if (!code || !code_set_has(&l->passed_on, at))
			continue;
		insn_decode(decoder, code, size, at, &insn);
		return at + insn.len == pc ? at : 0;
	}
	return 0;
}

/* Findings at one address, or with no instruction between them at which the table is right. */
static bool goes_on(const struct lint *l, const struct lint_fault *last,
		    const struct lint_fault *next)
{
	return last->section == next->section && last->function == next->function &&
	       !is_right_between(l, next->section, last->end, next->start);
}

static bool same_place(const struct finding *a, const struct finding *b)
{
	return a->pc == b->pc &&
	       (a->fault.section == LINT_SFRAME) == (b->fault.section == LINT_SFRAME);
}

/*
 * Faults that code cannot prove. Only the table says how many arguments an exception takes off the
 * stack. And a function that is reached only through a jump table may lie beyond that table's end.
 */
static bool is_elsewhere(const struct lint *l, const struct lint_fault *fault)
{
	return is_among(l->pads, l->pad_count, fault->start) ||
	       (fault->start == fault->function && !code_set_has(&l->jumped_to, fault->start));
}

static int merge_one(struct lint *l, const struct insn_decoder *decoder,
		     const struct finding *finding)
{
	struct lint_result *out = l->out;
	struct lint_fault fault = finding->fault;
	struct lint_fault *last = out->count ? &out->faults[out->count - 1] : NULL;

	out->different++;
	if (code_set_has(right_of(l, fault.section), fault.start)) {
		out->confirmed++;
		return 0;
	}
	if (is_elsewhere(l, &fault) ||
	    (l->unknown_to && !is_right_between(l, fault.section, l->unknown_to, fault.start))) {
		l->unknown_to = fault.end;
		out->uncalled++;
		return 0;
	}
	l->unknown_to = 0;
	if (is_uncalled(l, finding->inferred_function)) {
		out->uncalled++;
		return 0;
	}
	if (last && goes_on(l, last, &fault)) {
		last->end = fault.end;
		last->instructions++;
		last->kinds |= fault.kinds;
		return 0;
	}
	fault.after = one_before(l, decoder, fault.start);
	return vector_push(out->faults, out->count, out->capacity, fault);
}

/* An instruction is found once for each function that it is a part of. */
static int merge(struct lint *l, const struct insn_decoder *decoder)
{
	int r = 0;

	for (size_t i = 0, first = 0; i < l->count && !r; i++) {
		bool more = i + 1 < l->count && same_place(&l->findings[i], &l->findings[i + 1]);

		if (is_uncalled(l, l->findings[first].inferred_function))
			first = i;
		if (more)
			continue;
		r = merge_one(l, decoder, &l->findings[first]);
		first = i + 1;
	}
	return r;
}

static int conclude(struct lint *l)
{
	struct insn_decoder *decoder;
	int r;

	if (l->count)
		qsort(l->findings, l->count, sizeof(*l->findings), by_place);
	for (size_t i = 0; i < l->program.pad_count; i++)
		if (vector_push(l->pads, l->pad_count, l->pad_capacity, l->program.pads[i].pad))
			return -ENOMEM;
	if (l->pad_count)
		qsort(l->pads, l->pad_count, sizeof(*l->pads), vector_by_start);
	if (l->uncalled_count)
		qsort(l->uncalled, l->uncalled_count, sizeof(*l->uncalled), vector_by_start);
	decoder = insn_decoder_open(l->program.machine);
	if (!decoder)
		return -ENOMEM;
	r = merge(l, decoder);
	insn_decoder_close(decoder);
	return r;
}

static int add_sframe_starts(struct lint *l)
{
	int r = 0;

	for (unsigned int i = 0; i < l->tables->sframe_count; i++) {
		const struct bobbin_sframe_view *view = &l->tables->sframe[i];
		struct bobbin_sframe_fde fde;

		for (uint32_t f = 0; f < view->num_fdes && !r; f++)
			if (!bobbin_sframe_fde(view, f, NULL, &fde))
				r = program_add_start(&l->program, fde.start, START_PART);
	}
	return r;
}

static int make_sets(struct lint *l)
{
	const struct coverage *code = &l->program.code;
	struct code_set *sets[] = {&l->passed_on, &l->jumped_to, &l->right[0], &l->right[1]};

	if (!code->count)
		return -ENODATA;
	for (unsigned int i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		if (code_set_init(sets[i], code->ranges[0].start,
				  code->ranges[code->count - 1].end))
			return -ENOMEM;
	return 0;
}

static int run(struct lint *l)
{
	const struct infer_options options = {.observe = observe, .ctx = l};
	struct infer_rows rows;
	int r = stated_rows_init(l->tables->cfi, l->tables->cfi_count, &l->stated);

	if (!r)
		r = stated_rows_bound(&l->stated, l->tables->cfi, l->tables->cfi_count, true,
				      &l->program);
	/* what SFrame calls a function may be a part of one */
	if (!r && !l->tables->cfi_count)
		r = add_sframe_starts(l);
	if (!r)
		r = program_settle(&l->program);
	if (!r)
		r = make_sets(l);
	if (!r)
		r = infer_rows(&l->program, &options, &rows);
	if (r)
		return r;
	infer_rows_fini(&rows);
	return conclude(l);
}

int table_lint(int fd, const struct lint_tables *tables, struct lint_result *ret)
{
	struct lint_result result = {0};
	struct lint l = {.tables = tables, .out = &result};
	int r = program_of_elf(fd, NULL, &l.program);

	if (r)
		return r;
	r = run(&l);
	code_set_fini(&l.passed_on);
	code_set_fini(&l.jumped_to);
	code_set_fini(&l.right[0]);
	code_set_fini(&l.right[1]);
	free(l.findings);
	free(l.uncalled);
	free(l.pads);
	stated_rows_fini(&l.stated);
	program_fini(&l.program);
	if (r)
		lint_result_fini(&result);
	else
		*ret = result;
	return r;
}

void lint_result_fini(struct lint_result *result)
{
	free(result->faults);
	*result = (struct lint_result){0};
}
