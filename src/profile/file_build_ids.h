/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_build_ids.h - the build IDs that perf reads of files when a recording ends.
 *
 * They are a feature of the file (BUILD_ID), by path, unless they are in the records of mappings.
 * A file that was replaced while it was recorded has that of its successor.
 */
#ifndef BOBBIN_PROFILE_FILE_BUILD_IDS_H
#define BOBBIN_PROFILE_FILE_BUILD_IDS_H

#include "profile/perf_event.h"
#include "profile/perf_feature.h"

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
