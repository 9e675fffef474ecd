/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_naming.h - functions of code without a file, by what its compiler has told.
 */
#ifndef BOBBIN_SYMBOL_JIT_NAMING_H
#define BOBBIN_SYMBOL_JIT_NAMING_H

#include <time.h>

#include "symbol/interval.h"
#include "symbol/symbolizer.h"
#include "target/lineage.h"

/* Jitdump files of a process that are looked into. */
#define JIT_NAMING_DUMPS 8

/* Whose code, and when: memory of JIT compilers is used again. */
struct naming_moment {
	int pid;
	uint64_t time;                 /* of CLOCK_MONOTONIC; UINT64_MAX: now */
	const struct lineage *lineage; /* whose memory the process began with; NULL: ask it */
};

/* Functions of a live process by GDB's JIT interface. */
struct gdb_names {
	struct symlist list;
	int pid; /* whose */
	time_t read_at;
};

/*
 * Names of code without a file, through the doors by which a JIT compiler may have told them: a
 * jitdump file that its process has mapped, else a perf map that the recording kept, or that is
 * there now, else, while the process lives, GDB's JIT interface.  Zero to begin.
 */
struct jit_naming {
	/* of the space that was looked at last: the starts of mapped jitdump files */
	const struct bobbin_space *space;
	pid_t pid;
	uint64_t generation;
	uint64_t dumps[JIT_NAMING_DUMPS];
	size_t count;
	uint64_t kept; /* the start of the mapping of a perf map that a recording kept; 0: none */
	struct lineage lineage; /* of a process that lives */
	struct gdb_names gdb;
};

/*
 * The function at @pc.  A forked child without a perf map of its own has those of its lineage,
 * and if both live, where it has the same code.  1; 0: it is not known; -ENOMEM.
 */
int jit_naming_find(struct jit_naming *naming, struct symbolizer *symbolizer,
		    const struct bobbin_space *space, const struct naming_moment *moment,
		    uint64_t pc, struct symbol *ret);

/* What it holds goes. */
void jit_naming_fini(struct jit_naming *naming);

#endif
