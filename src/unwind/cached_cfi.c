/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/cached_cfi.h"

#include <errno.h>
#include <string.h>

#include "core/refusal.h"
#include "table/table_sources.h"

/* Of larger sections no table is made: it would take seconds.  And the largest table. */
#define MOST_BYTES (128u << 20)
#define MOST_TABLE_BYTES (64u << 20)

/* Of two sections, one must have an index, to find which of them covers an address. */
static bool can_be_told(const struct cached_cfi *cfi)
{
	return cfi->count == 1 || cfi->views[0].table_count;
}

static bool is_small(const struct bobbin_cfi_view *views, unsigned int count)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < count; i++)
		bytes += views[i].frame_size;
	return bytes <= MOST_BYTES;
}

static bool look(struct table_cache *cache, const struct bobbin_arch *arch, struct cached_cfi *cfi)
{
	cfi->found = !table_cache_find(cache, &cfi->key, NULL, &cfi->kept);
	/* the key depends on the architecture, too */
	if (cfi->found && cfi->kept.table.arch != arch) {
		kept_table_fini(&cfi->kept);
		cfi->found = false;
	}
	return cfi->found;
}

static struct table_key key_of(const struct elf_image *image, const struct bobbin_cfi_view *views,
			       unsigned int count)
{
	struct table_sources sources = {.arch = image->arch, .cfi = views, .cfi_count = count};
	struct table_key key;

	table_key_of(&sources, image->build_id, image->build_id_len, &key);
	return key;
}

bool cached_cfi_find(struct table_cache *cache, const struct elf_image *image,
		     struct cached_cfi *ret)
{
	ret->count = call_frames_views(image, ret->views);
	if (!ret->count || !can_be_told(ret) || !is_small(ret->views, ret->count)) {
		ret->count = 0;
		return false;
	}
	ret->key = key_of(image, ret->views, ret->count);
	ret->keyed = true;
	return look(cache, image->arch, ret);
}

/* What was read again must be what the key was made of: who owns the file may have changed it. */
static int compile(const struct elf_image *image, struct cached_cfi *cfi)
{
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	unsigned int count = call_frames_views(image, views);
	struct table_key key;
	uint64_t size;
	uint8_t *made;
	int r;

	if (cfi->keyed) {
		key = key_of(image, views, count);
		if (memcmp(key.digest, cfi->key.digest, sizeof(key.digest)) != 0)
			return -ESTALE;
	}
	r = compile_cfi(views, count, image->build_id, image->build_id_len, cfi->limit, NULL, &made,
			&size);
	return r ? r : kept_table_take(made, size, &cfi->kept);
}

/* What could not be made is not tried again, unless there is more room for it. */
static int make(const struct elf_image *image, struct cached_cfi *cfi, uint64_t limit)
{
	bool tried = cfi->error && (cfi->error != -E2BIG || limit <= cfi->limit);

	if (cfi->kept.made || tried)
		return cfi->error;
	cfi->limit = limit;
	cfi->error = compile(image, cfi);
	return cfi->error;
}

int cached_cfi_table(const struct elf_image *image, struct cached_cfi *cfi, uint64_t limit)
{
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];

	if ((cfi->found ? cfi->count : call_frames_views(image, views)) != 1)
		return -ENODATA;
	if (cfi->found)
		return 0;
	return is_small(views, 1) ? make(image, cfi, limit) : -EFBIG;
}

void cached_cfi_make(struct table_cache *cache, const struct elf_image *image,
		     struct cached_cfi *cfi)
{
	if (cfi->count && cfi->keyed && !cfi->found && !make(image, cfi, MOST_TABLE_BYTES))
		table_cache_keep(cache, &cfi->key, cfi->kept.data, cfi->kept.size);
}

bool cached_cfi_rest(struct table_cache *cache, const struct bobbin_arch *arch,
		     struct cached_cfi *cfi)
{
	if (cfi->keyed && cfi->kept.made)
		table_cache_keep(cache, &cfi->key, cfi->kept.data, cfi->kept.size);
	if (!cfi->found)
		kept_table_fini(&cfi->kept);
	/* others may have made it since */
	if (cfi->keyed && !cfi->found)
		look(cache, arch, cfi);
	kept_table_rest(&cfi->kept);
	if (cfi->found && cfi->count > 1)
		return false;
	for (unsigned int i = 0; i < cfi->count; i++)
		cfi->views[i].frame = cfi->views[i].hdr = NULL;
	return true;
}

void cached_cfi_fini(struct cached_cfi *cfi)
{
	kept_table_fini(&cfi->kept);
	*cfi = (struct cached_cfi){0};
}

static enum bobbin_source source_of(const struct cached_cfi *cfi, uint64_t vaddr)
{
	struct bobbin_cfi_fde fde;
	const struct bobbin_cfi_view *last = &cfi->views[cfi->count - 1];

	if (!last->debug_frame ||
	    (cfi->count > 1 && !bobbin_cfi_find(&cfi->views[0], vaddr, NULL, &fde)))
		return BOBBIN_SOURCE_EH_FRAME;
	return BOBBIN_SOURCE_DEBUG_FRAME;
}

/* Tables split long rows: extend a row by the next part if that continues it. */
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
	const struct cached_cfi *cfi = data;
	const struct compiled_table *table = &cfi->kept.table;
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
	ret->source = source_of(cfi, pc);
	return 0;
}

/* A malformed FDE has a row, without a rule. */
const struct table_ops cached_cfi_ops = {
	.kind = TABLE_CACHED_CFI,
	.sources = {BOBBIN_SOURCE_EH_FRAME, BOBBIN_SOURCE_DEBUG_FRAME},
	.whole = true,
	.lookup = lookup,
};
