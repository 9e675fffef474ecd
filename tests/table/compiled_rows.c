/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compiled_rows FILE - whether a file's compiled table says what its .eh_frame says.
 *
 * At the first and the last byte of every row, and beside every function.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cfi_image.h"
#include "table/compiled_table.h"
#include "table/table_sources.h"

static struct {
	const struct bobbin_cfi_view *view;
	struct compiled_table table;
	uint64_t compared, different;
} sweep;

static void compare(uint64_t pc)
{
	static struct bobbin_cfi_rows program;
	struct compiled_row row;
	struct bobbin_error error;
	struct bobbin_row expected;
	struct bobbin_rule rule;
	int wanted = bobbin_cfi_lookup(sweep.view, pc, &program, &error, &expected);
	int got = compiled_table_find(&sweep.table, pc, &row);

	sweep.compared++;
	if (!got && (pc < row.start || pc >= row.end))
		got = -ERANGE;
	if (!got)
		got = compiled_table_rule(&sweep.table, &row, &rule);
	if (wanted == -EBADMSG && !got && !rule.cfa.how && rule.reason == error.reason)
		return;
	if (wanted == got && (got || bobbin_rule_equal(&rule, &expected.rule)))
		return;
	if (!sweep.different++)
		printf("%" PRIx64 ": %d, not %d\n", pc, got, wanted);
}

static void compare_function(const struct bobbin_cfi_fde *fde)
{
	static struct bobbin_cfi_rows rows;
	struct bobbin_error error;
	struct bobbin_row row;

	compare(fde->start - 1);
	compare(fde->end);
	if (bobbin_cfi_rows_init(sweep.view, fde, &error, &rows)) {
		compare(fde->start);
		return;
	}
	while (bobbin_cfi_rows_next(&rows, &error, &row) > 0) {
		compare(row.start);
		compare(row.end - 1);
	}
}

static void compare_all(void)
{
	struct bobbin_error error;
	struct bobbin_cfi_fde fde;
	uint64_t at = 0;
	int r;

	while ((r = bobbin_cfi_next(sweep.view, &at, &error, &fde)) != 0)
		if (r > 0 && bobbin_cfi_has_code(sweep.view, &fde))
			compare_function(&fde);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct cfi_image image;
	uint64_t size, rows;
	uint8_t *data;

	if (fd < 0 || cfi_image_init(fd, &image)) {
		printf("%s: not read\n", argv[1]);
		return 1;
	}
	close(fd);
	sweep.view = image.views;
	if (!image.count || compile_cfi(image.views, 1, NULL, 0, 0, &rows, &data, &size) ||
	    compiled_table_init(data, size, NULL, &sweep.table)) {
		printf("%s: not compiled\n", argv[1]);
		return 1;
	}
	compare_all();
	printf("%s: %" PRIu64 " rows in %" PRIu64 " bytes, %" PRIu64 " addresses, %" PRIu64
	       " different\n",
	       argv[1], rows, size, sweep.compared, sweep.different);
	free(data);
	cfi_image_fini(&image);
	return sweep.different || !sweep.compared;
}
