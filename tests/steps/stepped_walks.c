/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stepped_walks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "base/native_arch.h"
#include "core/frame_rules.h"
#include "core/plain_step.h"
#include "infer/code_table.h"
#include "target/thread.h"
#include "unwind/module.h"
#include "unwind/space.h"

const char *const walk_way_names[WALK_WAYS] = {"library", "stack", "copy", "kernel"};

/* The linker calls these in place of those without "__wrap_": who steps the thread has it stopped. */
int __wrap_thread_stop(pid_t tid, unsigned int limit_ms, struct stopped_thread *ret);
void __wrap_thread_release(const struct stopped_thread *thread);

int __wrap_thread_stop(pid_t tid, unsigned int limit_ms, struct stopped_thread *ret)
{
	(void)limit_ms;
	*ret = (struct stopped_thread){.tid = tid};
	return 0;
}

void __wrap_thread_release(const struct stopped_thread *thread)
{
	(void)thread;
}

static int open_sampler(struct walk_means *means)
{
	const struct bobbin_rule outermost = outermost_rule(native_arch());
	struct native_maps maps;
	struct plain_forms forms;
	uint64_t word;
	int r = bpf_tables_init(&means->tables);

	if (!r)
		r = bpf_lists_init(&means->lists);
	plain_forms_of(native_arch(), &forms);
	if (!r)
		r = bobbin_rule_pack(&outermost, &word);
	if (r)
		return r;
	native_sampler_init(forms.from_sp, forms.from_fp, forms.record, word, &maps);
	means->tables.unwinder = means->inferring;
	means->tables.store.files = maps.files;
	means->tables.store.pages = maps.pages;
	means->lists.mappings = maps.mappings;
	return 0;
}

int walk_means_init(struct walk_means *means)
{
	const struct bobbin_unwinder_options plain = {.size = sizeof(plain), .ignore_code = true};
	const struct bobbin_unwinder_options inferring = {.size = sizeof(inferring),
							  .code_later = true};
	int r = unwinder_open(&plain, &code_table_ops, &means->plain);

	if (!r)
		r = unwinder_open(&inferring, &code_table_ops, &means->inferring);
	return r ? r : open_sampler(means);
}

void walk_means_fini(struct walk_means *means)
{
	bpf_tables_fini(&means->tables);
	bpf_lists_fini(&means->lists);
	bobbin_unwinder_close(means->inferring);
	bobbin_unwinder_close(means->plain);
}

static int make_list(struct stepped_walks *w)
{
	const struct mapping_list *maps = &bobbin_process_space(w->inferring)->maps;
	struct kernel_mapping *entries = calloc(maps->count + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	/* tables are asked for, and then there */
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < maps->count; i++)
			bpf_tables_mapping(&w->means->tables, &maps->list[i], &entries[i]);
		bpf_tables_take(&w->means->tables, true);
	}
	bpf_lists_put(&w->means->lists, w->list);
	w->list = bpf_lists_get(&w->means->lists, entries, (uint32_t)maps->count);
	free(entries);
	return w->list ? 0 : -ENOMEM;
}

int stepped_walks_update(struct stepped_walks *walks)
{
	int r = bobbin_process_update(walks->plain);

	if (!r)
		r = bobbin_process_update(walks->inferring);
	return r ? r : make_list(walks);
}

int stepped_walks_open(struct walk_means *means, pid_t pid, struct stepped_walks *ret)
{
	struct bobbin_process_options options = {.size = sizeof(options), .unwinder = means->plain};
	int r;

	ret->means = means;
	ret->pid = pid;
	ret->plain = ret->inferring = NULL;
	ret->list = NULL;
	r = bobbin_process_open(pid, &options, &ret->plain);
	options.unwinder = means->inferring;
	if (!r)
		r = bobbin_process_open(pid, &options, &ret->inferring);
	if (!r)
		bobbin_process_space(ret->inferring)->live_pid = pid;
	if (!r)
		r = make_list(ret);
	if (r)
		stepped_walks_close(ret);
	return r;
}

