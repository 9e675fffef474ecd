/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shadow_stack.h - where a thread's calls return to, by watching each instruction.
 *
 * Calls put a return address on the stack, and it counts until the stack pointer is above it
 * or another word is in its place.  No table, frame pointer or stack that was given up is
 * asked.  Signals add their return address and the interrupted PC; jumps change nothing, so
 * a function that was entered by one has its predecessor's caller.  x86-64.
 */
#ifndef BOBBIN_TESTS_SHADOW_STACK_H
#define BOBBIN_TESTS_SHADOW_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SHADOW_CALLS 4096
#define SHADOW_STACKS 8
#define INSN_BYTES 16

/* What an instruction does to the stack, as far as it matters here. */
enum insn_kind {
	INSN_OTHER,
	INSN_CALL,
	INSN_POP, /* to a register */
	INSN_SYSCALL,
};

enum insn_kind insn_kind(const uint8_t code[INSN_BYTES]);

/* Registers that the shadow stack follows. */
struct shadow_regs {
	uint64_t pc, sp;
	uint64_t number; /* of the system call */
};

/**
 * struct shadow_call - what will be returned to
 * @pc: where
 * @slot: address of the word that says it; of an interrupted PC: below which the handler is
 * @stack: the one that it is on
 * @interrupted: by a signal
 * @discarded: a call that is made for its address and never returned from: who says where the stack
 *	leads may leave it out
 */
struct shadow_call {
	uint64_t pc, slot;
	unsigned int stack;
	bool interrupted, discarded;
};

/**
 * struct shadow_stack - of one thread
 * @pid: the thread
 * @calls, @count: the outermost one first
 * @popped: a return address that is in a register now, and may be put back; pc 0: none
 * @stacks, @stack_count: where stack pointers were seen
 * @stack: the one in use
 */
struct shadow_stack {
	pid_t pid;
	struct shadow_call calls[SHADOW_CALLS];
	unsigned int count;
	struct shadow_call popped;
	struct {
		uint64_t low, high;
	} stacks[SHADOW_STACKS];
	unsigned int stack_count, stack;
};

/* Nothing was called yet. */
void shadow_begin(struct shadow_stack *shadow, pid_t pid, const struct shadow_regs *regs);

/* An instruction was executed, and the one at @next follows.  false: this is not understood. */
bool shadow_step(struct shadow_stack *shadow, enum insn_kind kind, const struct shadow_regs *before,
		 const struct shadow_regs *after, const uint8_t next[INSN_BYTES]);

/* A signal is handled from now on; false: by no handler, nothing is changed. */
bool shadow_signal(struct shadow_stack *shadow, const struct shadow_regs *before,
		   const struct shadow_regs *after);

/* A word of the thread's memory. */
bool shadow_word(const struct shadow_stack *shadow, uint64_t addr, uint64_t *ret);

#endif
