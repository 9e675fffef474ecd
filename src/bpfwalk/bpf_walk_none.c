/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A build without BPF: no walk is ever opened.
 */
#include <errno.h>

#include "bpfwalk/bpf_walk.h"

bool bpf_walk_is_built(void)
{
	return false;
}

int bpf_walk_start(struct bobbin_unwinder *unwinder, const struct bpf_walk_options *options,
		   struct bpf_walk **ret)
{
	return -ENOSYS;
}

int bpf_walk_wait(struct bpf_walk *walk)
{
	return -ENOSYS;
}

bool bpf_walk_is_loaded(const struct bpf_walk *walk, uint64_t until)
{
	return true;
}

void bpf_walk_close(struct bpf_walk *walk)
{
}

int bpf_walk_run(struct bpf_walk *walk)
{
	return -ENOSYS;
}

int bpf_walk_attach(struct bpf_walk *walk, int event)
{
	return -ENOSYS;
}

int bpf_walk_attach_hits(struct bpf_walk *walk, uint32_t number, const int *events, const int *cpus,
			 size_t count)
{
	return -ENOSYS;
}

void bpf_walk_want_hits(struct bpf_walk *walk, bool wanted)
{
}

int bpf_walk_sample(struct bpf_walk *walk, pid_t tid, uint64_t how)
{
	return -ENOSYS;
}

bool bpf_walk_take_tables(struct bpf_walk *walk, bool wait)
{
	return false;
}

bool bpf_walk_has_tables_to_come(const struct bpf_walk *walk)
{
	return false;
}

void bpf_walk_follow(struct bpf_walk *walk, struct walked_process *process)
{
}

void bpf_walk_forget(struct bpf_walk *walk, struct walked_process *process)
{
}

void bpf_walk_mapped(struct bpf_walk *walk, struct walked_process *process, uint64_t time,
		     uint64_t addr)
{
}

void bpf_walk_exec(struct bpf_walk *walk, int pid, uint64_t time)
{
}

int bpf_walk_read_until(struct bpf_walk *walk, uint64_t time)
{
	return -ENOSYS;
}

int bpf_walk_wake_fd(const struct bpf_walk *walk)
{
	return -1;
}

int bpf_walk_collect(struct bpf_walk *walk)
{
	return -ENOSYS;
}

uint64_t bpf_walk_time(const struct bpf_walk *walk)
{
	return UINT64_MAX;
}

const struct bpf_trace *bpf_walk_next(struct bpf_walk *walk)
{
	return NULL;
}

bool bpf_walk_trace(struct bpf_walk *walk, struct walked_process *process,
		    const struct bpf_trace *walked, struct bobbin_trace *trace)
{
	return false;
}

void bpf_walk_stats(const struct bpf_walk *walk, struct bpf_walk_stats *ret)
{
	*ret = (struct bpf_walk_stats){0};
}
