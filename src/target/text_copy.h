/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text_copy.h - code of a file that a process has copied to where the file was mapped.
 *
 *	before	r--p prog   r-xp prog          r--p prog
 *	after	r--p prog   r-xp (anonymous)   r--p prog	the same bytes
 *
 * Programs do that to have their code on huge pages: node --use-largepages=on, iodlr, hugetlbfs.
 * The kernel knows memory without the file then, or of another file.  What it lies in is the
 * object around it, by the file's segments; what its bytes are is compared page by page.  A page
 * with the file's bytes is the file's code, with its tables and symbols.  One that differs, if
 * only by a breakpoint, is code that nobody vouches for, and stays what the kernel says.
 */
#ifndef BOBBIN_TARGET_TEXT_COPY_H
#define BOBBIN_TARGET_TEXT_COPY_H

#include <bobbin/address_space.h>

#include "base/process_reader.h"
#include "target/mapping_list.h"

/* Bytes of a process that are compared; what comes after them is left as it is. */
#define TEXT_COPY_MAX ((uint64_t)1 << 30)

/* 0, or a negative errno, which ends the search. */
typedef int (*text_copy_sink)(void *ctx, const struct bobbin_mapping *mapping);

/*
 * Give a mapping of the file for each range of pages that are a copy of it, ascending within
 * what the kernel calls one mapping; their strings live for the call.  @known: mappings as they
 * were told, which are neither compared again nor given; or NULL.  0; what @sink returned;
 * -ENOMEM; the errno of reading /proc/PID/maps.  Files and memory that cannot be read are no
 * copies.
 */
int text_copies_find(const struct remote_process *process, const struct mapping_list *known,
		     text_copy_sink sink, void *ctx);

#endif
