/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/compiled_table.h"

#include "core/memory.h"
#include "core/refusal.h"
#include "table/table_lookup.h"

/* Where the parts are, from the head. */
struct parts {
	uint64_t words, wide, beginners, index, blocks, end;
};

static uint64_t round_up(uint64_t at)
{
	return (at + TABLE_BLOCK_SIZE - 1) / TABLE_BLOCK_SIZE * TABLE_BLOCK_SIZE;
}

/* Sums of a few products of 32-bit numbers: 64 bits cannot overflow. */
static void place_parts(const struct compiled_table *t, struct parts *ret)
{
	uint64_t at = TABLE_HEAD_SIZE + TABLE_PAIRS_SIZE;

	ret->words = at;
	ret->wide = at += (uint64_t)t->word_count * TABLE_WORD_SIZE;
	ret->beginners = at += (uint64_t)t->wide_count * TABLE_WIDE_SIZE;
	at += (t->word_count + t->wide_count + 7) / 8;
	ret->index = at = round_up(at);
	ret->blocks = at = round_up(at + (uint64_t)t->entry_count * TABLE_ENTRY_SIZE);
	ret->end = at + (uint64_t)t->block_count * TABLE_BLOCK_SIZE;
}

static bool is_magic(const uint8_t *data)
{
	const char *magic = TABLE_MAGIC;

	for (unsigned int i = 0; i < TABLE_MAGIC_SIZE; i++)
		if (data[i] != (uint8_t)magic[i])
			return false;
	return true;
}

static bool is_sane(const struct compiled_table *t)
{
	uint64_t cells = (uint64_t)t->cell_count << TABLE_CELL_SHIFT;

	return t->end > t->start && t->end - t->start <= cells && t->cell_count <= t->entry_count &&
	       t->word_count < TABLE_MAX_RULES && t->wide_count < TABLE_MAX_RULES &&
	       t->word_count + t->wide_count <= TABLE_MAX_RULES &&
	       t->build_id_len <= TABLE_BUILD_ID_MAX;
}

int compiled_table_init(const void *data, uint64_t size, struct bobbin_error *err,
			struct compiled_table *ret)
{
	const uint8_t *head = data;
	struct compiled_table t;
	struct parts parts;

	if (size < TABLE_HEAD_SIZE || !is_magic(head))
		return refuse(err, 0, BOBBIN_REASON_TABLE_MAGIC);
	if (load_u32(head + TABLE_AT_VERSION, false) != TABLE_VERSION)
		return refuse(err, TABLE_AT_VERSION, BOBBIN_REASON_TABLE_VERSION);
	t.arch = bobbin_arch_of_elf((uint16_t)load_u16(head + TABLE_AT_MACHINE, false),
				    head[TABLE_AT_BIG_ENDIAN]);
	t.build_id = head + TABLE_AT_BUILD_ID;
	t.build_id_len = head[TABLE_AT_ID_LENGTH];
	t.cell_count = load_u32(head + TABLE_AT_CELLS, false);
	t.start = load_u64(head + TABLE_AT_START, false);
	t.end = load_u64(head + TABLE_AT_END, false);
	t.entry_count = load_u32(head + TABLE_AT_ENTRIES, false);
	t.block_count = load_u32(head + TABLE_AT_BLOCKS, false);
	t.word_count = load_u32(head + TABLE_AT_WORDS, false);
	t.wide_count = load_u32(head + TABLE_AT_WIDE, false);
	if (!t.arch || !is_sane(&t))
		return refuse(err, TABLE_AT_MACHINE, BOBBIN_REASON_TABLE_HEAD);
	place_parts(&t, &parts);
	if (parts.end > size)
		return refuse(err, TABLE_AT_ENTRIES, BOBBIN_REASON_TABLE_HEAD);
	t.pairs = head + TABLE_HEAD_SIZE;
	t.words = head + parts.words;
	t.wide = head + parts.wide;
	t.beginners = head + parts.beginners;
	t.index = head + parts.index;
	t.blocks = head + parts.blocks;
	*ret = t;
	return 0;
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

/* i32 offset, u8 how, u8 register.  Whether it makes sense. */
static bool read_place(const uint8_t *p, struct bobbin_place *ret)
{
	ret->off = (int32_t)load_u32(p, false);
	ret->how = p[4];
	ret->reg = p[5];
	return ret->how <= BOBBIN_HOW_AT_PC && ret->reg < BOBBIN_REG_COUNT;
}

/* A rule that no word holds. */
static int read_wide(const struct compiled_table *table, uint32_t number, struct bobbin_rule *ret)
{
	const uint8_t *p = table->wide + (uint64_t)(number - table->word_count) * TABLE_WIDE_SIZE;
	bool sane;

	ret->plus = (int16_t)load_u16(p + TABLE_WIDE_PLUS, false);
	ret->index = p[TABLE_WIDE_INDEX];
	ret->flags = p[TABLE_WIDE_FLAGS];
	ret->reason = BOBBIN_REASON_NONE;
	sane = read_place(p, &ret->cfa);
	sane &= read_place(p + TABLE_PLACE_SIZE, &ret->ra);
	sane &= read_place(p + 2 * TABLE_PLACE_SIZE, &ret->fp);
	sane &= ret->index < BOBBIN_REG_COUNT || ret->index == BOBBIN_NO_INDEX;
	return sane && ret->cfa.how != BOBBIN_HOW_NO_RULE ? 0 : -BOBBIN_EBADMSG;
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
