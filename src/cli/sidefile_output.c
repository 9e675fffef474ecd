/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/sidefile_output.h"

#include <errno.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "sidefile/sidefile.h"

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

/* Read a side-file back as whoever unwinds will, and compare. */
static int prove(int fd, const struct bobbin_sframe_view *view)
{
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

int sidefile_output_put(const char *path, const struct bobbin_sframe_view *view, const void *data,
			uint64_t size)
{
	struct output_file file;
	int r = output_file_init(path, 0666, &file);

	if (r)
		return r;
	r = output_file_write(&file, data, size);
	if (!r)
		r = prove(file.fd, view);
	if (!r)
		return output_file_commit(&file);
	output_file_discard(&file);
	return r;
}
