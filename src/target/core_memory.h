/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_memory.h - the memory of a core file's process, for walks.
 */
#ifndef BOBBIN_TARGET_CORE_MEMORY_H
#define BOBBIN_TARGET_CORE_MEMORY_H

#include <bobbin/step.h>

#include "elf/core_file.h"

#define CORE_PAGE 4096u
#define CORE_PAGES 8

/* The last pages that were read; zero but for @core to begin. */
struct core_pages {
	const struct core_file *core; /* borrowed */
	uint32_t next;
	struct {
		uint64_t addr;
		size_t size; /* bytes that the core has of it, from its start on */
		uint8_t bytes[CORE_PAGE];
	} pages[CORE_PAGES];
};

/* The read function of a struct bobbin_mem; @ctx: struct core_pages. */
enum bobbin_reason core_pages_read(void *ctx, uint64_t addr, void *dst, size_t len);

#endif
