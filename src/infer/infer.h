/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * infer.h - unwind rules from machine code.
 *
 *	program_of_elf(fd, &err, &program);
 *	infer_rows(&program, &options, &rows);
 *
 * Two grades: rows of *verified* functions, in which each return is reached with the frame
 * undone and nothing contradicts, hold as call-frame information does.  Those of other
 * functions are likely.
 */
#ifndef BOBBIN_INFER_INFER_H
#define BOBBIN_INFER_INFER_H

#include <stdlib.h>

#include "infer/flow.h"

/**
 * struct infer_row - addresses with one rule
 * @start, @end: of them
 * @function: where the function starts; its parts may be anywhere
 * @word: the packed rule; 0: there is none, while rows are gathered
 * @verified: the grade
 * @own: it is in the function's range, not in a part elsewhere
 */
struct infer_row {
	uint64_t start, end;
	uint64_t function;
	uint64_t word;
	bool verified, own;
};

/**
 * struct infer_counts - what was done
 * @functions, @verified: analysed, and of them
 * @rejected: what was tried as a function and is none
 * @spent: functions whose budget was spent; they have no rows
 * @skipped: functions that were not looked at, since the file's budget was spent
 * @instructions: that were reached
 */
struct infer_counts {
	uint64_t functions, verified, rejected, spent, skipped, instructions;
};

struct infer_rows {
	struct infer_row *rows;
	size_t count, capacity;
	struct infer_counts counts;
};

static inline void infer_rows_fini(struct infer_rows *rows)
{
	free(rows->rows);
	*rows = (struct infer_rows){0};
}

/*
 * Sort rows of all functions, and make those of them that overlap one.  Where functions share code,
 * they should agree.  Where not, what is verified holds; if rows of one grade disagree, none does.
 * 0, -ENOMEM.
 */
int infer_rows_resolve(struct infer_rows *rows);

/**
 * struct infer_observation - what was inferred of an instruction
 * @pc, @insn: the instruction
 * @state: before it
 * @function: that was analysed: where it starts
 * @verified: its grade
 */
struct infer_observation {
	uint64_t pc;
	const struct insn *insn;
	const struct frame_state *state;
	uint64_t function;
	bool verified;
};

/**
 * struct infer_options - what is wanted
 * @only: where rules are wanted, settled; NULL: everywhere
 * @observe: called for each instruction of each function that is kept, or NULL
 * @ctx: for it
 * @stop: rules are not wanted any more, as soon as it is set; or NULL
 */
struct infer_options {
	const struct coverage *only;
	int (*observe)(void *ctx, const struct infer_observation *observation);
	void *ctx;
	const _Atomic bool *stop;
};

/*
 * The rules of a program, which is settled, and gets starts that its code shows: rows, ascending,
 * without overlaps, to be given to infer_rows_fini().  The work is bounded by the bytes of code. 0;
 * -ENOTSUP: not by this build; -ENODATA: it has no code; -EFBIG; -ENOMEM; -ECANCELED: @stop; what
 * @observe returned.
 */
int infer_rows(struct program *program, const struct infer_options *options,
	       struct infer_rows *ret);

#endif
