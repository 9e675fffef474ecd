/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sidefile_output.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file_range.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "sidefile/sidefile.h"
#include "sidefile/sidefile_writer.h"

/* Whether the side-file says of an address what a row of the table does. */
static bool says(struct sidefile *sidefile, const struct table_builder *b, size_t i, uint64_t addr)
{
	const struct rule_row *row = &b->rows.row[i];
	uint64_t end = i + 1 < b->rows.count ? row[1].start : b->end;
	struct bobbin_row found;
	bool begins;
	int r = sidefile_lookup_row(sidefile, addr, &found, &begins);

	if (row->rule == RULE_NONE)
		return r == -ENOENT;
	return !r && found.start == row->start && found.end == end && begins == row->begins &&
	       bobbin_rule_equal(&found.rule, rule_rows_rule(&b->rows, i));
}

static int compare_rows(struct sidefile *sidefile, const struct table_builder *b)
{
	const struct rule_rows *rows = &b->rows;

	for (size_t i = 0; i < rows->count; i++) {
		uint64_t end = i + 1 < rows->count ? rows->row[i + 1].start : b->end;

		if (!says(sidefile, b, i, rows->row[i].start) || !says(sidefile, b, i, end - 1))
			return -EBADMSG;
	}
	return 0;
}

static int write_bytes(void *ctx, int fd)
{
	const struct sidefile_output *m = ctx;

	return file_append(fd, m->data, m->size);
}

/* Read it back as an unwinder does, and compare. */
static int prove(void *ctx, int fd)
{
	const struct sidefile_output *m = ctx;
	struct sidefile *sidefile;
	int copy = dup(fd), r;

	if (copy < 0)
		return -errno;
	r = sidefile_open(copy, NULL, &sidefile);
	if (r) {
		close(copy);
		return r;
	}
	r = compare_rows(sidefile, &m->table);
	sidefile_close(sidefile);
	return r;
}

bool sidefile_output_init(const char *path, const struct elf_image *image,
			  const struct table_sources *sources, struct sidefile_output *ret)
{
	int r = table_builder_init(sources->arch, image->build_id, image->build_id_len,
				   &ret->table);

	if (!r)
		r = table_sources_rows(sources, &ret->table);
	if (!r)
		r = sidefile_make(&ret->table, &ret->data, &ret->size);
	if (r == -E2BIG)
		complain("%s: functions claim more rows than is sane", path);
	else if (r == -EBADMSG)
		complain("%s: .sframe: %s", path, bobbin_reason_str(BOBBIN_REASON_SFRAME_ORDER));
	else if (r)
		complain_file(path, r, NULL);
	return !r;
}

bool sidefile_output_put(struct sidefile_output *output, const char *path)
{
	return output_put(&(struct output){
		.path = path, .write = write_bytes, .check = prove, .ctx = output});
}

void sidefile_output_fini(struct sidefile_output *output)
{
	table_builder_fini(&output->table);
	free(output->data);
}
