/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/process_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory_origin.h"
#include "base/vector.h"
#include "unwind/space.h"

#define BUCKETS 1024

struct process_table {
	struct bobbin_unwinder *unwinder;
	const struct bobbin_arch *arch;
	bool live;
	void (*ended)(void *ctx, struct process *process); /* or NULL */
	void *ended_ctx;
	/* numbers of those that have changed; if there was no memory for one, all of them have */
	int *changed;
	size_t changed_count, changed_room;
	bool all_changed;
	uint64_t programs; /* that were heard of */
	struct process *processes[BUCKETS];
	struct thread *threads[BUCKETS];
};

/* The thread has called execve(): the frames are those of another program. */
static void wait_forget_user(struct wait *wait)
{
	if (!wait)
		return;
	wait->left.trace.count = 0;
	wait->left.trace.left_out = 0;
	wait->left.trace.reason = BOBBIN_REASON_NO_USER;
}

/* @wait may be NULL. */
static void wait_free(struct wait *wait)
{
	if (!wait)
		return;
	free(wait->left.frames);
	free(wait->waker.frames);
	free(wait);
}

static unsigned int bucket(int id)
{
	return ((uint32_t)id * 2654435761u) >> 22;
}

int process_table_open(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch, bool live,
		       struct process_table **ret)
{
	struct process_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->unwinder = unwinder;
	t->arch = arch;
	t->live = live;
	*ret = t;
	return 0;
}

/* What leads to a process; to NULL, and a new one goes there, if it is unknown. */
static struct process **process_link(struct process_table *table, int pid)
{
	struct process **link = &table->processes[bucket(pid)];

	while (*link && (*link)->pid != pid)
		link = &(*link)->next;
	return link;
}

static struct thread **thread_link(struct process_table *table, int tid)
{
	struct thread **link = &table->threads[bucket(tid)];

	while (*link && (*link)->tid != tid)
		link = &(*link)->next;
	return link;
}

static void remove_process(struct process_table *table, struct process *p)
{
	*process_link(table, p->pid) = p->next;
	if (table->ended)
		table->ended(table->ended_ctx, p);
	bobbin_space_close(p->space);
	free(p->left);
	free(p);
}

static void remove_thread(struct process_table *table, int tid)
{
	struct thread **link = thread_link(table, tid), *t = *link;

	if (!t)
		return;
	*link = t->next;
	if (!--t->process->threads)
		remove_process(table, t->process);
	wait_free(t->wait);
	free(t->calls);
	free(t);
}

void process_table_close(struct process_table *table)
{
	if (!table)
		return;
	for (unsigned int i = 0; i < BUCKETS; i++)
		while (table->threads[i])
			remove_thread(table, table->threads[i]->tid);
	/* those that no thread could be made for */
	for (unsigned int i = 0; i < BUCKETS; i++)
		while (table->processes[i])
			remove_process(table, table->processes[i]);
	free(table->changed);
	free(table);
}

/* @parent: whose memory it starts with, or NULL. */
static int add_process(struct process_table *table, int pid, const struct process *parent,
		       struct process **ret)
{
	struct process *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	r = parent ? bobbin_space_fork(parent->space, &p->space)
		   : bobbin_space_open(table->unwinder, table->arch, &p->space);
	if (r) {
		free(p);
		return r;
	}
	p->pid = pid;
	p->walk = (struct walked_process){.pid = pid, .space = p->space};
	p->space->live_pid = table->live ? pid : 0;
	p->program = ++table->programs;
	/* what was registered is in its memory, too */
	p->code.page.open = parent && parent->code.page.open;
	p->code.images.open = parent && parent->code.images.open;
	if (parent) {
		p->owner = parent->owner;
		p->cgroup.last = parent->cgroup.last;
		p->cgroup.parent = parent->pid;
		p->lineage = lineage_of_child(parent->pid, &parent->lineage);
	}
	*process_link(table, pid) = p;
	*ret = p;
	return 0;
}

static int add_thread(struct process_table *table, int tid, struct process *process,
		      struct thread **ret)
{
	struct thread *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->tid = tid;
	t->process = process;
	process->threads++;
	*thread_link(table, tid) = t;
	*ret = t;
	return 0;
}

