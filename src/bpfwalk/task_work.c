/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/task_work.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "bpfwalk/bpf_abi.h"

/* Newer kernels first: their BTF has the old name, too, but programs cannot call it. */
static const char *const names[] = {
	"bpf_task_work_schedule_resume",
	"bpf_task_work_schedule_resume_impl",
};

static int find_function(const struct btf *kernel)
{
	int id = -1;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && kernel && id <= 0; i++)
		id = btf__find_by_name_kind(kernel, names[i], BTF_KIND_FUNC);
	return id > 0 ? id : -EOPNOTSUPP;
}

bool task_work_exists(const struct btf *kernel)
{
	return find_function(kernel) > 0;
}

static bool calls_helper(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && !insn->src_reg &&
	       insn->imm == KERNEL_SCHEDULE_RESUME;
}

int task_work_link(struct bpf_program *program, const struct btf *kernel)
{
	size_t count = bpf_program__insn_cnt(program), calls = 0;
	int function = find_function(kernel), r;
	struct bpf_insn *insns;

	if (function < 0)
		return function;
	insns = malloc(count * sizeof(*insns));
	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), count * sizeof(*insns));
	for (size_t i = 0; i < count; i++) {
		if (!calls_helper(&insns[i]))
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = function;
		calls++;
	}
	r = calls ? bpf_program__set_insns(program, insns, count) : -EINVAL;
	free(insns);
	return r;
}
