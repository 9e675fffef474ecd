/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_identity.h - which event of a recording has an id, and what it is called if nobody says.
 */
#ifndef BOBBIN_PROFILE_EVENT_IDENTITY_H
#define BOBBIN_PROFILE_EVENT_IDENTITY_H

#include <linux/perf_event.h>

#include "base/hash_index.h"

/* That of the attributes of this number. */
struct owned_id {
	uint64_t id;
	uint32_t attr;
};

struct event_ids {
	struct owned_id *ids;
	size_t count, room;
	struct hash_index index;
	uint64_t seed; /* of its hash: the ids may be a liar's; set by the caller */
};

/* NULL: no event has it. */
struct owned_id *event_ids_find(const struct event_ids *ids, uint64_t id);

/* The last one to claim an id has it.  0 or -ENOMEM. */
int event_ids_add(struct event_ids *ids, uint64_t id, uint32_t attr);

void event_ids_fini(struct event_ids *ids);

#define EVENT_NAME_SIZE 64

/*
 * By its attributes, as perf calls it: "page-faults:u"; others by their numbers, "tracepoint:317".
 * Events with one name may differ in what the name does not say.
 */
void event_name_of(const struct perf_event_attr *attr, char name[EVENT_NAME_SIZE]);

#endif
