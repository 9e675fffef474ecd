/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * living_file.h - files of a process by paths that begin with "/proc/PID/".
 *
 * Where the first thread has ended, the file of one that lives is opened.
 * Other paths are opened as they are.
 */
#ifndef BOBBIN_BASE_LIVING_FILE_H
#define BOBBIN_BASE_LIVING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * The way into a process whose first thread has ended.
 *
 * A process lives for as long as a thread of it does.  But its first thread may end before
 * the others (pthread_exit(3) in main()), and then everything that goes by the process's
 * number fails, although all is still there: /proc/PID/maps is empty, exe, root and map_files
 * lead nowhere, process_vm_readv(2) says ESRCH.  The number of any thread that lives opens
 * the same doors, /proc/TID, too, although no list has it.
 *
 * Without malloc() and streams: for forked children, too.
 */

/* 0 or more; a negative errno, -ESRCH or -ENOENT if the thread has no such thing. */
typedef int (*living_thread_door)(void *ctx, pid_t tid);

/*
 * What @door returns for @pid; if that is -ESRCH or -ENOENT because the first thread has
 * ended, what it returns for one that lives.  Threads that end meanwhile are passed over.
 */
int living_thread_try(pid_t pid, living_thread_door door, void *ctx);

/* stat(2), of a file of any kind.  0 or a negative errno. */
int living_file_stat(const char *path, struct stat *ret);

/*
 * As regular_file_open().  Below a folder that a process has open, "/proc/PID/fd/N/...", as
 * regular_file_open_in(): it is the root of a process.
 */
int living_file_open(const char *path, int flags, struct stat *st);

/* A file of text, for reading; or an errno.  It is empty only if it is for all threads. */
int living_text_open(const char *path);

/**
 * struct copy_limit - how a file is copied
 * @buffer, @room: for what is on the way
 * @most: bytes, or one buffer more
 * @whole: a file with as many is refused, -EFBIG
 */
struct copy_limit {
	void *buffer;
	size_t room;
	uint64_t most;
	bool whole;
};

/* A descriptor of a copy in memory of what @fd, which is closed, still gives; or an errno. */
int copy_in_memory(int fd, const struct copy_limit *limit);

#endif
