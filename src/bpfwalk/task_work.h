/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * task_work.h - call the kernel function that runs a program when a task returns to user mode.
 *
 * Linux 6.18 calls it bpf_task_work_schedule_resume_impl() and wants five arguments; 7.0 has left
 * out the "_impl" and the last argument.  So the program's object names neither: it calls the
 * helper KERNEL_SCHEDULE_RESUME, which no kernel has.
 */
#ifndef BOBBIN_BPFWALK_TASK_WORK_H
#define BOBBIN_BPFWALK_TASK_WORK_H

#include <stdbool.h>

struct bpf_program;
struct btf;

/* Whether the running kernel has it, by its types; @kernel may be NULL. */
bool task_work_exists(const struct btf *kernel);

/*
 * Make a program that is not loaded yet call the function of the running kernel.
 * -EOPNOTSUPP: the kernel has none; -ENOMEM; -EINVAL: the program calls no such helper.
 */
int task_work_link(struct bpf_program *program, const struct btf *kernel);

#endif
