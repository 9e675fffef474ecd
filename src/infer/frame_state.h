/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_state.h - what is known of registers and stack before an instruction.
 *
 *	frame_state_entry(&state);
 *	frame_state_step(&state, insn, number);		for each instruction, in the order of control
 *	frame_state_join(&at_label, &state, &changed);	where control comes from several places
 *	frame_state_rule(&state, &rule);
 *
 * Stores through pointers of which nothing is known are taken not to hit what a function saved.
 */
#ifndef BOBBIN_INFER_FRAME_STATE_H
#define BOBBIN_INFER_FRAME_STATE_H

#include <bobbin/rule.h>

#include "infer/value.h"
#include "infer/x86_insn.h"

/* Stack words that are tracked; further stores are ignored. */
#define FRAME_SLOTS 64

/* A stack word: its address, a BASE, and its value. */
struct frame_slot {
	value at, held;
};

/**
 * struct frame_state - what is known
 * @regs: of the registers
 * @limit: what the last comparison has left of a value: it is less than this; 0: not known
 * @compared: the last instruction compared with this, less one; negative: it did not
 * @equal: the last instruction compared the stack pointer with this register, or X86_NO_REG
 * @count: words of the stack
 * @lost_ra: the return address may have been overwritten where it was
 * @slots: the words
 */
struct frame_state {
	value regs[X86_REGS];
	int32_t limit, compared;
	uint16_t count;
	bool lost_ra;
	uint8_t equal;
	struct frame_slot slots[FRAME_SLOTS];
};

/* Bytes of a state that is cut after @count slots. */
#define FRAME_STATE_SIZE(count) \
	(offsetof(struct frame_state, slots) + (count) * sizeof(struct frame_slot))

/* The state before the first instruction of a function. */
void frame_state_entry(struct frame_state *ret);

/* Execute an instruction; @number: of it in the function, names new bases. */
void frame_state_step(struct frame_state *state, const struct x86_insn *insn, uint32_t number);

/* What a branch tells about its operands where it is taken, or is not. */
void frame_state_branch(struct frame_state *state, const struct x86_insn *branch, bool taken);

/* Execute a call that returns with the stack pointer unchanged. */
void frame_state_call(struct frame_state *state);

/* How two states of one instruction agree. */
enum frame_join {
	JOIN_AGREES,
	JOIN_MOVES, /* the stack pointers differ, or one is unknown */
	JOIN_LOSES, /* the CFA was known, and no longer is */
};

/* Push a value that is in no register. */
void frame_state_push(struct frame_state *state, value held);

/* Keep in @into, which may be cut after its slots, what holds in both states. */
enum frame_join frame_state_join(struct frame_state *into, const struct frame_state *from,
				 bool *changed);

/* Whether stack and frame pointer are the caller's, but for the return address. */
bool frame_state_is_undone(const struct frame_state *state);

/* Whether the return address has been taken off the stack. */
bool frame_state_has_popped(const struct frame_state *state);

/* The value of a stack word; of the caller's frame only the return address is known. */
value frame_state_word(const struct frame_state *state, value at);

/* The value that a load, or a jump through memory, reads. */
value frame_state_load(const struct frame_state *state, const struct x86_insn *insn);

/* The address of a memory operand, or VALUE_NONE. */
value frame_state_address(const struct frame_state *state, const struct x86_insn *insn);

/* Whether an instruction takes the stack pointer from a frame pointer that gives the CFA. */
bool frame_state_leaves(const struct frame_state *state, const struct x86_insn *insn);

/*
 * The unwind rule for a state, by the frame pointer rather than the stack pointer if @by_fp; false:
 * there is none, for example because the return address is below SP.
 */
bool frame_state_rule(const struct frame_state *state, bool by_fp, struct bobbin_rule *ret);

#endif
