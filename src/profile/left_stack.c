/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/left_stack.h"

#include <stdlib.h>
#include <string.h>

#include "unwind/space.h"

#define WORD sizeof(uint64_t)
/* What is remembered: stacks of a process, entries of a chain that are on one, frames beyond it. */
#define STACKS 8
#define ENTRIES 32
#define FRAMES 16
/* A stack that did not lead to a root is read again when it was asked for so often. */
#define TRY_AGAIN 64

/* @fp: of the first record on it; @count: 0: it did not lead to a root, and was @asked for since */
struct known_stack {
	uint64_t program, fp;
	uint64_t pcs[ENTRIES];
	uint64_t entries;
	struct bobbin_frame frames[FRAMES];
	uint32_t count, asked;
};

struct left_stacks {
	struct known_stack stacks[STACKS];
};

struct frame_record {
	uint64_t fp, ra;
};

/* The part of a chain that is on the stack that was left. */
struct outer_part {
	const uint64_t *pcs;
	uint64_t entries, fp;
};

/* Along the records of the copied stack.  false: the chain has come by others, or does not leave it. */
static bool leave_copy(const struct left_stack *left, struct outer_part *ret)
{
	struct frame_record record = {.fp = left->fp};
	uint64_t i;

	for (i = 1; i <= left->at; i++) {
		ret->fp = record.fp;
		if (ret->fp % WORD)
			return false;
		if (left->copy->read(left->copy->ctx, ret->fp, &record, sizeof(record)))
			break;
		if (record.ra != left->pcs[i])
			return false;
	}
	ret->pcs = left->pcs + i;
	ret->entries = left->at + 1 - i;
	return ret->entries;
}

/* The registers in the caller of the last record, if all have the addresses of the chain. */
static bool find_registers(const struct outer_part *part, const struct bobbin_mem *mem,
			   struct bobbin_regs *ret)
{
	struct frame_record record = {.fp = part->fp};
	uint64_t at = 0;

	for (uint64_t i = 0; i < part->entries; i++) {
		at = record.fp;
		if (at % WORD || mem->read(mem->ctx, at, &record, sizeof(record)) ||
		    record.ra != part->pcs[i])
			return false;
	}
	*ret = (struct bobbin_regs){.pc = record.ra, .sp = at + sizeof(record), .fp = record.fp};
	return true;
}

/* To @ret: from the last frame of the part to the root. */
static bool walk_outer(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		       const struct outer_part *part, struct bobbin_trace *ret)
{
	struct bobbin_process_memory memory;
	struct bobbin_mem mem = {bobbin_process_memory_read, &memory};
	struct bobbin_regs regs;

	bobbin_unwinder_process_memory(unwinder, space->live_pid, &memory);
	if (!find_registers(part, &mem, &regs))
		return false;
	bobbin_unwind(unwinder, space, &regs, &mem, ret);
	ret->frames[0].source = BOBBIN_SOURCE_GUESS;
	return ret->reason == BOBBIN_REASON_OUTERMOST || ret->reason == BOBBIN_REASON_LIKELY;
}

static bool is_known(const struct known_stack *k, uint64_t program, const struct outer_part *part)
{
	return k->program == program && k->fp == part->fp && k->entries == part->entries &&
	       !memcmp(k->pcs, part->pcs, part->entries * sizeof(*part->pcs));
}

/* Another stack takes the place, of which nothing is known yet. */
static void take_place(struct known_stack *k, uint64_t program, const struct outer_part *part)
{
	k->program = program;
	k->fp = part->fp;
	k->entries = part->entries;
	memcpy(k->pcs, part->pcs, part->entries * sizeof(*part->pcs));
	k->count = k->asked = 0;
}

/* What is known of a stack, from now on at least; NULL: no memory, or it does not lead to a root. */
static const struct known_stack *know(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
				      struct left_stacks **known, uint64_t program,
				      const struct outer_part *part)
{
	struct known_stack *k;
	struct bobbin_trace trace = {.max = FRAMES};

	if (!*known)
		*known = calloc(1, sizeof(**known));
	if (!*known)
		return NULL;
	k = &(*known)->stacks[(part->fp * 0x9e3779b97f4a7c15ull >> 32) % STACKS];
	if (!is_known(k, program, part))
		take_place(k, program, part);
	else if (k->count || ++k->asked % TRY_AGAIN)
		return k->count ? k : NULL;
	trace.frames = k->frames;
	if (!walk_outer(unwinder, space, part, &trace) || trace.left_out)
		return NULL;
	k->count = trace.count;
	return k;
}

bool left_stack_walk(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		     struct left_stacks **known, const struct left_stack *left,
		     struct bobbin_trace *trace)
{
	const struct known_stack *k;
	struct outer_part part;

	if (!space->live_pid || space->arch != bobbin_arch_amd64() || !leave_copy(left, &part) ||
	    part.entries > ENTRIES)
		return false;
	k = know(unwinder, space, known, left->program, &part);
	if (!k || k->count > trace->max - trace->count + 1)
		return false;
	memcpy(&trace->frames[trace->count - 1], k->frames, k->count * sizeof(*k->frames));
	trace->count += k->count - 1;
	trace->reason = BOBBIN_REASON_LIKELY;
	return true;
}
