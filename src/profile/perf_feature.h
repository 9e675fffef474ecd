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
#include "profile/perf_event.h"
#include "profile/perf_format.h"

/* Bytes of a file. */
struct perf_span {
	const uint8_t *data; /* NULL: there are none */
	uint64_t size;
	uint64_t offset; /* of @data in the file */
};

/* An event that was recorded. */
struct perf_reader_attr {
	struct perf_event_attr attr; /* fields that the file lacks are 0 */
	const char *name;            /* that the file gives it, or else that of its attributes */
	size_t number;               /* of the event: several may have one name */
};

/* What is in a file, known after opening. */
struct perf_reader_stats {
	uint64_t events;  /* records, which perf_reader_next() delivers; more of groups */
	uint64_t samples; /* those of them that are samples */
	uint64_t lost;    /* records that the kernel had to drop */
};

/* A cursor over a feature, in the byte order of this machine. */
struct bytes perf_feature_bytes(struct perf_span feature);

/*
 * A feature that is one string: HOSTNAME, OSRELEASE, VERSION, ARCH …  0; -ENODATA if it is
 * missing; -EBADMSG if it is malformed.
 */
int perf_feature_string(struct perf_span feature, const char **ret);

/*
 * The build IDs that perf reads of files when a recording ends: BUILD_ID, by path, unless they are
 * in the records of mappings.  A file that was replaced while it was recorded has that of its
 * successor.
 */
struct file_build_ids {
	struct file_build_id *list; /* in the order of paths */
	size_t count, room;
};

/* Those of a feature, which is borrowed; up to where it is malformed.  0, -ENOMEM. */
int file_build_ids_init(struct perf_span feature, struct file_build_ids *ret);
void file_build_ids_fini(struct file_build_ids *ids);

/* Complete the record of a mapping that has none. */
void file_build_ids_fill(const struct file_build_ids *ids, struct perf_mmap *mmap);

#endif
