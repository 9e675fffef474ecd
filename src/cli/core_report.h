/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_report.h - what a core file says of its process before the stacks, and the file for all of it.
 *
 *	PID 4711: ./crash --now
 *	signal 11 (SIGSEGV): nothing is mapped at 0x0
 */
#ifndef BOBBIN_CLI_CORE_REPORT_H
#define BOBBIN_CLI_CORE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "elf/core_file.h"
#include "export/json_output.h"

struct draft;

/**
 * struct core_report - where a report goes
 * @out: the stream
 * @json: a document on it; only if @is_json
 * @draft, @path: the file that it will be; NULL: it is standard output
 */
struct core_report {
	FILE *out;
	struct json_output json;
	bool is_json;
	struct draft *draft;
	char *path;
};

/*
 * Begin a report about a core: on standard output, or as a new file in @folder, unless NULL.
 * false after a complaint.  core_report_close() follows in any case.
 */
bool core_report_open(const struct core_file *core, const char *folder, bool is_json,
		      struct core_report *ret);

/* The lines, or the members of the document, before the threads. */
void core_report_begin(struct core_report *report, const struct core_file *core);

/* End the document.  A file gets its name if @good.  false after a complaint. */
bool core_report_close(struct core_report *report, bool good);

#endif
