/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel-exactness FILE - does the program in the kernel find the stacks that user space finds?
 *
 * Walks each sample of a recording (`perf record --call-graph dwarf`) in user space, and by
 * bpf/sampler.bpf.c compiled as user code: once with the whole stack in memory, and once with
 * outer pages that it has to wait for.  Lists of mappings and tables are made by the
 * recorder's code.  A stack that the program calls complete has to have the same frames, by
 * the same sources; of another, the frames that it has come to.  Exit status 1 if one differs, or
 * if many were not walked to their root.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/native_arch.h"
#include "bpfwalk/bpf_lists.h"
#include "bpfwalk/bpf_tables.h"
#include "core/frame_rules.h"
#include "core/plain_step.h"
#include "native_sampler.h"
#include "sample_set.h"
#include "unwind/module.h"
#include "unwind/space.h"

#define PAGE 4096
#define CHANGES 8      /* of each sample */
#define NEAR_WORDS 256 /* of a stack, of which most belong to a frame */

/* A sample's memory: its stack, of which pages from @absent on have to be waited for, and code. */
struct sample_memory {
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	struct bobbin_stack_copy stack;
	uint64_t absent;
};

enum walk_kind {
	AT_ONCE,
	WAITING,
	KINDS
};

struct exactness {
	struct bobbin_unwinder *unwinder;
	struct sample_set set;
	struct bpf_tables tables;
	struct bpf_lists lists;
	struct known_list **list_of; /* of each layout */
	uint64_t complete, others;   /* in user space */
	uint64_t whole[KINDS], late, changed, changed_whole, different;
	uint64_t seed;
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace;
};

static void die(int error)
{
	fprintf(stderr, "kernel-exactness: %s\n", strerror(-error));
	exit(2);
}

static bool read_code(const struct sample_memory *memory, uint64_t addr, void *room, uint32_t size)
{
	const struct mapping *m = space_find(memory->space, addr);
	struct module *module = m ? unwinder_file_module(memory->unwinder, m->file) : NULL;

	return module && module_code(module, addr - m->start + m->offset, room, size);
}

