/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_pages.h - pages of code that were read last, of files and of processes' memory.
 *
 * Walks without tables read the code around each frame's PC.  Pages of files stay valid.  Pages
 * of a process's memory are valid for about as long as a sample waits to be walked, so that a
 * batch of samples reads each of them once.
 */
#ifndef BOBBIN_UNWIND_CODE_PAGES_H
#define BOBBIN_UNWIND_CODE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module;
struct process_reader;

#define CODE_PAGE 4096
#define CODE_PAGES 64 /* directly mapped */

struct code_page {
	uint64_t addr;               /* or offset in the file */
	const struct module *module; /* NULL: of process @pid's memory, at @time */
	uint64_t time;
	int pid;
	uint32_t size; /* bytes that could be read from the start on */
	uint8_t bytes[CODE_PAGE];
};

/* The page at a multiple of CODE_PAGE, or NULL. */
typedef const struct code_page *(*code_page_finder)(void *ctx, uint64_t addr);

/* Bytes out of pages; false: one of them is not there, or has less. */
bool code_page_copy(code_page_finder find, void *ctx, uint64_t addr, void *dst, size_t size);

/* All zeros at first. */
struct code_pages {
	struct code_page pages[CODE_PAGES];
};

/* Bytes of a process's memory; @reader: or NULL.  false: they cannot be read. */
bool code_pages_live(struct code_pages *pages, struct process_reader *reader, int pid,
		     uint64_t addr, void *dst, size_t size);

/* Bytes at an offset of a module's file, as module_code(); the module stays as long as @pages. */
bool code_pages_file(struct code_pages *pages, const struct module *module, uint64_t offset,
		     void *dst, size_t size);

#endif
