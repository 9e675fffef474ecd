/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/late_sidefile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sidefile/block_codec.h"
#include "sidefile/sidefile.h"

static void give_up(struct late_sidefile *late)
{
	sidefile_close(late->file);
	late->file = NULL;
}

/* Once. */
static void find(struct late_sidefile *late)
{
	const struct elf_image *image = late->image;
	const struct sidefile_head *head;
	int fd;

	if (!late->path)
		return;
	fd = sidefile_find(late->path, image->build_id, image->build_id_len);
	late->path = NULL;
	if (fd < 0)
		return;
	if (sidefile_open(fd, NULL, &late->file)) {
		close(fd);
		return;
	}
	head = sidefile_head(late->file);
	if (head->arch != image->arch || head->build_id_len != image->build_id_len ||
	    memcmp(head->build_id, image->build_id, image->build_id_len))
		give_up(late);
}

int late_sidefile_lookup(struct late_sidefile *late, uint64_t vaddr, struct bobbin_row *ret)
{
	int r;

	find(late);
	if (!late->file)
		return -ENODATA;
	r = sidefile_lookup(late->file, vaddr, NULL, ret);
	if (!r || r == -ENOENT)
		return r;
	give_up(late);
	return -ENODATA;
}

/* Each function of a block, from its first row there to its last one there. */
static int block_functions(const struct compiled_table *rules, const struct block_rows *block,
			   function_sink sink, void *ctx)
{
	uint64_t start = 0, end;
	bool open = false;
	int r = 0;

	for (uint32_t i = 0; i <= block->count && !r; i++) {
		const struct rule_row *row = i < block->count ? &block->rows[i] : NULL;
		bool none = !row || compiled_table_is_none(rules, row->rule);

		end = row ? row->start : block->end;
		if (open && (none || row->begins))
			r = sink(ctx, start, end);
		if (!none && (!open || row->begins))
			start = end;
		open = !none;
	}
	return r;
}

int late_sidefile_functions(struct late_sidefile *late, function_sink sink, void *ctx)
{
	const struct block_rows *block;
	int r = 0;

	find(late);
	for (uint32_t i = 0; late->file && i < sidefile_head(late->file)->block_count && !r; i++) {
		if (sidefile_block(late->file, i, NULL, &block))
			give_up(late);
		else
			r = block_functions(&sidefile_head(late->file)->rules, block, sink, ctx);
	}
	return r;
}

static int lookup(void *table, const struct bobbin_arch *arch, uint64_t pc,
		  struct bobbin_error *err, struct table_answer *ret)
{
	return late_sidefile_lookup(table, pc, &ret->row);
}

static int functions(void *table, const struct bobbin_arch *arch, enum bobbin_source source,
		     function_sink sink, void *ctx)
{
	return late_sidefile_functions(table, sink, ctx);
}

const struct table_ops late_sidefile_ops = {
	.kind = TABLE_SIDEFILE,
	.sources = {BOBBIN_SOURCE_SIDEFILE},
	.lookup = lookup,
	.functions = functions,
};
