/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * image_records.h - records of images that a process loaded itself and registered.
 *
 * The kernel knows memory without a file; who reads a recording needs the file for
 * names.  So a recording says that the file was mapped there.
 */
#ifndef BOBBIN_PROFILE_IMAGE_RECORDS_H
#define BOBBIN_PROFILE_IMAGE_RECORDS_H

#include "profile/process_table.h"
#include "profile/snapshot.h"

/*
 * Give an MMAP2 record for each range of an image that the process has registered and
 * that was not told yet.  @time: of what is recorded now; @id: marks our own records.
 * What @sink returns if it is not 0, or 0.
 */
int image_records(struct process *process, uint64_t time, uint64_t id, snapshot_sink sink,
		  void *ctx);

/* Whether some were told in memory that the kernel says to be mapped. */
bool image_records_told(const struct process *process, const struct perf_mmap *memory);

/*
 * Give their records again: a busy recorder knows a process's registrations sooner than
 * its mappings, and what a later record says of memory holds.  @mapped: that record.
 */
int image_records_over(struct process *process, const struct perf_event *mapped, uint64_t id,
		       snapshot_sink sink, void *ctx);

#endif
