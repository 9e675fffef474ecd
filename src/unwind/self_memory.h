/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * self_memory.h - read the own process's memory at addresses that may be anything.
 *
 * Each page is tested once for each walk: the kernel is asked to fetch a signal
 * mask from it for an operation that does not exist, rt_sigprocmask(2) with
 * another @how, and says EFAULT or EINVAL, nothing else happens.  Then it is read
 * directly.  That costs a system call for each stack page of a walk, and works in
 * signal handlers and under seccomp filters.
 *
 * Memory that another thread unmaps between the test and the read is beyond this;
 * the stack of the thread that walks is not such memory.
 */
#ifndef BOBBIN_UNWIND_SELF_MEMORY_H
#define BOBBIN_UNWIND_SELF_MEMORY_H

#include <bobbin/step.h>

#include "core/deps.h"

/* Runs of pages that are remembered: stacks, and JIT tables beside them. */
#define SELF_MEMORY_RUNS 4

/* Pages that can be read. */
struct memory_run {
	uint64_t start, size;
};

struct self_memory {
	struct memory_run runs[SELF_MEMORY_RUNS];
	unsigned int next; /* the one that is given up for a new one */
};

/* Nothing is known but that the page of @memory itself can be read, a stack's. */
void self_memory_init(struct self_memory *memory);

/*
 * Treat the calling thread's own stack above @sp as readable without a test in each walk: it was
 * tested once, and exists as long as the thread.  Nothing is treated so if @sp is on another
 * stack, such as a fiber's, whose end is not known.  Returns what is near now.
 */
struct memory_run self_memory_trust(struct self_memory *memory, uint64_t sp);

/* Whether an address is in what was trusted last, or on the page of @memory. */
static BOBBIN_ALWAYS_INLINE bool self_memory_near(const struct self_memory *memory, uint64_t addr,
						  size_t len)
{
	return addr - memory->runs[0].start <= memory->runs[0].size - len;
}

typedef uint64_t __attribute__((may_alias, aligned(1))) loose_word;

/* Sanitizers do not like what lies between variables. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
void self_memory_load(uint64_t addr, uint64_t *ret);
#else
static BOBBIN_ALWAYS_INLINE void self_memory_load(uint64_t addr, uint64_t *ret)
{
	*ret = *(const volatile loose_word *)addr;
}
#endif

/* Read function of struct bobbin_mem.  Async-signal-safe, leaves errno alone. */
enum bobbin_reason self_memory_read(void *ctx, uint64_t addr, void *dst, size_t len);

#endif