bool process_table_knows(struct process_table *table, int pid, int tid)
{
	const struct thread *t = *thread_link(table, tid);

	return t && t->process->pid == pid;
}

int process_table_thread(struct process_table *table, int pid, int tid, struct thread **ret)
{
	struct thread *t = *thread_link(table, tid);
	struct process *process;
	int r;

	if (t && t->process->pid == pid) {
		*ret = t;
		return 0;
	}
	/* numbers are used again: an exit that was lost must not mix two processes */
	remove_thread(table, tid);
	process = *process_link(table, pid);
	r = process ? 0 : add_process(table, pid, NULL, &process);
	if (!r)
		r = add_thread(table, tid, process, ret);
	if (r && process && !process->threads)
		remove_process(table, process);
	return r;
}

struct thread *process_table_find(struct process_table *table, int tid)
{
	return *thread_link(table, tid);
}

struct thread *process_table_alive(struct process_table *table, int pid, int tid)
{
	struct thread *t = *thread_link(table, tid);

	return t && t->told && t->process->pid == pid ? t : NULL;
}

void process_table_visit(struct process_table *table,
			 void (*visit)(void *ctx, struct process *process), void *ctx)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct process *p = table->processes[i]; p; p = p->next)
			visit(ctx, p);
}

void process_table_visit_threads(struct process_table *table,
				 void (*visit)(void *ctx, struct thread *thread), void *ctx)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		for (struct thread *t = table->threads[i]; t; t = t->next)
			visit(ctx, t);
}

void process_table_watch(struct process_table *table,
			 void (*ended)(void *ctx, struct process *process), void *ctx)
{
	table->ended = ended;
	table->ended_ctx = ctx;
}

void process_table_note(struct process_table *table, struct process *process)
{
	/* nobody asks */
	if (!table->ended || process->changed)
		return;
	process->changed = !vector_push(table->changed, table->changed_count, table->changed_room,
					process->pid);
	table->all_changed |= !process->changed;
}

void process_table_visit_changed(struct process_table *table,
				 void (*visit)(void *ctx, struct process *process), void *ctx)
{
	size_t count = table->changed_count;

	table->changed_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct process *p = *process_link(table, table->changed[i]);

		if (!p || !p->changed)
			continue;
		p->changed = false;
		if (!table->all_changed)
			visit(ctx, p);
	}
	if (table->all_changed)
		process_table_visit(table, visit, ctx);
	table->all_changed = false;
}

