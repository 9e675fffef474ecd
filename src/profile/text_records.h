/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text_records.h - records of what processes have copied to where files were mapped.
 *
 * The kernel tells of memory without the file, see target/text_copy.h; who reads a recording
 * needs the file for names.  So a recording says that the file is mapped there.
 */
#ifndef BOBBIN_PROFILE_TEXT_RECORDS_H
#define BOBBIN_PROFILE_TEXT_RECORDS_H

#include <sys/types.h>

#include "base/process_reader.h"
#include "profile/perf_event.h"

/* As snapshot_sink. */
typedef int (*text_record_sink)(void *ctx, const struct perf_event *event);

/*
 * Give an MMAP2 record for each range of pages that are a copy of a file's.  Their number; what
 * @sink returned, if that is negative; -ENOMEM.  A process that cannot be read has none.
 */
int text_records(const struct remote_process *process, uint64_t id, text_record_sink sink,
		 void *ctx);

#endif
