/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A build without BPF: no walk is ever opened.
 */
#include <errno.h>

#include "bpfwalk/bpf_walk.h"

bool kernel_walk_is_built(void)
{
	return false;
}

int kernel_walk_open(struct bobbin_unwinder *unwinder, const struct kernel_walk_options *options,
		     struct kernel_walk **ret)
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

int kernel_walk_follow_tasks(struct kernel_walk *walk)
{
	return -ENOSYS;
}

int kernel_walk_attach_hits(struct kernel_walk *walk, uint32_t number, const int *events,
			    const int *cpus, size_t count)
{
	return -ENOSYS;
}

void kernel_walk_want_hits(struct kernel_walk *walk, bool wanted)
{
}

int kernel_walk_sample(struct kernel_walk *walk, pid_t tid, uint64_t how)
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

bool kernel_walk_look_is_due(struct kernel_walk *walk)
{
	return false;
}

void kernel_walk_follow(struct kernel_walk *walk, struct walked_process *process)
{
}

void kernel_walk_forget(struct kernel_walk *walk, struct walked_process *process)
{
}

void kernel_walk_mapped(struct kernel_walk *walk, struct walked_process *process, uint64_t time,
			uint64_t addr)
{
}

void kernel_walk_exec(struct kernel_walk *walk, int pid, uint64_t time)
{
}

void kernel_walk_read_until(struct kernel_walk *walk, uint64_t time)
{
}

int kernel_walk_wake_fd(const struct kernel_walk *walk)
{
	return -1;
}

int kernel_walk_collect(struct kernel_walk *walk)
{
	return -ENOSYS;
}

uint64_t kernel_walk_time(const struct kernel_walk *walk)
{
	return UINT64_MAX;
}

int kernel_walk_missed(const struct kernel_walk *walk)
{
	return 0;
}

const struct kernel_trace *kernel_walk_next(struct kernel_walk *walk)
{
	return NULL;
}

void kernel_walk_trace(struct kernel_walk *walk, struct walked_process *process,
		       struct bobbin_trace *trace)
{
}

bool kernel_walk_outlived(const struct kernel_walk *walk)
{
	return false;
}

void kernel_walk_stats(const struct kernel_walk *walk, struct kernel_walk_stats *ret)
{
	*ret = (struct kernel_walk_stats){0};
}