static bool read_memory(void *ctx, unsigned long long addr, void *room, uint32_t size, bool wait)
{
	struct sample_memory *memory = ctx;
	const struct bobbin_stack_copy *stack = &memory->stack;
	uint64_t offset = addr - stack->addr;

	if (offset >= stack->size)
		return read_code(memory, addr, room, size);
	if (size > stack->size - offset)
		return false;
	if (addr + size > memory->absent) {
		if (!wait)
			return false;
		memory->absent = (addr + size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	}
	memcpy(room, (const uint8_t *)stack->data + offset, size);
	return true;
}

/* As bpf_walk.c makes them. */
static struct known_list *make_list(struct exactness *x, const struct bobbin_space *space)
{
	struct kernel_mapping *entries = calloc(space->maps.count + 1, sizeof(*entries));
	struct known_list *list;

	if (!entries)
		die(-ENOMEM);
	for (size_t i = 0; i < space->maps.count; i++)
		bpf_tables_mapping(&x->tables, &space->maps.list[i], &entries[i]);
	list = bpf_lists_get(&x->lists, entries, (uint32_t)space->maps.count);
	free(entries);
	return list;
}

static void make_lists(struct exactness *x)
{
	struct kernel_mapping ignored;

	for (size_t i = 0; i < x->set.layout_count; i++) {
		const struct mapping_list *maps = &x->set.layouts[i].space->maps;

		for (size_t m = 0; m < maps->count; m++)
			bpf_tables_mapping(&x->tables, &maps->list[m], &ignored);
	}
	bpf_tables_take(&x->tables, true);
	x->list_of = calloc(x->set.layout_count, sizeof(struct known_list *));
	if (!x->list_of)
		die(-ENOMEM);
	for (size_t i = 0; i < x->set.layout_count; i++)
		x->list_of[i] = make_list(x, x->set.layouts[i].space);
}

static void open_sampler(struct exactness *x)
{
	const struct bobbin_rule outermost = outermost_rule(native_arch());
	struct native_maps maps;
	struct plain_forms forms;
	uint64_t word;
	int r = bpf_tables_init(&x->tables);

	if (!r)
		r = bpf_lists_init(&x->lists);
	plain_forms_of(native_arch(), &forms);
	if (!r)
		r = bobbin_rule_pack(&outermost, &word);
	if (r)
		die(r);
	native_sampler_init(forms.from_sp, forms.from_fp, forms.record, word, &maps);
	x->tables.unwinder = x->unwinder;
	x->tables.store.files = maps.files;
	x->tables.store.pages = maps.pages;
	x->lists.mappings = maps.mappings;
	make_lists(x);
}

static bool same_frame(const struct bobbin_frame *frame, uint64_t word, bool last)
{
	uint64_t source = word >> KERNEL_PC_BITS & KERNEL_SOURCE;

	/*
	 * The last one may be no code, or after a system call that ends its table, and its rule what
	 * is missing.
	 */
	return (frame->pc & KERNEL_PC) == (word & KERNEL_PC) &&
	       (last || (frame->exact == !!(word & KERNEL_EXACT) && frame->source == source));
}

static bool agrees(const struct exactness *x, const struct native_walk *walk)
{
	if (walk->whole && (x->trace.reason != BOBBIN_REASON_OUTERMOST || x->trace.left_out ||
			    walk->count != x->trace.count))
		return false;
	for (uint32_t i = 0; i < walk->count; i++) {
		bool last = !walk->whole && i + 1 == walk->count;

		if (i >= x->trace.count || !same_frame(&x->frames[i], walk->frames[i], last))
			return false;
	}
	return true;
}

static void report(const struct exactness *x, const struct set_sample *s,
		   const struct native_walk *walk)
{
	printf("%s, sp %jx: user space: %s; the program: %s\n", s->comm, (uintmax_t)s->regs.sp,
	       bobbin_reason_name(x->trace.reason), walk->whole ? "whole" : "a part");
	for (uint32_t i = 0; i < x->trace.count || i < walk->count; i++)
		printf("  %16jx %2u  %18jx\n",
		       (uintmax_t)(i < x->trace.count ? x->frames[i].pc : 0),
		       i < x->trace.count ? x->frames[i].source : 0,
		       (uintmax_t)(i < walk->count ? walk->frames[i] : 0));
}

static struct native_walk compare(struct exactness *x, const struct set_sample *s,
				  enum walk_kind kind)
{
	struct sample_memory memory = {x->unwinder, x->set.layouts[s->layout].space, s->stack,
				       UINT64_MAX};
	struct native_process process = {.pc = s->regs.pc,
					 .sp = s->regs.sp,
					 .fp = s->regs.fp,
					 .list = x->list_of[s->layout]->list,
					 .read = read_memory,
					 .ctx = &memory};
	struct native_walk walk;

	/* the leaf's page is there */
	if (kind == WAITING)
		memory.absent = (s->regs.sp + PAGE) & ~(uint64_t)(PAGE - 1);
	native_sampler_walk(&process, kind == WAITING, &walk);
	if (!agrees(x, &walk) && !x->different++)
		report(x, s, &walk);
	return walk;
}

static void walk_in_user_space(struct exactness *x, const struct set_sample *s)
{
	struct bobbin_stack_copy stack = s->stack;
	struct bobbin_mem mem = {bobbin_stack_copy_read, &stack};

	x->trace = (struct bobbin_trace){.frames = x->frames, .max = BOBBIN_MAX_DEPTH};
	bobbin_unwind(x->unwinder, x->set.layouts[s->layout].space, &s->regs, &mem, &x->trace);
}

static uint64_t arbitrary(struct exactness *x, uint64_t below)
{
	x->seed ^= x->seed << 13;
	x->seed ^= x->seed >> 7;
	x->seed ^= x->seed << 17;
	return x->seed % below;
}

/* From another place of a file, or with another word on the stack. */
static void compare_changed(struct exactness *x, struct set_sample s)
{
	const struct mapping_list *maps = &x->set.layouts[s.layout].space->maps;
	size_t words = s.stack.size / sizeof(uint64_t);
	uint64_t *stack = (uint64_t *)(uintptr_t)s.stack.data, *word, kept;
	const struct mapping *m;

	if (!words || !maps->count)
		return;
	word = &stack[arbitrary(x, words < NEAR_WORDS ? words : NEAR_WORDS)];
	m = &maps->list[arbitrary(x, maps->count)];
	kept = *word;
	if (arbitrary(x, 2))
		s.regs.pc = m->start + arbitrary(x, m->end - m->start);
	else
		*word = stack[arbitrary(x, words)];
	walk_in_user_space(x, &s);
	x->changed_whole += compare(x, &s, AT_ONCE).whole;
	x->changed++;
	*word = kept;
}

static void compare_all(struct exactness *x)
{
	for (size_t i = 0; i < x->set.count; i++) {
		const struct set_sample *s = &x->set.samples[i];
		struct native_walk walk;

		if (!x->list_of[s->layout])
			continue;
		walk_in_user_space(x, s);
		*(x->trace.reason == BOBBIN_REASON_OUTERMOST ? &x->complete : &x->others) += 1;
		x->whole[AT_ONCE] += compare(x, s, AT_ONCE).whole;
		walk = compare(x, s, WAITING);
		x->whole[WAITING] += walk.whole;
		x->late += walk.late;
		for (unsigned int n = 0; n < CHANGES; n++)
			compare_changed(x, *s);
	}
}

static bool print_results(const struct exactness *x)
{
	printf("%zu samples, %ju stacks complete in user space, %ju not\n", x->set.count,
	       (uintmax_t)x->complete, (uintmax_t)x->others);
	printf("the program walks %ju to the root, and with outer pages that are not in memory "
	       "%ju, %ju of them after it has waited, and %ju of %ju changed samples; %ju differ\n",
	       (uintmax_t)x->whole[AT_ONCE], (uintmax_t)x->whole[WAITING], (uintmax_t)x->late,
	       (uintmax_t)x->changed_whole, (uintmax_t)x->changed, (uintmax_t)x->different);
	return !x->different && x->late && x->whole[WAITING] == x->whole[AT_ONCE] &&
	       x->whole[AT_ONCE] * 100 >= x->complete * 95;
}

static int run(struct exactness *x, const char *path)
{
	struct bobbin_error error = {0};
	int r = bobbin_unwinder_open(NULL, &x->unwinder);

	if (!r)
		r = sample_set_load(path, x->unwinder, &error, &x->set);
	if (r || !x->set.count) {
		fprintf(stderr, "kernel-exactness: %s: %s\n", path,
			r ? strerror(-r) : "no samples with registers and a copy of the stack");
		return 2;
	}
	open_sampler(x);
	compare_all(x);
	return !print_results(x);
}

int main(int argc, char **argv)
{
	static struct exactness x = {.seed = 88172645463325252ull};
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: kernel-exactness FILE\n");
		return 2;
	}
	r = run(&x, argv[1]);
	free(x.list_of);
	bpf_tables_fini(&x.tables);
	bpf_lists_fini(&x.lists);
	sample_set_fini(&x.set);
	bobbin_unwinder_close(x.unwinder);
	return r;
}
