/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_workers.h - threads for what takes longer than the rings of samples hold out: the kernel
 * proves the program, tables are compiled.
 */
#ifndef BOBBIN_BPFWALK_WALK_WORKERS_H
#define BOBBIN_BPFWALK_WALK_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

struct walk_workers;

/**
 * struct walk_job - something to do
 * @run: in another thread
 * @drop: nobody will take the job, which may not have been run
 * @interruptible: whoever closes the workers does not want to wait: system calls may end with -EINTR
 *	or -EAGAIN then
 * @large: it takes much memory, and is run without others of this kind
 */
struct walk_job {
	void (*run)(struct walk_job *job);
	void (*drop)(struct walk_job *job);
	bool large, interruptible;
	bool begun, done; /* the rest is the workers' */
	struct walk_job *next;
};

/* 0 or a negative errno. */
int walk_workers_open(struct walk_workers **ret);

/* Interrupt what is being done, or wait for it, and drop all jobs.  @workers may be NULL. */
void walk_workers_close(struct walk_workers *workers);

void walk_workers_ask(struct walk_workers *workers, struct walk_job *job);

/*
 * The next job that is done, in the order in which they were asked for.  @wait: until it is done.
 * NULL: there is none.
 */
struct walk_job *walk_workers_take(struct walk_workers *workers, bool wait);

/* Whether walk_workers_take() returns one at once, or will when clock_now() is @until. */
bool walk_workers_have_done(struct walk_workers *workers, uint64_t until);

/* Whether there are jobs to take. */
bool walk_workers_are_busy(const struct walk_workers *workers);

#endif
