/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_tables.h - the tables of a code in the own process's map.
 *
 * A loaded object has the set of its file, in the file's addresses; registered code has the
 * section or JIT table that it was registered with.  All of this is async-signal-safe.
 */
#ifndef BOBBIN_UNWIND_CODE_TABLES_H
#define BOBBIN_UNWIND_CODE_TABLES_H

#include "codemap/registry.h"
#include "unwind/table_set.h"

/* Who asks, and how memory is read. */
struct code_asker {
	const struct bobbin_arch *arch;
	struct registry *registry; /* is told of malformed tables; NULL: there is no code */
	struct bobbin_mem mem;     /* JIT tables */
	struct code_reader code;   /* code, by its address */
};

/* The rule for an address in @code, as table_set_rule(); @code NULL: nothing is known of it. */
void code_tables_rule(const struct code_asker *by, struct code *code, uint64_t pc,
		      struct table_answer *ret);

#endif
