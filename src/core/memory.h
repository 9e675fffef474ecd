/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.h - the one reader of table bytes and of stack words.
 *
 *	user space	what is mapped here: loads
 *	Linux		the process's memory, which may fault: get_user()
 *	BPF		the same, by helper; programs that may sleep define
 *			BOBBIN_BPF_SLEEPABLE and get what is not resident, too
 *
 * Pointers into such memory are computed with anywhere, and loaded from only
 * here.  A read that faults gives zeros and sets a flag that stays set, so a
 * record is read in one go and checked once.  In user space the flag is never
 * written: compilers drop what depends on it.
 */
#ifndef BOBBIN_CORE_MEMORY_H
#define BOBBIN_CORE_MEMORY_H

#include "core/deps.h"

#if defined(__KERNEL__)
#include <linux/uaccess.h>

#define MEMORY_IS_OURS 0

/* Whether @n bytes were copied; 8 at most. */
static BOBBIN_ALWAYS_INLINE bool memory_copy(void *room, const uint8_t *p, unsigned int n)
{
	switch (n) {
	case 2:
		return !get_user(*(uint16_t *)room, (const uint16_t __user *)p);
	case 4:
		return !get_user(*(uint32_t *)room, (const uint32_t __user *)p);
	case 8:
		return !get_user(*(uint64_t *)room, (const uint64_t __user *)p);
	}
	for (unsigned int i = 0; i < n; i++)
		if (get_user(((uint8_t *)room)[i], (const uint8_t __user *)p + i))
			return false;
	return true;
}

#elif defined(__bpf__)

#define MEMORY_IS_OURS 0

/* numbers of bpf_copy_from_user() and bpf_probe_read_user() in the kernel's interface */
#ifdef BOBBIN_BPF_SLEEPABLE
#define MEMORY_HELPER 148
#else
#define MEMORY_HELPER 112
#endif

static BOBBIN_ALWAYS_INLINE bool memory_copy(void *room, const uint8_t *p, unsigned int n)
{
	long (*const copy)(void *room, uint32_t n, const void *p) = (void *)MEMORY_HELPER;
	uint64_t size = n;

	/* the verifier wants to see the bound of the very register */
	__asm__ volatile("" : "+r"(size));
	return size <= 8 && !copy(room, (uint32_t)size, p);
}

#else

#define MEMORY_IS_OURS 1

static BOBBIN_ALWAYS_INLINE bool memory_copy(void *room, const uint8_t *p, unsigned int n)
{
	return false;
}

#endif

/* Room for a copy of what is read at once. */
struct memory_room {
	uint8_t bytes[8];
} __attribute__((aligned(8)));

/* @n <= 8 bytes at @p: in place, or their copy in @room. */
static BOBBIN_ALWAYS_INLINE const uint8_t *memory_bytes(const uint8_t *p, unsigned int n,
							struct memory_room *room, bool *fault)
{
	if (MEMORY_IS_OURS)
		return p;
	*room = (struct memory_room){0};
	if (!memory_copy(room->bytes, p, n)) {
		*room = (struct memory_room){0};
		*fault = true;
	}
	return room->bytes;
}

/*
 * Loads for bytes whose range was checked as a whole before, as bobbin_sframe_view()
 * does it with the FDE table.  Compilers make one instruction of each.
 */
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

/* The same from memory that may fault. */
static BOBBIN_ALWAYS_INLINE uint8_t memory_u8(const uint8_t *p, bool *fault)
{
	struct memory_room room;

	/* read once: what is used has to be what was checked, though the memory may change */
	return *(const volatile uint8_t *)memory_bytes(p, 1, &room, fault);
}

static BOBBIN_ALWAYS_INLINE uint32_t memory_u16(const uint8_t *p, bool big_endian, bool *fault)
{
	struct memory_room room;

	return load_u16(memory_bytes(p, 2, &room, fault), big_endian);
}

static BOBBIN_ALWAYS_INLINE uint32_t memory_u32(const uint8_t *p, bool big_endian, bool *fault)
{
	struct memory_room room;

	return load_u32(memory_bytes(p, 4, &room, fault), big_endian);
}

static BOBBIN_ALWAYS_INLINE uint64_t memory_u64(const uint8_t *p, bool big_endian, bool *fault)
{
	struct memory_room room;

	return load_u64(memory_bytes(p, 8, &room, fault), big_endian);
}

#endif
