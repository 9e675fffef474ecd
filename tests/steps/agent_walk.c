/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent_walk.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "walk_agent.h"

#define USUAL_FLAGS 0x202 /* interrupts; no trap, and strings go upwards */

static uint64_t address_of(size_t offset)
{
	return WALK_ROOM_ADDRESS + offset;
}

bool agent_walk_init(const struct stepped_process *process, struct agent_walk *ret)
{
	return shadow_word(&process->shadow, address_of(offsetof(struct walk_room, enter)),
			   &ret->enter) &&
	       ret->enter;
}

static bool write_registers(const struct stepped_process *p)
{
	const struct user_regs_struct *r = &p->regs;
	gregset_t gregs = {
		[REG_R8] = (greg_t)r->r8,   [REG_R9] = (greg_t)r->r9,   [REG_R10] = (greg_t)r->r10,
		[REG_R11] = (greg_t)r->r11, [REG_R12] = (greg_t)r->r12, [REG_R13] = (greg_t)r->r13,
		[REG_R14] = (greg_t)r->r14, [REG_R15] = (greg_t)r->r15, [REG_RDI] = (greg_t)r->rdi,
		[REG_RSI] = (greg_t)r->rsi, [REG_RBP] = (greg_t)r->rbp, [REG_RBX] = (greg_t)r->rbx,
		[REG_RDX] = (greg_t)r->rdx, [REG_RAX] = (greg_t)r->rax, [REG_RCX] = (greg_t)r->rcx,
		[REG_RSP] = (greg_t)r->rsp, [REG_RIP] = (greg_t)r->rip};
	struct iovec here = {gregs, sizeof(gregs)};
	struct iovec there = {
		(void *)address_of(offsetof(struct walk_room, context.uc_mcontext.gregs)),
		sizeof(gregs)};

	return process_vm_writev(p->pid, &here, 1, &there, 1, 0) == sizeof(gregs);
}

/* Run until the trap.  A signal that comes meanwhile is the program's, with its next step. */
static bool run(struct stepped_process *p)
{
	int status;

	for (;;) {
		if (ptrace(PTRACE_CONT, p->pid, NULL, NULL) ||
		    waitpid(p->pid, &status, __WALL) != p->pid || !WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SIGTRAP)
			return true;
		if (WSTOPSIG(status) == SIGSEGV || WSTOPSIG(status) == SIGBUS ||
		    (p->signal && p->signal != WSTOPSIG(status)))
			return false;
		p->signal = WSTOPSIG(status);
	}
}

static bool read_room(const struct stepped_process *p, size_t offset, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)address_of(offset), size};

	return process_vm_readv(p->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool read_trace(const struct stepped_process *p, struct agent_walk *walk)
{
	struct {
		uint32_t count, reason;
	} end;

	if (!read_room(p, offsetof(struct walk_room, count), &end, sizeof(end)) ||
	    end.count > BOBBIN_MAX_DEPTH)
		return false;
	walk->trace = (struct bobbin_trace){.frames = walk->frames,
					    .max = BOBBIN_MAX_DEPTH,
					    .count = end.count,
					    .reason = end.reason};
	return read_room(p, offsetof(struct walk_room, frames), walk->frames,
			 end.count * sizeof(walk->frames[0]));
}

bool agent_walk_run(struct stepped_process *process, struct agent_walk *walk)
{
	struct user_regs_struct regs = process->regs;

	regs.rip = walk->enter;
	regs.rdi = WALK_ROOM_ADDRESS;
	regs.rsp = address_of(offsetof(struct walk_room, stack) + WALK_ROOM_STACK);
	regs.eflags = USUAL_FLAGS;
	/* not in a system call that would be restarted */
	regs.orig_rax = (unsigned long long)-1;
	return write_registers(process) && !ptrace(PTRACE_SETREGS, process->pid, NULL, &regs) &&
	       run(process) && !ptrace(PTRACE_SETREGS, process->pid, NULL, &process->regs) &&
	       read_trace(process, walk);
}
