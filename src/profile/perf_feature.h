/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_feature.h - what a perf.data file says about its machine and recording.
 *
 * Each feature is a run of bytes with a number, see enum perf_file_feature.
 * The functions here take one apart; perf_reader finds it.  Everything borrows
 * from the bytes, and nothing in them is trusted.
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

/* A cursor over a feature, in the byte order of this machine. */
struct bytes perf_feature_bytes(struct perf_span feature);

/*
 * A feature that is one string: HOSTNAME, OSRELEASE, VERSION, ARCH …  0; -ENODATA if it is
 * missing; -EBADMSG if it is malformed.
 */
int perf_feature_string(struct perf_span feature, const char **ret);

/* EVENT_DESC: @desc is called for each event in order with its index.  0 or -EBADMSG and @err. */
int perf_feature_event_descs(struct perf_span feature, struct bobbin_error *err,
			     void (*desc)(void *ctx, uint32_t i, const struct perf_event_desc *),
			     void *ctx);

#endif
