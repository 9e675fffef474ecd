/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/struct_copy.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u /* pages are not smaller anywhere */
#define WORD 8u
#define NO_SUCH_HOW (-1)

/*
 * The cheapest question: rt_sigprocmask(2) reads the new mask before it looks at
 * what to do with it, and then has nothing to do.
 */
static bool word_is_readable(uint64_t addr)
{
	addr &= ~(uint64_t)(WORD - 1);
	return addr && syscall(SYS_rt_sigprocmask, NO_SUCH_HOW, addr, NULL, WORD) == -1 &&
	       errno == EINVAL;
}

/* How many of the bytes to the page's end are wanted. */
static size_t in_page(uint64_t addr, uint64_t size)
{
	uint64_t rest = PAGE - (addr & (PAGE - 1));

	return size < rest ? size : rest;
}

bool memory_is_readable(uint64_t addr, uint64_t size)
{
	int saved = errno;

	if (addr + size < addr)
		return false;
	while (size && word_is_readable(addr)) {
		size_t n = in_page(addr, size);

		addr += n;
		size -= n;
	}
	errno = saved;
	return !size;
}

int memory_copy(void *dst, uint64_t src, size_t size)
{
	if (!memory_is_readable(src, size))
		return -EFAULT;
	if (size)
		memcpy(dst, (const void *)(uintptr_t)src, size);
	return 0;
}

/* Most callers have the structure on the stack, near the frame that runs. */
static bool is_near(uint64_t addr, uint64_t size, const void *frame)
{
	uint64_t page = (uintptr_t)frame & ~(uint64_t)(PAGE - 1);

	return addr >= page && size <= PAGE && addr - page <= PAGE - size;
}

int struct_copy(void *dst, size_t dst_size, const void *src, size_t src_size)
{
	uint8_t copy[STRUCT_COPY_MAX];
	int r = 0;

	if (!src_size)
		return -EINVAL;
	if (src_size > sizeof(copy))
		return -E2BIG;
	if (is_near((uintptr_t)src, src_size, __builtin_frame_address(0)))
		memcpy(copy, src, src_size);
	else
		r = memory_copy(copy, (uintptr_t)src, src_size);
	if (r)
		return r;
	for (size_t i = dst_size; i < src_size; i++)
		if (copy[i])
			return -E2BIG;
	memset(dst, 0, dst_size);
	memcpy(dst, copy, src_size < dst_size ? src_size : dst_size);
	return 0;
}

int string_copy(char *dst, size_t size, uint64_t src)
{
	while (size) {
		const char *from = (const char *)(uintptr_t)src;
		size_t n = in_page(src, size), length;

		if (!memory_is_readable(src, n))
			return -EFAULT;
		/* what follows the string is not ours */
		length = strnlen(from, n);
		memcpy(dst, from, length);
		if (length < n) {
			dst[length] = 0;
			return 0;
		}
		dst += n;
		src += n;
		size -= n;
	}
	return -ENAMETOOLONG;
}
