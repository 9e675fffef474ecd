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

#include "core/known_regs.h"

#if defined(__x86_64__)
const struct bobbin_arch *native_arch(void)
{
	return bobbin_arch_amd64();
}

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
const struct bobbin_arch *native_arch(void)
{
	return bobbin_arch_aarch64();
}

static void take_registers(const struct user_regs_struct *user, uint64_t gpr[BOBBIN_REG_COUNT],
			   struct bobbin_regs *ret)
{
	for (unsigned int i = 0; i < 31; i++)
		gpr[i] = user->regs[i];
	gpr[31] = user->sp;
	*ret = known_regs(native_arch(), user->pc, gpr, 0xffffffff);
}
#elif defined(__s390x__)
const struct bobbin_arch *native_arch(void)
{
	return bobbin_arch_s390x();
}

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

int thread_stop(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		goto out;
	while (waitpid(tid, &status, __WALL) < 0)
		if (errno != EINTR)
			goto out;
	if (WIFSTOPPED(status))
		return 0;
	errno = ESRCH;
out:
	status = -errno;
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return status;
}

void thread_release(pid_t tid)
{
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
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

int thread_list(pid_t pid, pid_t **ret)
{
	pid_t *list = NULL;
	int count = 0, room = 0;
	struct dirent *entry;
	char name[32];
	DIR *dir;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	dir = opendir(name);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (count == room) {
			pid_t *more = reallocarray(list, room = room ? 2 * room : 16,
						   sizeof(*list));

			if (!more) {
				free(list);
				closedir(dir);
				return -ENOMEM;
			}
			list = more;
		}
		list[count++] = atoi(entry->d_name);
	}
	closedir(dir);
	if (count)
		qsort(list, (size_t)count, sizeof(*list), by_number);
	*ret = list;
	return count;
}
