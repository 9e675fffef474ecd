/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_calls.h - the calls of <bobbin/codectl.h> for any registry.
 */
#ifndef BOBBIN_CODEMAP_CODE_CALLS_H
#define BOBBIN_CODEMAP_CODE_CALLS_H

#include "codemap/registry.h"

int code_calls_codectl(struct registry *registry, unsigned int option, const void *info,
		       size_t info_size, unsigned int flags, struct bobbin_code_result *ret);
int code_calls_register(struct registry *registry, const struct sframe_setup *setup, size_t size,
			struct bobbin_code_result *ret);
int code_calls_unregister(struct registry *registry, const struct sframe_setup *setup, size_t size);
int code_calls_prctl(struct registry *registry, int option, unsigned long arg2, unsigned long arg3,
		     unsigned long arg4, unsigned long arg5);

#endif
