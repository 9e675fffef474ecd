/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/compile_cfi.h"

#include "convert/fde_list.h"
#include "table/table_builder.h"

/* Rows that are taken at once. */
#define WORDS 64

struct compilation {
	struct table_builder *builder;
	const struct bobbin_cfi_view *views;
	struct bobbin_cfi_rows program; /* its view is NULL if none was started */
	uint64_t rows;
};

static int take_refusal(struct compilation *c, uint64_t start, enum bobbin_reason reason)
{
	const struct bobbin_rule none = bobbin_rule_none(reason);

	return table_builder_rule(c->builder, start, &none);
}

/* The row that the program was run to, of stubs: the CFA moves in each. */
static int take_stubs(struct compilation *c)
{
	const unsigned int push = c->program.plt;
	struct bobbin_rule rule;
	uint32_t rules[2];
	int r;

	bobbin_cfi_rows_rule(&c->program, &rule);
	r = rule_pool_of_rule(&c->builder->rows.rules, &rule, &rules[0]);
	rule.cfa.off += STUB_PUSH;
	if (!r)
		r = rule_pool_of_rule(&c->builder->rows.rules, &rule, &rules[1]);
	for (uint64_t at = c->program.start; at < c->program.end && !r;) {
		bool pushed = at % STUB_SIZE >= push;

		r = table_builder_repeat(c->builder, at, rules[pushed]);
		at += (pushed ? STUB_SIZE : push) - at % STUB_SIZE;
	}
	return r;
}

static int take_row(struct compilation *c, const struct bobbin_cfi_word *row, bool last)
{
	struct bobbin_rule rule;
	uint32_t number;
	int r;

	if (last && c->program.plt)
		return take_stubs(c);
	if (row->word) {
		r = rule_pool_of_word(&c->builder->rows.rules, row->word, &number);
		return r ? r : table_builder_row(c->builder, row->start, number);
	}
	/* no word holds it: it is the row that the program was run to */
	bobbin_cfi_rows_rule(&c->program, &rule);
	return table_builder_rule(c->builder, row->start, &rule);
}

static int run_program(struct compilation *c, uint64_t end)
{
	struct bobbin_cfi_word rows[WORDS];
	struct bobbin_error error;
	int r = 0;

	while (c->program.end < end && !r) {
		int count = bobbin_cfi_rows_fill(&c->program, &error, rows, WORDS);

		if (count < 0)
			return take_refusal(c, c->program.end, error.reason);
		c->rows += (unsigned int)count;
		for (int i = 0; i < count && !r; i++)
			r = take_row(c, &rows[i], i + 1 == count);
	}
	return r;
}

static int take_fde(struct compilation *c, const struct listed_fde *listed)
{
	struct bobbin_error error;
	int r = table_builder_begin(c->builder, listed->start);

	if (r)
		return r;
	if (listed_fde_start(c->views, listed, &error, &c->program))
		r = take_refusal(c, listed->start, error.reason);
	else
		r = run_program(c, listed->end);
	return r ? r : table_builder_end(c->builder, listed->end);
}

int compile_cfi_rows(const struct bobbin_cfi_view *views, unsigned int count,
		     struct table_builder *builder, uint64_t *rows)
{
	struct compilation c = {.builder = builder, .views = views};
	struct fde_list list;
	int r = fde_list_init(views, count, &list);

	if (r)
		return r;
	for (size_t i = 0; i < list.count && !r; i++)
		r = take_fde(&c, &list.fdes[i]);
	fde_list_fini(&list);
	if (rows)
		*rows = c.rows;
	return r;
}

static int make(struct table_builder *builder, const struct bobbin_cfi_view *views,
		unsigned int count, uint64_t *rows, uint8_t **data, uint64_t *size)
{
	int r = compile_cfi_rows(views, count, builder, rows);

	return r ? r : table_builder_make(builder, data, size);
}

int compile_cfi(const struct bobbin_cfi_view *views, unsigned int count, const uint8_t *build_id,
		size_t build_id_len, uint64_t limit, uint64_t *rows, uint8_t **data, uint64_t *size)
{
	struct table_builder builder;
	int r = table_builder_init(views->arch, build_id, build_id_len, &builder);

	builder.limit = limit;
	if (!r)
		r = make(&builder, views, count, rows, data, size);
	table_builder_fini(&builder);
	return r;
}
