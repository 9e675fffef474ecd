/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shim/told_objects.h"

#include <stdatomic.h>
#include <string.h>

#include "unwind/process_objects.h"

/* One that finds no place is told again. */
#define TOLD_MAX 256
/* Below is no object; user space ends above. */
#define LOWEST_OBJECT UINT64_C(0x1000)
#define OBJECTS_END (UINT64_C(1) << 47)

/* By what an object is known, mixed; 0: none. */
static _Atomic uint64_t told[TOLD_MAX];

void told_objects_begin(void)
{
	process_objects_learn();
}

static uint64_t mixed(uint64_t key, const void *with)
{
	key = (key ^ (uint64_t)(uintptr_t)with) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 32;
}

static bool is_told(const struct loader_link *link)
{
	const uint64_t key = mixed(mixed(mixed(mixed(1, link->map), link->start), link->end),
				   link->eh_frame);
	_Atomic uint64_t *place = &told[key % TOLD_MAX];

	return atomic_exchange_explicit(place, key, memory_order_relaxed) == key;
}

/* @last: where the object is that was found last; it is told. */
static bool is_new(uint64_t addr, struct loader_link *last)
{
	if (addr - LOWEST_OBJECT >= OBJECTS_END - LOWEST_OBJECT ||
	    addr - (uint64_t)(uintptr_t)last->start <
		    (uint64_t)((uintptr_t)last->end - (uintptr_t)last->start) ||
	    process_objects_find(addr) || !loader_link_find(addr, last))
		return false;
	return !is_told(last);
}

bool told_objects_find_new(uint64_t pc, const uint8_t *stack, size_t size)
{
	struct loader_link last = {0};
	bool found = is_new(pc, &last);
	uint64_t word;

	for (size_t at = 0; at + sizeof(word) <= size; at += sizeof(word)) {
		memcpy(&word, stack + at, sizeof(word));
		found |= is_new(word, &last);
	}
	return found;
}
