/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recording_clock.h - when, by the time of day, a recording's records were made.
 *
 * Files are dated by the time of day, records by another clock.  A recording may say how the
 * two go together (the feature CLOCK_DATA).  One that does not, and that was made on this
 * machine since it was started, tells by its own date: it was written when the last record was
 * made, unless it was copied, and then the date contradicts the machine's uptime.
 */
#ifndef BOBBIN_PROFILE_RECORDING_CLOCK_H
#define BOBBIN_PROFILE_RECORDING_CLOCK_H

#include "profile/perf_reader.h"

struct recording_clock {
	bool known;
	bool here;       /* the recording was made on this machine, as far as names tell */
	uint64_t start;  /* of the recording, by the time of day in nanoseconds */
	uint64_t offset; /* from the time of a record to that of day; wraps around */
};

/* @path: of the recording that @reader reads. */
struct recording_clock recording_clock_of(const struct perf_reader *reader, const char *path);

/* The time of day of a record's time; that of the start for 0.  0: unknown. */
uint64_t recording_clock_day(const struct recording_clock *clock, uint64_t time);

#endif
