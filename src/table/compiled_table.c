/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/compiled_table.h"

#include "core/refusal.h"
#include "table/table_head.h"
#include "table/table_lookup.h"

int compiled_table_init(const void *data, uint64_t size, struct bobbin_error *err,
			struct compiled_table *ret)
{
	if (size < TABLE_HEAD_SIZE)
		return refuse(err, 0, BOBBIN_REASON_TABLE_MAGIC);
	return table_read_head(data, data, size, err, ret);
}

static BOBBIN_ALWAYS_INLINE const uint8_t *table_piece(const struct compiled_table *t,
						       const uint8_t *at, unsigned int size)
{
	return at;
}

static BOBBIN_ALWAYS_INLINE const uint8_t *table_pairs(const struct compiled_table *t)
{
	return t->pairs;
}

bool compiled_table_begins(const struct compiled_table *table, uint32_t number)
{
	return table->beginners[number / 8] >> number % 8 & 1;
}

bool compiled_table_is_none(const struct compiled_table *table, uint32_t number)
{
	return number < table->word_count &&
	       !load_u64(table->words + (uint64_t)number * TABLE_WORD_SIZE, false);
}

int compiled_table_find(const struct compiled_table *table, uint64_t vaddr,
			struct compiled_row *ret)
{
	struct table_steps steps;
	int r;

	if (vaddr - table->start >= table->end - table->start)
		return -BOBBIN_ENOENT;
	r = table_find(table, vaddr, &steps, ret);
	if (!r || r == -BOBBIN_ENOENT)
		ret->begins = compiled_table_begins(table, ret->number);
	return r;
}

uint64_t compiled_table_function(const struct compiled_table *table, const struct compiled_row *row)
{
	struct compiled_row at = *row, before;

	for (unsigned int i = 0; i < TABLE_FUNCTION_ROWS && !at.begins; i++) {
		int r;

		/* malformed tables have rows outside */
		if (at.start <= table->start || at.start > table->end)
			break;
		r = compiled_table_find(table, at.start - 1, &before);
		/* a function may begin with addresses of which nothing is known */
		if (r == -BOBBIN_ENOENT && before.begins)
			return before.start;
		if (r)
			break;
		at = before;
	}
	return at.start;
}

static int read_wide(const struct compiled_table *table, uint32_t number, struct bobbin_rule *ret)
{
	return table_read_wide(
		table->wide + (uint64_t)(number - table->word_count) * TABLE_WIDE_SIZE, ret);
}

int compiled_table_rule(const struct compiled_table *table, const struct compiled_row *row,
			struct bobbin_rule *ret)
{
	if (!row->word)
		return read_wide(table, row->number, ret);
	bobbin_rule_unpack(row->word, ret);
	return 0;
}

int compiled_table_number(const struct compiled_table *table, uint32_t number,
			  struct bobbin_rule *ret)
{
	uint64_t word;

	if (number >= table->word_count + table->wide_count)
		return -BOBBIN_EBADMSG;
	if (number >= table->word_count)
		return read_wide(table, number, ret);
	word = load_u64(table->words + (uint64_t)number * TABLE_WORD_SIZE, false);
	if (!word)
		return -BOBBIN_ENOENT;
	bobbin_rule_unpack(word, ret);
	return 0;
}
