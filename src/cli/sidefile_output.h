/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sidefile_output.h - a side-file takes its name once it has been read back.
 */
#ifndef BOBBIN_CLI_SIDEFILE_OUTPUT_H
#define BOBBIN_CLI_SIDEFILE_OUTPUT_H

#include <bobbin/sframe.h>

/*
 * Write the @size bytes of a side-file that was made of @view to @path.  It is
 * read back as whoever unwinds will, and must say the same row for row.  0 or a
 * negative errno, and then nothing has changed.
 */
int sidefile_output_put(const char *path, const struct bobbin_sframe_view *view, const void *data,
			uint64_t size);

#endif
