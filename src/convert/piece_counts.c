/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/piece_counts.h"

#include <errno.h>
#include <stdlib.h>

#define MIN_SLOTS 64
#define MAX_SLOTS (1u << 26)
#define PROBES 16

int piece_counts_init(struct piece_counts *counts, uint64_t pieces)
{
	uint32_t size = MIN_SLOTS;

	while (size < pieces && size < MAX_SLOTS)
		size *= 2;
	/* room for the last probes without wrapping around, and for the spare slot */
	counts->slots = calloc((size_t)size + PROBES + 1, sizeof(*counts->slots));
	if (!counts->slots)
		return -ENOMEM;
	counts->mask = size - 1;
	return 0;
}

struct piece_slot *piece_counts_find(struct piece_counts *counts, uint64_t hash)
{
	struct piece_slot *slot = &counts->slots[hash & counts->mask];
	uint32_t tag = (uint32_t)(hash >> 32) | 1;

	for (unsigned int i = 0; i < PROBES; i++, slot++) {
		if (slot->tag == tag)
			return slot;
		if (!slot->tag) {
			slot->tag = tag;
			slot->where = PIECE_NOWHERE;
			return slot;
		}
	}
	slot = &counts->slots[counts->mask + PROBES + 1];
	*slot = (struct piece_slot){.where = PIECE_NOWHERE};
	return slot;
}

void piece_counts_turn(struct piece_counts *counts)
{
	for (size_t i = 0; i <= (size_t)counts->mask + PROBES + 1; i++) {
		counts->slots[i].count = counts->slots[i].used;
		counts->slots[i].used = 0;
	}
}

void piece_counts_fini(struct piece_counts *counts)
{
	free(counts->slots);
	*counts = (struct piece_counts){0};
}
