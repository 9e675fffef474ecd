/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow.h - one function at a time: what holds before each of its instructions.
 *
 *	flow_open(&program, &flow);
 *	for each function
 *		flow_analyse(flow, start, end, &outcome);
 *		flow_visit(flow, visit, ctx);
 *	flow_close(flow);
 *
 * Control is followed from the function's start.  States are kept where control may come from
 * several places, until nothing changes any more; what differs there is not known.  Where the
 * function jumps to a part of itself that is elsewhere, the part is analysed with it.
 */
#ifndef BOBBIN_INFER_FLOW_H
#define BOBBIN_INFER_FLOW_H

#include "infer/code_set.h"
#include "infer/frame_state.h"
#include "infer/program_code.h"

struct flow;

/**
 * struct flow_outcome - what has become of a function
 * @verified: each return is reached with the frame undone, and nothing contradicts
 * @no_return: it was followed to all its ends, and none of them is a return
 * @spent: its budget was spent: there is no result
 * @rejected: it is none: it contradicts itself or others; there is no result
 * @exits: returns, and jumps to other functions, with the frame undone
 * @instructions: that were reached
 * @unresolved: jumps that lead where nobody knows
 */
struct flow_outcome {
	bool verified, no_return, spent, rejected;
	uint32_t exits, instructions, unresolved;
};

/* 0; -ENOMEM; -ENOTSUP: code cannot be decoded here. */
int flow_open(struct program *program, struct flow **ret);
void flow_close(struct flow *flow);

/*
 * Analyse what starts at @start, and is taken to end before @end.  @others: it may be no function,
 * and is rejected at once if it cannot be verified, or has code that is in this set; NULL: it is
 * one.  0, -ENOMEM.
 */
int flow_analyse(struct flow *flow, uint64_t start, uint64_t end, const struct code_set *others,
		 struct flow_outcome *ret);

/* An instruction of the function that was analysed last, and the state before it. */
typedef int (*flow_visitor)(void *ctx, uint64_t pc, const struct x86_insn *insn,
			    const struct frame_state *state);

/* Each instruction that was reached, in no order.  What @visit returned, if not 0. */
int flow_visit(struct flow *flow, flow_visitor visit, void *ctx);

#endif
