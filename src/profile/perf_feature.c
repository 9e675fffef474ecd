/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/refusal.h"
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

static void event_desc(struct bytes *b, uint32_t attr_size, struct perf_event_desc *desc)
{
	bytes_skip(b, attr_size);
	desc->nr_ids = bytes_u32(b);
	desc->name = bytes_string(b, bytes_u32(b));
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

	for (uint32_t i = 0; i < nr && !b.bad; i++) {
		struct perf_event_desc next;

		event_desc(&b, attr_size, &next);
		if (!b.bad)
			desc(ctx, i, &next);
	}
	return b.bad ? refuse(err, feature.offset + b.pos, BOBBIN_REASON_PERF_FEATURE) : 0;
}
