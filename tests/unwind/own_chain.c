/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "own_chain.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAGE 4096u

void own_chain_init(struct own_chain *chain)
{
	chain->trace = (struct bobbin_trace){.frames = chain->frames, .max = CHAIN_MAX};
	chain->count = 0;
	chain->by_frame_pointer = false;
}

/* Code that no object has begins where its page does. */
static const void *function_of(const struct bobbin_frame *frame)
{
	const uint64_t pc = bobbin_frame_lookup_pc(frame);
	Dl_info own, info;

	if (frame->source == BOBBIN_SOURCE_TRAMPOLINE)
		return NULL;
	if (!dladdr((const void *)pc, &info))
		return (const void *)(pc & -(uint64_t)PAGE);
	dladdr((const void *)(uintptr_t)own_chain_init, &own);
	if (info.dli_fbase != own.dli_fbase && !strstr(info.dli_fname, "_plugin"))
		return NULL;
	return info.dli_saddr;
}

void own_chain_name(struct own_chain *chain)
{
	chain->count = 0;
	for (uint32_t i = 0; i < chain->trace.count; i++) {
		const void *function = function_of(&chain->frames[i]);

		if (function)
			chain->functions[chain->count++] = function;
		chain->by_frame_pointer |= chain->frames[i].source == BOBBIN_SOURCE_FRAME_POINTER;
	}
}

bool own_chain_begins(const struct own_chain *chain, const void *const *functions)
{
	unsigned int i;

	for (i = 0; functions[i] && i < chain->count; i++)
		if (chain->functions[i] != functions[i])
			return false;
	return !functions[i];
}

static void print_chain(const struct own_chain *chain)
{
	for (uint32_t i = 0; i < chain->trace.count; i++) {
		Dl_info info = {0};

		dladdr((const void *)(chain->frames[i].pc - 1), &info);
		printf("# %" PRIx64 " %s (%s), %s\n", chain->frames[i].pc,
		       info.dli_sname ? info.dli_sname : "?", info.dli_fname ? info.dli_fname : "?",
		       bobbin_source_str(chain->frames[i].source));
	}
	printf("# %s\n", bobbin_reason_str(chain->trace.reason));
}

bool own_chain_is(const struct own_chain *chain, const void *const *functions)
{
	if (chain->trace.reason == BOBBIN_REASON_OUTERMOST && !chain->by_frame_pointer &&
	    own_chain_begins(chain, functions))
		return true;
	print_chain(chain);
	return false;
}
