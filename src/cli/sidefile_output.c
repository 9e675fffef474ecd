/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sidefile_output.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file_range.h"
#include "cli/output_file.h"
#include "sidefile/sidefile.h"
#include "sidefile/sidefile_writer.h"

static bool same_row(const struct bobbin_row *a, const struct bobbin_row *b)
{
	return a->start == b->start && a->end == b->end && a->function == b->function &&
	       bobbin_rule_equal(&a->rule, &b->rule);
}

/* Row for row the same in [pc, end) of a function. */
static bool same_range(const struct bobbin_sframe_view *view, struct sidefile *sidefile,
		       uint64_t pc, uint64_t end)
{
	while (pc < end) {
		struct bobbin_row row = {.end = pc + 1}, other = row;
		int r = bobbin_sframe_lookup(view, pc, NULL, &row);

		if (sidefile_lookup(sidefile, pc, NULL, &other) != r || !same_row(&row, &other))
			return false;
		pc = row.end;
	}
	return true;
}

/* What repeats is looked at as often as it takes to see how: a function may be huge. */
static bool same_function(const struct bobbin_sframe_view *view, struct sidefile *sidefile,
			  const struct bobbin_sframe_fde *fde)
{
	uint64_t start = fde->start, end = start + fde->size, some = 2ull * fde->rep_size;

	if (!fde->pcmask || fde->size <= 2 * some)
		return same_range(view, sidefile, start, end);
	return same_range(view, sidefile, start, start + some) &&
	       same_range(view, sidefile, end - some, end);
}

static int write_bytes(void *ctx, int fd)
{
	const struct sidefile_output *m = ctx;

	return file_append(fd, m->data, m->size);
}

/* Read it back as an unwinder does, and compare. */
static int prove(void *ctx, int fd)
{
	const struct bobbin_sframe_view *view = &((const struct sidefile_output *)ctx)->view;
	struct sidefile *sidefile;
	int copy = dup(fd), r;

	if (copy < 0)
		return -errno;
	r = sidefile_open(copy, NULL, &sidefile);
	if (r) {
		close(copy);
		return r;
	}
	for (uint32_t i = 0; i < view->num_fdes && !r; i++) {
		struct bobbin_sframe_fde fde;

		r = bobbin_sframe_fde(view, i, NULL, &fde);
		if (!r && !same_function(view, sidefile, &fde))
			r = -EBADMSG;
	}
	sidefile_close(sidefile);
	return r;
}

bool sidefile_output_init(const char *path, const struct elf_image *image,
			  const struct made_section *section, struct sidefile_output *ret)
{
	struct bobbin_error error = {0};
	int r = bobbin_sframe_view(section->data, section->size, section->addr, NULL, &ret->view);

	if (!r)
		r = sidefile_make(&ret->view, image->build_id, image->build_id_len, &error,
				  &ret->data, &ret->size);
	/* its offset is one in a section that users do not see */
	if (r && error.reason)
		complain("%s: %s", path, bobbin_reason_str(error.reason));
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
	free(output->data);
}
