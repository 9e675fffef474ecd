// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * window_lookup.c - the usual lookup, within one window of user access.
 *
 * A function costs the words of its entry that the search reads, and two more; a row costs one.
 * Sections are those of version 3 whose rules differ in the CFA and the frame pointer.  Whatever
 * else there is, or is wrong, bobbin_sframe_lookup() meets it again, and says what.
 */
#include <linux/compiler.h>
#include <linux/uaccess.h>

#include "core/rule_word.h"
#include "map.h"
#include "sframe/layout.h"
#include "window_lookup.h"

/* Fields are read by eight bytes: from the section's last ones, as many as this beyond its end. */
#define WINDOW_ROOM 8

/* A word that begins with a function's attributes. */
#define ATTRIBUTES_UNUSUAL \
	((u64)(SFRAME_FDE_PCMASK | SFRAME_FDE_SIGNAL) << 8 * SFRAME_V3_ATTR_AT_INFO | \
	 (u64)SFRAME_FDE_TYPE << 8 * SFRAME_V3_ATTR_AT_INFO2)
#define ATTRIBUTES_ROWS(word) ((u16)(word))
#define ATTRIBUTES_FRE_TYPE(word) ((word) >> 8 * SFRAME_V3_ATTR_AT_INFO & SFRAME_FDE_FRE_TYPE)

/* Bytes of data words by a row's number and size of words; TOO_MANY if that is not valid. */
#define TOO_MANY 0x80
static const u8 words_size[(SFRAME_FRE_SIZE_BITS >> 1) + 1] = {
	0, 1, 2, 3,  4,  5,  6,  [0x07 ... 0x0f] = TOO_MANY,
	0, 2, 4, 6,  8,  10, 12, [0x17 ... 0x1f] = TOO_MANY,
	0, 4, 8, 12, 16, 20, 24, [0x27 ... 0x3f] = TOO_MANY,
};

/**
 * struct window_scan - a search among a function's rows
 * @at: the next row; or where the last one ends
 * @last: no row begins after it
 * @words: of the last row that starts at or before @offset
 * @offset: of the PC in the function
 * @size: of the function
 * @left: rows from @at on
 * @info: of the row that @words are of
 */
struct window_scan {
	unsigned long at, last, words;
	u32 offset, size, left;
	u8 info;
};

struct sframe_plain sframe_plain_words(const struct bobbin_sframe_view *view)
{
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = BOBBIN_NATIVE_ARCH()->sp},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = view->fixed_ra},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
	struct sframe_plain ret;

	if (!view->data || view->version != 3 || !view->fixed_ra || view->fixed_fp ||
	    !view->sorted || !view->num_fdes || !(view->flags & BOBBIN_SFRAME_PCREL))
		return (struct sframe_plain){};
	if (bobbin_rule_pack(&rule, &ret.sp))
		return (struct sframe_plain){};
	rule.cfa.reg = BOBBIN_NATIVE_ARCH()->fp;
	/* as the frame pointer may be anywhere: see rule_word_with_fp() */
	if (bobbin_rule_pack(&rule, &ret.fp) || !rule_word_with_fp(ret.sp, -2 * (int)sizeof(u64)))
		return (struct sframe_plain){};
	return ret;
}

static __always_inline unsigned long data_of(const struct bobbin_sframe_view *view)
{
	return (unsigned long)view->data;
}

/* The last function that starts at or before a PC, counted from where the section is; or 0. */
static __always_inline unsigned long window_function(const struct bobbin_sframe_view *view, u64 pc)
{
	unsigned long at = data_of(view) + view->fde_off;
	u32 count = view->num_fdes;
	s64 start;

	while (count > 1) {
		u32 half = count / 2;
		unsigned long middle = at + half * SFRAME_V3_FDE_SIZE;

		unsafe_get_user(start, (const s64 __user *)middle, unreadable);
		at = start <= (s64)(pc - middle) ? middle : at;
		count -= half;
	}
	return at;
unreadable:
	return 0;
}

/* The row of an offset: the last that starts at or before it. */
static __always_inline bool window_row(struct window_scan *s, unsigned int width)
{
	const u32 mask = U32_MAX >> (32 - 8 * width);
	u32 start, before = 0;
	u8 sizes = 0;
	u64 row;

	do {
		u8 size;

		unsafe_get_user(row, (const u64 __user *)s->at, unreadable);
		start = row & mask;
		if (start > s->offset)
			return s->words && start <= s->size && !(sizes & TOO_MANY);
		s->info = row >> 8 * width;
		size = words_size[s->info >> 1 & SFRAME_FRE_SIZE_BITS >> 1];
		sizes |= size;
		if (start < before)
			return false;
		before = start;
		s->words = s->at + width + 1;
		s->at = s->words + size;
	} while (--s->left && s->at <= s->last);
	return !s->left && !(sizes & TOO_MANY);
unreadable:
	return false;
}

