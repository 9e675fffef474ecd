/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process_objects.h - from an address of this process to the tables of the object that has it.
 *
 * Objects that stay as long as the program are listed once, outside of handlers.  Others may be
 * unloaded: they are asked for each time, by what the loader says in any context, and their tables
 * are read where they are.  That is safe for the code of a frame that is on the stack, since what
 * runs is not unloaded.
 */
#ifndef BOBBIN_UNWIND_PROCESS_OBJECTS_H
#define BOBBIN_UNWIND_PROCESS_OBJECTS_H

#include "unwind/mapped_tables.h"

/* What is loaded beyond these is asked for each time, or not known where the loader cannot tell. */
#define PROCESS_OBJECTS_MAX 512

/*
 * List what is loaded now and stays; what is listed already is not looked at again.  Takes the
 * loader's lock, so not in a signal handler.  Some microseconds, and no memory.
 */
void process_objects_learn(void);

/* In a forked child, before anything is learned: another thread may have been at it. */
void process_objects_forked(void);

/* How many are listed.  Async-signal-safe. */
unsigned int process_objects_count(void);

/* The object with an address, of those that stay, or NULL.  Async-signal-safe. */
struct mapped_tables *process_objects_find(uint64_t addr);

/* Whether an address is in the first code of the program or of the dynamic loader.  Async-signal-safe. */
bool process_objects_is_entry(uint64_t addr);

/*
 * The tables for the code of a frame: those of an object that stays, or, in @room, of another.  NULL:
 * nobody knows the code.  @pc must be the address of code that is on the calling thread's stack, or
 * is running.  Async-signal-safe.
 */
struct mapped_tables *process_tables(uint64_t pc, struct mapped_tables *room);

#endif
