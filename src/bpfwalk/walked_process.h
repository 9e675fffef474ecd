/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walked_process.h - what the walker in the kernel was told of a process.
 */
#ifndef BOBBIN_BPFWALK_WALKED_PROCESS_H
#define BOBBIN_BPFWALK_WALKED_PROCESS_H

#include <bobbin/address_space.h>

struct known_list;

/**
 * struct walked_process - a process; all but the first two are the walker's
 * @followed: its list was made at least once
 * @waits: its list lacks tables that are being built
 * @taken, @extended: the walker's counts of tables, and of those extended, when the list was made
 * @generation: of the space, when the list was made
 * @drops: registered tables that had turned out to be malformed by then
 * @retry: when to look for room again; 0: there was room
 * @grows: when to look at JIT tables again; 0: there are none
 * @told: the kernel's map has an entry of it
 * @time: of that entry
 * @list: of its mappings, or NULL
 */
struct walked_process {
	int pid;
	struct bobbin_space *space;
	bool followed, waits, told;
	uint64_t taken, extended, generation, drops, retry, grows, time;
	struct known_list *list;
};

#endif
