/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text_table.h - texts that a format refers to by their numbers.
 *
 * Number 0 is "".  Texts are borrowed, but for those that are said to pass.
 */
#ifndef BOBBIN_EXPORT_TEXT_TABLE_H
#define BOBBIN_EXPORT_TEXT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"
#include "base/name_pool.h"

struct text_table {
	const char **texts;
	size_t count, room;
	struct hash_index index;
	struct name_pool pool;
};

/* 0 or -ENOMEM; text_table_fini() follows in each case. */
int text_table_init(struct text_table *table);
void text_table_fini(struct text_table *table);

/*
 * The number of a text, which lives as long as the table.  0; -ENOMEM, or -E2BIG for more than
 * 2^31 - 1 texts, as formats have no higher numbers.
 */
int text_table_number(struct text_table *table, const char *text, uint32_t *ret);

/* The table's copy of a text that passes, always the same for the same text.  0 or -ENOMEM. */
int text_table_keep(struct text_table *table, const char *text, const char **ret);

#endif
