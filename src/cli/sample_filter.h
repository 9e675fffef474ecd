/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_filter.h - which samples of a recording are wanted: --comm, --pid, --tid, --cgroup, --dso,
 * --sym, --time.
 *
 * A list is text as it was typed, "cc1,as".  Each member that is not NULL must have what the sample
 * has; of files and functions, one of those on its stack.
 */
#ifndef BOBBIN_CLI_SAMPLE_FILTER_H
#define BOBBIN_CLI_SAMPLE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/named_stack.h"

/**
 * struct sample_times - a part of a recording
 * @first, @last: in nanoseconds, or, if @percent, in thousandths of a per cent of its duration
 */
struct sample_times {
	uint64_t first, last;
	bool some, percent;
};

/**
 * struct sample_filter - what the options say
 * @comms, @pids, @tids: lists
 * @dsos: of paths, or of their last parts
 * @symbols: of functions, or of patterns of glob(7); commas in parentheses and angle brackets are
 *	part of a name
 * @cgroups: of paths, from their start, or of parts of paths; likewise; with what is below them
 */
struct sample_filter {
	char *comms, *pids, *tids, *dsos, *symbols, *cgroups;
	struct sample_times times;
};

void sample_filter_fini(struct sample_filter *filter);

/* Whether a list is one of numbers. */
bool sample_filter_is_numbers(const char *list);

/*
 * "1.5,2" and "1.5," and ",2" in seconds, "10%-20%" of the recording.  false: it is none of them.
 */
bool sample_times_parse(const char *text, struct sample_times *ret);

/* @times in nanoseconds, of a recording from @first to @last. */
void sample_times_settle(struct sample_times *times, uint64_t first, uint64_t last);

/* Whether the names of a stack's functions are asked for. */
static inline bool sample_filter_names(const struct sample_filter *filter)
{
	return filter->dsos || filter->symbols;
}

/* Whether a sample is wanted as far as it can be told without names; times are settled. */
bool sample_filter_takes(const struct sample_filter *filter, const struct stack_sample *sample);

/* Whether it is wanted for its names, too. */
bool sample_filter_takes_stack(const struct sample_filter *filter, const struct named_stack *stack);

#endif
