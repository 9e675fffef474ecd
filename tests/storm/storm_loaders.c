/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two libraries with functions of the same name and other frames.
 */
#include "storm.h"

#include <dlfcn.h>
#include <stdio.h>

static const char *libraries[2];

static _Thread_local uint64_t plugin_start, plugin_end;

__attribute__((noinline)) void walk_from_plugin(void)
{
	storm_walk(plugin_start, plugin_end, true);
	__asm__ volatile("");
}

__attribute__((noinline)) void loader_round(struct actor *actor)
{
	void *library = dlopen(libraries[arbitrary(actor, 2)], RTLD_NOW | RTLD_LOCAL);
	void (*plug)(void (*callback)(void));

	if (!library) {
		fprintf(stderr, "code_storm: %s\n", dlerror());
		atomic_fetch_add(&storm_counters.failed, 1);
		return;
	}
	*(void **)&plug = dlsym(library, "storm_plug");
	chain_function_range((const void *)plug, &plugin_start, &plugin_end);
	plug(walk_from_plugin);
	plug(walk_from_plugin);
	dlclose(library);
	atomic_fetch_add(&storm_counters.opened, 1);
}

void loader_init(const char *library, const char *other)
{
	libraries[0] = library;
	libraries[1] = other;
}
