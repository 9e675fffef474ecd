/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_reader.h - read a perf.data file in the order of time.
 *
 *	struct perf_reader *reader;
 *	struct perf_event event;
 *
 *	r = perf_reader_open("perf.data", &err, &reader);
 *	while ((r = perf_reader_next(reader, &err, &event)) > 0)
 *		…
 *	perf_reader_close(reader);
 *
 * Opening walks over the file once: it checks the frame of every record, takes
 * in the attributes, inflates what is compressed, and notes place and time of
 * each record of the kernel (sixteen bytes each).
 * Records without a time keep that of their predecessor.  Reading decodes one
 * record after the other where it lies.
 *
 * A sample that carries what the counters of a group have reached is delivered once for each event
 * of the group that has counted since the sample before, with what it has counted as the period.
 *
 * Files of `perf record` and of bobbin are read, written to a file (an
 * unfinished one as well) or through a pipe, plain or compressed (-z).  Not
 * read: files of a foreign byte order, and directories (--threads).
 *
 * The file is mapped, not read: of a sample with a copy of the stack only the
 * pages that are looked at cost anything, and pages are given back after some
 * megabytes.  The price: if another process
 * truncates the file meanwhile, touching it raises SIGBUS.  Nothing that the
 * file contains can.
 */
#ifndef BOBBIN_PROFILE_PERF_READER_H
#define BOBBIN_PROFILE_PERF_READER_H

#include <bobbin/reason.h>

#include "core/bytes.h"
#include "profile/perf_event.h"
#include "profile/perf_format.h"

struct cgroup;
struct perf_reader;

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

/*
 * Open a regular file, or bytes, which must outlive the reader.  0; -EBADMSG and @err;
 * -EISDIR for a directory, -ESPIPE for a pipe; another negative errno of open(2), fstat(2),
 * mmap(2) or malloc(3), and BOBBIN_REASON_NONE in @err.
 */
int perf_reader_open(const char *path, struct bobbin_error *err, struct perf_reader **ret);
int perf_reader_open_bytes(const void *data, size_t size, struct bobbin_error *err,
			   struct perf_reader **ret);
void perf_reader_close(struct perf_reader *reader);

/*
 * The next event in the order of time; what it points to is valid until the next call.  @time
 * is never missing: see above.  1; 0 at the end; -EBADMSG, with the offset in @err, for a bad
 * record, after which the next call goes on; -ENOMEM.
 */
int perf_reader_next(struct perf_reader *reader, struct bobbin_error *err, struct perf_event *ret);

/*
 * The user part of the call chain of this sample, which ends with a mark and @cookie: Linux
 * walks the stack later, on the way back to user mode, and writes a record of its own.  @ret is
 * valid until the next call.  False: the file has none.
 */
bool perf_reader_user_chain(struct perf_reader *reader, const struct perf_event *sample,
			    uint64_t cookie, struct perf_user_chain *ret);

/*
 * Whether the recording was killed or its file cut off.  What precedes the damage is
 * delivered; features are most likely missing.
 */
bool perf_reader_truncated(const struct perf_reader *reader);

const struct perf_reader_stats *perf_reader_stats(const struct perf_reader *reader);

/* The times of the first and of the last record that has one.  False: none has. */
bool perf_reader_times(const struct perf_reader *reader, uint64_t *first, uint64_t *last);

/* What a sample's number of a cgroup stands for, wherever the file says so; NULL: it does not. */
const struct cgroup *perf_reader_cgroup(const struct perf_reader *reader, uint64_t id);

/* The events of the recording; and the @i-th of them, or NULL. */
size_t perf_reader_event_count(const struct perf_reader *reader);
const struct perf_reader_attr *perf_reader_event(const struct perf_reader *reader, size_t i);

/*
 * The bytes of a feature, which is what the file says about its machine and recording: enum
 * perf_file_feature or any other number; no data if the file has none.  The functions below take
 * one apart: everything borrows from the bytes, and nothing in them is trusted.
 */
struct perf_span perf_reader_feature(const struct perf_reader *reader, unsigned int feature);

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