/* A signed number of @bits at the least significant end. */
static __always_inline s64 window_number(u64 words, unsigned int bits)
{
	return (s64)(words << (64 - bits)) >> (64 - bits);
}

/* The rule of a row, one of a CFA and perhaps of a frame pointer. */
static __always_inline u64 window_rule(const struct window_scan *s, struct sframe_plain plain)
{
	unsigned int count = SFRAME_FRE_NUM_WORDS(s->info);
	unsigned int bits = 8 << SFRAME_FRE_WORD_SHIFT(s->info);
	u64 words, word = s->info & SFRAME_FRE_BASE_SP ? plain.sp : plain.fp;

	if (count - 1 > 1)
		return 0;
	unsafe_get_user(words, (const u64 __user *)s->words, unreadable);
	word = rule_word_at_offset(word, window_number(words, bits));
	return count == 1 ? word : rule_word_with_fp(word, window_number(words >> bits, bits));
unreadable:
	return 0;
}

/* The rule for an offset into a function of @size bytes. */
static __always_inline u64 window_rule_in(const struct sframe_section *section, unsigned long rows,
					  u64 attributes, u32 offset, u32 size)
{
	const unsigned long end = data_of(&section->view) + section->view.size;
	const unsigned int type = ATTRIBUTES_FRE_TYPE(attributes), width = 1 << type;
	struct window_scan s = {
		.at = rows,
		.last = end - width - 1,
		.offset = offset,
		.size = size,
		.left = ATTRIBUTES_ROWS(attributes),
	};

	if (attributes & ATTRIBUTES_UNUSUAL || type > SFRAME_FDE_FRE_TYPE_LAST)
		return 0;
	if (!s.left || s.left - 1 > size || s.at > s.last)
		return 0;
	return window_row(&s, width) && s.at <= end ? window_rule(&s, section->plain) : 0;
}

/* By the function at an entry. */
static __always_inline u64 window_rule_at(const struct sframe_section *section, unsigned long entry,
					  u64 pc)
{
	const struct bobbin_sframe_view *view = &section->view;
	u64 attributes, offset, rows;
	u32 size, row_off;
	s64 start;

	unsafe_get_user(start, (const s64 __user *)entry, unreadable);
	unsafe_get_user(size, (const u32 __user *)(entry + SFRAME_V3_FDE_AT_SIZE), unreadable);
	unsafe_get_user(row_off, (const u32 __user *)(entry + SFRAME_V3_FDE_AT_FRE_OFF),
			unreadable);
	offset = pc - entry - start;
	rows = row_off;
	if (offset >= size || rows + SFRAME_V3_ATTR_SIZE > view->fre_len)
		return 0;
	rows += data_of(view) + view->fre_off;
	unsafe_get_user(attributes, (const u64 __user *)rows, unreadable);
	return window_rule_in(section, rows + SFRAME_V3_ATTR_SIZE, attributes, offset, size);
unreadable:
	return 0;
}

static __always_inline u64 window_search(const struct sframe_section *section, u64 pc)
{
	unsigned long entry;

	/* as if the section were where its PCs are counted from */
	pc -= section->view.addr - data_of(&section->view);
	entry = window_function(&section->view, pc);
	return entry ? window_rule_at(section, entry, pc) : 0;
}

static __always_inline u64 window_open(const struct sframe_section *section, u64 pc)
{
	u64 word;

	if (!user_read_access_begin((const void __user *)section->view.data,
				    section->view.size + WINDOW_ROOM))
		return 0;
	word = window_search(section, pc);
	user_read_access_end();
	return word;
}

u64 sframe_window_lookup(struct sframe_map *map, u64 pc)
{
	const struct sframe_section *section;
	unsigned long generation;
	u64 word = 0;

	rcu_read_lock();
	generation = sframe_map_generation(map);
	section = sframe_map_peek(map, generation, pc);
	if (section && section->plain.sp) {
		pagefault_disable();
		word = window_open(section, pc);
		pagefault_enable();
	}
	rcu_read_unlock();
	if (word)
		sframe_cache_keep(&map->cache, &map->generation, generation, pc, word);
	return word;
}
