/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_outcome.h - what the analysis of a function has come to.
 */
#ifndef BOBBIN_INFER_FLOW_OUTCOME_H
#define BOBBIN_INFER_FLOW_OUTCOME_H

#include "infer/program_code.h"

/**
 * struct flow_outcome - what has become of a function
 * @verified: each return is reached with the frame undone, and nothing contradicts
 * @no_return: it was followed to all its ends, and none of them is a return
 * @spent: its budget was spent: there is no result
 * @rejected: it is none: it contradicts itself or others; there is no result
 * @by_fp: it takes the stack pointer from the frame pointer, so the latter has to be right after
 *	calls, and the former need not
 * @exits: returns, and jumps to other functions, with the frame undone
 * @proofs: of these, those that can be nothing else: a jump that is not resolved may be a switch
 * @assumed: calls that are taken to return, and to keep the stack pointer
 * @instructions: that were reached
 * @unresolved: jumps that lead where nobody knows
 * @returns: of any kind
 * @effect: on its callers
 */
struct flow_outcome {
	bool verified, no_return, spent, rejected, by_fp;
	uint32_t exits, proofs, assumed, instructions, unresolved, returns;
	struct callee_effect effect;
};

#endif
