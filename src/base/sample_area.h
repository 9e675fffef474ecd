/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_area.h - memory that a recorder shares with the processes that are sampled from inside.
 *
 *	recorder ── a memfd, by a path in the environment ──► each process of the command maps it
 *	process  ── claims a slot, fills it, publishes it ──► recorder copies and frees it
 *
 * Whoever fills slots may be in a signal handler, and may be killed at any time.  So there is no
 * lock and no order: a slot's state says who has it, and its time when it was taken.  The recorder
 * trusts nothing that it reads here.
 */
#ifndef BOBBIN_BASE_SAMPLE_AREA_H
#define BOBBIN_BASE_SAMPLE_AREA_H

#include <bobbin/step.h>
#include <stdatomic.h>

/* Of the environment: the path of the area. */
#define SAMPLE_AREA_VARIABLE "BOBBIN_SAMPLE_AREA"
#define SAMPLE_AREA_MAGIC UINT64_C(0x31616572416e6962)

#define SAMPLE_SLOTS 512
#define SAMPLE_SLOT_DATA 65536
/* Of the handler of a signal, of what Go calls outside of a goroutine. */
#define SAMPLE_LEFT_STACKS 2

/* What a slot's data are. */
enum sample_slot_kind {
	SAMPLE_SLOT_STACK = 1,  /* of a sample, from its stack pointer on */
	SAMPLE_SLOT_START,      /* a program has begun: lines of /proc/self/maps */
	SAMPLE_SLOT_MAPS,       /* the same later, as libraries have been loaded */
	SAMPLE_SLOT_FORK,       /* none: a process was forked */
	SAMPLE_SLOT_BLOCK,      /* of a block that was allocated, as of a sample */
	SAMPLE_SLOT_FREE_BLOCK, /* none: a block of these is about to be freed */
};

/**
 * struct sample_slot - what one of these has happened
 * @kind: enum sample_slot_kind
 * @parent, @parent_thread: of a fork
 * @time: of CLOCK_MONOTONIC
 * @weight: what a sample stands for, in nanoseconds of CPU time; the size of a block
 * @address: of a block
 * @caller: of a block: the frame of the stack with this PC called the allocator
 * @pc, @gpr: of a sample, by their DWARF numbers
 * @comm: of the thread, with a 0 unless it is longer
 * @size: of @data
 * @left: the next bytes of @data are of stacks, of which each was left for the one before, and so
 *	many from a stack pointer on
 * @left_pc: where the code of the last one goes on, if walks cannot come there otherwise; or 0
 */
struct sample_slot {
	uint32_t kind, pid, tid, cpu, parent, parent_thread;
	uint64_t time, weight, address, caller, pc, gpr[BOBBIN_REG_COUNT];
	char comm[16];
	uint64_t size;
	struct {
		uint64_t sp, size;
	} left[SAMPLE_LEFT_STACKS];
	uint64_t left_pc;
	uint8_t data[SAMPLE_SLOT_DATA];
};

/* States: free, or a process's number above two bits. */
#define SAMPLE_SLOT_FREE 0u
#define SAMPLE_SLOT_CLAIMED 1u
#define SAMPLE_SLOT_FULL 2u
#define SAMPLE_SLOT_OWNER_SHIFT 2

/**
 * struct sample_area - the head, and the slots
 * @period_ns: of each thread's CPU time, from one sample to the next
 * @tick_ns: how often the kernel looks at such timers
 * @block_bytes: allocated, on average from one block that is sampled to the next; 0: it is CPU time
 * @stack_bytes: most of a stack that is copied
 * @running: samples are wanted
 * @lost: samples that found no free slot
 * @unfreed: blocks whose end found none
 * @unsampled: threads for which there was no timer
 * @states: of the slots
 */
struct sample_area {
	uint64_t magic, period_ns, tick_ns, block_bytes;
	uint32_t stack_bytes;
	_Atomic uint32_t running;
	_Atomic uint64_t lost, unfreed, unsampled;
	_Atomic uint32_t states[SAMPLE_SLOTS];
	struct sample_slot slots[SAMPLE_SLOTS];
};

#endif