void stepped_walks_close(struct stepped_walks *walks)
{
	bpf_lists_put(&walks->means->lists, walks->list);
	bobbin_process_close(walks->plain);
	bobbin_process_close(walks->inferring);
}

/* As in src/cli/stack.c. */
static int walk_as_stack(struct stepped_walks *w)
{
	int r;

	do
		r = bobbin_process_unwind(w->inferring, w->pid, &w->trace);
	while (!r && w->trace.reason != BOBBIN_REASON_OUTERMOST &&
	       unwinder_finish_code(w->means->inferring, NULL));
	return r;
}

static int walk_copy(struct stepped_walks *w, const struct user_regs_struct *user)
{
	struct iovec here = {w->stack, sizeof(w->stack)};
	struct iovec there = {(void *)user->rsp, sizeof(w->stack)};
	struct bobbin_stack_copy copy = {user->rsp, w->stack, 0};
	struct bobbin_mem mem = {bobbin_stack_copy_read, &copy};
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;
	ssize_t size;
	int r = thread_registers(w->pid, gpr, &regs);

	if (r)
		return r;
	size = process_vm_readv(w->pid, &here, 1, &there, 1, 0);
	copy.size = size < 0 ? 0 : (size_t)size;
	do
		bobbin_unwind(w->means->inferring, bobbin_process_space(w->inferring), &regs, &mem,
			      &w->trace);
	while (w->trace.reason != BOBBIN_REASON_OUTERMOST &&
	       unwinder_finish_code(w->means->inferring, NULL));
	return 0;
}

static bool read_memory(void *ctx, unsigned long long addr, void *room, uint32_t size, bool wait)
{
	(void)wait;
	return bobbin_process_memory_read(ctx, addr, room, size) == BOBBIN_REASON_NONE;
}

/* Rules that the other ways have had inferred are the kernel's, too. */
static int take_inferred(struct stepped_walks *w)
{
	const uint64_t before = w->means->tables.extended;

	bpf_tables_take(&w->means->tables, true);
	return w->means->tables.extended == before ? 0 : make_list(w);
}

static int walk_as_kernel(struct stepped_walks *w, const struct user_regs_struct *user)
{
	struct bobbin_process_memory memory;
	struct native_process process = {.pc = user->rip,
					 .sp = user->rsp,
					 .fp = user->rbp,
					 .read = read_memory,
					 .ctx = &memory};
	struct native_walk walk;
	int r = take_inferred(w);

	if (r)
		return r;
	process.list = w->list->list;
	bobbin_process_memory_init(&memory, w->pid);
	native_sampler_walk(&process, false, &walk);
	w->trace.count = (uint32_t)walk.count;
	w->trace.reason = walk.whole ? BOBBIN_REASON_OUTERMOST : BOBBIN_REASON_NO_TABLE;
	for (uint32_t i = 0; i < w->trace.count; i++)
		w->frames[i] = (struct bobbin_frame){
			.pc = walk.frames[i] & KERNEL_PC,
			.source = (uint8_t)(walk.frames[i] >> KERNEL_PC_BITS & KERNEL_SOURCE),
			.exact = walk.frames[i] & KERNEL_EXACT};
	return 0;
}

int stepped_walks_walk(struct stepped_walks *walks, enum walk_way way,
		       const struct user_regs_struct *regs)
{
	walks->trace = (struct bobbin_trace){.frames = walks->frames, .max = BOBBIN_MAX_DEPTH};
	switch (way) {
	case WALK_LIBRARY:
		return bobbin_process_unwind(walks->plain, walks->pid, &walks->trace);
	case WALK_STACK:
		return walk_as_stack(walks);
	case WALK_COPY:
		return walk_copy(walks, regs);
	default:
		return walk_as_kernel(walks, regs);
	}
}
