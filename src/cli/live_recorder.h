/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_recorder.h - a recorder in a thread of its own.
 *
 * Its sink may be slow: the recorder waits then, and in the end the kernel drops records and
 * counts them.
 */
#ifndef BOBBIN_CLI_LIVE_RECORDER_H
#define BOBBIN_CLI_LIVE_RECORDER_H

#include "profile/recorder.h"

struct live_recorder;

/*
 * Open a recorder.  Errors as recorder_open(); and -EINTR if top_signals.end is set meanwhile: then
 * it goes on opening, and the process is to be ended.
 */
int live_recorder_open(const struct recorder_options *options, enum recorder_stage *stage,
		       struct live_recorder **ret);

/* The counts so far. */
void live_recorder_stats(struct live_recorder *recorder, struct recorder_stats *ret);

/* Whether it samples no more, because it failed; the errno, or 0. */
int live_recorder_failure(struct live_recorder *recorder);

/*
 * Sample no more, give what there is, and end the sink.  The recorder, or NULL, is gone.
 * @stats: all counts, or NULL.
 */
void live_recorder_close(struct live_recorder *recorder, struct recorder_stats *stats);

#endif
