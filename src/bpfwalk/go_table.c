/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/go_table.h"

#include "table/table_builder.h"

struct go_rows {
	struct table_builder builder;
	uint64_t function, end; /* of the function that has begun; 0 and 0: none has */
};

static int end_function(struct go_rows *rows)
{
	return rows->end ? table_builder_end(&rows->builder, rows->end) : 0;
}

/* The byte before the trampoline of signals is said to be the trampoline's. */
static int add_row(void *ctx, const struct bobbin_row *row)
{
	struct go_rows *rows = ctx;
	int r = 0;

	if (!rows->end || row->function != rows->function) {
		r = end_function(rows);
		if (!r)
			r = table_builder_begin(&rows->builder, row->start);
	}
	rows->function = row->function;
	rows->end = row->end;
	return r ? r : table_builder_rule(&rows->builder, row->start, &row->rule);
}

static int add_functions(const struct pclntab *from, const struct bobbin_arch *arch,
			 struct go_rows *rows)
{
	int r = 0;

	for (uint32_t i = 0; i < from->count && !r; i++)
		r = pclntab_rows(from, arch, i, add_row, rows);
	return r ? r : end_function(rows);
}

int go_table_make(const struct pclntab *from, const struct bobbin_arch *arch, uint64_t limit,
		  uint8_t **data, uint64_t *size)
{
	struct go_rows rows = {0};
	int r = table_builder_init(arch, NULL, 0, &rows.builder);

	rows.builder.limit = limit;
	if (!r)
		r = add_functions(from, arch, &rows);
	if (!r)
		r = table_builder_make(&rows.builder, data, size);
	table_builder_fini(&rows.builder);
	return r;
}
