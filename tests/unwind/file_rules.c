/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file-rules FILE - print the rule that a walker finds at each address of a file's code:
 *
 *	address	cfa	fp	ra	source
 *
 * in the words of row_words.h; where no table knows it, only the reason.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "row_words.h"
#include "unwind/module.h"

static void print_rule(struct module *m, uint64_t addr)
{
	static const char *const names[] = {
		[BOBBIN_SOURCE_SFRAME] = "sframe",
		[BOBBIN_SOURCE_EH_FRAME] = "eh_frame",
		[BOBBIN_SOURCE_DEBUG_FRAME] = "debug_frame",
		[BOBBIN_SOURCE_ENTRY] = "entry",
		[BOBBIN_SOURCE_NONE] = "none",
	};
	struct table_answer answer;

	table_set_row(&m->tables, addr, &answer);
	printf("%s\t", names[answer.source]);
	row_print(m->image.arch, addr, &answer.row.rule, 0);
}

int main(int argc, char **argv)
{
	const struct bobbin_unwinder_options options = {0};
	const struct module_context context = {.options = &options};
	struct mapped_file file = {.kind = FILE_REGULAR, .path = argc == 2 ? argv[1] : NULL};
	struct module *m;
	int r = argc == 2 ? module_open(&context, &file, UINT64_MAX, &m) : -1;

	if (r) {
		fprintf(stderr, "file-rules: cannot read the file: %d\n", r);
		return 2;
	}
	for (size_t i = 0; i < m->image.segment_count; i++) {
		const struct elf_segment *s = &m->image.segments[i];

		for (uint64_t at = 0; s->exec && at < s->memsz; at++)
			print_rule(m, s->vaddr + at);
	}
	module_close(m);
	return 0;
}
