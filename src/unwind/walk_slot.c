/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/walk_slot.h"

/* Half a walk may be remembered. */
static void walk_slot_forget(struct walk_slot *slot)
{
	memset(slot->rules, 0, sizeof(slot->rules));
	slot->tag = 0;
	memo_init(&slot->memo);
	walk_slot_give_back(slot);
}

void walk_slots_forked(struct walk_slots *slots)
{
	const uintptr_t thread = (uintptr_t)__builtin_thread_pointer();

	for (unsigned int i = 0; i < WALK_SLOTS; i++) {
		const uintptr_t owner = atomic_load(&slots->slots[i].owner);

		if (owner && owner != thread)
			walk_slot_forget(&slots->slots[i]);
	}
}

void walk_slot_remember(struct walk_slot *slot, uint64_t pc, const struct bobbin_rule *rule,
			uint8_t source)
{
	if (!(pc >> SLOT_EPOCH))
		rule_cache_put(slot->rules, SLOT_CACHE_BITS, slot->tag | pc, rule, source);
}
