// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * compiled_kunit.c - a compiled table in the memory of a process, which the test is, and steps
 * by it.  The table is written byte by byte, as its document says.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/unwind_user.h>
#include <linux/unwind_user_sframe.h>

#include "compiled.h"
#include "kunit_section.h"
#include "section_registration.h"

/* The addresses of its own that the table is about */
#define FILE_START 0x2000
#define FILE_END (FILE_START + 32)

struct head {
	char magic[8];
	u32 version;
	u16 machine;
	u8 big_endian, id_length, build_id[20];
	u32 cells;
	u64 start, end;
	u32 entries, blocks, words, wide;
	u8 zero[56];
} __packed;

struct table {
	struct head head;
	u8 distances[256], pair_rules[128];
	u64 words[3];
	u8 wide[32];
	u8 beginners, zero[7];
	u64 entry, more_entries[7];
	u8 block[64];
} __packed;

static_assert(sizeof(struct table) == 704);

struct process {
	unsigned long text, table, stack;
};

/* CFA = register + 8 * cfa, RA at CFA - 8, and, if it is saved, FP at CFA - 16 */
static u64 word_of(u64 reg, u64 cfa, bool saved)
{
	u64 word = 1 | reg << 2 | 2 << 10 | cfa << 16 | 0xfffull << 36;

	return saved ? word | 1 << 13 | 0xfffeull << 48 : word;
}

/* CFA = SP + 24, RA at CFA - 8, FP is unchanged */
static const u8 wide_rule[32] = {24, 0, 0, 0, 5, 7, 0xf8, 0xff, 0xff, 0xff, 3,
				 0,  0, 0, 0, 0, 1, 0,    0,    0,    0xff};

/* Rows at 0, 1, 4 and 16, whose rules are listed: the words, and the wide one */
static void make_block(u8 block[64])
{
	static const u8 tokens[] = {128, 128, 130, 139};

	block[2] = 4;
	memcpy(block + 3, tokens, sizeof(tokens));
	for (unsigned int i = 0; i < 4; i++) {
		block[50 - i] = i;
		block[56 + 2 * i] = 0xff;
		block[57 + 2 * i] = 0x7f;
	}
	block[55] = 3 | 4 << 3;
}

static void make_table(struct table *t)
{
	t->head = (struct head){
		.magic = {'b', 'o', 'b', 'b', 'i', 'n', 'C', 'T'},
		.version = 2,
		.machine = 62,
		.id_length = 2,
		.build_id = {0xab, 0xcd},
		.cells = 1,
		.start = FILE_START,
		.end = FILE_END,
		.entries = 1,
		.blocks = 1,
		.words = 3,
		.wide = 1,
	};
	for (unsigned int i = 0; i < 128; i++)
		t->distances[128 + i] = i + 1;
	t->words[0] = word_of(7, 1, false);
	t->words[1] = word_of(7, 2, true);
	t->words[2] = word_of(6, 2, true);
	memcpy(t->wide, wide_rule, sizeof(wide_rule));
	t->entry = BIT_ULL(44) - 1;
	make_block(t->block);
}

static void store_word(struct kunit *test, unsigned long at, u64 word)
{
	section_store(test, at, &word, sizeof(word));
}

static struct table *alloc_table(struct kunit *test)
{
	struct table *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	make_table(t);
	return t;
}

static struct process make_process(struct kunit *test)
{
	const struct process p = {
		.text = section_map(test, PAGE_SIZE, PROT_READ | PROT_EXEC),
		.table = section_map(test, PAGE_SIZE, PROT_READ | PROT_WRITE),
		.stack = section_map(test, PAGE_SIZE, PROT_READ | PROT_WRITE),
	};

	section_store(test, p.table, alloc_table(test), sizeof(struct table));
	return p;
}

