/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/kept_rows.h"

#include <errno.h>

#include "core/refusal.h"
#include "table/compile_cfi.h"

/* Bytes of sections of which no table is made: it would take seconds.  And of a table. */
#define MOST_BYTES (128u << 20)
#define MOST_TABLE_BYTES (64u << 20)

/* Which of two sections covers an address can only be found in one that has an index. */
static bool can_be_told(const struct kept_rows *rows)
{
	return rows->count == 1 || rows->views[0].table_count;
}

static bool is_small(const struct kept_rows *rows)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < rows->count; i++)
		bytes += rows->views[i].frame_size;
	return bytes <= MOST_BYTES;
}

bool kept_rows_find(struct table_cache *cache, const struct elf_image *image, struct kept_rows *ret)
{
	struct table_sources sources = {.arch = image->arch, .cfi = ret->views};

	ret->count = call_frames_views(image, ret->views);
	if (!ret->count || !can_be_told(ret) || !is_small(ret)) {
		ret->count = 0;
		return false;
	}
	sources.cfi_count = ret->count;
	table_key_of(&sources, image->build_id, image->build_id_len, &ret->key);
	ret->keyed = true;
	ret->found = !table_cache_find(cache, &ret->key, NULL, &ret->kept);
	/* the key says so, too */
	if (ret->found && ret->kept.table.arch != image->arch) {
		kept_table_fini(&ret->kept);
		ret->found = false;
	}
	return ret->found;
}

/* What could not be made is not tried again, unless there is more room for it. */
static int make(const struct elf_image *image, struct kept_rows *rows, uint64_t limit)
{
	bool tried = rows->error && (rows->error != -E2BIG || limit <= rows->limit);

	rows->limit = tried ? rows->limit : limit;
	if (!rows->made && !tried)
		rows->error = compile_cfi_within(rows->views, rows->count, image->build_id,
						 image->build_id_len, limit, &rows->made,
						 &rows->made_size);
	return rows->error;
}

int kept_rows_table(const struct elf_image *image, struct kept_rows *rows, uint64_t limit,
		    const uint8_t **data, uint64_t *size)
{
	int r = 0;

	if (!rows->count && !rows->made)
		rows->count = call_frames_views(image, rows->views);
	if (rows->count != 1)
		return -ENODATA;
	if (!is_small(rows))
		return -EFBIG;
	if (!rows->found)
		r = make(image, rows, limit);
	if (r)
		return r;
	*data = rows->found ? rows->kept.data : rows->made;
	*size = rows->found ? rows->kept.size : rows->made_size;
	return 0;
}

void kept_rows_make(struct table_cache *cache, const struct elf_image *image,
		    struct kept_rows *rows)
{
	if (rows->count && rows->keyed && !rows->found && !make(image, rows, MOST_TABLE_BYTES))
		table_cache_keep(cache, &rows->key, rows->made, rows->made_size);
}

bool kept_rows_rest(struct table_cache *cache, struct kept_rows *rows)
{
	bool kept = rows->made && rows->keyed && !rows->found &&
		    !table_cache_keep(cache, &rows->key, rows->made, rows->made_size);

	if (kept && !table_cache_find(cache, &rows->key, NULL, &rows->kept)) {
		rows->found = true;
		free(rows->made);
		rows->made = NULL;
	}
	kept_table_rest(&rows->kept);
	if (!rows->found || rows->count != 1)
		return false;
	rows->views[0].frame = rows->views[0].hdr = NULL;
	return true;
}

void kept_rows_fini(struct kept_rows *rows)
{
	kept_table_fini(&rows->kept);
	free(rows->made);
	*rows = (struct kept_rows){0};
}

static enum bobbin_source source_of(const struct kept_rows *rows, uint64_t vaddr)
{
	struct bobbin_cfi_fde fde;
	const struct bobbin_cfi_view *last = &rows->views[rows->count - 1];

	if (!last->debug_frame ||
	    (rows->count > 1 && !bobbin_cfi_find(&rows->views[0], vaddr, NULL, &fde)))
		return BOBBIN_SOURCE_EH_FRAME;
	return BOBBIN_SOURCE_DEBUG_FRAME;
}

/* Where a row goes on in another part of the table, which says the same there. */
static void join_parts(const struct compiled_table *table, const struct compiled_row *found,
		       struct bobbin_row *row)
{
	struct compiled_row next;

	if (!compiled_table_find(table, found->end, &next) && !next.begins &&
	    next.word == found->word && next.number == found->number)
		row->end = next.end;
}

static int lookup(void *data, const struct bobbin_arch *arch, uint64_t pc, struct bobbin_error *err,
		  struct table_answer *ret)
{
	const struct kept_rows *rows = data;
	const struct compiled_table *table = &rows->kept.table;
	struct compiled_row found;
	int r = compiled_table_find(table, pc, &found);

	if (!r)
		r = compiled_table_rule(table, &found, &ret->row.rule);
	if (r)
		return r == -EBADMSG ? refuse(err, 0, BOBBIN_REASON_KEPT_TABLE) : r;
	ret->row.start = found.start;
	ret->row.end = found.end;
	if (ret->row.end == pc + 1)
		join_parts(table, &found, &ret->row);
	ret->row.function = compiled_table_function(table, &found);
	ret->source = source_of(rows, pc);
	return 0;
}

/* A malformed FDE has a row, without a rule. */
const struct table_ops kept_rows_ops = {
	.kind = TABLE_KEPT,
	.sources = {BOBBIN_SOURCE_EH_FRAME, BOBBIN_SOURCE_DEBUG_FRAME},
	.whole = true,
	.lookup = lookup,
};
