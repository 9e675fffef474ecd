/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_lint.h - where a file's unwind tables say something else than its code does.
 *
 * Code is believed only where its function is verified, and where the table agrees that the function
 * is called: that its first instruction finds the return address at the stack pointer.  What another
 * way through the code confirms is no fault of the table.
 */
#ifndef BOBBIN_INFER_TABLE_LINT_H
#define BOBBIN_INFER_TABLE_LINT_H

#include <bobbin/cfi.h>
#include <bobbin/sframe.h>

enum lint_section {
	LINT_EH_FRAME,
	LINT_DEBUG_FRAME,
	LINT_SFRAME,
};

/**
 * struct lint_fault - instructions that follow each other, at which a table is wrong
 * @start, @end: from the first one to after the last one
 * @function: where the function starts, as the table says
 * @after: the instruction that control comes from to the first one, if that is the one before it,
 *	or 0
 * @instructions: their number
 * @section: of the table
 * @kinds: what is wrong, enum stated_fault
 * @stated, @inferred: rules of the first one, by table and code
 */
struct lint_fault {
	uint64_t start, end, function, after;
	uint64_t instructions;
	enum lint_section section;
	unsigned int kinds;
	struct bobbin_rule stated, inferred;
};

/**
 * struct lint_result - what was found
 * @faults, @count: ascending, those of each section by themselves
 * @compared: rules of tables that were compared, one for each instruction of a verified function
 * @different: of these
 * @confirmed: of these, those that are right on another way
 * @uncalled: of these, those in functions that the table does not take to be called, and those that
 *	exceptions come to
 */
struct lint_result {
	struct lint_fault *faults;
	size_t count, capacity;
	uint64_t compared, different, confirmed, uncalled;
};

/**
 * struct lint_tables - the tables of a file
 * @cfi, @cfi_count: as for convert_cfi()
 * @sframe, @sframe_count: its SFrame sections; the first that covers an address counts
 */
struct lint_tables {
	const struct bobbin_cfi_view *cfi;
	unsigned int cfi_count;
	const struct bobbin_sframe_view *sframe;
	unsigned int sframe_count;
};

/* Return: 0; -ENOTSUP: not x86-64, or not by this build; otherwise as infer_rows(). */
int table_lint(int fd, const struct lint_tables *tables, struct lint_result *ret);
void lint_result_fini(struct lint_result *result);

#endif
