/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/registered_table.h"

#include <errno.h>

#include "core/refusal.h"
#include "table/compiled_table.h"

static int find(const struct compiled_code *code, const struct bobbin_arch *arch, uint64_t pc,
		struct bobbin_error *err, struct compiled_row *ret)
{
	int r;

	if (code->table.arch != arch)
		return refuse(err, TABLE_AT_MACHINE, BOBBIN_REASON_ELF_MACHINE);
	r = compiled_table_find(&code->table, pc - code->bias, ret);
	if (r)
		return r == -EBADMSG ? refuse(err, 0, BOBBIN_REASON_TABLE_ROW) : r;
	/* what a row is kept for is what it holds for */
	if (pc - code->bias < ret->start || pc - code->bias >= ret->end)
		return refuse(err, 0, BOBBIN_REASON_TABLE_ROW);
	return 0;
}

static int lookup(void *data, const struct bobbin_arch *arch, uint64_t pc, struct bobbin_error *err,
		  struct table_answer *ret)
{
	const struct compiled_code *code = data;
	struct compiled_row row;
	int r = find(code, arch, pc, err, &row);

	if (r)
		return r;
	if (compiled_table_rule(&code->table, &row, &ret->row.rule))
		return refuse(err, 0, BOBBIN_REASON_TABLE_ROW);
	ret->row.start = row.start + code->bias;
	ret->row.end = row.end + code->bias;
	ret->row.function = ret->row.start;
	return 0;
}

static bool function(const void *data, uint64_t pc, uint64_t *ret)
{
	const struct compiled_code *code = data;
	struct compiled_row row;

	if (find(code, code->table.arch, pc, NULL, &row))
		return false;
	*ret = compiled_table_function(&code->table, &row) + code->bias;
	return true;
}

const struct table_ops registered_table_ops = {
	.kind = TABLE_REGISTERED,
	.sources = {BOBBIN_SOURCE_COMPILED},
	.drops = true,
	.whole = true,
	.lookup = lookup,
	.function = function,
};
