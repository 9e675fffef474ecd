/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/jit_snapshot.h"

#include <errno.h>

#include "bpfwalk/section_tables.h"
#include "jit/jit_table.h"
#include "table/table_builder.h"

/* Entries that are read at once. */
#define ENTRIES_AT_ONCE 512

int jit_snapshot_tail(const struct jit_source *jit, uint64_t *tail, uint64_t *used)
{
	uint64_t at = jit->info.unwind_head, head[JIT_HEAD_SIZE / sizeof(uint64_t)];

	for (unsigned int i = 0; i < JIT_MAX_TABLES; i++) {
		if (jit->mem.read(jit->mem.ctx, at, head, sizeof(head)))
			return -EFAULT;
		*tail = at;
		*used = head[1];
		at = head[2];
		if (!at)
			return 0;
	}
	return -EBADMSG;
}

struct snapshot_rows {
	const struct jit_source *jit;
	struct table_builder builder;
	uint32_t count;
};

static int add_row(void *ctx, const struct bobbin_row *row)
{
	struct snapshot_rows *rows = ctx;
	const uint64_t shift = SECTION_TABLE_ADDR - rows->jit->info.text_start;
	uint32_t rule;
	int r;

	if (rows->count++ == JIT_SNAPSHOT_ROWS)
		return -E2BIG;
	r = table_rules_of_rule(&rows->builder.rules, &row->rule, &rule);
	if (!r)
		r = table_builder_begin(&rows->builder, row->start + shift);
	if (!r)
		r = table_builder_row(&rows->builder, row->start + shift, rule);
	return r ? r : table_builder_end(&rows->builder, row->end + shift);
}

static int compile(const struct jit_source *jit, const struct bobbin_arch *arch, uint64_t limit,
		   struct jit_snapshot *ret)
{
	const struct jit_chain chain = {arch, &jit->info, &jit->mem, NULL};
	struct code_jit_unwind_fre room[ENTRIES_AT_ONCE];
	struct snapshot_rows rows = {.jit = jit};
	int r = table_builder_init(arch, NULL, 0, &rows.builder);

	rows.builder.limit = limit;
	if (!r)
		r = jit_table_rows(&chain, room, ENTRIES_AT_ONCE, add_row, &rows);
	if (!r && rows.count)
		r = table_builder_make(&rows.builder, &ret->data, &ret->size);
	table_builder_fini(&rows.builder);
	return r;
}

int jit_snapshot_make(const struct jit_source *jit, const struct bobbin_arch *arch, uint64_t limit,
		      struct jit_snapshot *ret)
{
	struct jit_snapshot snapshot = {0};
	struct content_digest d;
	int r = jit_snapshot_tail(jit, &snapshot.tail, &snapshot.used);

	if (!r)
		r = compile(jit, arch, limit, &snapshot);
	if (r)
		return r;
	content_digest_init(&d);
	/* sections begin with another number */
	content_digest_u64(&d, BOBBIN_SOURCE_JIT);
	content_digest_u64(&d, snapshot.tail);
	content_digest_u64(&d, snapshot.used);
	content_digest_add(&d, snapshot.data, snapshot.size);
	content_digest_get(&d, snapshot.key);
	*ret = snapshot;
	return 0;
}
