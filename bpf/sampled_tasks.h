/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampled_tasks.h - the threads whose hits of tracepoints and probes are sampled.
 *
 * The recorder enters the threads that it samples; what they start is entered here, as perf's own
 * events are inherited.
 */
#ifndef BOBBIN_SAMPLED_TASKS_H
#define BOBBIN_SAMPLED_TASKS_H

#pragma GCC visibility push(default)

/* Threads by their numbers: enum kernel_sampling. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, KERNEL_SAMPLED_TASKS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} sampled_tasks SEC(".maps");

/* Set before the program is loaded. */
const volatile bool samples_all_tasks = true;
/* Threads that found no room. */
uint64_t unfollowed;

#pragma GCC visibility pop

/* As with perf, a task that is exiting has no events any more. */
static BOBBIN_ALWAYS_INLINE bool is_sampled(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	const uint64_t *how;

	if (samples_all_tasks)
		return true;
	if (task->exit_state)
		return false;
	how = bpf_map_lookup_elem(&sampled_tasks, &tid);
	return how && *how & KERNEL_SAMPLED;
}

SEC("tp_btf/sched_process_fork")
__attribute__((visibility("default"))) int follow_fork(uint64_t *args)
{
	const struct task_struct *child = (const struct task_struct *)args[1];
	uint32_t parent = (uint32_t)bpf_get_current_pid_tgid(), tid = (uint32_t)child->pid;
	const uint64_t *how = bpf_map_lookup_elem(&sampled_tasks, &parent);
	uint64_t inherited;

	if (!how || !(*how & KERNEL_INHERITED))
		return 0;
	inherited = *how;
	if (bpf_map_update_elem(&sampled_tasks, &tid, &inherited, BPF_ANY))
		__sync_fetch_and_add(&unfollowed, 1);
	return 0;
}

/* At execve() a thread gets the number of the first thread of its process. */
SEC("tp_btf/sched_process_exec")
__attribute__((visibility("default"))) int follow_exec(uint64_t *args)
{
	uint32_t before = (uint32_t)args[1], tid = (uint32_t)bpf_get_current_pid_tgid();
	const uint64_t *how = bpf_map_lookup_elem(&sampled_tasks, &before);
	uint64_t now;

	if (!how)
		return 0;
	now = *how | KERNEL_SAMPLED;
	bpf_map_update_elem(&sampled_tasks, &tid, &now, BPF_ANY);
	if (before != tid)
		bpf_map_delete_elem(&sampled_tasks, &before);
	return 0;
}

SEC("tp_btf/sched_process_free")
__attribute__((visibility("default"))) int follow_free(uint64_t *args)
{
	const struct task_struct *task = (const struct task_struct *)args[0];
	uint32_t tid = (uint32_t)task->pid;

	bpf_map_delete_elem(&sampled_tasks, &tid);
	return 0;
}

#endif