static int add(const struct process *p, u64 size, u64 bias, const u8 *build_id, unsigned int length)
{
	struct sframe_section *section = sframe_section_alloc(1);
	int status;

	if (!section)
		return -ENOMEM;
	section->kind = SFRAME_COMPILED;
	section->key = p->text;
	section->ranges[0] = (struct code_text_range){p->text, p->text + PAGE_SIZE};
	status = sframe_open_compiled(section, p->table, size, bias, build_id, length);
	if (!status)
		return sframe_register_section(section);
	sframe_section_free(section);
	return status;
}

static struct process make_registered(struct kunit *test)
{
	const struct process p = make_process(test);

	KUNIT_ASSERT_EQ(test, add(&p, sizeof(struct table), p.text - FILE_START, NULL, 0), 0);
	return p;
}

static struct unwind_user_state state_at(const struct process *p, unsigned long offset)
{
	return (struct unwind_user_state){
		.ip = p->text + offset,
		.sp = p->stack,
		.fp = p->stack + 256,
		.ws = sizeof(u64),
		.exact = true,
	};
}

/* The words of the stack are their own numbers */
static void fill_stack(struct kunit *test, const struct process *p)
{
	for (unsigned int i = 0; i < 64; i++)
		store_word(test, p->stack + 8 * i, i);
}

static void steps_by_each_row_of_a_table(struct kunit *test)
{
	static const struct {
		unsigned long offset, ip, sp, fp;
	} rows[] = {
		/* where, and words of the stack; 0: FP is unchanged */
		{0, 0, 1, 0},     {1, 1, 2, 8},  {3, 1, 2, 8},  {4, 33, 34, 32},
		{15, 33, 34, 32}, {16, 2, 3, 0}, {31, 2, 3, 0},
	};
	const struct process p = make_registered(test);

	fill_stack(test, &p);
	store_word(test, p.stack, 8);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct unwind_user_state state = state_at(&p, rows[i].offset);
		unsigned long ip = rows[i].ip ?: 8;

		KUNIT_EXPECT_EQ(test, unwind_user_next_sframe(&state), 0);
		KUNIT_EXPECT_EQ(test, state.ip, ip);
		KUNIT_EXPECT_EQ(test, state.sp, p.stack + 8 * rows[i].sp);
		KUNIT_EXPECT_EQ(test, state.fp, rows[i].fp ?: p.stack + 256);
	}
}

static void knows_nothing_after_the_end_of_a_table(struct kunit *test)
{
	const struct process p = make_registered(test);
	struct sframe_section *section;
	struct bobbin_error error = {};
	struct bobbin_row row;

	section = sframe_map_find(sframe_map_of(current->mm), p.text);
	KUNIT_ASSERT_NOT_NULL(test, section);
	KUNIT_EXPECT_EQ(test, sframe_lookup_compiled(section, p.text + 31, &error, &row), 0);
	KUNIT_EXPECT_EQ(test, row.start, p.text + 16);
	KUNIT_EXPECT_EQ(test, sframe_lookup_compiled(section, p.text + 32, &error, &row), -ENOENT);
	KUNIT_EXPECT_EQ(test, error.reason, BOBBIN_REASON_NONE);
	sframe_section_put(section);
}

static bool is_registered(const struct process *p)
{
	struct sframe_section *section = sframe_map_find(sframe_map_of(current->mm), p->text);

	if (section)
		sframe_section_put(section);
	return section;
}

/* Whatever is wrong: the table is removed, once, and the walk ends. */
static void expect_removed(struct kunit *test, const struct process *p)
{
	struct unwind_user_state state = state_at(p, 4);

	KUNIT_EXPECT_TRUE(test, is_registered(p));
	KUNIT_EXPECT_LT(test, unwind_user_next_sframe(&state), 0);
	KUNIT_EXPECT_EQ(test, state.ip, p->text + 4);
	KUNIT_EXPECT_FALSE(test, is_registered(p));
}

