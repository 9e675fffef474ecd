/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/read_values.h"

#include <errno.h>
#include <stdlib.h>

static struct read_value *find(const struct read_values *values, uint64_t hash, uint64_t id,
			       uint32_t tid)
{
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&values->index, hash, &at, &i))
		if (values->known[i].id == id && values->known[i].tid == tid)
			return &values->known[i];
	return NULL;
}

int read_values_take(struct read_values *values, uint64_t seed, uint64_t id, uint32_t tid,
		     uint64_t value, uint64_t *ret)
{
	uint64_t hash = hash_words(id, tid, seed);
	struct read_value *known = find(values, hash, id, tid);

	if (!known) {
		struct read_value first = {.id = id, .value = value, .tid = tid};

		if (hash_index_push(&values->index, hash, values->known, values->count,
				    values->room, first))
			return -ENOMEM;
		*ret = value;
		return 0;
	}
	*ret = value < known->value ? value : value - known->value;
	known->value = value;
	return 0;
}

void read_values_fini(struct read_values *values)
{
	free(values->known);
	hash_index_fini(&values->index);
	*values = (struct read_values){0};
}
