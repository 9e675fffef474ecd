/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_tops.h - where the mappings of stacks end, of processes that live.
 *
 * Nothing but /proc/PID/maps tells.  Answers are kept for a second, and in a second STACK_TOPS_RATE
 * files are read; beyond, nothing is known.
 */
#ifndef BOBBIN_UNWIND_STACK_TOPS_H
#define BOBBIN_UNWIND_STACK_TOPS_H

#include <stdint.h>

#include "base/process_reader.h"

#define STACK_TOPS_RATE 16u
#define STACK_TOPS_KEPT 64u

/* An answer; @time 0: there is none. */
struct stack_top_answer {
	uint64_t zero, end, time;
	int pid;
};

/* Zero to begin. */
struct stack_tops {
	struct stack_top_answer kept[STACK_TOPS_KEPT];
	uint64_t second; /* when it began */
	unsigned int read;
};

/*
 * The end of the mapping of a process's memory that @zero is in, TOP_SIZE below it at most, if it is
 * no file's and nothing can be read after it; 0: it is elsewhere, or not known.
 */
uint64_t stack_top_end(struct stack_tops *tops, const struct remote_process *process,
		       uint64_t zero);

#endif
