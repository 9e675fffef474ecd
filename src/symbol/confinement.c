/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined(__s390x__)
#define MACHINE AUDIT_ARCH_S390X
#endif

/* Where in a register's eight bytes the low four are. */
#define LOW (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4u : 0u)

/* What libraries try by themselves, and do without; so it is for system calls to come. */
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)

#define LOAD(member) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, member))
#define LOW_WORD(member) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, member) + LOW)
#define UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 1, 0)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (uint32_t)(action))
#define ON(number, action) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(number), 0, 1), RETURN(action)
#define ALLOW(number) ON(number, SECCOMP_RET_ALLOW)
/* No library that reads files comes to these: what does so is the file's. */
#define KILL(number) ON(number, SECCOMP_RET_KILL_PROCESS)

#ifdef MACHINE
static const struct sock_filter calls[] = {
	LOAD(arch),
	UNLESS(MACHINE),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
	ALLOW(__NR_recvmsg),
	ALLOW(__NR_sendmsg),
	ALLOW(__NR_pread64),
	ALLOW(__NR_read),
	ALLOW(__NR_lseek),
	ALLOW(__NR_fstat),
	/* fstat() is this, with an empty path */
	ALLOW(__NR_newfstatat),
	ALLOW(__NR_close),
	ALLOW(__NR_fcntl),
	ALLOW(__NR_mmap),
	ALLOW(__NR_munmap),
	ALLOW(__NR_mremap),
	ALLOW(__NR_mprotect),
	ALLOW(__NR_brk),
	ALLOW(__NR_madvise),
	ALLOW(__NR_futex),
	ALLOW(__NR_clock_gettime),
	ALLOW(__NR_gettimeofday),
	ALLOW(__NR_getrandom),
	/* qsort() asks how much memory there is */
	ALLOW(__NR_sysinfo),
	ALLOW(__NR_getrusage),
	ALLOW(__NR_rt_sigaction),
	ALLOW(__NR_rt_sigprocmask),
	ALLOW(__NR_rt_sigreturn),
	ALLOW(__NR_sigaltstack),
	ALLOW(__NR_restart_syscall),
	ALLOW(__NR_getpid),
	ALLOW(__NR_gettid),
	ALLOW(__NR_geteuid),
	ALLOW(__NR_getuid),
	ALLOW(__NR_exit),
	ALLOW(__NR_exit_group),
#if CONFINEMENT_LETS_REPORT
	ALLOW(__NR_write),
	ALLOW(__NR_openat),
#ifdef __NR_readlink
	ALLOW(__NR_readlink),
#endif
	ALLOW(__NR_readlinkat),
	ALLOW(__NR_sched_yield),
	ALLOW(__NR_prlimit64),
#endif
	KILL(__NR_execve),
	KILL(__NR_execveat),
	KILL(__NR_clone),
	KILL(__NR_clone3),
#ifdef __NR_fork
	KILL(__NR_fork),
#endif
	KILL(__NR_socket),
	KILL(__NR_connect),
	KILL(__NR_ptrace),
	KILL(__NR_process_vm_writev),
	KILL(__NR_bpf),
	KILL(__NR_io_uring_setup),
};

/* abort() sends a signal: to nobody else. */
static void filter_calls(void)
{
	const struct sock_filter rest[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_tgkill, 0, 3),
		LOW_WORD(args[0]),
		ALLOW((uint32_t)getpid()),
		RETURN(REFUSE),
	};
	struct sock_filter filter[sizeof(calls) / sizeof(*calls) + sizeof(rest) / sizeof(*rest)];
	const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	memcpy(filter, calls, sizeof(calls));
	memcpy(filter + sizeof(calls) / sizeof(*calls), rest, sizeof(rest));
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static void filter_calls(void)
{
}
#endif

/* Of more than root only: who was started with some may have them as another user. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	syscall(SYS_capset, &head, none);
}

/* In a user namespace there may be no other user. */
static void drop_user(void)
{
	if (geteuid() || setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY))
		return;
	(void)!setresuid(NOBODY, NOBODY, NOBODY);
}

void confinement_enter(void)
{
	const struct rlimit none = {0, 0};

	drop_user();
	drop_capabilities();
	/* another user ends that */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	filter_calls();
}
