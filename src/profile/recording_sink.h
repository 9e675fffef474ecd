/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recording_sink.h - a sink that makes a perf.data file, and keeps names with it.
 *
 *	sample ──► call chain, see also trace_payload.h ──► perf_writer
 *	     ├───► name_recorder: names of files' functions, in the file
 *	     └───► jit_keeper: names of compiled code, beside it
 */
#ifndef BOBBIN_PROFILE_RECORDING_SINK_H
#define BOBBIN_PROFILE_RECORDING_SINK_H

#include "profile/stack_sample.h"

struct name_recorder;
struct recording;

struct recording_options {
	const char *path;            /* of the file, or "-" */
	const char *version;         /* of the program, for the file's header */
	const char *const *argv;     /* likewise, as long as the recording is open; or NULL */
	struct name_recorder *names; /* or NULL: no names are kept with the recording */
};

struct recording_stats {
	uint64_t told;  /* functions whose names were kept beside the file */
	int told_error; /* why some of them were not, or 0 */
	uint64_t kept;  /* samples that are in the file */
	int cut;        /* why the file lacks the last samples, or 0 */
};

/* The context is a struct recording.  At the end, an error means that there is no file. */
extern const struct sample_sink recording_sink;

/* 0 or -ENOMEM. */
int recording_open(const struct recording_options *options, struct recording **ret);
void recording_close(struct recording *recording); /* NULL is fine */

/* Once it has ended. */
const struct recording_stats *recording_stats(const struct recording *recording);

#endif
