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

#include "infer/flow.h"
#include "infer/inferred_rows.h"

/**
 * struct infer_observation - what was inferred of an instruction
 * @pc, @insn: the instruction
 * @state: before it
 * @function: that was analysed: where it starts
 * @verified: its grade
 */
struct infer_observation {
	uint64_t pc;
	const struct x86_insn *insn;
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

/**
 * infer_rows() - the rules of a program
 * @program: it; it is settled, and starts are added that its code shows
 * @options: what is wanted
 * @ret: rows, ascending, without overlaps; to be given to infer_rows_fini()
 *
 * The work is bounded by the bytes of code.
 *
 * Return: 0; -ENOTSUP: not by this build; -ENODATA: it has no code; -EFBIG; -ENOMEM;
 * -ECANCELED: @stop; what @observe returned.
 */
int infer_rows(struct program *program, const struct infer_options *options,
	       struct infer_rows *ret);

#endif
