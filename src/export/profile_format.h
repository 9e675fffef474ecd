/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile_format.h - the formats that a profile can be written in.
 */
#ifndef BOBBIN_EXPORT_PROFILE_FORMAT_H
#define BOBBIN_EXPORT_PROFILE_FORMAT_H

#include <stdbool.h>
#include <stdio.h>

#include "export/profile.h"

/* What programs call the writer of a profile. */
#define PROFILE_CREATOR "bobbin"

/**
 * struct profile_format - a format
 * @name: of --format
 * @suffixes: of names of files that have it, the usual one first; up to a NULL
 * @timed: it has each sample, with its time
 * @binary: it is nothing for a terminal
 * @zipped: files are always compressed by gzip, whatever they are called
 * @write: writes all of it.  0, -ENOMEM, or the errno of reading samples; those of @out stay there
 */
struct profile_format {
	const char *name;
	const char *suffixes[3];
	bool timed, binary, zipped;
	int (*write)(const struct profile *profile, FILE *out);
};

/* The format of that name, or of a file of that name, with ".gz" or without; or NULL. */
const struct profile_format *profile_format_find(const char *name);
const struct profile_format *profile_format_of_file(const char *path);

/* The names of all, "pprof, callgrind", in a static string. */
const char *profile_format_names(void);

/* A stream of which @out gets the bytes, compressed by gzip; fclose() ends it, and leaves @out open. */
FILE *gzip_stream(FILE *out);

/* Close a stream to which a writer that returned @error has written.  0 or the first errno. */
int stream_close(FILE *stream, int error);

int pprof_write(const struct profile *profile, FILE *out);
int callgrind_write(const struct profile *profile, FILE *out);
int speedscope_write(const struct profile *profile, FILE *out);
int chrome_trace_write(const struct profile *profile, FILE *out);
int firefox_write(const struct profile *profile, FILE *out);
int otlp_write(const struct profile *profile, FILE *out);

#endif
