/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/cgroup_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

void cgroup_table_fini(struct cgroup_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->list[i]);
	free(table->list);
	hash_index_fini(&table->by_id);
	hash_index_fini(&table->by_path);
	*table = (struct cgroup_table){.seed = table->seed};
}

static uint64_t hash_id(const struct cgroup_table *table, uint64_t id)
{
	return hash_words(id, 0, table->seed);
}

static uint64_t hash_path(const struct cgroup_table *table, const char *path)
{
	return hash_bytes(path, strlen(path), table->seed);
}

const struct cgroup *cgroup_table_find(const struct cgroup_table *table, uint64_t id)
{
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&table->by_id, hash_id(table, id), &at, &i))
		if (table->list[i]->id == id)
			return table->list[i];
	return NULL;
}

const struct cgroup *cgroup_table_named(const struct cgroup_table *table, const char *path)
{
	const uint64_t hash = hash_path(table, path);
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&table->by_path, hash, &at, &i))
		if (!strcmp(table->list[i]->path, path))
			return table->list[i];
	return NULL;
}

static struct cgroup *make(uint64_t id, const char *path, size_t size)
{
	struct cgroup *cgroup = malloc(sizeof(*cgroup) + size);

	if (!cgroup)
		return NULL;
	cgroup->id = id;
	memcpy(cgroup->path, path, size);
	return cgroup;
}

int cgroup_table_add(struct cgroup_table *table, uint64_t id, const char *path)
{
	const size_t size = strlen(path) + 1, bytes = sizeof(struct cgroup) + size;
	struct cgroup *cgroup;
	int r;

	if (cgroup_table_find(table, id))
		return 0;
	if (bytes > CGROUP_TABLE_BYTES - table->bytes)
		return -E2BIG;
	cgroup = make(id, path, size);
	if (!cgroup)
		return -ENOMEM;
	r = hash_index_push(&table->by_id, hash_id(table, id), table->list, table->count,
			    table->room, cgroup);
	if (r) {
		free(cgroup);
		return r;
	}
	table->bytes += bytes;
	/* without it, it is found by its number only */
	return hash_index_add(&table->by_path, hash_path(table, path), (uint32_t)table->count - 1);
}
