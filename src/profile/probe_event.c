/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/probe_event.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/native_arch.h"
#include "base/regular_file.h"
#include "profile/perf_format.h"
#include "profile/stack_sample.h"
#include "profile/tracepoint.h"
#include "unwind/space.h"

#define GROUP "bobbin"
#define LIST "uprobe_events"
#define LINE_SIZE 512

/* The kernel takes what one write(2) brings. */
static int tell_kernel(const char *line)
{
	int folder = tracepoint_folder(), fd, r = 0;

	if (folder < 0)
		return folder;
	/* without O_TRUNC, which would remove everybody's */
	fd = openat(folder, LIST, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		r = -errno;
	else if (write(fd, line, strlen(line)) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	close(folder);
	return r;
}

static void remove_event(const char *name)
{
	char line[LINE_SIZE];

	snprintf(line, sizeof(line), "-:" GROUP "/%s\n", name);
	tell_kernel(line);
}

/* A name of ours that no other recorder has, in whatever namespace it is. */
static void choose_name(char name[PROBE_NAME_SIZE])
{
	snprintf(name, PROBE_NAME_SIZE, "p%d_%" PRIx64, (int)getpid(), clock_now());
}

int probe_event_open(const char *path, uint64_t offset, bool returns, struct probe_event *ret)
{
	char line[LINE_SIZE], full[PROBE_NAME_SIZE + sizeof(GROUP)];
	struct probe_event probe = {0};
	int fd = regular_file_open(path, 0, NULL), r;

	*ret = probe;
	if (fd < 0)
		return fd;
	choose_name(probe.name);
	/* the path itself may have spaces */
	snprintf(line, sizeof(line), "%c:" GROUP "/%s /proc/self/fd/%d:0x%" PRIx64 "\n",
		 returns ? 'r' : 'p', probe.name, fd, offset);
	r = tell_kernel(line);
	close(fd);
	if (r)
		return r;
	snprintf(full, sizeof(full), GROUP ":%s", probe.name);
	r = tracepoint_find(full, NULL, 0, &probe.id);
	if (r)
		remove_event(probe.name);
	else
		*ret = probe;
	return r;
}

void probe_event_close(struct probe_event *probe)
{
	if (*probe->name)
		remove_event(probe->name);
	*probe->name = '\0';
}

/* A description whose recorder is gone; one that is in use cannot be removed. */
static bool is_left(const char *name)
{
	long pid = *name == 'p' ? strtol(name + 1, NULL, 10) : 0;

	return pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

static void clean_line(const char *line)
{
	const char *start = strchr(line, ':'), *end;
	char name[PROBE_NAME_SIZE];

	if (!start || strncmp(start + 1, GROUP "/", sizeof(GROUP)) != 0)
		return;
	start += 1 + sizeof(GROUP);
	end = strchr(start, ' ');
	if (!end || end - start >= (long)sizeof(name))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(end - start), start);
	if (is_left(name))
		remove_event(name);
}

void probe_events_clean(void)
{
	int folder = tracepoint_folder(), fd = -1;
	char *line = NULL;
	size_t room = 0;
	FILE *list = NULL;

	if (folder >= 0)
		fd = openat(folder, LIST, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		list = fdopen(fd, "r");
	while (list && getline(&line, &room, list) > 0)
		clean_line(line);
	free(line);
	if (list)
		fclose(list);
	else if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
}

/* MAX_URETPROBE_DEPTH of kernel/events/uprobes.c: deeper ones return as they are */
#define CALLS_MAX 64
/* asm/perf_regs.h of x86-64 */
#define X86_REG_SP 7
#define X86_REG_IP 8
/* Of the 16 bits that a sample's size has. */
#define STACK_MAX 65536

/* Those that have not returned, the outermost first: slots descend. */
struct probed_calls {
	size_t count;
	struct {
		uint64_t slot, pc; /* where the return address stands, and what it is */
	} calls[CALLS_MAX];
};

static bool is_return(const struct sampler_event *event)
{
	return event->probe && event->config;
}

bool return_probes_wanted(const struct sampler_event *events, size_t count)
{
	/* elsewhere the return address is in a register first */
	if (native_arch() != bobbin_arch_amd64())
		return false;
	for (size_t i = 0; i < count; i++)
		if (is_return(&events[i]))
			return true;
	return false;
}

/* Of a sample that has the registers and the word at the stack pointer. */
static struct perf_event_attr attr_of(const struct perf_event_attr *sampled,
				      const struct sampler_options *options,
				      const struct sampler_event *event,
				      const struct probe_event *entry)
{
	struct perf_event_attr attr = *sampled;
	bool told = *entry->name;

	attr.type = told ? PERF_TYPE_TRACEPOINT : event->type;
	attr.config = told ? entry->id : 0;
	attr.config1 = told ? 0 : event->config1;
	attr.config2 = told ? 0 : event->config2;
	attr.freq = 0;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER;
	attr.sample_regs_user = sample_regs_mask(native_arch());
	attr.sample_stack_user = sizeof(uint64_t);
	attr.exclude_user = attr.exclude_kernel = attr.exclude_idle = 0;
	attr.inherit = told && !options->no_inherit;
	attr.disabled = attr.enable_on_exec = told && options->enable_on_exec;
	perf_attr_flag(&attr, PERF_FILE_DEFER_CALLCHAIN, false);
	sampler_attr_tell_nothing(&attr);
	return attr;
}

int return_probes_open(struct return_probes *probes, struct sampler *sampler,
		       const struct sampler_options *options, const struct sampler_event *events,
		       size_t count, const struct probe_event *entries)
{
	const pid_t everyone = -1;
	const struct sampler_options all = {.tids = &everyone, .tid_count = 1};
	int r = 0;

	probes->copy = malloc(STACK_MAX);
	probes->entries = calloc(count, sizeof(*probes->entries));
	if (!probes->copy || !probes->entries)
		return -ENOMEM;
	for (size_t i = 0; i < count && !r; i++) {
		struct perf_event_attr attr;

		if (!is_return(&events[i]))
			continue;
		attr = attr_of(&sampler_source(sampler, 0)->attr, options, &events[i], &entries[i]);
		r = sampler_add(sampler, *entries[i].name ? options : &all, &attr,
				&probes->entries[probes->count]);
		probes->count += !r;
	}
	return r;
}

void return_probes_close(struct return_probes *probes)
{
	for (size_t i = 0; i < probes->count; i++)
		sampler_events_close(&probes->entries[i]);
	free(probes->entries);
	free(probes->copy);
	*probes = (struct return_probes){0};
}

bool return_probes_have(const struct return_probes *probes, uint64_t id)
{
	for (size_t i = 0; i < probes->count; i++)
		if (sampler_events_have(&probes->entries[i], id))
			return true;
	return false;
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* A function that another one has jumped to, instead of a call, returns for both. */
static bool is_replaced(const struct thread *thread, uint64_t pc)
{
	return pc == thread->process->space->maps.probes;
}

int return_probes_enter(struct thread *thread, const struct perf_event *event)
{
	const struct perf_sample *sample = &event->sample;
	struct probed_calls *known = thread->calls;
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	if (!sample_regs(native_arch(), sample, gpr, &regs) || sample->dyn_size < sizeof(uint64_t))
		return 0;
	if (!known)
		known = thread->calls = calloc(1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	while (known->count && known->calls[known->count - 1].slot < regs.sp)
		known->count--;
	if (is_replaced(thread, word_at(sample->stack)))
		return 0;
	if (known->count && known->calls[known->count - 1].slot == regs.sp)
		known->count--;
	if (known->count == CALLS_MAX)
		return 0;
	known->calls[known->count].slot = regs.sp;
	known->calls[known->count++].pc = word_at(sample->stack);
	return 0;
}

int return_probes_fork(const struct thread *parent, struct thread *child)
{
	if (!parent->calls || child->calls)
		return 0;
	child->calls = malloc(sizeof(*child->calls));
	if (!child->calls)
		return -ENOMEM;
	*child->calls = *parent->calls;
	return 0;
}

static void forget(void *ctx, struct thread *thread)
{
	if (thread->calls)
		thread->calls->count = 0;
}

void return_probes_forget(struct process_table *processes)
{
	process_table_visit_threads(processes, forget, NULL);
}

/*
 * Where the return address was, for a thread in the kernel's page:
 *
 *	+0 push %rax  +1 push %rcx  +2 push %r11  +4 mov $NR,%rax  +11 syscall  +13 pop %r11 +15 pop %rcx
 *
 * False: it is not there.
 */
static bool returned_from(const struct thread *thread, const struct bobbin_regs *regs,
			  uint64_t *ret)
{
	static const int8_t above[] = {-8, 0,  8,  8,  16, 16, 16, 16, 16,
				       16, 16, 16, 16, 16, 8,  8,  0};
	uint64_t offset = regs->pc - thread->process->space->maps.probes;

	if (offset >= sizeof(above))
		return false;
	*ret = regs->sp + (uint64_t)above[offset];
	return true;
}

/* Change a register of the sample, which has it. */
static void set_reg(struct return_probes *probes, struct perf_sample *sample, unsigned int reg,
		    uint64_t value)
{
	uint64_t below = sample->regs_mask & ((1ull << reg) - 1);

	probes->regs[__builtin_popcountll(below)] = value;
}

/* As it is after the return: the stack begins above the return address. */
static void go_back(struct return_probes *probes, struct perf_sample *sample, uint64_t sp,
		    uint64_t slot, uint64_t pc)
{
	uint64_t gone = slot + sizeof(uint64_t) - sp;

	memcpy(probes->regs, sample->regs,
	       sizeof(uint64_t) * (size_t)__builtin_popcountll(sample->regs_mask));
	set_reg(probes, sample, X86_REG_SP, slot + sizeof(uint64_t));
	set_reg(probes, sample, X86_REG_IP, pc);
	sample->regs = probes->regs;
	if (!sample->stack)
		return;
	if (gone > sample->dyn_size)
		gone = sample->dyn_size;
	sample->stack += gone;
	sample->dyn_size -= gone;
	sample->stack_size -= gone;
}

/* A thread on the way back from a call that is known. */
static void leave_page(struct return_probes *probes, const struct thread *thread,
		       const struct bobbin_regs *regs, struct perf_sample *sample)
{
	const struct probed_calls *known = thread->calls;
	uint64_t slot;

	if (!returned_from(thread, regs, &slot))
		return;
	for (size_t i = 0; i < known->count; i++)
		if (known->calls[i].slot == slot) {
			go_back(probes, sample, regs->sp, slot, known->calls[i].pc);
			return;
		}
}

void return_probes_restore(struct return_probes *probes, const struct thread *thread,
			   struct perf_sample *sample)
{
	const struct probed_calls *known = thread->calls;
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	if (!known || !sample->stack || !thread->process->space->maps.probes ||
	    sample->dyn_size > STACK_MAX || !sample_regs(native_arch(), sample, gpr, &regs))
		return;
	for (size_t i = 0; i < known->count; i++) {
		uint64_t at = known->calls[i].slot - regs.sp;

		if (known->calls[i].slot < regs.sp || sample->dyn_size < sizeof(uint64_t) ||
		    at > sample->dyn_size - sizeof(uint64_t) ||
		    !is_replaced(thread, word_at(sample->stack + at)))
			continue;
		if (sample->stack != probes->copy)
			memcpy(probes->copy, sample->stack, sample->dyn_size);
		sample->stack = probes->copy;
		memcpy(probes->copy + at, &known->calls[i].pc, sizeof(uint64_t));
	}
	leave_page(probes, thread, &regs, sample);
}
