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

#include "core/plain_step.h"
#include "unwind/last_walk.h"
#include "unwind/rule_cache.h"

#define WALK_SLOTS 16
#define SLOT_CACHE_BITS 9

/* In keys: the address, the epoch, and as in any cache the source. */
#define SLOT_EPOCH 48
#define SLOT_EPOCHS 256

struct walk_slot {
	atomic_uintptr_t
		owner; /* the thread that has taken it, by its thread pointer; 0: it is free */
	uint64_t generation; /* of the map, that the epoch is for */
	uint64_t tag;        /* of keys of the epoch; 0: nothing has been remembered */
	struct walk_memo memo;
	struct cached_rules rules[1u << SLOT_CACHE_BITS];
};

struct walk_slots {
	struct plain_forms forms; /* of this machine */
	struct walk_slot slots[WALK_SLOTS];
};

/* A slot of the calling thread, or NULL.  Async-signal-safe. */
static inline struct walk_slot *walk_slot_take(struct walk_slots *slots)
{
	const uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
	uint64_t first = thread * 0x9e3779b97f4a7c15ull >> 60;

	for (unsigned int i = 0; i < 2; i++) {
		struct walk_slot *slot = &slots->slots[(first + i) % WALK_SLOTS];
		uintptr_t nobody = 0;

		if (atomic_compare_exchange_strong_explicit(&slot->owner, &nobody, thread,
							    memory_order_acquire,
							    memory_order_relaxed))
			return slot;
	}
	return NULL;
}

static inline void walk_slot_give_back(struct walk_slot *slot)
{
	atomic_store_explicit(&slot->owner, 0, memory_order_release);
}

/* In a forked child: what the parent's other threads had taken is free. */
void walk_slots_forked(struct walk_slots *slots);

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
 * Remember a rule that is valid until the generation changes; with SOURCE_ONCE in @source, while
 * its code is there.
 */
void walk_slot_remember(struct walk_slot *slot, uint64_t pc, const struct bobbin_rule *rule,
			uint8_t source);

#endif
