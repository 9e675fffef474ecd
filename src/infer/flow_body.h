/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_body.h - the function that is being analysed, as the parts of the analysis share it.
 */
#ifndef BOBBIN_INFER_FLOW_BODY_H
#define BOBBIN_INFER_FLOW_BODY_H

#include "infer/code_set.h"
#include "infer/flow_outcome.h"
#include "infer/frame_state.h"
#include "infer/insn_map.h"

/* Functions begin at multiples of this. */
#define FLOW_ALIGNMENT 16

/* Parts of a function that are elsewhere. */
#define MOST_PARTS 64

/* Where control may come from several places. */
struct label {
	uint32_t insn;
	uint32_t after_call; /* number of the call before it from which control came, + 1 */
	size_t state;        /* where its state is in the store, if it has one */
	bool has_state, queued;
	bool doubt;         /* see struct flow_visit */
	bool after_padding; /* control has come from that call alone, over padding */
};

struct flow {
	struct program *program;
	struct x86_decoder *decoder;
	struct insn_map map;
	struct label *labels;
	size_t label_count, label_capacity;
	uint32_t *queue; /* labels whose states have changed */
	size_t queue_count, queue_capacity;
	uint64_t *ahead; /* addresses to be decoded */
	size_t ahead_count, ahead_capacity;
	uint8_t *store; /* states of labels */
	size_t store_size, store_capacity;
	struct bobbin_range parts[MOST_PARTS];
	unsigned int part_count;
	uint64_t start, steps;
	const struct code_set *others; /* code of other functions, if this may be none */
	uint64_t *callees;
	size_t callee_count, callee_capacity;
	bool moves_differ; /* the stack pointer after one return, from that after another */
	bool again;        /* what was done is void: begin anew */
	bool bad;          /* something contradicts */
	bool doubt;        /* of the instruction at hand */
	struct flow_outcome out;
};

static inline uint64_t flow_address(const struct flow *f, uint32_t insn)
{
	return f->map.base + f->map.insns[insn].insn.at;
}

/* The address after an instruction. */
static inline uint64_t flow_after(const struct flow *f, uint32_t insn)
{
	return flow_address(f, insn) + f->map.insns[insn].insn.len;
}

/* The state of a label that has one. */
static inline struct frame_state *flow_label_state(const struct flow *f, const struct label *label)
{
	return (struct frame_state *)(void *)(f->store + label->state);
}

/* Whether an address is one of the code that is taken to be the function's. */
bool flow_owns(const struct flow *f, uint64_t addr);

/* Something contradicts. */
void flow_contradict(struct flow *f);

/* Control goes to an address, which may be outside of the function.  0, -ENOMEM. */
int flow_go_to(struct flow *f, uint64_t addr, const struct frame_state *state);

/* A tail call of what starts at an address; @start: the last one at or before it, or NULL. */
int flow_call_last(struct flow *f, uint64_t addr, const struct program_start *start);

/* What returns, indirect jumps and calls do.  @on: whether control goes on after the call. */
int flow_pass_return(struct flow *f, const struct x86_insn *insn, const struct frame_state *state);
int flow_pass_jump(struct flow *f, const struct x86_insn *insn, const struct frame_state *state);
int flow_pass_call(struct flow *f, uint32_t number, struct frame_state *state, bool *on);

/* Whether nothing but padding follows an instruction, up to where a function may begin. */
bool flow_is_padded(const struct flow *f, uint32_t number);

/* Whether a call is only taken to return, and where code of another function may follow it. */
bool flow_call_is_doubtful(const struct flow *f, uint32_t number);

/* Whether a call does not return here, and what it leaves if it does. */
bool flow_call_ends(const struct flow *f, uint32_t number);
void flow_step_call(const struct flow *f, uint32_t number, struct frame_state *state);

#endif
