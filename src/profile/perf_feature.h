/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_feature.h - what a perf.data file says about its machine and recording.
 *
 * Each feature is a run of bytes with a number, see enum perf_file_feature.
 * The functions here take one apart; perf_reader finds it.  Everything borrows
 * from the bytes, and nothing in them is trusted: errors are -EBADMSG with
 * BOBBIN_REASON_PERF_FEATURE and an offset into the file.
 */
#ifndef BOBBIN_PROFILE_PERF_FEATURE_H
#define BOBBIN_PROFILE_PERF_FEATURE_H

#include <bobbin/reason.h>

#include "core/bytes.h"
#include "profile/perf_format.h"

/* Bytes of a file. */
struct perf_span {
	const uint8_t *data; /* NULL: there are none */
	uint64_t size;
	uint64_t offset; /* of @data in the file */
};

/* An event of the recording as EVENT_DESC describes it. */
struct perf_event_desc {
	const char *name;
	uint32_t nr_ids;
	uint64_t first_id; /* if there is one */
};

/**
 * perf_feature_bytes() - a cursor over a feature
 * @feature: the feature
 *
 * Return: the cursor, in the byte order of this machine.
 */
struct bytes perf_feature_bytes(struct perf_span feature);

/**
 * perf_feature_string() - a feature that is one string: HOSTNAME, OSRELEASE, VERSION, ARCH …
 * @feature: the feature
 * @err: where it is malformed; or NULL
 * @ret: the string
 *
 * Return: 0; -ENODATA, with BOBBIN_REASON_NONE, if the feature is missing; -EBADMSG.
 */
int perf_feature_string(struct perf_span feature, struct bobbin_error *err, const char **ret);

/**
 * perf_feature_event_descs() - EVENT_DESC
 * @feature: the feature
 * @err: where it is malformed; or NULL
 * @desc: called for each event in order with its index
 * @ctx: for @desc
 *
 * Return: as perf_feature_string().
 */
int perf_feature_event_descs(struct perf_span feature, struct bobbin_error *err,
			     void (*desc)(void *ctx, uint32_t i, const struct perf_event_desc *),
			     void *ctx);

#endif
