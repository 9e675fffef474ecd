/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process_reader.h - memory and files of processes that nobody vouches for.
 *
 * Who reads a page waits for whoever fills it.  That may be the process that is looked at
 * itself (userfaultfd, a file system in user space), and waiting cannot be interrupted.  So
 * a child process of ours does the reading, and is abandoned when it takes too long:
 *
 *	process_read() ─ request ─► helper ─► process_vm_readv(2), open(2), read(2)
 *	     └─ waits until the deadline ◄─ reply ─┘
 *
 * What kept a helper waiting, a process's memory or a file, is not read again, nor is any
 * file of a process of which two files did; all that do so share one deadline, see stalls.h.
 * What comes late, but in time, uses up a budget of five deadlines for each process, which
 * refills by a tenth of the time that passes; a process without any left is not read.  An
 * abandoned helper ends when what it waits for comes, or never: there are READER_STUCK_MAX of
 * them at most, then no process is read any more.
 *
 * A process whose first thread has ended is read through another one, see living_file.h.
 *
 * The helper is forked when it is first needed.  It has no descriptor of ours but a socket,
 * blocks all signals, and ends when we do.  Callers wait for other children by their numbers.
 */
#ifndef BOBBIN_BASE_PROCESS_READER_H
#define BOBBIN_BASE_PROCESS_READER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define READER_STUCK_MAX 32

struct process_reader;

/* A process, and who reads it; @reader may be NULL: this process, without a deadline. */
struct remote_process {
	struct process_reader *reader;
	pid_t pid;
};

/* One piece of memory. */
struct process_read {
	uint64_t addr;
	void *dst;
	size_t size;
	int error; /* out: 0; or -EFAULT, -ESRCH, -EPERM, -ETIMEDOUT */
};

struct process_reader_stats {
	unsigned int given_up; /* processes' memories, and files, that did not answer in time */
	unsigned int stuck;    /* helpers that wait now */
};

/* @deadline_ms: of a request, and of all that stall, above 0.  0 or -ENOMEM. */
int process_reader_open(unsigned int deadline_ms, struct process_reader **ret);

/*
 * Start its helper now and not with the first request, since that inherits what memory holds then.
 * Not to be relied on: it is started where it is needed.  @reader: or NULL.
 */
void process_reader_start(struct process_reader *reader);

/* From when @hurry is not 0 on, a stall costs a quarter of a second at most.  @reader: or NULL. */
void process_reader_hurry(struct process_reader *reader, const volatile sig_atomic_t *hurry);

void process_reader_close(struct process_reader *reader);                        /* NULL is fine */
struct process_reader_stats process_reader_stats(struct process_reader *reader); /* or NULL */

/* The CPU time that its helper has taken so far, in nanoseconds.  @reader: or NULL. */
uint64_t process_reader_time(const struct process_reader *reader);

/* Bytes of a process's memory, all or none.  0 or an error as in struct process_read. */
int process_read(const struct remote_process *process, uint64_t addr, void *dst, size_t size);

/* A copy of such bytes and a zero byte, for free(); NULL and @error: -ENOMEM, or as above. */
void *process_read_copy(const struct remote_process *process, uint64_t addr, size_t size,
			int *error);

/* Several pieces, each one after the one before it; their errors are in @reads. */
void process_read_all(const struct remote_process *process, struct process_read *reads,
		      size_t count);

/*
 * As living_file_open(), within the deadline.  @process: which is given up if its file
 * does not answer; its number may be 0.  A file of a file system that is served by a process
 * is copied, up to 256 MiB of it, and the descriptor is the copy's; @st is the file's.  Also
 * -EFBIG, -ETIMEDOUT.
 */
int process_file_open(const struct remote_process *process, const char *path, int flags,
		      struct stat *st);

/* As living_file_stat(), within the deadline; else as process_file_open(). */
int process_file_stat(const struct remote_process *process, const char *path, struct stat *st);

/* As living_text_open(): up to 64 MiB of a file in /proc, as a file to be read from its start. */
int process_text_open(const struct remote_process *process, const char *path);

#endif
