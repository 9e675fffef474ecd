/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_world.h - as much of Linux as linux/new/kernel/unwind/sframe/compiled.c needs, for a test.
 *
 * The memory of the process is the table, from world.start to world.end, and nothing else.
 */
#ifndef TEST_KERNEL_WORLD_H
#define TEST_KERNEL_WORLD_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef struct {
	int unused;
} refcount_t;

struct rcu_head {
	int unused;
};

#define __user
#define current NULL
#define __counted_by(member)
#define GFP_KERNEL_ACCOUNT 0
#define kzalloc(size, flags) calloc(1, size)
#define kfree(at) free(at)
#define container_of_const(at, type, member) \
	((const type *)((const char *)(at)-offsetof(type, member)))

/**
 * struct kernel_world - the process
 * @start, @end: its memory
 * @copies, @bytes: that were made since somebody set them to 0
 * @outside: copies of what is not there
 */
struct kernel_world {
	uintptr_t start, end;
	unsigned int copies, bytes;
	unsigned long outside;
};

extern struct kernel_world kernel_world;

static inline bool fatal_signal_pending(const void *task __attribute__((__unused__)))
{
	return false;
}

/* Bytes that were not copied, as Linux has it. */
static inline size_t copy_from_user(void *to, const void *from, size_t size)
{
	uintptr_t at = (uintptr_t)from;

	kernel_world.copies++;
	kernel_world.bytes += (unsigned int)size;
	if (at < kernel_world.start || at > kernel_world.end || size > kernel_world.end - at) {
		kernel_world.outside++;
		return size;
	}
	memcpy(to, from, size);
	return 0;
}

#define get_user(number, from) (copy_from_user(&(number), from, sizeof(*(from))) ? -EFAULT : 0)

#endif
