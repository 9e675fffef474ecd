/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kept_code.h - code that processes have made, for samples that are walked later.
 *
 * It is in no file, and gone with its process, which may end before the rules are there that a
 * sample waits for.
 */
#ifndef BOBBIN_UNWIND_KEPT_CODE_H
#define BOBBIN_UNWIND_KEPT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_code;
struct process_reader;

/* NULL: no memory. */
struct kept_code *kept_code_open(void);
void kept_code_close(struct kept_code *kept); /* NULL is fine */

/*
 * Keep what is around an address in a process's memory now, if it was not kept a moment ago.  The
 * pages that were kept the longest time ago make room.  @reader: or NULL.
 */
void kept_code_add(struct kept_code *kept, struct process_reader *reader, int pid, uint64_t addr);

/* Bytes that were kept of a process; false: not all of them were.  @kept: or NULL. */
bool kept_code_read(struct kept_code *kept, int pid, uint64_t addr, void *dst, size_t size);

#endif
