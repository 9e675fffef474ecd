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
 * each record of the kernel (sixteen bytes each; twice that while sorting).
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
 * pages that are looked at cost anything.  The price: if another process
 * truncates the file meanwhile, touching it raises SIGBUS.  Nothing that the
 * file contains can.
 */
#ifndef BOBBIN_PROFILE_PERF_READER_H
#define BOBBIN_PROFILE_PERF_READER_H

#include <bobbin/reason.h>

#include "profile/perf_event.h"
#include "profile/perf_feature.h"

struct perf_reader;

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

/* The @i-th event of the recording, or NULL. */
const struct perf_reader_attr *perf_reader_event(const struct perf_reader *reader, size_t i);

/*
 * The bytes of a feature, enum perf_file_feature or any other number, for perf_feature.h; no
 * data if the file has none.
 */
struct perf_span perf_reader_feature(const struct perf_reader *reader, unsigned int feature);

#endif
