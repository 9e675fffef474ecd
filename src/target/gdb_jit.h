/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gdb_jit.h - code that a live process announces to debuggers.
 *
 *	__jit_debug_descriptor ─► entry ─► entry ─► …
 *	                           └► ELF image in memory ─► symbols
 *
 * The interface is GDB's ("JIT Compilation Interface" in its manual): programs
 * and libraries that compile at run time hold a descriptor under this name, with
 * a list of images.  Sections of an image say by their addresses where the code
 * is, in relocatable images, too.  All of it is only what the process says:
 * numbers, sizes and images are bounded, and an image that makes no sense is
 * passed over.
 */
#ifndef BOBBIN_TARGET_GDB_JIT_H
#define BOBBIN_TARGET_GDB_JIT_H

#include "base/process_reader.h"
#include "target/mapping_list.h"

/* Files of a process that hold a descriptor: a program, libraries. */
#define GDB_JIT_DESCRIPTORS 8
#define GDB_JIT_ENTRIES 16384
#define GDB_JIT_IMAGE_MAX ((uint64_t)64 << 20)
#define GDB_JIT_LIST_MAX ((uint64_t)256 << 20) /* of all images in a list */

/* An image in the process's memory. */
struct gdb_jit_entry {
	uint64_t address, size;
};

/* What changes when the list does. */
struct gdb_jit_state {
	uint64_t action, relevant, first;
};

struct gdb_jit_function {
	uint64_t start, size;
	const char *name;
};

/* Anything but 0 ends the reading and is returned. */
typedef int (*gdb_jit_sink)(void *ctx, const struct gdb_jit_function *function);

/*
 * Where the descriptors are, by the symbol tables of the mapped files; their number.
 * A file is opened once: what was found is kept with it.
 */
size_t gdb_jit_find(const struct mapping_list *maps, uint64_t ret[GDB_JIT_DESCRIPTORS]);

/* How a descriptor of @process is now.  0, or the errno of reading memory. */
int gdb_jit_state(const struct remote_process *process, uint64_t descriptor,
		  struct gdb_jit_state *ret);

/*
 * The images that a descriptor of @process leads to now, from malloc(), in the order of the
 * list, in which LLVM puts new ones first; NULL for none.  Their number;
 * -ENOMEM; the errno of reading memory.
 */
int gdb_jit_list(const struct remote_process *process, uint64_t descriptor,
		 struct gdb_jit_entry **ret);

/*
 * The functions of an image that have a size and a place.  0; what @sink returned;
 * -EBADMSG for no ELF image; -ENOMEM; the errno of reading memory.
 */
int gdb_jit_functions(const struct remote_process *process, const struct gdb_jit_entry *entry,
		      gdb_jit_sink sink, void *ctx);

#endif
