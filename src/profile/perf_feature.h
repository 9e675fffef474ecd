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

/* A file that was mapped in the recording, and its build ID. */
struct perf_build_id {
	int32_t pid;   /* -1: of the host's kernel or any process */
	uint16_t misc; /* CPU mode: PERF_RECORD_MISC_KERNEL or _USER */
	uint8_t size;  /* of @id, at most 20 */
	uint8_t id[20];
	const char *filename;
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
 * perf_string_next() - take a string with its length in front
 * @b: cursor over a feature
 *
 * Return: the string, ended by NUL; NULL, with the cursor gone bad, if it is malformed.
 */
const char *perf_string_next(struct bytes *b);

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
 * perf_feature_strings() - a list of strings: CMDLINE
 * @feature: the feature
 * @err: where it is malformed; or NULL
 * @string: called for each string in order; ends the walk if it returns non-zero
 * @ctx: for @string
 *
 * Return: what the last @string returned; otherwise as perf_feature_string().
 */
int perf_feature_strings(struct perf_span feature, struct bobbin_error *err,
			 int (*string)(void *ctx, const char *string), void *ctx);

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

/**
 * perf_build_id_decode() - take the first record of BUILD_ID off
 * @records: what is left of the feature; in: at a record, out: behind it
 * @err: where it is malformed; or NULL
 * @ret: the record
 *
 * Return: 1; 0 at the end; -EBADMSG.
 */
int perf_build_id_decode(struct perf_span *records, struct bobbin_error *err,
			 struct perf_build_id *ret);

#endif
