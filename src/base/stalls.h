/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stalls.h - who has kept us waiting, and how long we wait for others.
 *
 * The first wait may take a whole deadline.  What it takes is taken from all the waits after
 * it, whoever causes them, so that ten processes that do not answer cost little more than one;
 * a tenth of the time that passes is given back.  Who waits for us can shorten that: @hurry.
 *
 * What did not answer is not asked again: for good if it had a whole deadline, else for a
 * while.  A user, other than root, of whose processes several did not answer, is not asked for
 * any of them.
 */
#ifndef BOBBIN_BASE_STALLS_H
#define BOBBIN_BASE_STALLS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * For how long processes may keep us waiting in all.
 *
 * A deadline bounds one read.  A process that answers each read just in time would still take
 * all of our time.  So each one has a budget of a few deadlines, which refills slowly, and
 * nothing of a process is read while it has none left.
 */

/* Processes that are remembered. */
#define WAIT_BUDGETS 64
/* A budget has so many deadlines, */
#define WAIT_DEADLINES 5
/* and so much of the time that passes is added to it: at last a process costs a tenth. */
#define WAIT_REFILL 10

struct wait_budget {
	pid_t pid; /* 0: none */
	bool spent_once;
	uint64_t started; /* the process's start, since its number may be another's later */
	uint64_t used_us, at_us;
};

struct wait_budgets {
	struct wait_budget list[WAIT_BUDGETS];
	unsigned int spent_count; /* processes whose budget was spent once */
};

/* What is remembered; more of it costs a wait each again. */
#define STALLS_MAX 64

/* What is not read now: the memory of a process, or a file of its. */
struct stall {
	pid_t pid;        /* 0: a file of nobody's */
	uint32_t user;    /* UINT32_MAX: unknown */
	uint64_t started; /* its number may be another's later */
	uint64_t path;    /* a hash of the file's; 0: memory */
	uint64_t until_us;
};

/* Zero but for @deadline_us to begin. */
struct stalls {
	uint64_t deadline_us; /* for memory; files get a few of them */
	const volatile sig_atomic_t *hurry;
	struct stall list[STALLS_MAX];
	unsigned int count;    /* of all; the oldest are forgotten */
	bool knows_shut_users; /* there may be some */
	struct wait_budgets budgets;
	uint64_t used_us, at_us; /* of what all may take; as in struct wait_budget */
};

/* Whether something is not to be asked for.  @path: 0 for memory. */
bool stalls_refuse(struct stalls *stalls, pid_t pid, uint64_t path);

/* For how long to wait from now on, in nanoseconds. */
uint64_t stalls_limit_ns(const struct stalls *stalls, bool is_file);

/* An answer came after this time. */
void stalls_note_answer(struct stalls *stalls, pid_t pid, uint64_t waited_us);

/* None came for this time. */
void stalls_note_silence(struct stalls *stalls, pid_t pid, uint64_t path, uint64_t waited_us);

/* How often there was no answer, and how many processes have used up their time. */
unsigned int stalls_given_up(const struct stalls *stalls);

#endif
