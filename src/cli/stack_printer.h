/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_printer.h - the stack of a thread, as text or as an object of a JSON document.
 *
 *	TID 4711 (worker):
 *	#0   0x00007f254be4e503 clock_nanosleep+0x23 (/usr/lib/x86_64-linux-gnu/libc.so.6)
 *	     the trace ends here: the stack is not readable
 */
#ifndef BOBBIN_CLI_STACK_PRINTER_H
#define BOBBIN_CLI_STACK_PRINTER_H

#include <bobbin/trace.h>
#include <stdbool.h>
#include <stdio.h>

#include "export/json_output.h"
#include "symbol/naming.h"

/* Of a deeper stack that are kept for its outer end. */
#define OUTER_FRAMES (BOBBIN_MAX_DEPTH / 4)

/**
 * struct stack_printer - how stacks are printed
 * @naming, @space: of the frames
 * @pid: whose perf map and jitdump files have names; 0: nobody's
 * @verbose: with the table of each frame
 * @out: where to
 * @json: where in a document, whose stream is @out; NULL: as text
 */
struct stack_printer {
	struct naming *naming;
	struct bobbin_space *space;
	int pid;
	bool verbose;
	FILE *out;
	struct json_output *json;
};

/* @name: of the thread, or NULL. */
void stack_printer_put(const struct stack_printer *printer, int tid, const char *name,
		       const struct bobbin_trace *trace);

#endif
