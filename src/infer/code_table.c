// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/code_table.h"

#include <errno.h>
#include <string.h>

#include "base/content_digest.h"
#include "infer/described_rules.h"
#include "infer/infer.h"
#include "infer/program_elf.h"
#include "infer/uncovered_code.h"
#include "table/table_builder.h"

/* Version of inference; increase it whenever the same code gets other rules. */
#define INFERENCE_VERSION 12

static void digest_ranges(struct content_digest *d, const struct coverage *ranges)
{
	content_digest_u64(d, ranges->count);
	for (size_t i = 0; i < ranges->count; i++) {
		content_digest_u64(d, ranges->ranges[i].start);
		content_digest_u64(d, ranges->ranges[i].end);
	}
}

/* All that the rules depend on: the loaded bytes, and what else is known of them. */
static void key_of(const struct program *p, const struct coverage *wanted, struct table_key *ret)
{
	struct content_digest d;

	content_digest_init(&d);
	content_digest_add(&d, "inferred", 8);
	content_digest_u64(&d, TABLE_VERSION);
	content_digest_u64(&d, INFERENCE_VERSION);
	for (size_t i = 0; i < p->span_count; i++) {
		content_digest_u64(&d, p->spans[i].addr);
		content_digest_u64(&d, p->spans[i].size);
		content_digest_add(&d, p->spans[i].bytes, p->spans[i].size);
	}
	content_digest_u64(&d, p->start_count);
	for (size_t i = 0; i < p->start_count; i++) {
		content_digest_u64(&d, p->starts[i].addr);
		content_digest_u64(&d, p->starts[i].flags);
	}
	digest_ranges(&d, &p->code);
	digest_ranges(&d, wanted);
	content_digest_get(&d, ret->digest);
}

/* What is not verified has a mark; such a rule fits in no word. */
static int put_row(struct table_builder *b, const struct infer_row *row)
{
	struct bobbin_rule rule;

	bobbin_rule_unpack(row->word, &rule);
	if (!row->verified)
		rule.flags |= BOBBIN_RULE_LEAF;
	return table_builder_rule(b, row->start, &rule);
}

static int put_rows(struct table_builder *b, const struct infer_rows *rows)
{
	const struct infer_row *last = NULL;
	int r = 0;

	for (size_t i = 0; i < rows->count && !r; i++) {
		const struct infer_row *row = &rows->rows[i];

		if (!last || last->end != row->start || last->function != row->function) {
			if (last)
				r = table_builder_end(b, last->end);
			if (!r)
				r = table_builder_begin(b, row->start);
		}
		if (!r)
			r = put_row(b, row);
		last = row;
	}
	return r || !last ? r : table_builder_end(b, last->end);
}

/* An empty table records that the code has no rules. */
static int put_nothing(struct table_builder *b)
{
	int r = table_builder_begin(b, 0);

	if (!r)
		r = table_builder_row(b, 0, RULE_NONE);
	return r ? r : table_builder_end(b, 1);
}

static int compile(const struct machine *machine, const struct infer_rows *rows,
		   struct kept_table *ret)
{
	struct table_builder builder;
	uint64_t size;
	uint8_t *made;
	int r = table_builder_init(machine->arch(), NULL, 0, &builder);

	if (!r)
		r = put_rows(&builder, rows);
	if (!r && !builder.rows.count)
		r = put_nothing(&builder);
	if (!r)
		r = table_builder_make(&builder, &made, &size);
	if (!r)
		r = kept_table_take(made, size, ret);
	table_builder_fini(&builder);
	return r;
}

static int infer_table(struct program *p, const struct coverage *wanted,
		       const struct infer_budget *budget, struct kept_table *ret)
{
	const struct infer_options options = {.only = wanted, .stop = &budget->stop};
	struct infer_rows rows = {0};
	int r = wanted->count ? infer_rows(p, &options, &rows) : 0;

	if (r && r != -ENODATA)
		return r;
	r = compile(p->machine, &rows, ret);
	infer_rows_fini(&rows);
	return r;
}

/* Store the table in the cache and use it from there, so that it takes no memory. */
static void keep(struct table_cache *cache, const struct table_key *key, struct kept_table *table)
{
	struct kept_table kept;

	if (table_cache_keep(cache, key, table->data, table->size) ||
	    table_cache_find(cache, key, NULL, &kept))
		return;
	kept_table_fini(table);
	*table = kept;
}

static int find_or_make(struct program *p, struct coverage *functions, struct infer_budget *budget,
			struct coverage *wanted, struct kept_table *ret)
{
	struct table_key key;
	uint64_t size;
	int r = uncovered_code_find(p, functions, wanted);

	if (r)
		return r;
	size = coverage_bytes(wanted);
	if (size > budget->bytes || size > INFER_FILE_MAX)
		return -EFBIG;
	if (budget->cache) {
		key_of(p, wanted, &key);
		if (!table_cache_find(budget->cache, &key, NULL, ret))
			return 0;
	}
	r = infer_table(p, wanted, budget, ret);
	if (r)
		return r;
	budget->bytes -= size;
	if (budget->cache)
		keep(budget->cache, &key, ret);
	return 0;
}

static int infer_code(int fd, struct coverage *functions, struct infer_budget *budget,
		      struct kept_table *ret)
{
	struct coverage wanted = {0};
	struct program program;
	int r = program_of_elf(fd, NULL, &program);

	if (r)
		return r;
	r = find_or_make(&program, functions, budget, &wanted, ret);
	coverage_fini(&wanted);
	program_fini(&program);
	return r;
}

static bool reads(const struct bobbin_arch *arch)
{
	return machine_read_here(arch);
}

const struct infer_ops code_table_ops = {infer_code, described_rules, reads, INFERENCE_VERSION};
