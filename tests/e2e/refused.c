/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* refused PROGRAM… - run it as containers do: perf_event_open(2), bpf(2) and ptrace(2) are refused. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(call, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, skip, 0)

int main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(perf_event_open, 4),
		REFUSE(bpf, 3),
		REFUSE(ptrace, 2),
		REFUSE(process_vm_readv, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("refused");
		return 126;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
