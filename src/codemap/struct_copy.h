/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * struct_copy.h - take arguments out of the caller's memory, as a kernel does.
 *
 *	int r = struct_copy(&info, sizeof(info), user_info, info_size);
 *
 * What a pointer points to is copied once and looked at in the copy.  A pointer
 * that leads nowhere is -EFAULT, not a crash: before memory is read, the kernel is
 * asked whether it can be, one page at a time.
 */
#ifndef BOBBIN_CODEMAP_STRUCT_COPY_H
#define BOBBIN_CODEMAP_STRUCT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A structure that is larger than this is -E2BIG, whatever is in it. */
#define STRUCT_COPY_MAX 4096

/*
 * Whether all of a range can be read now, also where a file that is mapped there has become
 * shorter.  Asks for each page.
 */
bool memory_is_readable(uint64_t addr, uint64_t size);

/* Copy @size bytes from an address.  -EFAULT: not all of them can be read. */
int memory_copy(void *dst, uint64_t src, size_t size);

/*
 * Copy a structure of @src_size bytes to one of @dst_size.  If it is shorter, the
 * rest is zero; if it is longer, its rest must be zero.  -EINVAL: it has no bytes;
 * -E2BIG: a byte after what is known is not zero, or it is longer than STRUCT_COPY_MAX; -EFAULT.
 * @dst is untouched on failure.
 */
int struct_copy(void *dst, size_t dst_size, const void *src, size_t src_size);

/*
 * Copy a string and its terminator to @dst, of @size bytes.  -ENAMETOOLONG: no
 * terminator within them; -EFAULT.  @dst is arbitrary on failure.
 */
int string_copy(char *dst, size_t size, uint64_t src);

#endif
