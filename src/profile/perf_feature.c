/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/refusal.h"
#include "profile/perf_feature.h"

/* header, pid, 24 bytes for the ID of which the 21st may be its size */
#define BUILD_ID_FIELD 24
#define BUILD_ID_SIZE_AT 20

struct bytes perf_feature_bytes(struct perf_span feature)
{
	return bytes_of(feature.data, feature.size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

const char *perf_string_next(struct bytes *b)
{
	uint32_t size = bytes_u32(b);
	const char *string = (const char *)b->data + b->pos;

	bytes_skip(b, size);
	if (b->bad || !memchr(string, 0, size)) {
		b->bad = true;
		return NULL;
	}
	return string;
}

static int missing(struct bobbin_error *err)
{
	return refuse_as(-ENODATA, err, 0, BOBBIN_REASON_NONE);
}

static int malformed(struct perf_span feature, const struct bytes *b, struct bobbin_error *err)
{
	return refuse(err, feature.offset + b->pos, BOBBIN_REASON_PERF_FEATURE);
}

int perf_feature_string(struct perf_span feature, struct bobbin_error *err, const char **ret)
{
	struct bytes b = perf_feature_bytes(feature);
	const char *string;

	if (!feature.data)
		return missing(err);
	string = perf_string_next(&b);
	if (!string)
		return malformed(feature, &b, err);
	*ret = string;
	return 0;
}

int perf_feature_strings(struct perf_span feature, struct bobbin_error *err,
			 int (*string)(void *ctx, const char *string), void *ctx)
{
	struct bytes b = perf_feature_bytes(feature);
	uint32_t nr = bytes_u32(&b);

	if (!feature.data)
		return missing(err);
	for (uint32_t i = 0; i < nr && !b.bad; i++) {
		const char *next = perf_string_next(&b);
		int r = next ? string(ctx, next) : 0;

		if (r)
			return r;
	}
	return b.bad ? malformed(feature, &b, err) : 0;
}

static void event_desc(struct bytes *b, uint32_t attr_size, struct perf_event_desc *desc)
{
	bytes_skip(b, attr_size);
	desc->nr_ids = bytes_u32(b);
	desc->name = perf_string_next(b);
	desc->first_id = 0;
	if (desc->nr_ids) {
		desc->first_id = bytes_u64(b);
		bytes_skip(b, 8 * (uint64_t)(desc->nr_ids - 1));
	}
}

int perf_feature_event_descs(struct perf_span feature, struct bobbin_error *err,
			     void (*desc)(void *ctx, uint32_t i, const struct perf_event_desc *),
			     void *ctx)
{
	struct bytes b = perf_feature_bytes(feature);
	uint32_t nr = bytes_u32(&b), attr_size = bytes_u32(&b);

	if (!feature.data)
		return missing(err);
	for (uint32_t i = 0; i < nr && !b.bad; i++) {
		struct perf_event_desc next;

		event_desc(&b, attr_size, &next);
		if (!b.bad)
			desc(ctx, i, &next);
	}
	return b.bad ? malformed(feature, &b, err) : 0;
}

static void build_id_body(struct bytes *b, struct perf_build_id *build_id)
{
	const uint8_t *field;

	build_id->pid = (int32_t)bytes_u32(b);
	field = b->data + b->pos;
	bytes_skip(b, BUILD_ID_FIELD);
	build_id->filename = (const char *)b->data + b->pos;
	if (b->bad || !memchr(build_id->filename, 0, bytes_left(b))) {
		b->bad = true;
		return;
	}
	build_id->size = sizeof(build_id->id);
	if (build_id->misc & PERF_FILE_MISC_BUILD_ID_SIZE)
		build_id->size = field[BUILD_ID_SIZE_AT];
	if (build_id->size > sizeof(build_id->id))
		b->bad = true;
	else
		memcpy(build_id->id, field, build_id->size);
}

int perf_build_id_decode(struct perf_span *records, struct bobbin_error *err,
			 struct perf_build_id *ret)
{
	struct perf_build_id build_id = {0};
	struct bytes b = perf_feature_bytes(*records);
	uint64_t size;

	if (!records->size)
		return 0;
	bytes_skip(&b, 4);
	build_id.misc = bytes_u16(&b);
	size = bytes_u16(&b);
	if (b.bad || size < b.pos || size > b.size)
		return malformed(*records, &b, err);
	b.size = size;
	build_id_body(&b, &build_id);
	if (b.bad)
		return malformed(*records, &b, err);
	records->data += size;
	records->size -= size;
	records->offset += size;
	*ret = build_id;
	return 1;
}
