/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_code.h - code that processes made at run time, read in their memory.
 *
 * Samples come in batches, each some time after it was taken.  Pages of code are kept for about
 * as long, so that a batch reads each once.
 */
#ifndef BOBBIN_UNWIND_LIVE_CODE_H
#define BOBBIN_UNWIND_LIVE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_reader;

#define LIVE_CODE_PAGE 4096
#define LIVE_CODE_PAGES 32

struct live_code_page {
	uint64_t addr, time; /* time 0: empty */
	int pid;
	bool readable;
	uint8_t bytes[LIVE_CODE_PAGE];
};

/* All zeros at first. */
struct live_code {
	unsigned int next;
	struct live_code_page pages[LIVE_CODE_PAGES];
};

/* Bytes of a process's memory; @reader: or NULL.  false: they cannot be read. */
bool live_code_read(struct live_code *code, struct process_reader *reader, int pid, uint64_t addr,
		    void *dst, size_t size);

#endif
