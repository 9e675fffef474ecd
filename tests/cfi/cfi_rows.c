/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi-rows FILE - print what the reader makes of a file's call-frame
 * information, one row a line:
 *
 *	address	cfa	fp	ra
 *
 * in the words of row_words.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cfi_file.h"
#include "row_words.h"

static int print_function(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde)
{
	struct bobbin_cfi_rows rows;
	struct bobbin_row row;
	int r;

	r = bobbin_cfi_rows_init(view, fde, NULL, &rows);
	if (r)
		return r;
	while ((r = bobbin_cfi_rows_next(&rows, NULL, &row)) > 0)
		row_print(view->arch, row.start, &row.rule, rows.plt);
	return r;
}

static int print_section(const struct bobbin_cfi_view *view)
{
	struct bobbin_error err = {0};
	struct bobbin_cfi_fde fde;
	uint64_t offset = 0;
	int r, bad = 0;

	while ((r = bobbin_cfi_next(view, &offset, &err, &fde)) != 0) {
		if (r > 0 && !print_function(view, &fde))
			continue;
		fprintf(stderr, "cfi-rows: 0x%" PRIx64 ": %s\n", r > 0 ? fde.offset : err.offset,
			r > 0 ? "bad program" : bobbin_reason_str(err.reason));
		bad++;
	}
	return bad;
}

int main(int argc, char **argv)
{
	struct cfi_file file;
	int bad = 0;

	if (argc != 2 || cfi_file_init(&file, argv[1])) {
		fprintf(stderr, "usage: cfi-rows ELF-FILE\n");
		return 2;
	}
	if (file.eh.frame)
		bad += print_section(&file.eh);
	if (file.debug.frame)
		bad += print_section(&file.debug);
	cfi_file_fini(&file);
	return bad ? 1 : 0;
}
