/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_walk_abi.h - what the recorder and its program in the kernel tell each other.
 *
 *	processes   process → its list of mappings      hash
 *	mappings    entries of all lists, ascending      array
 *	files       where a file's table is              array
 *	pages       compiled tables, each from the start of a page on
 *
 * The recorder fills these maps; the program only reads them.
 */
#ifndef BOBBIN_PROFILE_KERNEL_WALK_ABI_H
#define BOBBIN_PROFILE_KERNEL_WALK_ABI_H

#include "table/table_parts.h"

#define KERNEL_PROCESSES 16384
#define KERNEL_MAPPINGS 65536
#define KERNEL_FILES 4096
#define KERNEL_PAGE 4096
#define KERNEL_PAGES 8192

/* Instead of a file: memory without one, whose code has frame pointers or none; all others. */
#define KERNEL_NO_FILE UINT32_MAX
#define KERNEL_BARE (UINT32_MAX - 1)

/* The most frames of a stack that the kernel walks. */
#define KERNEL_FRAMES 1024
/* Walks that wait, at most, and the bytes of those that came to the end. */
#define KERNEL_LATE_WALKS 16
#define KERNEL_LATE_BYTES (1u << 20)
/* Rules that each CPU keeps; a power of two. */
#define KERNEL_RULES 4096

/**
 * struct kernel_list - the mappings of a process
 * @number: of the list; it is never used again
 * @first, @count: entries of the map of mappings
 */
struct kernel_list {
	uint64_t number;
	uint32_t first, count;
};

/**
 * struct kernel_mapping - code of a file
 * @start, @end: addresses
 * @bias: what the address of code is above that in its file
 * @file: entry of the map of files
 */
struct kernel_mapping {
	uint64_t start, end, bias;
	uint32_t file, unused;
};

/**
 * struct kernel_file - the table of a file
 * @table: its pointers are bytes from the start of the map of pages
 * @entry, @entry_size: the first function of a program; size 0: it has none
 * @first: where code without a table may be the program's first; 0: nowhere
 * @source: enum bobbin_source of its rules
 * @eh_returns: there may be code as in core/eh_return.h
 * @resort: what the table does not cover, no other does
 */
struct kernel_file {
	struct compiled_table table;
	uint64_t entry, entry_size, first;
	uint8_t source;
	bool eh_returns, resort;
};

/* In the words of a trace, above the PC. */
#define KERNEL_PC_BITS 56
#define KERNEL_PC ((1ull << KERNEL_PC_BITS) - 1)
#define KERNEL_EXACT (1ull << 63)
#define KERNEL_SOURCE 0x7f

/**
 * struct kernel_trace - a stack, as the program gives it out
 * @list: number of the list of mappings by which it was walked
 * @cookie: 0: it is whole; else it ends at a page that is not in memory.  When the page is there
 *	the stack is walked again, and the whole one has the same cookie
 * @period: of the sample
 * @count: of frames
 * @frames: leaf first: the PC, the source, and whether the PC is exact
 */
struct kernel_trace {
	uint64_t list, cookie, period;
	uint32_t count, unused;
	uint64_t frames[KERNEL_FRAMES];
};

/* What a CPU has done; a walk is also one that did not come to the end. */
struct kernel_counts {
	uint64_t walks, frames, whole;
};

#endif
