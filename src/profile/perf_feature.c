/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "core/bisect.h"
#include "profile/perf_feature.h"

struct bytes perf_feature_bytes(struct perf_span feature)
{
	return bytes_of(feature.data, feature.size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

int perf_feature_string(struct perf_span feature, const char **ret)
{
	struct bytes b = perf_feature_bytes(feature);
	const char *string;

	if (!feature.data)
		return -ENODATA;
	string = bytes_string(&b, bytes_u32(&b));
	if (!string)
		return -EBADMSG;
	*ret = string;
	return 0;
}

/* An entry: struct perf_event_header, s32 process, u8 build ID[24], the path. */
#define ID_FIELD 24
#define ID_MOST 20
#define SIZE_AT 20 /* in the field, if misc says so */
#define MISC_HAS_SIZE (1u << 15)

struct file_build_id {
	const char *path;
	const uint8_t *id;
	uint8_t size;
};

static int by_path(const void *left, const void *right)
{
	const struct file_build_id *a = left, *b = right;

	return strcmp(a->path, b->path);
}

/* false: the kernel's, or malformed */
static bool read_entry(struct bytes *b, struct file_build_id *ret)
{
	uint64_t start = b->pos;
	uint16_t misc, size;

	bytes_skip(b, sizeof(uint32_t));
	misc = bytes_u16(b);
	size = bytes_u16(b);
	bytes_skip(b, sizeof(uint32_t));
	ret->id = b->data + b->pos;
	bytes_skip(b, ID_FIELD);
	if (b->bad || size <= b->pos - start) {
		b->bad = true;
		return false;
	}
	ret->size = misc & MISC_HAS_SIZE ? ret->id[SIZE_AT] : ID_MOST;
	ret->path = bytes_string(b, (uint32_t)(size - (b->pos - start)));
	return !b->bad && ret->size && ret->size <= ID_MOST &&
	       (misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL;
}

int file_build_ids_init(struct perf_span feature, struct file_build_ids *ret)
{
	struct bytes b = perf_feature_bytes(feature);
	struct file_build_ids ids = {0};
	struct file_build_id entry;
	int r = 0;

	while (!r && feature.data && !b.bad && bytes_left(&b))
		if (read_entry(&b, &entry))
			r = vector_push(ids.list, ids.count, ids.room, entry);
	if (r) {
		file_build_ids_fini(&ids);
		return r;
	}
	if (ids.count)
		qsort(ids.list, ids.count, sizeof(*ids.list), by_path);
	*ret = ids;
	return 0;
}

void file_build_ids_fini(struct file_build_ids *ids)
{
	free(ids->list);
	*ids = (struct file_build_ids){0};
}

void file_build_ids_fill(const struct file_build_ids *ids, struct perf_mmap *mmap)
{
	const struct file_build_id *found;
	size_t i;

	if (mmap->build_id_len || !ids->count)
		return;
	i = bisect(at, 0, ids->count, strcmp(ids->list[at].path, mmap->filename) >= 0);
	found = &ids->list[i];
	/* of two for one path neither is sure */
	if (i == ids->count || strcmp(found->path, mmap->filename) ||
	    (i + 1 < ids->count && !strcmp(found[1].path, mmap->filename)))
		return;
	memcpy(mmap->build_id, found->id, found->size);
	mmap->build_id_len = found->size;
}
