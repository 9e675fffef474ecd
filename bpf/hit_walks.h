/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hit_walks.h - samples of tracepoints and probes.
 *
 * perf runs a program at each hit, before it knows which of its events want the hit.  So the program
 * itself checks periods, CPUs and threads.  What it cannot walk it gives to an event of the
 * recorder, for which the kernel makes the usual sample, with a copy of the stack.
 *
 * The recorder enters the threads that it samples; what they start is entered here, as perf's own
 * events are inherited.
 *
 * It always returns 1: with 0 the kernel would drop the hit for everybody.
 */
#ifndef BOBBIN_HIT_WALKS_H
#define BOBBIN_HIT_WALKS_H

/* linux/sched.h: never to return to user mode */
#define PF_EXITING 0x00000004

#pragma GCC visibility push(default)

/* Events of the recorder's, by kernel_event_index(). */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(uint32_t));
} copies SEC(".maps");

/* Hits so far, likewise. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint64_t);
} hits SEC(".maps");

/* Set before the program is loaded: events' periods, the number of CPUs, those that are sampled. */
const volatile uint64_t event_periods[KERNEL_EVENTS];
const volatile uint32_t cpu_count;
const volatile uint64_t event_cpus[KERNEL_CPUS / 64];
/* After the states of walks that have waited come those of hits, one for each CPU. */
const volatile uint32_t first_hit_state;
/* Whether samples are wanted now. */
uint64_t hits_wanted;

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

static BOBBIN_ALWAYS_INLINE bool is_sampled_cpu(uint32_t cpu)
{
	return event_cpus[index_below(cpu / 64, KERNEL_CPUS / 64)] >> cpu % 64 & 1;
}

/* Whether a hit is the last one of its period. */
static BOBBIN_ALWAYS_INLINE bool is_due(uint64_t event, uint32_t index)
{
	uint64_t period = event_periods[index_below(event, KERNEL_EVENTS)];
	uint64_t *count;

	if (period <= 1)
		return true;
	count = bpf_map_lookup_elem(&hits, &index);
	return count && !((__sync_fetch_and_add(count, 1) + 1) % period);
}

/* Walk, and give out.  A program of a probe may interrupt itself, so it claims the state. */
static BOBBIN_ALWAYS_INLINE bool walk_hit(void *ctx, const struct sample_facts *facts, uint32_t cpu,
					  bool may_defer)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	uint32_t number = first_hit_state + cpu;
	struct walk_state *s = bpf_map_lookup_elem(&states, &number);
	struct walk_end end;
	bool given;

	if (!has_user_mode() || !s || __sync_val_compare_and_swap(&s->busy, 0, 1))
		return false;
	if (task->flags & PF_EXITING)
		may_defer = false;
	given = walk_current(s, number, may_defer, &end) &&
		give_out(ctx, s, facts, end.count, end.cookie);
	s->busy = 0;
	return given;
}

static BOBBIN_ALWAYS_INLINE int take_hit(void *ctx, bool in_kernel, bool may_defer)
{
	uint64_t event = index_below(bpf_get_attach_cookie(ctx), KERNEL_EVENTS);
	uint32_t cpu = bpf_get_smp_processor_id();
	uint32_t index = kernel_event_index((uint32_t)event, cpu_count, cpu);
	struct sample_facts facts;

	if (!hits_wanted || !is_sampled_cpu(cpu) || !is_of_user() || !is_sampled())
		return 1;
	if (!is_due(event, index))
		return 1;
	facts = (struct sample_facts){
		.time = bpf_ktime_get_ns(),
		.period = event_periods[index_below(event, KERNEL_EVENTS)],
		.event = (uint32_t)event,
		.in_kernel = in_kernel,
	};
	if (!walk_hit(ctx, &facts, cpu, may_defer) || also_copy)
		bpf_perf_event_output(ctx, &copies, index, &facts.time, sizeof(facts.time));
	return 1;
}

SEC("tracepoint")
__attribute__((visibility("default"))) int walk_tracepoint(void *ctx)
{
	return take_hit(ctx, true, false);
}

SEC("kprobe")
__attribute__((visibility("default"))) int walk_probe(void *ctx)
{
	return take_hit(ctx, false, false);
}

/* Where the kernel has bpf_task_work. */
SEC("tracepoint")
__attribute__((visibility("default"))) int walk_or_defer_tracepoint(void *ctx)
{
	return take_hit(ctx, true, true);
}

SEC("kprobe")
__attribute__((visibility("default"))) int walk_or_defer_probe(void *ctx)
{
	return take_hit(ctx, false, true);
}

#endif
