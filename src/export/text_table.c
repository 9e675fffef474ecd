/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/text_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int text_table_init(struct text_table *table)
{
	uint32_t none;

	*table = (struct text_table){0};
	name_pool_init(&table->pool);
	return text_table_number(table, "", &none);
}

void text_table_fini(struct text_table *table)
{
	name_pool_fini(&table->pool);
	hash_index_fini(&table->index);
	free(table->texts);
}

int text_table_number(struct text_table *table, const char *text, uint32_t *ret)
{
	const uint64_t hash = hash_bytes(text, strlen(text), table->pool.seed);
	size_t at = 0;
	uint32_t id;
	int r;

	while (hash_index_next(&table->index, hash, &at, &id))
		if (table->texts[id] == text || !strcmp(table->texts[id], text)) {
			*ret = id;
			return 0;
		}
	if (table->count >= INT32_MAX)
		return -E2BIG;
	r = hash_index_push(&table->index, hash, table->texts, table->count, table->room, text);
	if (!r)
		*ret = (uint32_t)table->count - 1;
	return r;
}

int text_table_keep(struct text_table *table, const char *text, const char **ret)
{
	return name_pool_intern(&table->pool, text, ret);
}
