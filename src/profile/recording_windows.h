/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recording_windows.h - a sink that makes one recording after the other, each of some time.
 *
 *	recorder ──► recording_windows_sink ──► recording_sink, a new one for each window
 *
 * Each recording can be read by itself: a process is described in it, by what the process table
 * has, when it has its first sample there.  Of what has no samples nothing is told.  A window
 * without samples makes no recording.  One that fails, as on a full disk, ends, and the samples
 * that follow are counted and dropped, until the next one begins ten seconds later at most.
 */
#ifndef BOBBIN_PROFILE_RECORDING_WINDOWS_H
#define BOBBIN_PROFILE_RECORDING_WINDOWS_H

#include "profile/recording_sink.h"

/**
 * struct window_result - a window that is over
 * @path: of its recording
 * @samples: that were taken
 * @kept: of them, those that are in the recording; 0: there is none
 * @error: why the others are not, a negative errno
 */
struct window_result {
	const char *path;
	uint64_t samples, kept;
	int error;
};

/**
 * struct recording_windows_options - of all recordings
 * @ns: how long each takes
 * @version, @argv, @names: as struct recording_options has them
 * @name: the path of the next recording, by malloc(3), or NULL without memory
 * @over: called after each window that had samples, or lost some
 * @ctx: of both
 */
struct recording_windows_options {
	uint64_t ns;
	const char *version;
	const char *const *argv;
	struct name_recorder *names;
	char *(*name)(void *ctx);
	void (*over)(void *ctx, const struct window_result *result);
	void *ctx;
};

struct recording_windows;

/* The context is a struct recording_windows.  -ENOMEM is all that it fails by. */
extern const struct sample_sink recording_windows_sink;

/* 0 or -ENOMEM. */
int recording_windows_open(const struct recording_windows_options *options,
			   struct recording_windows **ret);
void recording_windows_close(struct recording_windows *windows); /* NULL is fine */

/* What the recordings from now on say of events that are sampled by frequency. */
void recording_windows_frequency(struct recording_windows *windows, uint32_t frequency);

/* The window ends with the next round. */
void recording_windows_cut(struct recording_windows *windows);

#endif
