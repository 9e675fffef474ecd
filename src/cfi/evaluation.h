/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evaluation.h - the value of a DWARF expression for the registers of a frame.
 *
 * DWARF 5, section 2.5, as far as it makes sense in call-frame information.  Nothing is
 * written, the stack has a fixed size, and jumps backwards end with the operations that a
 * walk may use.
 */
#ifndef BOBBIN_CFI_EVALUATION_H
#define BOBBIN_CFI_EVALUATION_H

#include "core/bytes.h"
#include "core/table_step.h"

/* What GCC's runtime has, too. */
#define EVALUATION_DEPTH 64

/**
 * struct evaluation - an expression and what it is about
 * @step: the frame, and the work that is left
 * @mem: reader for the target's memory
 * @section: address of the section
 * @block: the bytes of the expression, from @block.pos to @block.size
 * @cfa: what the stack starts with, if @has_cfa
 */
struct evaluation {
	struct table_step *step;
	const struct bobbin_mem *mem;
	uint64_t section;
	struct bytes block;
	uint64_t cfa;
	bool has_cfa;
};

/* @n <= 8 bytes of the target's memory as a number. */
enum bobbin_reason evaluation_load(const struct evaluation *e, uint64_t addr, unsigned int n,
				   uint64_t *ret);

/* The value on top in the end.  CFI_EXPRESSION: it has none; NO_REGISTER: @step->missing. */
enum bobbin_reason evaluate(const struct evaluation *e, uint64_t *ret);

#endif
