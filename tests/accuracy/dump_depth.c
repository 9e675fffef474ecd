/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dump_depth.h"

#include <stdio.h>

#include "program_table.h"

static const unsigned int sizes_kib[] = {4, 8, 16, 24, 32, 48, 64};
#define SIZES (sizeof(sizes_kib) / sizeof(sizes_kib[0]))

struct depth_row {
	size_t samples;
	size_t complete[SIZES]; /* with so large a dump */
	size_t frames;
};

/* A reader that remembers how far up it was used. */
struct deepest_read {
	struct bobbin_stack_copy *stack;
	uint64_t end; /* bytes from the stack pointer */
};

static enum bobbin_reason read_and_note(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct deepest_read *deepest = ctx;
	enum bobbin_reason reason = bobbin_stack_copy_read(deepest->stack, addr, dst, len);

	if (!reason && addr + len - deepest->stack->addr > deepest->end)
		deepest->end = addr + len - deepest->stack->addr;
	return reason;
}

static void add_sample(struct bobbin_unwinder *unwinder, const struct sample_set *set,
		       struct set_sample *s, struct depth_row *row)
{
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace = {.frames = frames, .max = BOBBIN_MAX_DEPTH};
	struct deepest_read deepest = {.stack = &s->stack};
	struct bobbin_mem mem = {read_and_note, &deepest};

	bobbin_unwind(unwinder, set->layouts[s->layout].space, &s->regs, &mem, &trace);
	row->samples++;
	row->frames += trace.count;
	for (size_t i = 0; i < SIZES; i++)
		row->complete[i] += trace.reason == BOBBIN_REASON_OUTERMOST &&
				    deepest.end <= 1024ull * sizes_kib[i];
}

static void print_row(const char *name, const struct depth_row *row)
{
	printf("%-16s %7zu %7.1f", name, row->samples, (double)row->frames / (double)row->samples);
	for (size_t k = 0; k < SIZES; k++)
		printf(" %6.2f%%", 100.0 * (double)row->complete[k] / (double)row->samples);
	putchar('\n');
}

void dump_depth_print(struct bobbin_unwinder *unwinder, const struct sample_set *set)
{
	struct depth_row rows[PROGRAMS_MAX] = {0};
	struct program_table programs = {0};

	for (size_t i = 0; i < set->count; i++)
		add_sample(unwinder, set, &set->samples[i],
			   &rows[program_index(&programs, set->samples[i].comm)]);

	printf("complete traces by size of the stack dump\n%-16s %7s %7s", "program", "samples",
	       "frames");
	for (size_t i = 0; i < SIZES; i++)
		printf(" %3u KiB", sizes_kib[i]);
	putchar('\n');
	for (size_t i = 0; i < programs.count; i++)
		print_row(programs.names[i], &rows[i]);
}
