/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_program MS - the kernel runs the program of BPF "early" for so long, and then another one, "late".
 *
 * Each is loaded before it runs, and unloaded afterwards.  Exit status 77: that is not allowed here.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spin.h"

/* Enough for a sample to be in it, and not in what calls it. */
#define WORK 500

static int call_bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(const char *name)
{
	struct bpf_insn insns[WORK + 3] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1},
		[WORK + 1] = {.code = BPF_ALU64 | BPF_MOV | BPF_K},
		[WORK + 2] = {.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)insns,
		.insn_cnt = WORK + 3,
		.license = (uintptr_t) "GPL",
	};

	for (int i = 1; i <= WORK; i++)
		insns[i] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MUL | BPF_K, .imm = 7};
	strcpy(attr.prog_name, name);
	return call_bpf(BPF_PROG_LOAD, &attr);
}

static void run(const char *name, long ms)
{
	const long end = thread_ms() + ms;
	char packet[64] = {0};
	int fd = load(name);

	while (fd >= 0 && thread_ms() < end) {
		union bpf_attr attr = {.test = {.prog_fd = (uint32_t)fd,
						.data_in = (uintptr_t)packet,
						.data_size_in = sizeof(packet),
						.repeat = 10000}};

		if (call_bpf(BPF_PROG_TEST_RUN, &attr))
			exit(77);
	}
	if (fd < 0)
		exit(77);
	close(fd);
}

int main(int argc, char **argv)
{
	const long ms = ms_argument(argc, argv);

	run("early", ms);
	run("late", ms);
	return 0;
}
