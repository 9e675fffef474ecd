/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sweep.h - starts of functions that code shows: what it calls, and whose address it computes.
 */
#ifndef BOBBIN_INFER_SWEEP_H
#define BOBBIN_INFER_SWEEP_H

#include "infer/program_code.h"
#include "infer/x86_insn.h"

/* Read all code once, from each start that is known; settles the program.  0, -ENOMEM. */
int sweep_program(struct program *program, const struct x86_decoder *decoder);

#endif
