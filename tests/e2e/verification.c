/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* verification ID - how many instructions of a BPF program the kernel's verifier looked at. */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_prog_info info = {0};
	union bpf_attr attr = {0};
	int fd;

	if (argc != 2)
		return 2;
	attr.prog_id = (uint32_t)atoi(argv[1]);
	fd = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attr, sizeof(attr));
	attr = (union bpf_attr){0};
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	if (fd < 0 || syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)))
		return 1;
	printf("%u\n", info.verified_insns);
	return 0;
}
