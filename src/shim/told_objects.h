/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * told_objects.h - which loaded objects the recorder has been told of, without the loader's lock.
 *
 * A thread that holds that lock may call what waits for one of the interrupted thread's.  So nobody asks for
 * the list of objects in a signal handler: the stack leads to those that matter.
 */
#ifndef BOBBIN_SHIM_TOLD_OBJECTS_H
#define BOBBIN_SHIM_TOLD_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is loaded now, and stays, is told with the start.  Takes the loader's lock. */
void told_objects_begin(void);

/*
 * Whether @pc or a word of a copy of a stack leads into an object that was not there at the last such
 * question; from now on it counts as told.  An object that has another's place, and all that the
 * loader says of it, is taken for that one.  Async-signal-safe, no lock.
 */
bool told_objects_find_new(uint64_t pc, const uint8_t *stack, size_t size);

#endif
