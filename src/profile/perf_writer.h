/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_writer.h - write a perf.data file that perf reads.
 *
 *	perf_writer_open("perf.data", &event, 1, &writer);
 *	perf_writer_put(writer, &event);	… in any order
 *	perf_writer_round(writer);		… after each sweep over the buffers
 *	perf_writer_finish(writer, &info);
 *
 * What goes in is what perf_reader gives out, struct perf_event.  The file gets
 * its name at the end only; see base/draft.h for what happens to an older one
 * and to failures.  A pipe gets perf's form for pipes: records only, each round at once.
 */
#ifndef BOBBIN_PROFILE_PERF_WRITER_H
#define BOBBIN_PROFILE_PERF_WRITER_H

#include <stddef.h>

#include "base/byte_buffer.h"
#include "profile/stack_sample.h"

struct perf_writer;

/* What the features say beyond what the machine does; NULL: nothing. */
struct perf_writer_info {
	const char *version;     /* of the program that records */
	const char *const *argv; /* ends with NULL */
	uint64_t *kept;          /* out: the samples that are in the file; or NULL */
};

/*
 * Begin a recording of @count events, 1 at least.  Of their attributes, those of samples become
 * those of what is written.  0, or a negative errno of draft_open().
 */
int perf_writer_open(const char *path, const struct sample_event *events, size_t count,
		     struct perf_writer **ret);

/*
 * Write MMAP, MMAP2, COMM, KSYMBOL of a program of BPF, FORK, EXIT, CGROUP, LOST, LOST_SAMPLES or
 * SAMPLE.  @offset and @attr of the
 * event do not matter, @misc is the caller's but for the flags that the union implies.  Raw
 * bytes are padded with zeroes as the kernel does: a reader sees up to seven more.  0; -EINVAL
 * for another type; -E2BIG if it does not fit a record of 64 KiB, with nothing written; or the
 * sticky errno of an output error.
 */
int perf_writer_put(struct perf_writer *writer, const struct perf_event *event);

/*
 * Promise that no later record is older than those of the round before.  Lets perf sort round
 * by round; without any it sorts the whole file at once.  A stream's reader gets what there is.
 * 0 or the sticky errno of an output error.
 */
int perf_writer_round(struct perf_writer *writer);

/*
 * Add a feature that the writer does not write itself; perf passes over those that it does not
 * know.  @bytes: taken over.  0, or -EINVAL for a number that is taken.
 */
int perf_writer_feature(struct perf_writer *writer, unsigned int feature,
			struct byte_buffer *bytes);

/*
 * Write the features and let the file appear; @info or NULL.  The writer is gone afterwards,
 * whatever happens.  Where there was no room for all, on the disk or for this user, the file
 * has as many of the first records as fit, unless not even one sample does.  0; -ENOSPC,
 * -EDQUOT, -EFBIG: it was so; or another errno of the first failure since opening, then there is
 * no file.
 */
int perf_writer_finish(struct perf_writer *writer, const struct perf_writer_info *info);

/* Whether the output is no file. */
bool perf_writer_is_stream(const struct perf_writer *writer);

/* Leave no file.  The writer, or NULL, is gone afterwards. */
void perf_writer_abort(struct perf_writer *writer);

#endif
