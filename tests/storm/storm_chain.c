/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "storm.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KNOWN_MAX 512

static struct known_code known[KNOWN_MAX];
static unsigned int known_count;
static uint64_t actor_start, actor_end;

uint64_t arbitrary(struct actor *actor, uint64_t below)
{
	actor->seed ^= actor->seed << 13;
	actor->seed ^= actor->seed >> 7;
	actor->seed ^= actor->seed << 17;
	return actor->seed % below;
}

void storm_failed(const char *what, int error)
{
	fprintf(stderr, "code_storm: %s: %s\n", what, strerror(error < 0 ? -error : error));
	atomic_fetch_add(&storm_counters.failed, 1);
}

void chain_function_range(const void *function, uint64_t *start, uint64_t *end)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) {
		fprintf(stderr, "code_storm: a function has no dynamic symbol\n");
		exit(1);
	}
	*start = (uintptr_t)info.dli_saddr;
	*end = *start + symbol->st_size;
}

struct known_code *chain_add(uint64_t start, uint64_t end)
{
	if (known_count == KNOWN_MAX)
		abort();
	known[known_count] = (struct known_code){.start = start, .end = end};
	return &known[known_count++];
}

struct known_code *chain_add_function(const void *function)
{
	uint64_t start, end;

	chain_function_range(function, &start, &end);
	return chain_add(start, end);
}

void chain_add_caller(struct known_code *code, uint64_t start, uint64_t end)
{
	unsigned int i = 0;

	while (i < CALLERS && code->caller[i][1])
		i++;
	if (i == CALLERS)
		abort();
	code->caller[i][0] = start;
	code->caller[i][1] = end;
}

void chain_init(const void *actor_main)
{
	chain_function_range(actor_main, &actor_start, &actor_end);
}

static const struct known_code *find(uint64_t pc)
{
	for (unsigned int i = 0; i < known_count; i++)
		if (pc >= known[i].start && pc < known[i].end)
			return &known[i];
	return NULL;
}

static bool may_call(const struct known_code *callee, uint64_t pc)
{
	for (unsigned int i = 0; i < CALLERS; i++)
		if (pc >= callee->caller[i][0] && pc < callee->caller[i][1])
			return true;
	return false;
}

static void print_wrong(const struct bobbin_trace *trace, const char *where, const char *what)
{
	char line[256];

	/* the first few are enough */
	if (atomic_fetch_add(&storm_counters.wrong, 1) > 5)
		return;
	snprintf(line, sizeof(line), "wrong (%s): %s; %s\n", where, what,
		 bobbin_reason_name(trace->reason));
	if (write(2, line, strlen(line)) < 0)
		return;
	for (uint32_t i = 0; i < trace->count; i++) {
		snprintf(line, sizeof(line), "  #%u 0x%llx %s%s\n", i,
			 (unsigned long long)trace->frames[i].pc,
			 bobbin_source_str(trace->frames[i].source),
			 trace->frames[i].exact ? " exact" : "");
		if (write(2, line, strlen(line)) < 0)
			return;
	}
}

/* The frames whose callers were found by tables, the last of them excluded. */
static uint32_t trusted_frames(const struct bobbin_trace *trace)
{
	uint32_t i = 0;

	while (i + 1 < trace->count && trace->frames[i].source != BOBBIN_SOURCE_NONE &&
	       trace->frames[i].source != BOBBIN_SOURCE_FRAME_POINTER)
		i++;
	return i;
}

static bool has_actor(const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++) {
		uint64_t pc = bobbin_frame_lookup_pc(&trace->frames[i]);

		if (pc >= actor_start && pc < actor_end)
			return true;
	}
	return false;
}

void storm_check(const struct bobbin_trace *trace, const char *where)
{
	uint32_t trusted = trusted_frames(trace);

	atomic_fetch_add_explicit(&storm_counters.traces, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&storm_counters.reasons[trace->reason], 1, memory_order_relaxed);
	if (trace->reason != BOBBIN_REASON_OUTERMOST && storm_self->play == loader_round)
		atomic_fetch_add_explicit(&storm_counters.behind, 1, memory_order_relaxed);
	for (uint32_t i = 0; i < trusted; i++) {
		const struct known_code *callee = find(bobbin_frame_lookup_pc(&trace->frames[i]));

		if (callee && !may_call(callee, bobbin_frame_lookup_pc(&trace->frames[i + 1])))
			print_wrong(trace, where, "a caller that cannot be");
	}
	/* a storm's thread is in actor_main(), or on its way there */
	if (trace->reason == BOBBIN_REASON_OUTERMOST && trusted + 1 == trace->count &&
	    trace->count > 4 && !has_actor(trace))
		print_wrong(trace, where, "an end that cannot be");
}

static bool is_there(const struct bobbin_trace *trace, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < trace->count; i++)
		if (bobbin_frame_lookup_pc(&trace->frames[i]) >= start &&
		    bobbin_frame_lookup_pc(&trace->frames[i]) < end)
			return true;
	return false;
}

void storm_walk(uint64_t innermost_start, uint64_t innermost_end, bool synchronous)
{
	struct bobbin_frame frames[64];
	struct bobbin_trace trace = {.frames = frames, .max = 64};

	if (synchronous)
		bobbin_backtrace_here(&trace);
	else
		bobbin_backtrace(NULL, &trace);
	storm_check(&trace, "call");
	if (trace.reason == BOBBIN_REASON_OUTERMOST &&
	    !is_there(&trace, innermost_start, innermost_end))
		print_wrong(&trace, "call", "the caller is missing");
}
