/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * area_reader.h - a recorder's side of a sample area, see base/sample_area.h.
 *
 *	slots that are full ──► by their time ──► struct perf_event, as out of a ring
 *
 * Processes can write anything there, at any time: a slot is copied before it is looked at.
 */
#ifndef BOBBIN_PROFILE_AREA_READER_H
#define BOBBIN_PROFILE_AREA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/perf_event.h"

/*
 * The type of an event that no kernel makes, after the COMM record of a program that begins, and
 * when it has loaded libraries: what it has mapped then, as area_reader_text() has it.
 */
#define AREA_RECORD_MAPS (UINT32_C(1) << 16)
/* A block that was sampled is freed: the block of the event's sample. */
#define AREA_RECORD_FREE (AREA_RECORD_MAPS + 1)

/* The id of all events. */
#define AREA_EVENT_ID 1

struct area_reader;

/*
 * Make an area.  @frequency: of samples, by seconds of each thread's CPU time; @block_bytes: instead,
 * how many bytes are allocated on average from one to the next; or 0; @stack_bytes: most that is
 * copied of a stack.  0; -ENOMEM; a negative errno of memfd_create(2) or mmap(2).
 */
int area_reader_open(uint32_t frequency, uint64_t block_bytes, uint32_t stack_bytes,
		     struct area_reader **ret);
void area_reader_close(struct area_reader *reader);

/* Its path, for processes of the same user and namespaces.  As long as the reader is open. */
const char *area_reader_path(const struct area_reader *reader);

/* The id, for a description of the event. */
uint64_t *area_reader_id(struct area_reader *reader);

/* Want samples, or no more. */
void area_reader_enable(struct area_reader *reader, bool enable);

/* Slots in use, in per cent. */
unsigned int area_reader_fill(const struct area_reader *reader);

/* Look for what is not younger than @horizon, which area_reader_next() gives. */
void area_reader_sweep(struct area_reader *reader, uint64_t horizon);

/*
 * The next event, by time, valid until the next call; of CLOCK_MONOTONIC.  1; 0: there is none;
 * -EBADMSG: a slot that makes no sense was skipped.
 */
int area_reader_next(struct area_reader *reader, struct perf_event *ret);

/* Of the last event: the thread's name, of a sample; lines of /proc/PID/maps. */
const char *area_reader_comm(const struct area_reader *reader);
char *area_reader_text(struct area_reader *reader);

/* Free what processes have claimed that have ended.  Not often: it asks for each of them. */
void area_reader_reclaim(struct area_reader *reader);

/* Processes that have told of themselves; threads without a timer; blocks whose end was lost. */
uint64_t area_reader_processes(const struct area_reader *reader);
uint64_t area_reader_unfreed(const struct area_reader *reader);
uint64_t area_reader_unsampled(const struct area_reader *reader);

#endif
