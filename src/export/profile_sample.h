/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * profile_sample.h - a sample of a profile.
 */
#ifndef BOBBIN_EXPORT_PROFILE_SAMPLE_H
#define BOBBIN_EXPORT_PROFILE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct profile_sample - a sample with its stack
 * @time: by the samples' clock, in nanoseconds
 * @weight: of the event's unit
 * @event, @thread, @stack: numbers
 * @cpu: on which it was taken
 * @sources: of the rules of its user frames, a bit for each enum bobbin_source
 * @reason: enum bobbin_reason: why the user part ended; if @traced
 */
struct profile_sample {
	uint64_t time, weight;
	uint32_t event, thread, stack, cpu, sources;
	uint8_t reason;
	bool traced;
};

#endif
