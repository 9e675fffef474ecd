/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/relay_program.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <unistd.h>

/* A call of the other program does not return; without one the kernel's sample is wanted. */
static int load_program(int place)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_IMM | BPF_DW,
		 .dst_reg = BPF_REG_2,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = place},
		{0}, /* the upper half of that */
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = 0},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "relay", "GPL", insns,
			       sizeof(insns) / sizeof(*insns), NULL);

	return fd < 0 ? -errno : fd;
}

int relay_program_load(struct relay_program *ret)
{
	int place = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "relayed", sizeof(uint32_t),
				   sizeof(uint32_t), 1, NULL);
	int program;

	if (place < 0)
		return -errno;
	program = load_program(place);
	if (program < 0) {
		close(place);
		return program;
	}
	*ret = (struct relay_program){.program = program, .place = place};
	return 0;
}

int relay_program_run(const struct relay_program *relay, int program)
{
	const uint32_t first = 0;

	return bpf_map_update_elem(relay->place, &first, &program, BPF_ANY) ? -errno : 0;
}

void relay_program_unload(struct relay_program *relay)
{
	if (!relay->program)
		return;
	close(relay->program);
	close(relay->place);
	*relay = (struct relay_program){0};
}
