// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/code_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static code_maker *provided;
static uint64_t most_at_once = CODE_ROWS_MOST, largest_file = UINT64_MAX;

void code_rows_provide(code_maker *maker)
{
	provided = maker;
}

void code_rows_hurry(void)
{
	most_at_once = CODE_ROWS_MOST_LIVE;
	largest_file = CODE_ROWS_FILE_LIVE;
}

bool code_rows_exist(void)
{
	return provided;
}

static int note_function(void *ctx, uint64_t start, uint64_t end)
{
	return coverage_add(ctx, start, end);
}

static int make(struct code_rows *rows, uint64_t most, uint64_t *size)
{
	struct coverage functions = {0};
	int r = rows->list(rows->ctx, note_function, &functions);

	/* a malformed table covers what it covers */
	if (r != -ENOMEM)
		r = provided(rows->fd, &functions, rows->cache, most, &rows->kept, &rows->made,
			     size);
	coverage_fini(&functions);
	return r;
}

static bool is_too_large(const struct code_rows *rows)
{
	struct stat st;

	return fstat(rows->fd, &st) || (uint64_t)st.st_size > largest_file;
}

static void find(struct code_rows *rows)
{
	uint64_t size = 0;
	int r = is_too_large(rows) ? -ENODATA : make(rows, most_at_once, &size);

	if (r == -EFBIG)
		rows->left = size;
	if (r)
		return;
	if (!rows->made)
		rows->table = &rows->kept.table;
	else if (!compiled_table_init(rows->made, size, NULL, &rows->made_table))
		rows->table = &rows->made_table;
}

int code_rows_lookup(struct code_rows *rows, uint64_t vaddr, struct bobbin_row *ret)
{
	struct compiled_row found;
	int r;

	if (!rows->asked)
		find(rows);
	rows->asked = true;
	if (!rows->table)
		return -ENODATA;
	r = compiled_table_find(rows->table, vaddr, &found);
	if (!r)
		r = compiled_table_rule(rows->table, &found, &ret->rule);
	if (r)
		return -ENOENT;
	ret->start = found.start;
	ret->end = found.end;
	ret->function = compiled_table_function(rows->table, &found);
	return 0;
}

void code_rows_keep(struct code_rows *rows, uint64_t *budget)
{
	uint64_t size;

	if (!rows->cache || !rows->left || rows->left > *budget)
		return;
	*budget -= rows->left;
	rows->left = 0;
	make(rows, CODE_ROWS_MOST, &size);
}

void code_rows_fini(struct code_rows *rows)
{
	kept_table_fini(&rows->kept);
	free(rows->made);
	rows->made = NULL;
	rows->table = NULL;
}
