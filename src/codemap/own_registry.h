/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_registry.h - the registry of the own process.
 *
 * It stands for what codectl(2) would keep in the kernel's mm.  Besides unwind/backtrace.c, and what
 * each thread has in unwind/self_memory.c, this is the library's only global state.  The first
 * registration creates it, nothing frees it, and forked children get a copy.
 */
#ifndef BOBBIN_CODEMAP_OWN_REGISTRY_H
#define BOBBIN_CODEMAP_OWN_REGISTRY_H

#include "codemap/registry.h"

/* Made if need be; -ENOMEM.  Not from signal handlers. */
int own_registry_open(struct registry **ret);

/*
 * Whether it could be changed at once: nobody is changing it, in particular not the
 * thread that asks, whose malloc() may walk.  For who does not want to wait.
 */
bool own_registry_is_free(void);

/* Call @forgotten in children that are forked from now on, before the map changes. */
void own_registry_tell_children(void (*forgotten)(void));

/* The registry; NULL: nothing was registered.  Async-signal-safe. */
struct registry *own_registry(void);

#endif
