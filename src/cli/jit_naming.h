/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_naming.h - names of code without a file, through the doors by which a JIT
 * compiler may have told them: a jitdump file that its process has mapped, else
 * a perf map, else, while the process lives, GDB's JIT interface.
 */
#ifndef BOBBIN_CLI_JIT_NAMING_H
#define BOBBIN_CLI_JIT_NAMING_H

#include <bobbin/unwind.h>
#include <sys/types.h>
#include <time.h>

#include "symbol/symbolizer.h"
#include "symbol/symlist.h"

/* Jitdump files of a process that are looked into. */
#define JIT_NAMING_DUMPS 8

/* Functions of a live process by GDB's JIT interface. */
struct gdb_names {
	struct symlist list;
	int pid; /* whose */
	time_t read_at;
};

/* Zero to begin. */
struct jit_naming {
	/* of the space that was looked at last: the starts of mapped jitdump files */
	const struct bobbin_space *space;
	pid_t pid;
	uint64_t generation;
	uint64_t dumps[JIT_NAMING_DUMPS];
	size_t count;
	struct gdb_names gdb;
};

/*
 * The function at @pc of process @pid at @time (UINT64_MAX: now).  1; 0: it is
 * not known; -ENOMEM.
 */
int jit_naming_find(struct jit_naming *naming, struct symbolizer *symbolizer,
		    const struct bobbin_space *space, pid_t pid, uint64_t pc, uint64_t time,
		    struct symbol *ret);

void jit_naming_fini(struct jit_naming *naming);

#endif
