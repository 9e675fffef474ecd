/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/walk_slot.h"

#include <stdlib.h>

#include "base/native_arch.h"
#include "unwind/loaded_object.h"

struct walk_slots *walk_slots_open(void)
{
	struct walk_slots *slots = calloc(1, sizeof(*slots));

	if (slots)
		plain_forms_of(native_arch(), &slots->forms);
	return slots;
}

void walk_slot_remember(struct walk_slot *slot, const struct code *code, uint64_t pc,
			const struct table_answer *answer)
{
	const struct loaded_object *object = loaded_object_of(code);
	uint8_t source = (uint8_t)answer->source;

	if (source == BOBBIN_SOURCE_NONE || pc >> SLOT_EPOCH)
		return;
	/* bytes of code that is made at run time may change */
	if (!object && source != BOBBIN_SOURCE_SFRAME && source != BOBBIN_SOURCE_JIT)
		return;
	if (object && !object->image.stays)
		source |= SOURCE_ONCE;
	rule_cache_put(slot->rules, SLOT_CACHE_BITS, slot->tag | pc, &answer->row.rule, source);
}
