/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/call_frames.h"

#include <errno.h>
#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct fde_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int collect_ranges(struct cfi_table *t)
{
	struct bobbin_cfi_fde fde = {0};
	uint64_t offset = 0;
	size_t room = 0;
	int r;

	while ((r = bobbin_cfi_next_like(&t->view, &offset, &fde, NULL, &fde)) != 0) {
		if (r < 0 || fde.start >= fde.end)
			continue;
		if (t->range_count == room) {
			size_t more = room ? 2 * room : 256;
			struct fde_range *ranges = realloc(t->ranges, more * sizeof(*ranges));

			if (!ranges)
				return -ENOMEM;
			t->ranges = ranges;
			room = more;
		}
		t->ranges[t->range_count++] = (struct fde_range){fde.start, fde.end, fde.offset};
	}
	if (t->ranges)
		qsort(t->ranges, t->range_count, sizeof(*t->ranges), by_start);
	return 0;
}

int cfi_table_init(const struct bobbin_arch *arch, const struct elf_bytes *frame,
		   const struct elf_bytes *hdr, struct cfi_table *t)
{
	t->view = (struct bobbin_cfi_view){
		.arch = arch,
		.frame = frame->data,
		.frame_size = frame->size,
		.frame_addr = frame->addr,
		.debug_frame = !hdr,
	};
	if (!frame->data)
		return 0;
	if (hdr && hdr->data) {
		t->view.hdr = hdr->data;
		t->view.hdr_size = hdr->size;
		t->view.hdr_addr = hdr->addr;
	}
	return bobbin_cfi_view_init(&t->view, NULL) ? collect_ranges(t) : 0;
}

void cfi_table_fini(struct cfi_table *t)
{
	free(t->ranges);
	*t = (struct cfi_table){0};
}

static const struct fde_range *find_range(const struct cfi_table *t, uint64_t vaddr)
{
	size_t lo = 0, hi = t->range_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->ranges[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr < t->ranges[lo - 1].end ? &t->ranges[lo - 1] : NULL;
}

static int cfi_lookup(const struct cfi_table *t, uint64_t vaddr, struct bobbin_error *err,
		      struct bobbin_row *row)
{
	const struct fde_range *range;
	struct bobbin_cfi_fde fde;
	int r;

	if (t->view.table_count)
		return bobbin_cfi_lookup(&t->view, vaddr, err, row);
	range = find_range(t, vaddr);
	if (!range)
		return -ENOENT;
	r = bobbin_cfi_fde(&t->view, range->offset, err, &fde);
	return r ? r : bobbin_cfi_fde_lookup(&t->view, &fde, vaddr, err, row);
}

bool cfi_table_ask(const struct cfi_table *t, uint64_t vaddr, struct bobbin_row *row)
{
	struct bobbin_error error;
	int r;

	if (!t->view.frame)
		return false;
	r = cfi_lookup(t, vaddr, &error, row);
	if (r == -EBADMSG) {
		row->rule = bobbin_rule_none(error.reason);
		return true;
	}
	return !r;
}

int cfi_table_functions(const struct cfi_table *t,
			int (*sink)(void *ctx, uint64_t start, uint64_t end), void *ctx)
{
	struct bobbin_cfi_fde fde = {0};
	uint64_t offset = 0;
	int r;

	if (!t->view.frame)
		return 0;
	while ((r = bobbin_cfi_next_like(&t->view, &offset, &fde, NULL, &fde)) != 0) {
		if (r < 0)
			continue;
		r = sink(ctx, fde.start, fde.end);
		if (r)
			return r;
	}
	return 0;
}
