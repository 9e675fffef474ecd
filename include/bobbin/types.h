/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * types.h - fixed-width types in each world that bobbin builds for.
 *
 * The format and unwind core is compiled for user space, inside a kernel and
 * to BPF.  Each world has its own definition of uint64_t, so the choice is
 * made here and nowhere else.
 */
#ifndef BOBBIN_TYPES_H
#define BOBBIN_TYPES_H

#if defined(__KERNEL__)
#include <linux/stddef.h>
#include <linux/types.h>
#elif defined(__bpf__)
#include "vmlinux.h"
/* The kernel's types are those that it happens to use. */
typedef __s8 int8_t;
typedef __s16 int16_t;
typedef __s32 int32_t;
typedef __s64 int64_t;
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
#define NULL ((void *)0)
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#endif
