/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_slot.h - what walks of the own stack remember: rules by address, and the last walk.
 *
 * A walk has a slot for itself as long as it lasts, or none: a signal handler that walks
 * in the middle of a walk may find its thread's slots taken.  So nothing in a slot is
 * shared, and nobody waits.
 *
 * Rules hold as long as the code map and its tables do not change: a slot begins a new
 * epoch when the map's generation has.  What the loader may take away without a change of
 * the map is marked with SOURCE_ONCE, to be checked by each walk.
 */
#ifndef BOBBIN_UNWIND_WALK_SLOT_H
#define BOBBIN_UNWIND_WALK_SLOT_H

#include <stdatomic.h>
#include <string.h>

#include "codemap/code_map.h"
#include "core/plain_step.h"
#include "unwind/last_walk.h"
#include "unwind/rule_cache.h"
#include "unwind/table_set.h"

#define WALK_SLOTS 16
#define SLOT_CACHE_BITS 9

/* In keys: the address, the epoch, and as in any cache the source. */
#define SLOT_EPOCH 48
#define SLOT_EPOCHS 256

struct walk_slot {
	atomic_bool taken;
	uint64_t generation; /* of the map, that the epoch is for */
	uint64_t tag;        /* of keys of the epoch; 0: nothing has been remembered */
	struct walk_memo memo;
	struct cached_rules rules[1u << SLOT_CACHE_BITS];
};

struct walk_slots {
	struct plain_forms forms; /* of this machine */
	struct walk_slot slots[WALK_SLOTS];
};

/* For all threads; free().  NULL: there is no memory, walks are only slower. */
struct walk_slots *walk_slots_open(void);

/* A slot of the calling thread, or NULL.  Async-signal-safe. */
static inline struct walk_slot *walk_slot_take(struct walk_slots *slots)
{
	uint64_t thread = (uint64_t)(uintptr_t)__builtin_thread_pointer();
	uint64_t first = thread * 0x9e3779b97f4a7c15ull >> 60;

	for (unsigned int i = 0; i < 2; i++) {
		struct walk_slot *slot = &slots->slots[(first + i) % WALK_SLOTS];

		if (!atomic_exchange_explicit(&slot->taken, true, memory_order_acquire))
			return slot;
	}
	return NULL;
}

static inline void walk_slot_give_back(struct walk_slot *slot)
{
	atomic_store_explicit(&slot->taken, false, memory_order_release);
}

/*
 * Forget what was remembered of another generation.  To be called before the map is asked: if it
 * changes in between, what it says is forgotten at the next walk.
 */
static inline void walk_slot_renew(struct walk_slot *slot, uint64_t generation)
{
	uint64_t epoch = (slot->tag >> SLOT_EPOCH) + 1;

	if (slot->tag && slot->generation == generation)
		return;
	if (epoch == SLOT_EPOCHS) {
		memset(slot->rules, 0, sizeof(slot->rules));
		epoch = 1;
	}
	slot->tag = epoch << SLOT_EPOCH;
	slot->generation = generation;
	slot->memo.walks[0].count = slot->memo.walks[1].count = 0;
}

/* The rule for an address, or NULL; its source may have SOURCE_ONCE. */
static BOBBIN_ALWAYS_INLINE const struct cached_rule *walk_slot_find(const struct walk_slot *slot,
								     uint64_t pc)
{
	if (pc >> SLOT_EPOCH)
		return NULL;
	return rule_cache_get(slot->rules, SLOT_CACHE_BITS, slot->tag | pc);
}

/*
 * Remember the answer of @code's tables if it is valid until the map changes, or, as SOURCE_ONCE,
 * until the object is unloaded.
 */
void walk_slot_remember(struct walk_slot *slot, const struct code *code, uint64_t pc,
			const struct table_answer *answer);

#endif
