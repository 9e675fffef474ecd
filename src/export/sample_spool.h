/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_spool.h - samples of many threads, kept outside of memory and read thread by thread.
 *
 *	thread 0   chunk 0  chunk 2  chunk 3
 *	thread 1   chunk 1  (chunk that is being filled, in memory)
 *
 * A chunk is SAMPLE_CHUNK samples of one thread.  They are in a file without a name, in $TMPDIR or
 * /var/tmp, of which nothing is left.
 */
#ifndef BOBBIN_EXPORT_SAMPLE_SPOOL_H
#define BOBBIN_EXPORT_SAMPLE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "export/profile_sample.h"

#define SAMPLE_CHUNK 64

struct sample_spool;

/* 0, -ENOMEM, or the errno of making the file. */
int sample_spool_open(struct sample_spool **ret);
void sample_spool_close(struct sample_spool *spool); /* or NULL */

/* Append to those of @sample->thread.  0, -ENOMEM, or the errno of writing. */
int sample_spool_add(struct sample_spool *spool, const struct profile_sample *sample);

/*
 * The samples of a thread's chunk, of which there are SAMPLE_CHUNK but in the last one.  Their
 * number; 0: there is no such chunk; or a negative errno.
 */
int sample_spool_read(const struct sample_spool *spool, uint32_t thread, size_t chunk,
		      struct profile_sample samples[SAMPLE_CHUNK]);

#endif
