/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_agent.h - a library in a program that is stepped: it walks the program's stack there.
 *
 * Whoever traces the program writes the registers, makes the thread run @enter on the agent's stack, and
 * has the trace when the thread traps.
 */
#ifndef BOBBIN_TESTS_WALK_AGENT_H
#define BOBBIN_TESTS_WALK_AGENT_H

#include <bobbin/trace.h>
#include <ucontext.h>

/* In each process, so that nobody has to look for it. */
#define WALK_ROOM_ADDRESS UINT64_C(0x10000000000)
#define WALK_ROOM_STACK (64 << 10)
#define WALK_ROOM_STATE (32 << 10)

/**
 * struct walk_room - what the agent and who traces it share
 * @state: of the floating-point unit, while the agent runs
 * @enter: the code to run; 0: there is no agent
 * @context: in: the registers
 * @count, @reason, @frames: out: the trace
 */
struct walk_room {
	_Alignas(64) uint8_t state[WALK_ROOM_STATE];
	uint8_t stack[WALK_ROOM_STACK];
	uint64_t enter;
	ucontext_t context;
	uint32_t count, reason;
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
};

#endif
