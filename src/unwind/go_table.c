/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/go_table.h"

#include "golang/pclntab.h"

static int lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		  struct bobbin_error *err, struct table_answer *ret)
{
	return pclntab_lookup(table, arch, pc, err, &ret->row);
}

static bool function(const void *table, uint64_t pc, uint64_t *ret)
{
	uint64_t end;

	return !pclntab_function(table, pc, NULL, ret, &end);
}

static int functions(void *table, const struct bobbin_arch *arch, enum bobbin_source source,
		     function_sink sink, void *ctx)
{
	const struct pclntab *t = table;
	uint64_t start, end;
	int r = 0;

	for (uint32_t i = 0; i < t->count && !r; i++)
		if (!pclntab_entry(t, i, &start, &end))
			r = sink(ctx, start, end);
	return r;
}

const struct table_ops go_table_ops = {
	.kind = TABLE_GO,
	.sources = {BOBBIN_SOURCE_GO},
	.whole = true,
	.lookup = lookup,
	.function = function,
	.functions = functions,
};
