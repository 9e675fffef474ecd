/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * firefox_thread.h - the samples and the markers of a thread for the Firefox Profiler.
 *
 * Columns come one after the other, so samples are read once for each.
 */
#ifndef BOBBIN_EXPORT_FIREFOX_THREAD_H
#define BOBBIN_EXPORT_FIREFOX_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "export/firefox_tables.h"
#include "export/sample_merge.h"

/**
 * struct firefox_thread - a thread with all of its names
 * @numbers: of the profile's threads that it was
 * @last: the one that it was in the end
 */
struct firefox_thread {
	const uint32_t *numbers;
	size_t count;
	const struct profile_thread *last;
};

/**
 * struct firefox - a profile that is being written
 * @numbers: of the profile's threads, those of a whole thread side by side
 * @threads: those of a process side by side
 * @counts: samples of each whole thread, by events
 * @at, @event, @merge: the thread that is written, and its samples
 * @names_left: of its markers
 * @ahead: a sample that was read too early, if @is_ahead
 */
struct firefox {
	const struct profile *profile;
	struct json_output json;
	struct firefox_tables tables;
	uint32_t *numbers;
	struct firefox_thread *threads;
	size_t thread_count;
	uint64_t *counts;
	const struct firefox_thread *at;
	uint32_t event;
	struct sample_merge *merge;
	size_t names_left;
	struct profile_sample ahead;
	bool is_ahead;
	int error;
};

static inline const char *firefox_comm(const struct profile_thread *thread)
{
	return *thread->comm ? thread->comm : "[unknown]";
}

static inline bool firefox_is_time(const struct profile_event *event)
{
	return !strcmp(event->unit, "nanoseconds");
}

/* "samples" of @at, of which @count are of the event */
void firefox_put_samples(struct firefox *w, uint64_t count);
/* "markers" of @at, and "meta.markerSchema", which describes all of them */
void firefox_put_markers(struct firefox *w);
void firefox_put_schemas(struct json_output *json);

#endif
