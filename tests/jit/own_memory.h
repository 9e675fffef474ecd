/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_memory.h - a reader of the test's own memory, which other threads write.
 *
 * Words are loaded with acquire: ThreadSanitizer does not support fences.
 */
#ifndef BOBBIN_TESTS_JIT_OWN_MEMORY_H
#define BOBBIN_TESTS_JIT_OWN_MEMORY_H

#include <bobbin/step.h>
#include <string.h>

static inline enum bobbin_reason read_own_memory(void *ctx, uint64_t addr, void *dst, size_t len)
{
	(void)ctx;
	if (len == sizeof(uint64_t) && addr % sizeof(uint64_t) == 0) {
		uint64_t word = __atomic_load_n((const uint64_t *)(uintptr_t)addr,
						__ATOMIC_ACQUIRE);

		memcpy(dst, &word, sizeof(word));
	} else {
		memcpy(dst, (const void *)(uintptr_t)addr, len);
	}
	return BOBBIN_REASON_NONE;
}

#endif
