/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/thread.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/native_arch.h"
#include "base/process_stat.h"
#include "base/vector.h"
#include "core/known_regs.h"

#if defined(__x86_64__)
static void take_registers(const struct user_regs_struct *user, uint64_t gpr[BOBBIN_REG_COUNT],
			   struct bobbin_regs *ret)
{
	/* psABI x86-64, figure 3.36 */
	const uint64_t in_order[16] = {
		user->rax, user->rdx, user->rcx, user->rbx, user->rsi, user->rdi,
		user->rbp, user->rsp, user->r8,  user->r9,  user->r10, user->r11,
		user->r12, user->r13, user->r14, user->r15,
	};

	for (unsigned int i = 0; i < 16; i++)
		gpr[i] = in_order[i];
	*ret = known_regs(native_arch(), user->rip, gpr, 0xffff);
}
#elif defined(__aarch64__)
static void take_registers(const struct user_regs_struct *user, uint64_t gpr[BOBBIN_REG_COUNT],
			   struct bobbin_regs *ret)
{
	for (unsigned int i = 0; i < 31; i++)
		gpr[i] = user->regs[i];
	gpr[31] = user->sp;
	*ret = known_regs(native_arch(), user->pc, gpr, 0xffffffff);
}
#elif defined(__s390x__)
/* NT_PRSTATUS: s390_regs of asm/ptrace.h, which cannot be included with sys/ptrace.h. */
struct user_regs_struct {
	struct {
		uint64_t mask, addr;
	} psw;
	uint64_t gprs[16];
	uint32_t acrs[16];
	uint64_t orig_gpr2;
};

static void take_registers(const struct user_regs_struct *user, uint64_t gpr[BOBBIN_REG_COUNT],
			   struct bobbin_regs *ret)
{
	for (unsigned int i = 0; i < 16; i++)
		gpr[i] = user->gprs[i];
	*ret = known_regs(native_arch(), user->psw.addr, gpr, 0xffff);
}
#else
#error "no registers for this architecture"
#endif

#define NAP_FIRST_NS 20000
#define NAP_LAST_NS 5000000

/* The signal that a thread was about to take when it stopped, if that is why it did. */
static int taken_signal(int status)
{
	/* the stop that was asked for, and the stop of a whole process */
	if (status >> 16 == PTRACE_EVENT_STOP)
		return 0;
	return WSTOPSIG(status);
}

/* 1: it has stopped; 0: not yet; -ESRCH: it has ended */
static int look_whether_stopped(struct stopped_thread *thread)
{
	int status;
	pid_t r = waitpid(thread->tid, &status, __WALL | WNOHANG);

	if (!r || (r < 0 && errno == EINTR))
		return 0;
	if (r < 0)
		return -errno;
	if (!WIFSTOPPED(status))
		return -ESRCH;
	thread->signal = taken_signal(status);
	return 1;
}

/*
 * A thread that is in the kernel and not to be interrupted stops late or never, and
 * waitpid(2) has no deadline.  Naps are short at first: most stop at once.
 */
static int wait_for_stop(struct stopped_thread *thread, unsigned int limit_ms)
{
	struct timespec nap = {.tv_nsec = NAP_FIRST_NS};
	uint64_t begin = clock_now();
	bool late = false;
	int r;

	while (!(r = look_whether_stopped(thread))) {
		if (late)
			return -ETIMEDOUT;
		/* it may stop before we see that it does not run */
		late = process_is_late(thread->tid, begin, limit_ms * UINT64_C(1000000));
		if (late)
			continue;
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < NAP_LAST_NS)
			nap.tv_nsec *= 2;
	}
	return r < 0 ? r : 0;
}

int thread_stop(pid_t tid, unsigned int limit_ms, struct stopped_thread *ret)
{
	struct stopped_thread thread = {.tid = tid};
	int r;

	/* what has ended and is not waited for is nobody's to trace */
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return errno == EPERM && !process_has_memory(tid) ? -ESRCH : -errno;
	r = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ? -errno : wait_for_stop(&thread, limit_ms);
	if (!r || r == -ETIMEDOUT)
		*ret = thread;
	return r;
}

/* The kernel keeps a process that is stopped as a whole so, and the signal's siginfo. */
void thread_release(const struct stopped_thread *thread)
{
	ptrace(PTRACE_DETACH, thread->tid, NULL, (long)thread->signal);
}

bool thread_release_late(struct stopped_thread *thread)
{
	int r = look_whether_stopped(thread);

	if (r > 0)
		thread_release(thread);
	return r;
}

int thread_registers(pid_t tid, uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret)
{
	struct user_regs_struct user;
	struct iovec io = {&user, sizeof(user)};

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &io))
		return -errno;
	/* a 32-bit thread has a shorter set */
	if (io.iov_len != sizeof(user))
		return -ENOTSUP;
	take_registers(&user, gpr, ret);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/* The threads that @dir lists: their count, or -ENOMEM. */
static int read_threads(DIR *dir, pid_t **list)
{
	struct dirent *entry;
	size_t room = 0;
	int count = 0;

	while ((entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (vector_reserve(list, &room, (size_t)count + 1, sizeof(**list)))
			return -ENOMEM;
		(*list)[count++] = atoi(entry->d_name);
	}
	return count;
}

/* The numbers that are names in a folder. */
static int list_numbers(const char *folder, pid_t **ret)
{
	pid_t *list = NULL;
	int count;
	DIR *dir = opendir(folder);

	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	count = read_threads(dir, &list);
	closedir(dir);
	if (count <= 0) {
		free(list);
		return count ? count : -ESRCH;
	}
	qsort(list, (size_t)count, sizeof(*list), by_number);
	*ret = list;
	return count;
}

int thread_list(pid_t pid, pid_t **ret)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	return list_numbers(name, ret);
}

int process_list(pid_t **ret)
{
	return list_numbers("/proc", ret);
}
