/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_probe.h - what of the kernel a recording could use here, found out by trying.
 *
 * Each probe returns 0 if it works, or a negative errno: -EACCES and -EPERM where it is not
 * allowed, others where the kernel or the machine has no such thing.
 */
#ifndef BOBBIN_PROFILE_KERNEL_PROBE_H
#define BOBBIN_PROFILE_KERNEL_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Samples of the own processes' user code. */
int probe_own_samples(void);

/* Samples with the kernel's part of the call chain. */
int probe_kernel_part(void);

/* Samples of all processes. */
int probe_all_processes(void);

/* A hardware counter of cycles. */
int probe_cycles(void);

/* Build IDs in the records of mappings. */
int probe_build_ids(void);

/* Buffers of the size that a recording prefers. */
int probe_large_buffers(void);

/*
 * Walks of stacks in the kernel, -ENOSYS: this build has none; and such walks that wait for pages
 * which are not in memory.
 */
void probe_kernel_walk(int *walks, int *waits);

/* Room for what probe_walk_error() says. */
#define WALK_ERROR_SIZE 160

/* What to say of an error of such walks, in @room. */
const char *probe_walk_error(int error, char *room, size_t size);

/* Attaching to processes that are no descendants, and reading their memory. */
int probe_attaching(void);

/* The value of "perf_event_paranoid" or another name; false: this kernel has none. */
bool kernel_setting(const char *name, int64_t *ret);

/*
 * The samples per second that perf_event_open(2) takes at most.  The kernel lowers this
 * setting by itself if samples take too much of the time.  UINT32_MAX: unknown.
 */
uint32_t kernel_most_samples(void);

#endif
