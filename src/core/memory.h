/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.h - the one reader of table bytes and of stack words.
 *
 *	user space	what is mapped here: loads
 *	Linux		the process's memory, which may fault: get_user()
 *	BPF		the same, by helper; programs that may sleep define
 *			BOBBIN_BPF_SLEEPABLE and get what is not resident, too
 *
 * Any code computes with pointers into such memory, but only this loads from
 * them.  A read that faults gives zeros and sets a flag that stays set, so a
 * record is read in one go and checked once.  In user space the flag is never
 * written: compilers drop what depends on it.
 */
#ifndef BOBBIN_CORE_MEMORY_H
#define BOBBIN_CORE_MEMORY_H

#include "core/deps.h"

#if defined(__KERNEL__)
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#define MEMORY_IS_OURS 0

/*
 * The number in @n bytes, 1, 2, 4 or 8, of this machine's order.  A task that is to die reads
 * nothing any more: so all that goes on as long as there is something to read ends.
 */
static inline uint64_t memory_fetch(const uint8_t *p, unsigned int n, bool *fault)
{
	uint64_t number = 0;
	int error;

	if (fatal_signal_pending(current))
		error = -EINTR;
	else if (n == 1)
		error = get_user(number, (const uint8_t __user *)p);
	else if (n == 2)
		error = get_user(number, (const uint16_t __user *)p);
	else if (n == 4)
		error = get_user(number, (const uint32_t __user *)p);
	else
		error = get_user(number, (const uint64_t __user *)p);
	if (!error)
		return number;
	*fault = true;
	return 0;
}

#elif defined(__bpf__)

#define MEMORY_IS_OURS 0

/* numbers of bpf_copy_from_user() and bpf_probe_read_user() in the kernel's interface */
#ifdef BOBBIN_BPF_SLEEPABLE
#define MEMORY_HELPER 148
#else
#define MEMORY_HELPER 112
#endif

/* Not inlined, because each copy in a function takes room on its stack. */
static __attribute__((__noinline__, __unused__)) uint64_t memory_fetch(const uint8_t *p,
								       unsigned int n, bool *fault)
{
	long (*const copy)(void *room, uint32_t size, const void *p) = (void *)MEMORY_HELPER;
	uint64_t number = 0, size = n;

	/* the verifier wants to see the bound of the very register */
	__asm__ volatile("" : "+r"(size));
	if (!size || size > sizeof(number) || copy(&number, (uint32_t)size, p)) {
		*fault = true;
		return 0;
	}
	return BOBBIN_HOST_BIG_ENDIAN ? number >> (64 - 8 * size) : number;
}

#else

#define MEMORY_IS_OURS 1

static inline uint64_t memory_fetch(const uint8_t *p, unsigned int n, bool *fault)
{
	return 0;
}

#endif

/*
 * Loads for bytes whose range was checked as a whole before, as bobbin_sframe_view()
 * does it with the FDE table.  Compilers make one instruction of each.
 */
#ifdef __bpf__
/* Its machines load at any address, and its compiler does not know. */
static BOBBIN_ALWAYS_INLINE uint32_t load_u16(const uint8_t *p, bool big_endian)
{
	uint16_t number = *(const uint16_t *)p;

	return big_endian == BOBBIN_HOST_BIG_ENDIAN ? number : __builtin_bswap16(number);
}

static BOBBIN_ALWAYS_INLINE uint32_t load_u32(const uint8_t *p, bool big_endian)
{
	uint32_t number = *(const uint32_t *)p;

	return big_endian == BOBBIN_HOST_BIG_ENDIAN ? number : __builtin_bswap32(number);
}

static BOBBIN_ALWAYS_INLINE uint64_t load_u64(const uint8_t *p, bool big_endian)
{
	uint64_t number = *(const uint64_t *)p;

	return big_endian == BOBBIN_HOST_BIG_ENDIAN ? number : __builtin_bswap64(number);
}
#else
static BOBBIN_ALWAYS_INLINE uint32_t load_u16(const uint8_t *p, bool big_endian)
{
	return big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static BOBBIN_ALWAYS_INLINE uint32_t load_u32(const uint8_t *p, bool big_endian)
{
	return big_endian
		       ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
		       : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static BOBBIN_ALWAYS_INLINE uint64_t load_u64(const uint8_t *p, bool big_endian)
{
	uint64_t first = load_u32(p, big_endian), second = load_u32(p + 4, big_endian);

	return big_endian ? first << 32 | second : second << 32 | first;
}
#endif

/* The number in @n bytes, 1, 2, 4 or 8, of memory that may fault. */
static BOBBIN_ALWAYS_INLINE uint64_t memory_number(const uint8_t *p, unsigned int n,
						   bool big_endian, bool *fault)
{
	uint64_t number = memory_fetch(p, n, fault);

	return big_endian == BOBBIN_HOST_BIG_ENDIAN ? number
						    : __builtin_bswap64(number) >> (64 - 8 * n);
}

/* Read once: what is used has to be what was checked, though the memory may change. */
static BOBBIN_ALWAYS_INLINE uint8_t memory_u8(const uint8_t *p, bool *fault)
{
	if (!MEMORY_IS_OURS)
		return (uint8_t)memory_fetch(p, 1, fault);
	return *(const volatile uint8_t *)p;
}

static BOBBIN_ALWAYS_INLINE uint32_t memory_u16(const uint8_t *p, bool big_endian, bool *fault)
{
	if (!MEMORY_IS_OURS)
		return (uint32_t)memory_number(p, 2, big_endian, fault);
	return load_u16(p, big_endian);
}

static BOBBIN_ALWAYS_INLINE uint32_t memory_u32(const uint8_t *p, bool big_endian, bool *fault)
{
	if (!MEMORY_IS_OURS)
		return (uint32_t)memory_number(p, 4, big_endian, fault);
	return load_u32(p, big_endian);
}

static BOBBIN_ALWAYS_INLINE uint64_t memory_u64(const uint8_t *p, bool big_endian, bool *fault)
{
	if (!MEMORY_IS_OURS)
		return memory_number(p, 8, big_endian, fault);
	return load_u64(p, big_endian);
}

#endif
