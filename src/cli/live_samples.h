/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_samples.h - samples that are named and counted while they are taken.
 *
 *	queue ──► process table ──► names ──► live counts
 *
 * A thread does this, because names may take a while.
 */
#ifndef BOBBIN_CLI_LIVE_SAMPLES_H
#define BOBBIN_CLI_LIVE_SAMPLES_H

#include "cli/arguments.h"
#include "export/top_page.h"

#define LIVE_EVENT_SIZE 64

struct live_samples;
struct sample_queue;

/* What was read besides stacks. */
struct live_samples_stats {
	char event[LIVE_EVENT_SIZE]; /* "": none yet */
	/* since the last live_samples_next() */
	size_t processes; /* that had samples */
	uint64_t samples;
	uint64_t user, complete; /* samples with a user stack, and those that are complete */
	uint64_t first, last; /* the times of the earliest and the latest one; 0: there is none */
	uint64_t
		read_until; /* if many samples wait to be counted, the time of the last one; else 0 */
	bool ended;         /* nobody gives any more */
	int error;          /* and that is why */
};

/* 0 or a negative errno. */
int live_samples_open(const struct arguments *arguments, struct live_samples **ret);

/* What is given there is counted. */
struct sample_queue *live_samples_queue(struct live_samples *samples);

/* Whether samples are dropped. */
void live_samples_pause(struct live_samples *samples, bool paused);

/* The table as it is now, in the middle of an interval.  0 or -ENOMEM. */
int live_samples_page(struct live_samples *samples, const struct top_view *view,
		      struct top_page *ret);

/*
 * An interval is over: its table, if @page is not NULL, and what was read; @forget: all counts.
 * 0 or a negative errno, and then there is no table.
 */
int live_samples_next(struct live_samples *samples, const struct top_view *view, bool forget,
		      struct top_page *page, struct live_samples_stats *ret);

/* Count nothing more, so that whoever gives need not wait. */
void live_samples_discard(struct live_samples *samples);

/* Nobody gives any more: wait until all is counted that was given. */
void live_samples_drain(struct live_samples *samples);

/*
 * When nobody gives any more.  The samples, or NULL, are gone; what was lost of their names is
 * returned.
 */
struct naming_loss live_samples_close(struct live_samples *samples);

#endif
