/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * last_resort.h - the caller of a frame of which no table knows.
 *
 *	after a system call	the rule before it: nothing has moved
 *	frame record		what the frame pointer names, if that is code
 *	root			the only thing above that may be a return address
 *
 * The last one is not a guess.  A function's return address is on the stack, at or above
 * the stack pointer; if the first word that can be it is a root's, the root is the caller.
 */
#ifndef BOBBIN_UNWIND_LAST_RESORT_H
#define BOBBIN_UNWIND_LAST_RESORT_H

#include <bobbin/unwind.h>

#include "unwind/frame_step.h"
#include "unwind/known_code.h"

/* Frames of functions that call main() or a thread's function are small. */
#define ROOT_SEARCH_WORDS 64

/* What a walker knows of a target; the functions get @code.ctx. */
struct last_resort {
	const struct bobbin_arch *arch;
	const struct bobbin_mem *mem;
	struct code_reader code;
	bool (*is_code)(void *ctx, uint64_t addr);
	bool (*is_entry)(void *ctx, uint64_t addr); /* of a program or of a dynamic loader */
	struct bobbin_rule (*rule)(void *ctx, uint64_t pc, enum bobbin_source *source);
	enum bobbin_reason (*step)(void *ctx,
				   const struct bobbin_rule *rule); /* changes the registers */
};

/*
 * From the kernel a PC is seen behind the system call.  Where that is the function's last
 * instruction, or its table stops before it, as those of clone() do, the rule before
 * holds.  Not in the child of clone(), which starts there on a stack of its own.
 */
static inline bool step_after_syscall(const struct last_resort *r, const struct bobbin_regs *regs,
				      struct bobbin_frame *frame, enum bobbin_reason *reason)
{
	enum bobbin_source source;
	struct bobbin_rule rule;
	bool in_table = true;

	if (!regs->exact || !known_code_syscall(r->arch, &r->code, regs->pc))
		return false;
	rule = r->rule(r->code.ctx, regs->pc - 1, &source);
	if (source == BOBBIN_SOURCE_NONE) {
		in_table = false;
		rule = r->rule(r->code.ctx, regs->pc - 3, &source);
	}
	if (source == BOBBIN_SOURCE_NONE)
		return false;
	frame->source = (uint8_t)source;
	if (!in_table && regs->gpr && regs->gpr_known & 1 && !regs->gpr[0])
		*reason = BOBBIN_REASON_OUTERMOST;
	else
		*reason = r->step(r->code.ctx, &rule);
	return true;
}

static inline bool stack_word(const struct last_resort *r, uint64_t addr, uint64_t *ret)
{
	uint8_t b[8];
	uint64_t v = 0;

	if (r->mem->read(r->mem->ctx, addr, b, sizeof(b)))
		return false;
	for (unsigned int i = 0; i < sizeof(b); i++)
		v |= (uint64_t)b[i] << 8 * i;
	*ret = v;
	return true;
}

/* Only where calls push the return address. */
static inline bool step_to_root(const struct last_resort *r, struct bobbin_regs *regs)
{
	const struct bobbin_arch *arch = r->arch;
	uint64_t word, sp = regs->sp;

	if (!arch->default_ra_off || sp % sizeof(word) ||
	    (!regs->exact && !known_code_return(arch, &r->code, regs->pc)))
		return false;
	for (unsigned int i = 0; i < ROOT_SEARCH_WORDS; i++, sp += sizeof(word)) {
		if (!stack_word(r, sp, &word))
			return false;
		if (!word || !r->is_code(r->code.ctx, word - 1))
			continue;
		if (known_code_root(arch, &r->code, word))
			break;
		if (!known_code_return(arch, &r->code, word))
			continue;
		if (!r->is_entry(r->code.ctx, word - 1))
			return false;
		break;
	}
	if (sp - regs->sp == ROOT_SEARCH_WORDS * sizeof(word))
		return false;
	*regs = (struct bobbin_regs){.pc = word, .sp = sp + sizeof(word)};
	return true;
}

/* @regs: those that r->step() changes; @without: why there is no rule. */
static inline enum bobbin_reason step_without_rule(const struct last_resort *r,
						   struct bobbin_regs *regs,
						   struct bobbin_frame *frame,
						   enum bobbin_reason without)
{
	struct bobbin_regs caller;
	enum bobbin_reason reason;

	if (step_after_syscall(r, regs, frame, &reason))
		return reason;
	if (step_by_record(r->arch, r->mem, regs, &caller) &&
	    r->is_code(r->code.ctx, caller.pc - 1)) {
		frame->source = BOBBIN_SOURCE_FRAME_POINTER;
		*regs = caller;
		return BOBBIN_REASON_NONE;
	}
	/* an address that is no code may have come from a stack pointer that was none */
	if (without == BOBBIN_REASON_NO_MAPPING || !step_to_root(r, regs))
		return without ? without : BOBBIN_REASON_BAD_RULE;
	frame->source = BOBBIN_SOURCE_ROOT_SEARCH;
	return BOBBIN_REASON_NONE;
}

#endif
