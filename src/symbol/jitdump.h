/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitdump.h - names of JIT-compiled code by address and time.
 *
 * A JIT compiler writes what it compiles into jit-PID.dump and maps a page of
 * that file as code, so that a profiler hears of it.  Each piece of code has a
 * time: memory is used again, and what a sample met is what was there then.
 *
 * The file must be the one that was mapped, by device and inode, or belong to
 * root or to the user of the process.  What is read from it is bounded.
 */
#ifndef BOBBIN_SYMBOL_JITDUMP_H
#define BOBBIN_SYMBOL_JITDUMP_H

#include <bobbin/reason.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/process_reader.h"

struct jitdump;

/* The mapped file.  Strings are copied. */
struct jitdump_file {
	pid_t pid;             /* of the process, as this one sees it */
	const char *path;      /* the name as mapped */
	const char *open_path; /* a path that opens these very bytes, or NULL */
	uint32_t major, minor; /* of the mapping, with @ino; 0: unknown */
	uint64_t ino;
};

/* Code at an address; strings are valid until the next call. */
struct jitdump_code {
	uint64_t start, size;
	const char *name;
	const char *src_file; /* NULL: unknown */
	uint32_t line;
};

/*
 * Nothing is opened yet.  @processes: who opens the file, or NULL.  @lines: keep source
 * lines, too.  Returns 0, -ENOMEM.
 */
int jitdump_open(struct process_reader *processes, const struct jitdump_file *file, bool lines,
		 struct jitdump **ret);
void jitdump_close(struct jitdump *d);

/*
 * The code that was at @address at @time of CLOCK_MONOTONIC in nanoseconds, or,
 * with UINT64_MAX, that came last.  Files with times of another clock are read
 * as if @time were that; so are files that were made after @time by their clock: it is
 * ahead in a time namespace.  The file is looked at again at most once a second, and
 * at once if the address is not known.
 * Returns 1, 0, -ENOMEM.
 */
int jitdump_find(struct jitdump *d, uint64_t address, uint64_t time, struct jitdump_code *ret);

/* Whether damage ended the reading, and which. */
bool jitdump_damage(const struct jitdump *d, struct bobbin_error *ret);

bool jitdump_is_of(const struct jitdump *d, pid_t pid, const char *path);
const char *jitdump_path(const struct jitdump *d);
size_t jitdump_memory(const struct jitdump *d);

#endif
