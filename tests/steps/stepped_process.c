/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stepped_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <elf.h>

#define BREAKPOINT 0xcc

static void be_traced(char *const argv[], char *const environment[])
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* the same addresses each time */
	personality(ADDR_NO_RANDOMIZE);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execve(argv[0], argv, environment);
	_exit(127);
}

/* Where the program's own code begins, after that of its loader. */
static uint64_t entry_of(pid_t pid)
{
	Elf64_auxv_t entry = {0};
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fread(&entry, sizeof(entry), 1, f) == 1 && entry.a_type != AT_ENTRY)
		;
	fclose(f);
	return entry.a_type == AT_ENTRY ? entry.a_un.a_val : 0;
}

static bool wait_event(pid_t pid, int *signal, int *event)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return false;
	*signal = WSTOPSIG(status);
	*event = status >> 16;
	return true;
}

static bool wait_stopped(pid_t pid, int *signal)
{
	int event;

	return wait_event(pid, signal, &event);
}

static bool run_to(pid_t pid, uint64_t addr)
{
	struct user_regs_struct regs;
	int signal;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, addr, NULL);
	if (errno || ptrace(PTRACE_POKETEXT, pid, addr, (word & ~0xffl) | BREAKPOINT))
		return false;
	if (ptrace(PTRACE_CONT, pid, NULL, NULL) || !wait_stopped(pid, &signal) ||
	    signal != SIGTRAP || ptrace(PTRACE_POKETEXT, pid, addr, word) ||
	    ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		return false;
	regs.rip = addr;
	return !ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

static struct shadow_regs shadow_regs(const struct user_regs_struct *regs)
{
	return (struct shadow_regs){regs->rip, regs->rsp, regs->rax};
}

static bool look(struct stepped_process *p)
{
	struct iovec here = {p->code, INSN_BYTES}, there = {NULL, INSN_BYTES};

	if (ptrace(PTRACE_GETREGS, p->pid, NULL, &p->regs))
		return false;
	there.iov_base = (void *)p->regs.rip;
	memset(p->code, 0, sizeof(p->code));
	if (process_vm_readv(p->pid, &here, 1, &there, 1, 0) < 0) {
		/* near the end of what is mapped, or nothing is */
		there.iov_len = here.iov_len = -p->regs.rip % INSN_BYTES;
		process_vm_readv(p->pid, &here, 1, &there, 1, 0);
	}
	return true;
}

int stepped_process_start(char *const argv[], char *const environment[],
			  struct stepped_process *ret)
{
	struct shadow_regs regs;
	int signal;

	memset(ret, 0, sizeof(*ret));
	ret->mapped = true;
	ret->pid = fork();
	if (ret->pid < 0)
		return -errno;
	if (!ret->pid)
		be_traced(argv, environment);
	if (!wait_stopped(ret->pid, &signal))
		return -ENOENT;
	ptrace(PTRACE_SETOPTIONS, ret->pid, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACEVFORK);
	if (!run_to(ret->pid, entry_of(ret->pid)) || !look(ret)) {
		stepped_process_end(ret);
		return -ENOEXEC;
	}
	regs = shadow_regs(&ret->regs);
	shadow_begin(&ret->shadow, ret->pid, &regs);
	return 0;
}

void stepped_process_end(struct stepped_process *process)
{
	if (!process->pid)
		return;
	kill(process->pid, SIGKILL);
	waitpid(process->pid, NULL, __WALL);
	if (process->parent.pid) {
		kill(process->parent.pid, SIGKILL);
		waitpid(process->parent.pid, NULL, 0);
	}
	process->pid = process->parent.pid = 0;
}

static bool changes_mappings(uint64_t number)
{
	return number == SYS_mmap || number == SYS_munmap || number == SYS_mprotect ||
	       number == SYS_mremap;
}

static bool follow(struct stepped_process *p, enum insn_kind kind, const struct shadow_regs *before,
		   const struct shadow_regs *after)
{
	if (kind == INSN_SYSCALL && changes_mappings(before->number))
		p->mapped = true;
	if (shadow_step(&p->shadow, kind, before, after, p->code))
		return true;
	p->not_understood = "an instruction that the shadow stack does not follow";
	return false;
}

/* Signals that change nothing where no handler takes them. */
static bool is_ignored(int signal)
{
	return signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
}

/* A signal was taken; its handler begins, or there is none, and the instruction was executed. */
static bool follow_signal(struct stepped_process *p, int taken, enum insn_kind kind,
			  const struct shadow_regs *before, const struct shadow_regs *after)
{
	if (shadow_signal(&p->shadow, before, after))
		return true;
	if (is_ignored(taken))
		return follow(p, kind, before, after);
	p->not_understood = "a signal that no handler took";
	return false;
}

/* The process has made another, which it waits for: that is stepped from now on. */
static bool enter_child(struct stepped_process *p)
{
	unsigned long child;
	int signal;

	if (ptrace(PTRACE_GETEVENTMSG, p->pid, NULL, &child) ||
	    !wait_stopped((pid_t)child, &signal))
		return false;
	p->parent.pid = p->pid;
	p->parent.regs = p->regs;
	p->parent.shadow = p->shadow;
	p->pid = p->shadow.pid = (pid_t)child;
	p->signal = 0;
	if (!look(p))
		return false;
	if (p->regs.rsp != p->parent.regs.rsp) {
		struct shadow_regs regs = shadow_regs(&p->regs);

		shadow_begin(&p->shadow, p->pid, &regs);
	}
	return true;
}

/* What a process does that nobody waits for from then on. */
static bool is_end_of_child(const struct stepped_process *p, enum insn_kind kind)
{
	const unsigned long long number = p->regs.rax;

	return p->parent.pid && kind == INSN_SYSCALL &&
	       (number == SYS_execve || number == SYS_exit || number == SYS_exit_group);
}

static void leave_child(struct stepped_process *p)
{
	ptrace(PTRACE_DETACH, p->pid, NULL, NULL);
	p->pid = p->parent.pid;
	p->regs = p->parent.regs;
	p->shadow = p->parent.shadow;
	p->parent.pid = 0;
	p->signal = 0;
}

bool stepped_process_step(struct stepped_process *process)
{
	const enum insn_kind kind = insn_kind(process->code);
	const int taken = process->signal;
	struct shadow_regs before, after;
	int signal, event;

	if (is_end_of_child(process, kind))
		leave_child(process);
	before = shadow_regs(&process->regs);
	if (ptrace(PTRACE_SINGLESTEP, process->pid, NULL, taken))
		return false;
	if (!wait_event(process->pid, &signal, &event)) {
		process->pid = 0;
		return false;
	}
	if (event == PTRACE_EVENT_VFORK)
		return enter_child(process);
	if (!look(process))
		return false;
	after = shadow_regs(&process->regs);
	process->signal = signal == SIGTRAP ? 0 : signal;
	if (taken)
		return follow_signal(process, taken, kind, &before, &after);
	/* it has faulted */
	if (process->signal && before.pc == after.pc && before.sp == after.sp)
		return true;
	return follow(process, kind, &before, &after);
}
