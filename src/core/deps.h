/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deps.h - everything that the freestanding core takes from outside.
 *
 * <errno.h> is not freestanding; the few numbers that the core returns stand
 * here and are compared with <errno.h> by tests/core/errno_test.c.
 */
#ifndef BOBBIN_CORE_DEPS_H
#define BOBBIN_CORE_DEPS_H

#include <bobbin/types.h>

#define BOBBIN_ENOENT 2
#define BOBBIN_E2BIG 7
#define BOBBIN_EFAULT 14
#define BOBBIN_EEXIST 17
#define BOBBIN_EINVAL 22
#define BOBBIN_ERANGE 34
#define BOBBIN_ENODATA 61
#define BOBBIN_EBADMSG 74
#define BOBBIN_ENOBUFS 105

#define BOBBIN_HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

#define BOBBIN_ALWAYS_INLINE inline __attribute__((always_inline))

/* What is too large to be a part of its callers. */
#define BOBBIN_OUT_OF_LINE __attribute__((__noinline__))

/* What hardly ever happens, kept out of hot functions. */
#define BOBBIN_NEVER_INLINE __attribute__((__noinline__, __cold__))

/*
 * What is read behind it is not older than what was read before it.  ThreadSanitizer
 * knows no fences: readers that it watches load with acquire.
 */
#ifdef __SANITIZE_THREAD__
#define BOBBIN_READ_FENCE() __atomic_signal_fence(__ATOMIC_ACQUIRE)
#else
#define BOBBIN_READ_FENCE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

/* Symbols of the library's interface; everything else is hidden. */
#define BOBBIN_API __attribute__((visibility("default")))

#endif
