/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_coverage.h - how much of a process's code which table knows.
 */
#ifndef BOBBIN_CLI_TABLE_COVERAGE_H
#define BOBBIN_CLI_TABLE_COVERAGE_H

#include <bobbin/unwind.h>

/* A mapping or code that the process tells of, or what is left of a mapping. */
struct code_piece {
	uint64_t start, end;
	const char *path;
	uint64_t text; /* bytes of code */
	/* bytes that a table, or inference, is the first to know, in the order in which walks ask */
	uint64_t covered[BOBBIN_SOURCE_COUNT];
	unsigned int sframe_version; /* 0: no .sframe */
	struct bobbin_error dropped; /* of .sframe or a registered table; NONE: it was not */
	bool registered;
	bool debugger_image; /* code of GDB's JIT interface */
	bool frame_pointer;  /* the architecture has frame records to fall back to */
};

/*
 * All pieces in ascending order, as long as @sink returns 0.  What it returned, or
 * -ENOMEM.
 */
int code_pieces(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		int (*sink)(void *ctx, const struct code_piece *piece), void *ctx);

#endif
