/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guest_calls.h - the calls of a kernel with bobbin's unwinder, by their numbers.
 *
 * Each returns 0 or a positive errno.
 */
#ifndef TEST_GUEST_CALLS_H
#define TEST_GUEST_CALLS_H

#include <bobbin/code_abi.h>
#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NR_SFRAME_REGISTER 472
#define NR_SFRAME_UNREGISTER 473
#define NR_CODECTL 474
#define PR_ADD_SFRAME 82
#define PR_REMOVE_SFRAME 83

static inline int guest_register(const void *setup, size_t size)
{
	return syscall(NR_SFRAME_REGISTER, setup, size) ? errno : 0;
}

static inline int guest_unregister(const void *setup, size_t size)
{
	return syscall(NR_SFRAME_UNREGISTER, setup, size) ? errno : 0;
}

static inline int guest_codectl(unsigned int option, const void *info, size_t size,
				unsigned int flags)
{
	return syscall(NR_CODECTL, option, info, size, flags) ? errno : 0;
}

#endif
