/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A build without BPF: no walk is ever opened.
 */
#include <errno.h>

#include "profile/kernel_walk.h"

bool kernel_walk_is_built(void)
{
	return false;
}

int kernel_walk_open(struct bobbin_unwinder *unwinder, bool also_copy, struct kernel_walk **ret)
{
	return -ENOSYS;
}

bool kernel_walk_waits(const struct kernel_walk *walk)
{
	return false;
}

void kernel_walk_close(struct kernel_walk *walk)
{
}

int kernel_walk_attach(struct kernel_walk *walk, int event)
{
	return -ENOSYS;
}

int kernel_walk_output(struct kernel_walk *walk, int cpu, int event)
{
	return -ENOSYS;
}

void kernel_walk_take_tables(struct kernel_walk *walk, bool wait)
{
}

bool kernel_walk_has_tables_to_come(const struct kernel_walk *walk)
{
	return false;
}

void kernel_walk_follow(struct kernel_walk *walk, struct process *process)
{
}

void kernel_walk_forget(struct kernel_walk *walk, struct process *process)
{
}

void kernel_walk_collect(struct kernel_walk *walk)
{
}

bool kernel_walk_trace(struct kernel_walk *walk, struct process *process,
		       const struct perf_sample *sample, struct bobbin_trace *trace,
		       uint64_t *period)
{
	return false;
}

void kernel_walk_stats(const struct kernel_walk *walk, struct kernel_walk_stats *ret)
{
	*ret = (struct kernel_walk_stats){0};
}
