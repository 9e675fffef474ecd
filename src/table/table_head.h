/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_head.h - the head of a compiled table, and its wide rules, from copies of their bytes.
 *
 * Freestanding, for user space and for Linux, which copies what it looks at.
 */
#ifndef BOBBIN_TABLE_TABLE_HEAD_H
#define BOBBIN_TABLE_TABLE_HEAD_H

#include <bobbin/rule.h>

#include "core/memory.h"
#include "core/refusal.h"
#include "table/table_parts.h"

/* Where the parts are, from the head. */
struct table_places {
	uint64_t words, wide, beginners, index, blocks, end;
};

static inline uint64_t table_round_up(uint64_t at)
{
	return (at + TABLE_BLOCK_SIZE - 1) & -(uint64_t)TABLE_BLOCK_SIZE;
}

/* Sums of a few products of 32-bit numbers: 64 bits cannot overflow. */
static inline void table_place_parts(const struct compiled_table *t, struct table_places *ret)
{
	uint64_t at = TABLE_HEAD_SIZE + TABLE_PAIRS_SIZE;

	ret->words = at;
	ret->wide = at += (uint64_t)t->word_count * TABLE_WORD_SIZE;
	ret->beginners = at += (uint64_t)t->wide_count * TABLE_WIDE_SIZE;
	at += (t->word_count + t->wide_count + 7) / 8;
	ret->index = at = table_round_up(at);
	ret->blocks = at = table_round_up(at + (uint64_t)t->entry_count * TABLE_ENTRY_SIZE);
	ret->end = at + (uint64_t)t->block_count * TABLE_BLOCK_SIZE;
}

static inline bool table_is_magic(const uint8_t *data)
{
	const char *magic = TABLE_MAGIC;

	for (unsigned int i = 0; i < TABLE_MAGIC_SIZE; i++)
		if (data[i] != (uint8_t)magic[i])
			return false;
	return true;
}

static inline bool table_is_sane(const struct compiled_table *t)
{
	uint64_t cells = (uint64_t)t->cell_count << TABLE_CELL_SHIFT;

	return t->end > t->start && t->end - t->start <= cells && t->cell_count <= t->entry_count &&
	       t->word_count < TABLE_MAX_RULES && t->wide_count < TABLE_MAX_RULES &&
	       t->word_count + t->wide_count <= TABLE_MAX_RULES &&
	       t->build_id_len <= TABLE_BUILD_ID_MAX;
}

/*
 * Check the head of a table.
 *
 * @head: TABLE_HEAD_SIZE bytes, from which @ret borrows the build ID
 * @at: where the whole table is, which is not looked at
 * @size: its bytes, at least as many
 *
 * 0; -EBADMSG with a reason in @err, or NULL; @ret is untouched on failure.
 */
static inline int table_read_head(const uint8_t *head, const uint8_t *at, uint64_t size,
				  struct bobbin_error *err, struct compiled_table *ret)
{
	struct table_places parts;
	struct compiled_table t;

	if (!table_is_magic(head))
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
	if (!t.arch || !table_is_sane(&t))
		return refuse(err, TABLE_AT_MACHINE, BOBBIN_REASON_TABLE_HEAD);
	table_place_parts(&t, &parts);
	if (parts.end > size)
		return refuse(err, TABLE_AT_ENTRIES, BOBBIN_REASON_TABLE_HEAD);
	t.pairs = at + TABLE_HEAD_SIZE;
	t.words = at + parts.words;
	t.wide = at + parts.wide;
	t.beginners = at + parts.beginners;
	t.index = at + parts.index;
	t.blocks = at + parts.blocks;
	*ret = t;
	return 0;
}

/* i32 offset, u8 how, u8 register.  Whether it makes sense. */
static inline bool table_read_place(const uint8_t *p, struct bobbin_place *ret)
{
	ret->off = (int32_t)load_u32(p, false);
	ret->how = p[4];
	ret->reg = p[5];
	return ret->how <= BOBBIN_HOW_AT_PC && ret->reg < BOBBIN_REG_COUNT;
}

/* A rule that no word holds, of TABLE_WIDE_SIZE bytes.  0; -EBADMSG, and @ret is undefined. */
static inline int table_read_wide(const uint8_t *p, struct bobbin_rule *ret)
{
	bool sane;

	ret->plus = (int16_t)load_u16(p + TABLE_WIDE_PLUS, false);
	ret->index = p[TABLE_WIDE_INDEX];
	ret->flags = p[TABLE_WIDE_FLAGS];
	ret->reason = BOBBIN_REASON_NONE;
	sane = table_read_place(p, &ret->cfa);
	sane &= table_read_place(p + TABLE_PLACE_SIZE, &ret->ra);
	sane &= table_read_place(p + 2 * TABLE_PLACE_SIZE, &ret->fp);
	sane &= ret->index < BOBBIN_REG_COUNT || ret->index == BOBBIN_NO_INDEX;
	return sane && ret->cfa.how != BOBBIN_HOW_NO_RULE ? 0 : -BOBBIN_EBADMSG;
}

#endif
