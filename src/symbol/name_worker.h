/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * name_worker.h - what the process does that reads files for their names.
 *
 * It has no rights (confinement.h) and no files but those that its parent sends it.
 */
#ifndef BOBBIN_SYMBOL_NAME_WORKER_H
#define BOBBIN_SYMBOL_NAME_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "symbol/debuginfo.h"

/* The status with which it ends when a library finds no memory. */
#define NAME_WORKER_NO_MEMORY 12

/* As in struct symbolizer_options; borrowed. */
struct name_worker_options {
	const char *debug_path, *symfs;
	bool inlines, lines, demangle;
	size_t limit;
};

/* Serve until the other end of @socket is closed. */
void name_worker_run(int socket, const struct name_worker_options *options)
	__attribute__((noreturn));

#endif
