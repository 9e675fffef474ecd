/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_names.h - names for code that is made while the program runs.
 *
 *	struct bobbin_perf_map *map;
 *
 *	bobbin_perf_map_open(NULL, &map);
 *	bobbin_perf_map_add(map, code, size, "fibonacci");	for each function
 *	bobbin_perf_map_close(map);
 *
 * A perf map is text, a line for each function, and is what most profilers read,
 * bobbin and perf among them.  Where code is freed and its place used again, the
 * last line for a place counts, whenever the sample was taken.
 *
 * A jitdump has the code's bytes and the time, too: `perf inject --jit` makes ELF
 * files of it, with which perf annotates.  Record with `perf record -k 1`.
 *
 * All calls but _open and _close may be made by any number of threads.  None may
 * be made from a signal handler.  A forked child opens files of its own.
 */
#ifndef BOBBIN_JIT_NAMES_H
#define BOBBIN_JIT_NAMES_H

#include <bobbin/arch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A perf map that is written. */
struct bobbin_perf_map;

/**
 * bobbin_perf_map_open() - open this process's perf map
 * @directory: where perf-PID.map is to be; NULL: /tmp, where others look for it
 * @ret: the map; untouched on failure
 *
 * What another part of this process has written there stays; what an earlier
 * process of the same number left is removed.
 *
 * Return: 0; -EEXIST: there is something of that name that is not a file of this
 * user's alone, and following it could do harm; -ENOMEM; errnos of open(2).
 */
int bobbin_perf_map_open(const char *directory, struct bobbin_perf_map **ret);

/**
 * bobbin_perf_map_add() - name a function
 * @map: where
 * @start: its first byte
 * @size: bytes of code, not 0
 * @name: anything; control characters become question marks, and it is cut after
 *	4000 bytes
 *
 * Return: 0; -EINVAL: no name or no code; -ECHILD: the map is that of the process
 * that this one was forked from; errnos of write(2), -ENOSPC if a part was written.
 */
int bobbin_perf_map_add(struct bobbin_perf_map *map, uint64_t start, uint64_t size,
			const char *name);

/**
 * bobbin_perf_map_close() - close the map; the file stays
 * @map: or NULL
 */
void bobbin_perf_map_close(struct bobbin_perf_map *map);

/* A jitdump that is written. */
struct bobbin_jitdump;

/**
 * bobbin_jitdump_open() - begin this process's jitdump
 * @directory: where jit-PID.dump is to be; NULL: the working directory.  It must
 *	allow that files are mapped as executable: that is how perf notices
 * @arch: of the code
 * @ret: the dump; untouched on failure
 *
 * What an earlier process of the same number left is removed.
 *
 * Return: 0; -EEXIST: there is something of that name that is not a file of this
 * user's alone, or this process has a dump there already; -ENOMEM; errnos of
 * open(2), write(2) and mmap(2), among them -EPERM: no executable mappings.
 */
int bobbin_jitdump_open(const char *directory, const struct bobbin_arch *arch,
			struct bobbin_jitdump **ret);

/**
 * bobbin_jitdump_add() - tell of a function
 * @dump: where
 * @start: its first byte
 * @size: bytes of code, not 0; they are read
 * @name: anything, cut after 4000 bytes
 *
 * Return: 0; -EINVAL: no name or no code; -E2BIG: the code does not fit a record;
 * -ECHILD: the dump is that of the process that this one was forked from; -EFAULT:
 * code cannot be read; errnos of write(2).  The file is as it was then.
 */
int bobbin_jitdump_add(struct bobbin_jitdump *dump, const void *start, uint64_t size,
		       const char *name);

/**
 * bobbin_jitdump_close() - end the dump; the file stays
 * @dump: or NULL
 *
 * Return: 0, errnos of write(2).  It is closed in any case.
 */
int bobbin_jitdump_close(struct bobbin_jitdump *dump);

#ifdef __cplusplus
}
#endif

#endif
