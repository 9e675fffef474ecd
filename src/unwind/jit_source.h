/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_source.h - a JIT table, and how its memory is read.
 */
#ifndef BOBBIN_UNWIND_JIT_SOURCE_H
#define BOBBIN_UNWIND_JIT_SOURCE_H

#include <bobbin/code_abi.h>
#include <bobbin/step.h>

#include "unwind/table_set.h"

struct jit_source {
	struct code_jit_info info;
	struct bobbin_mem mem;
};

extern const struct table_ops jit_table_ops;

#endif