static void removes_a_corrupt_table(struct kunit *test)
{
	struct process p = make_registered(test);

	/* a block that there is not */
	store_word(test, p.table + offsetof(struct table, entry), BIT_ULL(63) - 1);
	expect_removed(test, &p);
	/* entries that there are not */
	p = make_registered(test);
	store_word(test, p.table + offsetof(struct table, entry), ~0ull);
	expect_removed(test, &p);
	/* entries that lead to themselves */
	p = make_registered(test);
	store_word(test, p.table + offsetof(struct table, entry), BIT_ULL(63));
	expect_removed(test, &p);
	/* a rule that there is not */
	p = make_registered(test);
	store_word(test, p.table + offsetof(struct table, block) + 43, 0x7070707070707070);
	expect_removed(test, &p);
}

static void removes_an_unmapped_table(struct kunit *test)
{
	const struct process p = make_registered(test);

	KUNIT_ASSERT_EQ(test, vm_munmap(p.table, PAGE_SIZE), 0);
	expect_removed(test, &p);
}

static void refuses_tables_of_other_code(struct kunit *test)
{
	const struct process p = make_process(test);
	const u64 size = sizeof(struct table), bias = p.text - FILE_START;
	static const u8 right[] = {0xab, 0xcd}, other[] = {0xab, 0xce};

	KUNIT_EXPECT_EQ(test, add(&p, size, bias, other, 2), -EBADMSG);
	KUNIT_EXPECT_EQ(test, add(&p, size, bias, right, 1), -EBADMSG);
	KUNIT_EXPECT_EQ(test, add(&p, size, bias + 64 * PAGE_SIZE, right, 2), -EBADMSG);
	KUNIT_EXPECT_EQ(test, add(&p, size, bias - 64, right, 2), -EBADMSG);
	KUNIT_EXPECT_EQ(test, add(&p, size, bias, right, 2), 0);
	KUNIT_EXPECT_EQ(test, add(&p, size, bias, right, 2), -EEXIST);
}

static void refuses_malformed_heads(struct kunit *test)
{
	static const struct {
		size_t at;
		u8 byte;
	} changes[] = {
		{offsetof(struct head, magic), 'B'},    {offsetof(struct head, version), 3},
		{offsetof(struct head, machine), 183},  {offsetof(struct head, machine), 1},
		{offsetof(struct head, big_endian), 1}, {offsetof(struct head, id_length), 21},
		{offsetof(struct head, cells), 0},      {offsetof(struct head, cells), 2},
		{offsetof(struct head, end) + 1, 0x1f}, {offsetof(struct head, end) + 1, 0x29},
		{offsetof(struct head, entries), 9},    {offsetof(struct head, blocks), 2},
		{offsetof(struct head, words) + 2, 1},  {offsetof(struct head, wide) + 3, 1},
	};
	const struct process p = make_process(test);
	const u64 bias = p.text - FILE_START;
	struct table *t = alloc_table(test);

	for (unsigned int i = 0; i < ARRAY_SIZE(changes); i++) {
		make_table(t);
		((u8 *)t)[changes[i].at] = changes[i].byte;
		section_store(test, p.table, t, sizeof(*t));
		KUNIT_EXPECT_EQ_MSG(test, add(&p, sizeof(*t), bias, NULL, 0), -EBADMSG, "change %u",
				    i);
	}
	make_table(t);
	section_store(test, p.table, t, sizeof(*t));
	KUNIT_EXPECT_EQ(test, add(&p, sizeof(*t) - 1, bias, NULL, 0), -EBADMSG);
	KUNIT_EXPECT_EQ(test, add(&p, 127, bias, NULL, 0), -EBADMSG);
	KUNIT_EXPECT_EQ(test, add(&p, sizeof(*t), bias, NULL, 0), 0);
}

static struct kunit_case compiled_cases[] = {
	KUNIT_CASE(steps_by_each_row_of_a_table),
	KUNIT_CASE(knows_nothing_after_the_end_of_a_table),
	KUNIT_CASE(removes_a_corrupt_table),
	KUNIT_CASE(removes_an_unmapped_table),
	KUNIT_CASE(refuses_tables_of_other_code),
	KUNIT_CASE(refuses_malformed_heads),
	{},
};

SECTION_SUITE("sframe_compiled", compiled_cases);
