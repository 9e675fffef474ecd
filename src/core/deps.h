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

/* <stdint.h> has them in user space only */
#ifndef UINT64_MAX
#define INT16_MIN (-__INT16_MAX__ - 1)
#define INT16_MAX __INT16_MAX__
#define INT32_MIN (-__INT32_MAX__ - 1)
#define INT32_MAX __INT32_MAX__
#define INT64_MIN (-__INT64_MAX__ - 1)
#define INT64_MAX __INT64_MAX__
#define UINT32_MAX __UINT32_MAX__
#define UINT64_MAX __UINT64_MAX__
#endif

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

/*
 * while (condition), at most @most times.  BPF's verifier does not follow a loop that
 * the kernel counts: it proves one turn.  There the kernel ends it after 2^23.
 */
#ifdef __bpf__
extern int bpf_iter_num_new(struct bpf_iter_num *turns, int first, int end)
	__attribute__((section(".ksyms")));
extern int *bpf_iter_num_next(struct bpf_iter_num *turns) __attribute__((section(".ksyms")));
extern void bpf_iter_num_destroy(struct bpf_iter_num *turns) __attribute__((section(".ksyms")));

static inline __attribute__((always_inline)) void bobbin_turns_end(struct bpf_iter_num *turns)
{
	bpf_iter_num_destroy(turns);
}

static inline __attribute__((always_inline)) void bobbin_turns_begin(struct bpf_iter_num *turns,
								     uint64_t most)
{
	uint64_t excess = most >> 23;

	/* a comparison of @most itself would tell the verifier a limit, and it counts down from it */
	__asm__ volatile("" : "+r"(excess));
	bpf_iter_num_new(turns, 0, excess ? 1 << 23 : (int)most);
}

#define BOBBIN_WHILE(condition, most) \
	for (struct bpf_iter_num turns __attribute__((cleanup(bobbin_turns_end))), \
	     *begun __attribute__((unused)) = (bobbin_turns_begin(&turns, most), NULL); \
	     bpf_iter_num_next(&turns) && (condition);)
#else
#define BOBBIN_WHILE(condition, most) while (condition)
#endif

/* Programs of a kernel read memory of their own machine only. */
#if defined(__bpf__) || defined(__KERNEL__)
#define BOBBIN_NATIVE_ONLY 1
#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#define BOBBIN_NATIVE_ARCH bobbin_arch_amd64
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#define BOBBIN_NATIVE_ARCH bobbin_arch_aarch64
#elif defined(__s390x__) || defined(__TARGET_ARCH_s390)
#define BOBBIN_NATIVE_ARCH bobbin_arch_s390x
#else
#error "an architecture that bobbin does not know; for BPF define __TARGET_ARCH_..."
#endif
#else
#define BOBBIN_NATIVE_ONLY 0
#endif

/*
 * turn(0, ctx), turn(1, ctx) and so on, at most @most times, until one returns other than 0.
 * BPF's verifier proves @turn once; there @ctx has to be on the stack.
 */
#ifdef __bpf__
#define BOBBIN_REPEAT(most, turn, ctx) bpf_loop(most, turn, ctx, 0)
#else
#define BOBBIN_REPEAT(most, turn, ctx) \
	do { \
		for (uint32_t turns = 0; turns < (most) && !(turn)(turns, ctx); turns++) \
			; \
	} while (0)
#endif

#define BOBBIN_ALWAYS_INLINE inline __attribute__((always_inline))

/* For branches of hot loops, whose usual way should be a straight one. */
#define BOBBIN_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* What is too large to be a part of its callers. */
#define BOBBIN_OUT_OF_LINE __attribute__((__noinline__))

/*
 * A part of a function that user space inlines, and a kernel does not, because its
 * stacks are small: programs of BPF have 512 bytes for all that they call.  BPF's
 * verifier proves it once and by itself, for any numbers and memory that it may be
 * given, and not again for each way that leads to it.  So it is global there, takes
 * numbers and pointers to structures, and pointers that are BOBBIN_NONNULL or checked.
 */
#ifdef __bpf__
#define BOBBIN_STAGE __attribute__((__noinline__, visibility("default")))
#define BOBBIN_NONNULL __attribute__((btf_decl_tag("arg:nonnull")))
#else
#if BOBBIN_NATIVE_ONLY
#define BOBBIN_STAGE static __attribute__((__noinline__))
#else
#define BOBBIN_STAGE static BOBBIN_ALWAYS_INLINE
#endif
#define BOBBIN_NONNULL
#endif

/*
 * What was written to memory is read again from here on.  BPF's verifier does not know what a map
 * holds, so it follows one way from here instead of each way that has led here.
 */
#ifdef __bpf__
#define BOBBIN_REREAD() __asm__ volatile("" ::: "memory")
#else
#define BOBBIN_REREAD() ((void)0)
#endif

/* What hardly ever happens, kept out of hot functions; BPF has one section for all. */
#ifdef __bpf__
#define BOBBIN_NEVER_INLINE __attribute__((__noinline__))
#else
#define BOBBIN_NEVER_INLINE __attribute__((__noinline__, __cold__))
#endif

/*
 * Reads after it see nothing older than reads before it.  ThreadSanitizer does not support
 * fences: under it, readers load with acquire.  BPF has no fence: there only the compiler
 * keeps the order, which is enough on x86-64 and s390x, and not on AArch64.
 */
#if defined(__bpf__)
#define BOBBIN_READ_FENCE() __asm__ volatile("" ::: "memory")
#elif defined(__SANITIZE_THREAD__)
#define BOBBIN_READ_FENCE() __atomic_signal_fence(__ATOMIC_ACQUIRE)
#else
#define BOBBIN_READ_FENCE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

/*
 * Symbols of the library's interface; everything else is hidden.  In BPF a visible
 * function would have to prove that it takes any argument.
 */
#ifdef __bpf__
#define BOBBIN_API __attribute__((visibility("hidden")))
#else
#define BOBBIN_API __attribute__((visibility("default")))
#endif

#endif
