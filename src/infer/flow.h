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

#include "infer/frame_state.h"
#include "infer/program_code.h"

struct flow;

/* 0; -ENOMEM; -ENOTSUP: code cannot be decoded here. */
int flow_open(struct program *program, struct flow **ret);
void flow_close(struct flow *flow);

/*
 * Analyse the function from @start to at most @end. If @others is not NULL, this may not be a
 * function: it is rejected if it cannot be verified, if its code is in @others, or, unless it is
 * @called, if no exit proves that the return address was on top of the stack at @start. 0, -ENOMEM.
 */
int flow_analyse(struct flow *flow, uint64_t start, uint64_t end, const struct code_set *others,
		 bool called, struct flow_outcome *ret);

/**
 * struct flow_visit - an instruction of the function that was analysed last
 * @pc, @insn: it
 * @state: before it
 * @doubt: nothing but a call that is taken to return leads there, in code that is elsewhere: that of
 *	another function may follow the call
 */
struct flow_visit {
	uint64_t pc;
	const struct insn *insn;
	const struct frame_state *state;
	bool doubt;
};

typedef int (*flow_visitor)(void *ctx, const struct flow_visit *visit);

/*
 * Call @visit for each instruction that was reached, in no order, until it returns another value
 * than 0. That value, or 0.
 */
int flow_visit(struct flow *flow, flow_visitor visit, void *ctx);

/*
 * Targets of its calls, and of its jumps to other functions, with duplicates. Valid until the next
 * analysis.
 */
const uint64_t *flow_callees(const struct flow *flow, size_t *count);

#endif
