/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/user_chain_index.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

int user_chain_index_add(struct user_chain_index *index, uint64_t time, uint64_t place,
			 const uint8_t *record, uint16_t size)
{
	struct user_chain_entry entry = {.time = time, .place = place};

	if (size < sizeof(struct perf_event_header) + sizeof(entry.cookie))
		return 0;
	memcpy(&entry.cookie, record + sizeof(struct perf_event_header), sizeof(entry.cookie));
	return vector_push(index->entries, index->count, index->room, entry);
}

static int by_cookie(const void *a, const void *b)
{
	const struct user_chain_entry *x = a, *y = b;

	if (x->cookie != y->cookie)
		return x->cookie < y->cookie ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

void user_chain_index_settle(struct user_chain_index *index)
{
	if (index->count)
		qsort(index->entries, index->count, sizeof(*index->entries), by_cookie);
}

size_t user_chain_index_find(const struct user_chain_index *index, uint64_t cookie, uint64_t time,
			     const struct user_chain_entry **ret)
{
	const struct user_chain_entry key = {.cookie = cookie, .time = time};
	size_t low = 0, high = index->count, count = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_cookie(&index->entries[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (count < MAX_SHARED_COOKIE && low + count < index->count &&
	       index->entries[low + count].cookie == cookie)
		count++;
	*ret = count ? &index->entries[low] : NULL;
	return count;
}

void user_chain_index_fini(struct user_chain_index *index)
{
	free(index->entries);
}
