/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_pcs FILE - look up each PC of a linked file's SFrame section.
 *
 * Each must be found in the very row that iteration finds for it.  Prints how
 * many there were.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bobbin/sframe.h>

#include "elf/sframe_file.h"

static uint64_t count;

/* Each PC of [start, end) must be found in this row. */
static void look_up(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		    uint64_t start, uint64_t end, const struct bobbin_rule *rule)
{
	for (uint64_t pc = start; pc < end; pc++) {
		struct bobbin_row row;

		if (bobbin_sframe_lookup(view, pc, NULL, &row))
			errx(1, "%#" PRIx64 ": lookup failed", pc);
		if (row.function != fde->start || row.start != start || row.end != end ||
		    !bobbin_rule_equal(&row.rule, rule))
			errx(1, "%#" PRIx64 ": lookup found another row", pc);
		count++;
	}
}

/* The row holds in each repeated block, or once. */
static void look_up_everywhere(const struct bobbin_sframe_view *view,
			       const struct bobbin_sframe_fde *fde, uint32_t start, uint32_t end,
			       const struct bobbin_rule *rule)
{
	uint64_t function_end = fde->start + fde->size;

	if (!fde->pcmask) {
		look_up(view, fde, fde->start + start, fde->start + end, rule);
		return;
	}
	for (uint64_t block = fde->start; block + start < function_end; block += fde->rep_size)
		look_up(view, fde, block + start,
			block + end < function_end ? block + end : function_end, rule);
}

static void read_row(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde,
		     uint64_t offset, struct bobbin_sframe_fre *fre, struct bobbin_rule *rule)
{
	struct bobbin_error error;

	if (bobbin_sframe_fre(view, fde, offset, &error, fre) ||
	    bobbin_sframe_rule(view, fde, fre, &error, rule))
		errx(1, "row at %#" PRIx64 ": %s", error.offset, bobbin_reason_str(error.reason));
}

static void look_up_rows(const struct bobbin_sframe_view *view, const struct bobbin_sframe_fde *fde)
{
	uint64_t offset = fde->fre_off;

	for (uint32_t i = 0; i < fde->num_fres; i++) {
		uint32_t end = fde->pcmask ? fde->rep_size : fde->size;
		struct bobbin_sframe_fre fre, next;
		struct bobbin_rule rule, unused;

		read_row(view, fde, offset, &fre, &rule);
		if (i + 1 < fde->num_fres) {
			read_row(view, fde, fre.next, &next, &unused);
			end = next.start;
		}
		look_up_everywhere(view, fde, fre.start, end, &rule);
		offset = fre.next;
	}
}

static void look_up_section(const struct sframe_section *section)
{
	struct bobbin_sframe_view view;
	struct bobbin_sframe_fde fde;
	struct bobbin_error error;

	if (bobbin_sframe_view(section->data, section->size, section->addr, &error, &view))
		errx(1, "section: %s", bobbin_reason_str(error.reason));
	for (uint32_t i = 0; i < view.num_fdes; i++) {
		if (bobbin_sframe_fde(&view, i, &error, &fde))
			errx(1, "function %" PRIu32 ": %s", i, bobbin_reason_str(error.reason));
		look_up_rows(&view, &fde);
	}
}

int main(int argc, char **argv)
{
	struct bobbin_error error;
	struct sframe_file file;
	int fd;

	if (argc != 2)
		errx(2, "usage: sframe_pcs FILE");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || sframe_file_init(fd, &error, &file))
		errx(1, "%s: cannot be read", argv[1]);
	for (size_t i = 0; i < file.section_count; i++)
		look_up_section(&file.sections[i]);
	sframe_file_fini(&file);
	close(fd);
	if (!count)
		errx(1, "%s: no PC in an SFrame section", argv[1]);
	printf("%" PRIu64 "\n", count);
	return 0;
}
