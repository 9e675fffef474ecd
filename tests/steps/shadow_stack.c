/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shadow_stack.h"

#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

/* Stack pointers that are so near to each other are on one stack. */
#define NEAR ((uint64_t)1 << 20)
/* A handler on the same stack has its frame so far below. */
#define SIGNAL_FRAME ((uint64_t)64 << 10)

bool shadow_word(const struct shadow_stack *shadow, uint64_t addr, uint64_t *ret)
{
	struct iovec here = {ret, sizeof(*ret)}, there = {(void *)addr, sizeof(*ret)};

	return process_vm_readv(shadow->pid, &here, 1, &there, 1, 0) == sizeof(*ret);
}

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e: /* notrack */
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf2: /* bnd */
	case 0xf3:
		return true;
	default:
		return (byte & 0xf0) == 0x40; /* REX */
	}
}

enum insn_kind insn_kind(const uint8_t code[INSN_BYTES])
{
	unsigned int i = 0;

	while (i < INSN_BYTES - 2 && is_prefix(code[i]))
		i++;
	if (code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2))
		return INSN_CALL;
	if ((code[i] & 0xf8) == 0x58)
		return INSN_POP;
	if (code[i] == 0x0f && code[i + 1] == 0x05)
		return INSN_SYSCALL;
	return INSN_OTHER;
}

/* The stack that a stack pointer is on, known or new; false: there are too many. */
static bool find_stack(struct shadow_stack *s, uint64_t sp)
{
	for (unsigned int i = 0; i < s->stack_count; i++) {
		if (sp + NEAR < s->stacks[i].low || sp > s->stacks[i].high + NEAR)
			continue;
		if (sp < s->stacks[i].low)
			s->stacks[i].low = sp;
		if (sp > s->stacks[i].high)
			s->stacks[i].high = sp;
		s->stack = i;
		return true;
	}
	if (s->stack_count == SHADOW_STACKS)
		return false;
	s->stacks[s->stack_count].low = s->stacks[s->stack_count].high = sp;
	s->stack = s->stack_count++;
	return true;
}

void shadow_begin(struct shadow_stack *shadow, pid_t pid, const struct shadow_regs *regs)
{
	shadow->pid = pid;
	shadow->count = shadow->stack_count = 0;
	shadow->popped.pc = 0;
	find_stack(shadow, regs->sp);
}

static bool push(struct shadow_stack *s, struct shadow_call call)
{
	if (s->count == SHADOW_CALLS)
		return false;
	call.stack = s->stack;
	s->calls[s->count++] = call;
	return true;
}

/* Back on a stack, what was called on others from there has been left. */
static bool change_stack(struct shadow_stack *s, uint64_t sp)
{
	const unsigned int before = s->stack;
	bool known;

	if (!find_stack(s, sp))
		return false;
	if (s->stack == before)
		return true;
	known = false;
	for (unsigned int i = 0; i < s->count; i++)
		known |= s->calls[i].stack == s->stack;
	while (known && s->calls[s->count - 1].stack != s->stack)
		s->count--;
	return true;
}

static void leave(struct shadow_stack *s, enum insn_kind kind, uint64_t sp)
{
	while (s->count) {
		const struct shadow_call *last = &s->calls[s->count - 1];

		if (last->stack != s->stack || last->slot >= sp)
			break;
		if (kind == INSN_POP && !last->interrupted)
			s->popped = *last;
		s->count--;
	}
}

/* Another word is in the place of the innermost return address. */
static void check_last(struct shadow_stack *s)
{
	const struct shadow_call *last;
	uint64_t word;

	if (!s->count)
		return;
	last = &s->calls[s->count - 1];
	if (!last->interrupted && shadow_word(s, last->slot, &word) && word != last->pc)
		s->count--;
}

/* A return address that was taken off the stack is there again. */
static bool put_back(struct shadow_stack *s, const struct shadow_regs *after)
{
	struct shadow_call call = s->popped;
	uint64_t word;

	if (!call.pc || !shadow_word(s, after->sp, &word) || word != call.pc)
		return true;
	call.slot = after->sp;
	s->popped.pc = 0;
	return push(s, call);
}

static bool leave_handler(struct shadow_stack *s)
{
	while (s->count)
		if (s->calls[--s->count].interrupted)
			return true;
	return false;
}

/*
 * Whether code begins with what takes a return address off the stack, or puts another in its place:
 * thunks call such code to stop speculation, and others to find out where they are.
 */
static bool is_discarding(const uint8_t code[INSN_BYTES])
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x64, 0x24, 0x08}, add[] = {0x48, 0x83, 0xc4, 8};

	return insn_kind(code) == INSN_POP || !memcmp(code, lea, sizeof(lea)) ||
	       !memcmp(code, add, sizeof(add)) ||
	       ((code[0] & 0xfb) == 0x48 && code[1] == 0x89 && (code[2] & 0xc7) == 4 &&
		code[3] == 0x24);
}

bool shadow_step(struct shadow_stack *shadow, enum insn_kind kind, const struct shadow_regs *before,
		 const struct shadow_regs *after, const uint8_t next[INSN_BYTES])
{
	struct shadow_call call = {.slot = after->sp, .discarded = is_discarding(next)};
	const bool returns = kind == INSN_SYSCALL && before->number == SYS_rt_sigreturn;

	if (returns && !leave_handler(shadow))
		return false;
	if (!change_stack(shadow, after->sp))
		return false;
	leave(shadow, kind, after->sp);
	check_last(shadow);
	if (kind == INSN_CALL) {
		shadow->popped.pc = 0;
		return shadow_word(shadow, after->sp, &call.pc) && push(shadow, call);
	}
	return after->sp >= before->sp || put_back(shadow, after);
}

bool shadow_signal(struct shadow_stack *shadow, const struct shadow_regs *before,
		   const struct shadow_regs *after)
{
	/* struct rt_sigframe: what the handler returns to, and a ucontext_t */
	const uint64_t registers = after->sp + 8 + offsetof(ucontext_t, uc_mcontext.gregs);
	struct shadow_call restorer = {.slot = after->sp};
	struct shadow_call interrupted = {.pc = before->pc, .interrupted = true};
	uint64_t pc, sp;

	if (!shadow_word(shadow, registers + 8 * REG_RIP, &pc) || pc != before->pc ||
	    !shadow_word(shadow, registers + 8 * REG_RSP, &sp) || sp != before->sp ||
	    !shadow_word(shadow, after->sp, &restorer.pc))
		return false;
	if (!find_stack(shadow, after->sp))
		return false;
	interrupted.slot = before->sp - after->sp < SIGNAL_FRAME ? before->sp - 1 : UINT64_MAX;
	return push(shadow, interrupted) && push(shadow, restorer);
}
