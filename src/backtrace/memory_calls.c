/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that compilers call on their own.  A walk must not call the C library, not even for
 * these: a sanitizer or a debugging library may have put something else in their place.
 */
#include <stddef.h>
#include <stdint.h>

/* Loops are not to become calls of the functions that they are the bodies of. */
#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

typedef uint64_t __attribute__((may_alias, aligned(1))) loose_word;
/* Frames of a walk are copied by the dozen. */
typedef uint64_t words __attribute__((vector_size(16)));
typedef words __attribute__((may_alias, aligned(1))) loose_words;

void *memcpy(void *restrict dst, const void *restrict src, size_t size);
void *memmove(void *dst, const void *src, size_t size);
void *memset(void *dst, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

/* From the start on, also if @to is before @from and they overlap. */
static inline __attribute__((always_inline)) void move_down(uint8_t *to, const uint8_t *from,
							    size_t size)
{
	for (; size >= sizeof(loose_words); size -= sizeof(loose_words)) {
		*(loose_words *)to = *(const loose_words *)from;
		to += sizeof(loose_words);
		from += sizeof(loose_words);
	}
	while (size--)
		*to++ = *from++;
}

void *memcpy(void *restrict dst, const void *restrict src, size_t size)
{
	move_down(dst, src, size);
	return dst;
}

static void move_up(uint8_t *to, const uint8_t *from, size_t size)
{
	for (; size >= sizeof(loose_word); size -= sizeof(loose_word))
		*(loose_word *)(to + size - sizeof(loose_word)) =
			*(const loose_word *)(from + size - sizeof(loose_word));
	while (size--)
		to[size] = from[size];
}

void *memmove(void *dst, const void *src, size_t size)
{
	uintptr_t distance = (uintptr_t)dst - (uintptr_t)src;

	if (distance < size)
		move_up(dst, src, size);
	else
		move_down(dst, src, size);
	return dst;
}

void *memset(void *dst, int byte, size_t size)
{
	const uint64_t word = (uint8_t)byte * 0x0101010101010101ull;
	uint8_t *to = dst;

	for (; size >= sizeof(loose_word); size -= sizeof(loose_word)) {
		*(loose_word *)to = word;
		to += sizeof(loose_word);
	}
	while (size--)
		*to++ = (uint8_t)byte;
	return dst;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const uint8_t *left = a, *right = b;

	for (; size; size--, left++, right++)
		if (*left != *right)
			return *left - *right;
	return 0;
}
