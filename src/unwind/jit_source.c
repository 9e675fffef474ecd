/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/jit_source.h"

#include <errno.h>

#include "jit/jit_table.h"

/* Of a table that is read from end to end: 12 KiB for each system call. */
#define ENTRIES_AT_ONCE 512

static int lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		  struct bobbin_error *err, struct table_answer *ret)
{
	const struct jit_source *jit = table;

	return jit_table_lookup(&(struct jit_chain){arch, &jit->info, &jit->mem, err}, pc,
				&ret->row);
}

struct row_sink {
	function_sink sink;
	void *ctx;
};

static int give_row(void *ctx, const struct bobbin_row *row)
{
	const struct row_sink *s = ctx;

	return s->sink(s->ctx, row->start, row->end);
}

static int functions(void *table, const struct bobbin_arch *arch, enum bobbin_source source,
		     function_sink sink, void *ctx)
{
	const struct jit_source *jit = table;
	const struct jit_chain chain = {arch, &jit->info, &jit->mem, NULL};
	struct code_jit_unwind_fre room[ENTRIES_AT_ONCE];
	struct row_sink s = {sink, ctx};
	int r = jit_table_rows(&chain, room, ENTRIES_AT_ONCE, give_row, &s);

	return r == -EFAULT ? -EBADMSG : r;
}

const struct table_ops jit_table_ops = {
	.kind = TABLE_JIT,
	.sources = {BOBBIN_SOURCE_JIT},
	.drops = true,
	.lookup = lookup,
	.functions = functions,
};
