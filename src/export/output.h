/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * output.h - whether everything that was printed has arrived.
 */
#ifndef BOBBIN_EXPORT_OUTPUT_H
#define BOBBIN_EXPORT_OUTPUT_H

#include <errno.h>
#include <stdio.h>

/**
 * output_finish() - flush a stream and say whether any write to it failed
 *
 * The stream stays open; an error that only close() tells (NFS) is the
 * caller's to look for.
 *
 * Return: 0, or a negative errno such as -ENOSPC; -EIO if it got lost.
 */
static inline int output_finish(FILE *out)
{
	errno = 0;
	if (fflush(out))
		return errno ? -errno : -EIO;
	return ferror(out) ? -EIO : 0;
}

#endif
