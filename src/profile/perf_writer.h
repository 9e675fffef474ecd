/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_writer.h - write a perf.data file that perf reads.
 *
 *	perf_writer_open("perf.data", events, nr, &writer);
 *	perf_writer_put(writer, &event);	… in any order
 *	perf_writer_round(writer);		… after each sweep over the buffers
 *	perf_writer_finish(writer, &info);
 *
 * What goes in is what perf_reader gives out, struct perf_event.  The file gets
 * its name at the end only; see perf_output.h for what happens to an older one
 * and to failures.  A pipe gets perf's form for pipes: records only, each round at once.
 */
#ifndef BOBBIN_PROFILE_PERF_WRITER_H
#define BOBBIN_PROFILE_PERF_WRITER_H

#include <stddef.h>

#include "base/byte_buffer.h"
#include "profile/perf_event.h"
#include "profile/perf_feature.h"

/* The fields that can be written. */
#define PERF_WRITER_SAMPLE_TYPE \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

struct perf_writer;

/* An event of the recording; its id marks the records that it made. */
struct perf_writer_event {
	struct perf_event_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t nr_ids;
};

/* What the features say; NULL and 0 stand for this machine unless noted. */
struct perf_writer_info {
	const char *hostname, *osrelease, *arch;
	uint32_t nr_cpus_online, nr_cpus_available;
	const char *version;     /* of the program that records; NULL: not said */
	const char *const *argv; /* ends with NULL; NULL: not said */
	uint64_t *kept;          /* out: the samples that are in the file; or NULL */
};

/**
 * perf_writer_open() - begin a recording
 * @path: the file, see perf_output_open()
 * @events: its events, copied; the attributes are written as they are, but for their size
 * @nr: how many, at least one
 * @ret: the writer
 *
 * All events must have the same sample_type, out of PERF_WRITER_SAMPLE_TYPE,
 * and the same sample_id_all, and more than one need PERF_SAMPLE_IDENTIFIER:
 * they describe what is written, not what the kernel recorded.
 *
 * Return: 0; -EINVAL for other attributes; or a negative errno of perf_output_open().
 */
int perf_writer_open(const char *path, const struct perf_writer_event *events, size_t nr,
		     struct perf_writer **ret);

/**
 * perf_writer_put() - write a record
 * @writer: the writer
 * @event: MMAP, MMAP2, COMM, FORK, EXIT, LOST, LOST_SAMPLES or SAMPLE; @offset and @attr do not
 *	   matter, @misc is the caller's but for the flags that the union implies
 *
 * Raw bytes are padded with zeroes as the kernel does: a reader sees up to
 * seven more.
 *
 * Return: 0; -EINVAL for another type; -E2BIG if it does not fit a record of
 * 64 KiB, with nothing written; or the sticky negative errno of an output error.
 */
int perf_writer_put(struct perf_writer *writer, const struct perf_event *event);

/**
 * perf_writer_round() - promise that no later record is older than those of the round before
 * @writer: the writer
 *
 * Lets perf sort round by round.  Without any it sorts the whole file at once.  A stream's
 * reader gets what there is.
 *
 * Return: 0 or the sticky negative errno of an output error.
 */
int perf_writer_round(struct perf_writer *writer);

/**
 * perf_writer_feature() - add a feature of a number that the writer does not write itself
 * @writer: the writer
 * @feature: the number; those that perf does not know it passes over
 * @bytes: what it holds, taken over
 *
 * Return: 0, or -EINVAL for a number that is taken.
 */
int perf_writer_feature(struct perf_writer *writer, unsigned int feature,
			struct byte_buffer *bytes);

/**
 * perf_writer_finish() - write the features and let the file appear
 * @writer: the writer; it is gone afterwards, whatever happens
 * @info: for the features, or NULL
 *
 * Where there was no room for all, on the disk or for this user, the file has as many of
 * the first records as fit, unless not even one sample does.
 *
 * Return: 0; -ENOSPC, -EDQUOT, -EFBIG: see above; or another negative errno of the first
 * failure since opening, then there is no file.
 */
int perf_writer_finish(struct perf_writer *writer, const struct perf_writer_info *info);

/**
 * perf_writer_is_stream() - whether the output is no file
 * @writer: the writer
 */
bool perf_writer_is_stream(const struct perf_writer *writer);

/**
 * perf_writer_abort() - leave no file
 * @writer: the writer, or NULL; it is gone afterwards
 */
void perf_writer_abort(struct perf_writer *writer);

#endif
