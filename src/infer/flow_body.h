/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flow_body.h - the state of the analysis of one function, shared by flow.c and flow_ends.c. */
#ifndef BOBBIN_INFER_FLOW_BODY_H
#define BOBBIN_INFER_FLOW_BODY_H

#include "infer/frame_state.h"
#include "infer/insn.h"
#include "infer/program_code.h"

/*
 * The instructions of a function that were decoded, by address.  The map of a file is made once,
 * and emptied for each function; it takes memory for the pages of code that the function touches,
 * and a pointer for each of the others.
 */
#define NO_INSN UINT32_MAX

/* An instruction, and what its function's analysis keeps of it. */
struct mapped_insn {
	struct insn insn;
	uint32_t label;     /* number of its label + 1, or 0 */
	bool reached, ends; /* a state has reached it; a call that does not return here */
};

struct insn_page;

/**
 * struct insn_map - the instructions
 * @base: the address that @at of an instruction counts from
 * @insns, @count: in the order in which they were decoded
 */
struct insn_map {
	uint64_t base;
	struct mapped_insn *insns;
	size_t count, capacity;
	struct insn_page **pages;
	size_t page_count;
	uint32_t *used;
	size_t used_count, used_capacity;
	struct insn_page *spare;
};

/* For code from @start to before @end, less than 4 GiB.  0, -ENOMEM, -EFBIG. */
int insn_map_init(struct insn_map *map, uint64_t start, uint64_t end);
void insn_map_fini(struct insn_map *map);

/* Forget the instructions. */
void insn_map_empty(struct insn_map *map);

/* The number of the instruction at an address, or NO_INSN. */
uint32_t insn_map_find(const struct insn_map *map, uint64_t addr);

/* Append an instruction whose @at is set.  0, -ENOMEM. */
int insn_map_add(struct insn_map *map, const struct insn *insn);

/* Functions begin at multiples of this. */
#define FLOW_ALIGNMENT 16

/* Most parts of a function outside of its own range, such as NAME.cold. */
#define MOST_PARTS 64

/* An instruction that control may reach from several places. */
struct label {
	uint32_t insn;
	uint32_t after_call; /* 1 + number of the call it is the return of, or 0 */
	size_t state;        /* offset of its state in the store, if it has one */
	bool has_state, queued;
	bool doubt;         /* see struct flow_visit */
	bool after_padding; /* reached only from that call, over padding */
};

struct flow {
	struct program *program;
	struct insn_decoder *decoder;
	struct insn_map map;
	struct label *labels;
	size_t label_count, label_capacity;
	uint32_t *queue; /* labels whose states have changed */
	size_t queue_count, queue_capacity;
	uint64_t *ahead; /* addresses still to be decoded */
	size_t ahead_count, ahead_capacity;
	uint8_t *store; /* states of labels */
	size_t store_size, store_capacity;
	struct bobbin_range parts[MOST_PARTS];
	unsigned int part_count;
	uint64_t start, steps;
	const struct code_set *others; /* their code, if this may not be a function; or NULL */
	bool called;                   /* if it is one, it starts as a function does */
	uint64_t *callees;
	size_t callee_count, callee_capacity;
	bool moves_differ; /* returns leave different stack pointers */
	bool again;        /* the results are invalid: begin again */
	bool bad;          /* a contradiction was found */
	bool calls;        /* or leaves by a jump */
	uint32_t changes;  /* registers that it changes itself */
	bool doubt;        /* that of the current instruction */
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

/* Whether an address belongs to the code that is assumed to be the function's. */
bool flow_owns(const struct flow *f, uint64_t addr);

/* Note a contradiction: the function is not verified. */
void flow_contradict(struct flow *f);

/* Follow control to an address, which may be outside of the function. 0, -ENOMEM. */
int flow_go_to(struct flow *f, uint64_t addr, const struct frame_state *state);

/* Note a tail call to an address; @start: the last known start at or before it, or NULL. */
int flow_call_last(struct flow *f, uint64_t addr, const struct program_start *start);

/* The same, where the return address is below arguments for the other function, or above. */
int flow_call_last_with_arguments(struct flow *f, uint64_t addr);

/* Effects of returns, indirect jumps and calls. @on: control continues after the call. */
int flow_pass_return(struct flow *f, const struct insn *insn, const struct frame_state *state);
int flow_pass_jump(struct flow *f, const struct insn *insn, const struct frame_state *state);
int flow_pass_call(struct flow *f, uint32_t number, struct frame_state *state, bool *on);

/* Whether nothing but padding follows an instruction, up to where a function may begin. */
bool flow_is_padded(const struct flow *f, uint32_t number);

/* Whether it is only assumed that a call returns, and another function's code may follow it. */
bool flow_call_is_doubtful(const struct flow *f, uint32_t number);

/* Whether a call does not return here; and the effect of one that does on the state. */
bool flow_call_ends(const struct flow *f, uint32_t number);
void flow_step_call(const struct flow *f, uint32_t number, struct frame_state *state);

#endif
