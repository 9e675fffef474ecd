/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* made_walks.h - walks in this process's registered code, over stacks that are made up. */
#ifndef BOBBIN_TESTS_MADE_WALKS_H
#define BOBBIN_TESTS_MADE_WALKS_H

#include <bobbin/unwind.h>
#include <string.h>
#include <unistd.h>

#include "unknown_reader.h"
#include "unwind/remote_update.h"
#include "unwind/space.h"

#define STACK UINT64_C(0x7f0000000000)
#define FRAME 64 /* bytes that registered code has on the stack, with its return address */
#define DEPTH 16

struct made_walks {
	struct bobbin_unwinder *unwinder;
	struct bobbin_space *space;
	uint64_t outer; /* code of the outermost frame */
	uint64_t words[64];
	struct bobbin_frame frames[DEPTH];
	struct bobbin_trace trace;
};

static inline const struct table_set *tables_at(const struct made_walks *w, uint64_t addr)
{
	return &remote_code_find(w->space->remote, addr)->table->tables;
}

static inline int update(struct made_walks *w)
{
	return bobbin_space_update_code(w->unwinder, w->space, getpid());
}

/*
 * Walk from @pc, with a stack in which the return address to the outermost frame is at
 * @ra_at, by the walker's two loops, twice each so that caches are filled.
 */
static inline void walk(struct made_walks *w, uint64_t pc, unsigned int ra_at)
{
	struct bobbin_stack_copy copy = {
		.addr = STACK, .data = (const uint8_t *)w->words, .size = sizeof(w->words)};
	struct bobbin_regs regs = {.pc = pc, .sp = STACK, .exact = true};
	struct bobbin_frame before[DEPTH];
	uint32_t count = 0;

	memset(w->words, 0, sizeof(w->words));
	w->words[ra_at / 8] = w->outer + 0x10;
	for (unsigned int i = 0; i < 4; i++) {
		struct bobbin_mem mem = {i % 2 ? bobbin_stack_copy_read : read_slowly, &copy};

		w->trace = (struct bobbin_trace){.frames = w->frames, .max = DEPTH};
		bobbin_unwind(w->unwinder, w->space, &regs, &mem, &w->trace);
		assert_true(w->trace.count >= 1);
		assert_true(!i || w->trace.count == count);
		count = w->trace.count;
		for (uint32_t k = 0; i && k < count; k++) {
			assert_int_equal(w->frames[k].pc, before[k].pc);
			assert_int_equal(w->frames[k].source, before[k].source);
		}
		memcpy(before, w->frames, sizeof(before));
	}
}

#endif
