/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host_arch.h - the architecture whose code this process runs.
 */
#ifndef BOBBIN_CODEMAP_HOST_ARCH_H
#define BOBBIN_CODEMAP_HOST_ARCH_H

#include <bobbin/arch.h>

#if defined(__x86_64__)
#define HOST_ARCH bobbin_arch_amd64
#elif defined(__AARCH64EB__)
#define HOST_ARCH bobbin_arch_aarch64_be
#elif defined(__aarch64__)
#define HOST_ARCH bobbin_arch_aarch64
#elif defined(__s390x__)
#define HOST_ARCH bobbin_arch_s390x
#else
#error "no registration for this architecture"
#endif

static inline const struct bobbin_arch *host_arch(void)
{
	return HOST_ARCH();
}

#endif
