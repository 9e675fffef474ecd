/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_owner.h - which of its recorder's events a sample is of that has another recorder's number.
 *
 * Linux (6.18 was looked at) fills in at once what the samples of all recorders' software events and
 * tracepoints have in common, and keeps the number of the event that comes first.
 */
#ifndef BOBBIN_PROFILE_SAMPLE_OWNER_H
#define BOBBIN_PROFILE_SAMPLE_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* Whether samples of an event with these attributes may have another recorder's number. */
bool sample_owner_doubts(const struct perf_event_attr *attr);

/* Begin with zeros. */
struct sample_owner {
	const struct perf_event_attr *attr; /* the last event that it may be of */
	uint64_t id;
	size_t count; /* of such events */
};

/* The recorder has an event with these attributes, and a number of it. */
void sample_owner_may_be(struct sample_owner *owner, const struct perf_event_attr *attr,
			 uint64_t id, const struct perf_event_header *record);

#endif
