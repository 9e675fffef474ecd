/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * native_arch.h - the architecture whose code this process runs.
 */
#ifndef BOBBIN_BASE_NATIVE_ARCH_H
#define BOBBIN_BASE_NATIVE_ARCH_H

#include <bobbin/arch.h>

#if defined(__x86_64__)
#define NATIVE_ARCH bobbin_arch_amd64
#elif defined(__AARCH64EB__)
#define NATIVE_ARCH bobbin_arch_aarch64_be
#elif defined(__aarch64__)
#define NATIVE_ARCH bobbin_arch_aarch64
#elif defined(__s390x__)
#define NATIVE_ARCH bobbin_arch_s390x
#else
#error "this architecture is not supported"
#endif

static inline const struct bobbin_arch *native_arch(void)
{
	return NATIVE_ARCH();
}

#endif
