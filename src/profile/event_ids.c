/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/event_ids.h"

#include <errno.h>
#include <stdlib.h>

static struct owned_id *find(const struct event_ids *ids, uint64_t id)
{
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&ids->index, hash_words(id, 0, ids->seed), &at, &i))
		if (ids->ids[i].id == id)
			return &ids->ids[i];
	return NULL;
}

const struct owned_id *event_ids_find(const struct event_ids *ids, uint64_t id)
{
	return find(ids, id);
}

int event_ids_add(struct event_ids *ids, uint64_t id, uint32_t attr)
{
	struct owned_id *known = find(ids, id), own = {id, attr};

	if (known) {
		*known = own;
		return 0;
	}
	return hash_index_push(&ids->index, hash_words(id, 0, ids->seed), ids->ids, ids->count,
			       ids->room, own)
		       ? -ENOMEM
		       : 0;
}

void event_ids_fini(struct event_ids *ids)
{
	free(ids->ids);
	hash_index_fini(&ids->index);
	*ids = (struct event_ids){.seed = ids->seed};
}