static int on_mmap(struct process_table *table, const struct perf_event *event)
{
	const struct perf_mmap *m = &event->mmap;
	struct bobbin_mapping mapping = {
		.start = m->addr,
		.end = m->addr + m->len,
		.offset = m->pgoff,
		.path = m->filename,
		.build_id_len = m->build_id_len,
		.major = m->maj,
		.minor = m->min,
		.ino = m->ino,
		.generation = m->ino_gen,
		.pid = table->live ? (int)event->pid : 0,
	};
	struct thread *thread;
	int r;

	if ((event->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return 0;
	if (event->type == PERF_RECORD_MMAP2 ? !(m->prot & PROT_EXEC)
					     : event->misc & PERF_RECORD_MISC_MMAP_DATA)
		return 0;
	memcpy(mapping.build_id, m->build_id, m->build_id_len);
	r = process_table_thread(table, (int)event->pid, (int)event->tid, &thread);
	if (r)
		return r;
	process_table_note(table, thread->process);
	r = bobbin_space_map(thread->process->space, &mapping);
	return r == -EINVAL ? 0 : r;
}

static int on_comm(struct process_table *table, const struct perf_event *event)
{
	struct thread *thread;
	int r = process_table_thread(table, (int)event->pid, (int)event->tid, &thread);

	if (r)
		return r;
	thread->told = true;
	strncpy(thread->comm, event->comm.comm, COMM_SIZE - 1);
	if (event->pid == event->tid)
		memcpy(thread->process->comm, thread->comm, COMM_SIZE);
	if (event->comm.exec) {
		bobbin_space_clear(thread->process->space);
		thread->process->in_exec = true;
		thread->process->program = ++table->programs;
		thread->process->lineage = (struct lineage){0};
		thread->process->code = (struct code_watch){0};
		thread->process->cgroup.asked = 0;
		wait_forget_user(thread->wait);
		free(thread->calls);
		thread->calls = NULL;
		process_table_note(table, thread->process);
	}
	return 0;
}

static int on_fork(struct process_table *table, const struct perf_event *event)
{
	int pid = (int)event->pid, tid = (int)event->tid, ppid = (int)event->task.ppid;
	struct thread *parent, *child;
	struct process *process;
	char comm[COMM_SIZE];
	int r;

	remove_thread(table, tid);
	r = process_table_thread(table, ppid, (int)event->task.ptid, &parent);
	if (r)
		return r;
	memcpy(comm, parent->comm, COMM_SIZE);
	process = parent->process;
	if (pid != ppid) {
		/* it may be heard of before it was born: another CPU's records came first */
		process = *process_link(table, pid);
		r = process ? 0 : add_process(table, pid, parent->process, &process);
		if (!r)
			memcpy(process->comm, comm, COMM_SIZE);
	}
	if (!r)
		r = add_thread(table, tid, process, &child);
	if (r)
		return r;
	child->told = true;
	process_table_note(table, process);
	memcpy(child->comm, comm, COMM_SIZE);
	return 0;
}

void process_has_run(struct process *process, const struct bobbin_trace *trace)
{
	if (trace->reason != BOBBIN_REASON_NO_MAPPING || trace->count > 1)
		process->in_exec = false;
}

bool process_is_bare(const struct process *process, const struct bobbin_frame *frame)
{
	struct bobbin_place_info place;

	return bobbin_space_find(process->space, bobbin_frame_lookup_pc(frame), &place) ||
	       memory_may_be_made(place.mapping.path);
}

bool process_has_bare_code(const struct process *process, const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++)
		switch (trace->frames[i].source) {
		case BOBBIN_SOURCE_EH_FRAME:
			if (process->space->remote && process_is_bare(process, &trace->frames[i]))
				return true;
			break;
		case BOBBIN_SOURCE_DEBUG_FRAME:
		case BOBBIN_SOURCE_SIDEFILE: /* of files only */
		case BOBBIN_SOURCE_LEFT_OUT:
			break;
		default:
			if (process_is_bare(process, &trace->frames[i]))
				return true;
		}
	return false;
}

int process_table_event(struct process_table *table, const struct perf_event *event)
{
	switch (event->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return on_mmap(table, event);
	case PERF_RECORD_COMM:
		return on_comm(table, event);
	case PERF_RECORD_FORK:
		return on_fork(table, event);
	case PERF_RECORD_EXIT:
		remove_thread(table, (int)event->tid);
		return 0;
	default:
		return 0;
	}
}

/* The kernel's part of the call chain, up to @max entries; nobody asks for the sample's rest. */
static void keep_kernel(struct perf_event *event, uint64_t *kernel, size_t max)
{
	const struct perf_sample *sample = &event->sample;
	size_t count = perf_sample_kernel_count(sample);

	if (count > max)
		count = max;
	if (count)
		memcpy(kernel, sample->callchain, count * sizeof(*kernel));
	event->sample = (struct perf_sample){
		.ip = sample->ip,
		.period = sample->period,
		.callchain = kernel,
		.callchain_nr = count,
	};
}

static int keep_stack(struct kept_stack *stack, const struct perf_event *event,
		      const struct bobbin_trace *trace)
{
	/* never NULL, so that readers may copy none */
	if (vector_reserve(&stack->frames, &stack->frame_room, (size_t)trace->count + 1,
			   sizeof(*stack->frames)))
		return -ENOMEM;
	if (trace->count)
		memcpy(stack->frames, trace->frames, trace->count * sizeof(*stack->frames));
	stack->trace = *trace;
	stack->trace.frames = stack->frames;
	stack->event = *event;
	keep_kernel(&stack->event, stack->kernel, PERF_KERNEL_CHAIN_MAX);
	return 0;
}

int wait_begin(struct wait **wait, const struct perf_event *event, const struct bobbin_trace *trace)
{
	struct wait *w = *wait ? *wait : calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*wait = w;
	w->open = w->runnable = w->woken = false;
	if (keep_stack(&w->left, event, trace))
		return -ENOMEM;
	w->open = true;
	return 0;
}

int wait_woken(struct wait *wait, const struct perf_event *event, const struct bobbin_trace *trace)
{
	if (keep_stack(&wait->waker, event, trace))
		return -ENOMEM;
	wait->woken = true;
	return 0;
}

bool wait_end(struct wait *wait, uint64_t time, uint64_t *duration)
{
	if (!wait || !wait->open)
		return false;
	wait->open = false;
	if (time < wait->left.event.time)
		return false;
	*duration = time - wait->left.event.time;
	return true;
}

void deferred_samples_add(struct deferred_samples *samples, struct deferred_sample *sample)
{
	sample->next = NULL;
	if (!samples->first)
		samples->last = &samples->first;
	*samples->last = sample;
	samples->last = &sample->next;
	samples->count++;
	samples->bytes += sample->size;
}

static size_t stack_words(const struct perf_sample *sample)
{
	return sample->stack ? (size_t)sample->dyn_size / sizeof(uint64_t) : 0;
}

static size_t reg_words(const struct perf_sample *sample)
{
	return sample->regs ? (size_t)__builtin_popcountll(sample->regs_mask) : 0;
}

static size_t left_bytes(const struct perf_sample *sample)
{
	size_t bytes = 0;

	for (size_t i = 0; i < SAMPLE_LEFT_STACKS; i++)
		bytes += sample->left[i].size;
	return bytes;
}

static void keep_left(struct perf_sample *kept, uint8_t *bytes, const struct perf_sample *from)
{
	kept->left_pc = from->left_pc;
	for (size_t i = 0; i < SAMPLE_LEFT_STACKS; i++) {
		const struct bobbin_stack_copy *left = &from->left[i];

		kept->left[i] = (struct bobbin_stack_copy){left->addr, bytes, left->size};
		if (left->size)
			memcpy(bytes, left->data, left->size);
		bytes += left->size;
	}
}

/* What keep_kernel() has left out, at @words. */
static void keep_user(struct perf_sample *kept, uint64_t *words, const struct perf_sample *from)
{
	size_t regs = reg_words(from), stack = stack_words(from);

	kept->block = from->block;
	kept->caller = from->caller;
	kept->regs_abi = from->regs_abi;
	kept->regs_mask = from->regs_mask;
	if (regs)
		kept->regs = memcpy(words, from->regs, regs * sizeof(*words));
	if (!stack)
		return;
	kept->stack = memcpy(words + regs, from->stack, stack * sizeof(*words));
	kept->stack_size = kept->dyn_size = stack * sizeof(*words);
	keep_left(kept, (uint8_t *)(words + regs + stack), from);
}

int deferred_samples_hold(struct deferred_samples *samples, const struct perf_event *event,
			  uint64_t cookie)
{
	const struct perf_sample *sample = &event->sample;
	size_t kernel = perf_sample_kernel_count(sample);
	size_t words = kernel + reg_words(sample) + stack_words(sample);
	size_t size = sizeof(struct deferred_sample) + words * sizeof(uint64_t) +
		      left_bytes(sample);
	struct deferred_sample *s = malloc(size);

	if (!s)
		return -ENOMEM;
	*s = (struct deferred_sample){.cookie = cookie, .size = size, .event = *event};
	keep_kernel(&s->event, s->words, kernel);
	keep_user(&s->event.sample, s->words + kernel, sample);
	deferred_samples_add(samples, s);
	return 0;
}

static struct deferred_sample *unlink_at(struct deferred_samples *samples,
					 struct deferred_sample **at)
{
	struct deferred_sample *s = *at;

	*at = s->next;
	if (!s->next)
		samples->last = at;
	samples->count--;
	samples->bytes -= s->size;
	return s;
}

struct deferred_sample *deferred_samples_take(struct deferred_samples *samples, uint32_t tid,
					      uint64_t cookie)
{
	for (struct deferred_sample **at = &samples->first; *at; at = &(*at)->next)
		if ((*at)->cookie == cookie && (*at)->event.tid == tid)
			return unlink_at(samples, at);
	return NULL;
}

struct deferred_sample *deferred_samples_drop(struct deferred_samples *samples, size_t max)
{
	return samples->count > max ? unlink_at(samples, &samples->first) : NULL;
}
