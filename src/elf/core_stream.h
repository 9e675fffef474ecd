/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_stream.h - a core file that comes through a pipe, as the kernel gives it to a helper.
 *
 *	headers, notes     kept
 *	memory             kept as a whole if it is small, else what walks need:
 *	                   stacks, the headers of mapped files, code without a file
 *	all else           passed over
 *
 * What is kept is in a file in memory, at its offsets in the core, with holes between.
 */
#ifndef BOBBIN_ELF_CORE_STREAM_H
#define BOBBIN_ELF_CORE_STREAM_H

#include <bobbin/reason.h>
#include <stdbool.h>

#include "base/coverage.h"

/* Bytes of memory that are kept at most. */
#define CORE_STREAM_MEMORY ((uint64_t)256 << 20)

/*
 * Read a core file from @in; with @notes_only no further than to its last note, so that who
 * writes it waits.  @ret: a descriptor, the caller's, for core_file_init() with @kept, which
 * coverage_fini() gives back.  -EBADMSG with a reason and an offset; -ESPIPE: its notes come after
 * its memory; -EFBIG: headers or notes of a size that makes no sense; -ENOMEM; the errno of reading.
 */
int core_stream_read(int in, bool notes_only, struct bobbin_error *err, int *ret,
		     struct coverage *kept);

#endif
