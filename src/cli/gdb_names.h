/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gdb_names.h - functions of a live process by GDB's JIT interface.
 */
#ifndef BOBBIN_CLI_GDB_NAMES_H
#define BOBBIN_CLI_GDB_NAMES_H

#include <bobbin/unwind.h>
#include <time.h>

#include "symbol/jitdump.h"
#include "symbol/symlist.h"

/* Zero to begin. */
struct gdb_names {
	struct symlist list;
	int pid; /* whose */
	time_t read_at;
};

/*
 * The function at @pc, as process @pid tells it now; read anew at most once a
 * second, when an address is not known.  1; 0: not told; -ENOMEM.
 */
int gdb_names_find(struct gdb_names *names, const struct bobbin_space *space, int pid, uint64_t pc,
		   struct jitdump_code *ret);

void gdb_names_fini(struct gdb_names *names);

#endif
