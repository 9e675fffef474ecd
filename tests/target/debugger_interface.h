/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* debugger_interface.h - GDB's JIT interface, as in a program; the names are GDB's. */
#ifndef BOBBIN_TESTS_DEBUGGER_INTERFACE_H
#define BOBBIN_TESTS_DEBUGGER_INTERFACE_H

#include <stdint.h>

struct jit_entry {
	struct jit_entry *next, *previous;
	const void *image;
	uint64_t size;
};

struct jit_descriptor {
	uint32_t version, action;
	struct jit_entry *relevant, *first;
} __jit_debug_descriptor = {.version = 1};

#endif
