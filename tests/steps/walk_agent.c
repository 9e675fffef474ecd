/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walker of libbobbin-backtrace, to be preloaded into a program that is stepped.  It walks as from a
 * signal handler on another stack: the thread may be anywhere.
 */
#include "walk_agent.h"

#include <bobbin/backtrace.h>
#include <sys/mman.h>

#include "unwind/object_walk.h"

/* As much at a time as the library walks, see src/backtrace/stack_addresses.h. */
#define WALK_FRAMES 128

/* RDI has the room; all registers of the program but those of the floating-point unit are the tracer's to restore. */
__asm__(".pushsection .text\n"
	".type walk_agent_enter, @function\n"
	"walk_agent_enter:\n"
	"push %rdi\n"
	"push %rdi\n"
	"mov $-1, %eax\n"
	"mov $-1, %edx\n"
	"xsave64 (%rdi)\n"
	"call walk_agent_walk\n"
	"pop %rdi\n"
	"mov $-1, %eax\n"
	"mov $-1, %edx\n"
	"xrstor64 (%rdi)\n"
	"int3\n"
	".size walk_agent_enter, .-walk_agent_enter\n"
	".popsection\n");
__attribute__((visibility("hidden"))) extern const char walk_agent_enter[];

__attribute__((used, visibility("hidden"))) void walk_agent_walk(struct walk_room *room);

void walk_agent_walk(struct walk_room *room)
{
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct walk_place place = {0};
	struct bobbin_trace part = {.reason = BOBBIN_REASON_DEPTH};

	bobbin_context_regs(&room->context, gpr, &place.regs);
	room->count = 0;
	while (part.reason == BOBBIN_REASON_DEPTH && room->count < BOBBIN_MAX_DEPTH) {
		part.frames = room->frames + room->count;
		part.max = BOBBIN_MAX_DEPTH - room->count;
		if (part.max > WALK_FRAMES)
			part.max = WALK_FRAMES;
		bobbin_object_walk(&place, NULL, &part);
		room->count += part.count;
	}
	room->reason = part.reason;
}

__attribute__((constructor)) static void make_room(void)
{
	struct walk_room *room = mmap((void *)WALK_ROOM_ADDRESS, sizeof(*room),
				      PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (room == MAP_FAILED)
		return;
	object_walk_prepare();
	room->enter = (uint64_t)(uintptr_t)walk_agent_enter;
}
