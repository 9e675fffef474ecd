/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jit/jit_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/deps.h"

#define BASE 0x10000ull   /* address of the memory that tables are in */
#define TEXT 0x7f0000ull  /* start of the code */
#define TEXT_SIZE 0x10000 /* bytes of it */
#define ENTRIES 40        /* in one table of a test, at most */
#define HEAD sizeof(struct code_jit_unwind_table)
#define FRE sizeof(struct code_jit_unwind_fre)
#define TABLE_BYTES (HEAD + ENTRIES * FRE)
#define TABLES (JIT_MAX_TABLES + 1)

/* Tables in the byte order of an architecture, as another process's memory. */
struct memory {
	const struct bobbin_arch *arch;
	struct code_jit_info info;
	uint8_t bytes[TABLES * TABLE_BYTES];
};

static enum bobbin_reason read_memory(void *ctx, uint64_t addr, void *dst, size_t len)
{
	const struct memory *memory = ctx;

	if (addr < BASE || addr - BASE > sizeof(memory->bytes) - len)
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(dst, memory->bytes + (addr - BASE), len);
	return BOBBIN_REASON_NONE;
}

static uint64_t table_at(unsigned int table)
{
	return BASE + table * TABLE_BYTES;
}

static void store(struct memory *memory, uint64_t addr, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		memory->bytes[addr - BASE + i] =
			(uint8_t)(value >> 8 * (memory->arch->big_endian ? size - 1 - i : i));
}

static void set_head(struct memory *memory, unsigned int table, uint64_t reserved, uint64_t used,
		     uint64_t next)
{
	store(memory, table_at(table), reserved, 8);
	store(memory, table_at(table) + 8, used, 8);
	store(memory, table_at(table) + 16, next, 8);
}

static void set_entry(struct memory *memory, unsigned int table, unsigned int index,
		      const struct code_jit_unwind_fre *fre)
{
	uint64_t addr = table_at(table) + HEAD + index * FRE;

	store(memory, addr, fre->size, 4);
	store(memory, addr + 4, fre->ip_off, 4);
	store(memory, addr + 8, (uint32_t)fre->cfa_off, 4);
	store(memory, addr + 12, (uint32_t)fre->ra_off, 4);
	store(memory, addr + 16, (uint32_t)fre->fp_off, 4);
	store(memory, addr + 20, fre->info, 1);
}

/* An entry whose CFA tells which one it is. */
static struct code_jit_unwind_fre numbered(uint32_t ip_off, uint32_t size, int32_t number)
{
	return (struct code_jit_unwind_fre){
		.size = size,
		.ip_off = ip_off,
		.cfa_off = 8 * number,
		.info = CODE_JIT_FRE_BASE_SP | 1 << 1,
	};
}

static void init(struct memory *memory, const struct bobbin_arch *arch)
{
	memset(memory, 0, sizeof(*memory));
	memory->arch = arch;
	memory->info = (struct code_jit_info){TEXT, TEXT + TEXT_SIZE, table_at(0)};
}

/* @count entries of 16 bytes, each followed by 16 bytes that belong to none, from @off on. */
static void fill(struct memory *memory, unsigned int table, unsigned int count, uint32_t off,
		 uint64_t next)
{
	set_head(memory, table, ENTRIES * FRE, count * FRE, next);
	for (unsigned int i = 0; i < count; i++) {
		struct code_jit_unwind_fre fre = numbered(off + 32 * i, 16,
							  (int32_t)(off / 32 + i));

		set_entry(memory, table, i, &fre);
	}
}

static int look(const struct memory *memory, uint32_t off, struct bobbin_error *err,
		struct bobbin_row *ret)
{
	const struct bobbin_mem mem = {read_memory, (void *)memory};

	return jit_table_lookup(&(struct jit_chain){memory->arch, &memory->info, &mem, err},
				TEXT + off, ret);
}

static void assert_row(const struct memory *memory, uint32_t off, uint32_t start, uint32_t size,
		       int32_t number)
{
	struct bobbin_row row;

	assert_int_equal(look(memory, off, NULL, &row), 0);
	assert_int_equal(row.start, TEXT + start);
	assert_int_equal(row.end, TEXT + start + size);
	assert_int_equal(row.function, TEXT + start);
	assert_int_equal(row.rule.cfa.off, 8 * number);
}

/* Refused, with nothing written. */
static void assert_refused(const struct memory *memory, uint32_t off, int status,
			   enum bobbin_reason reason, uint64_t offset)
{
	struct bobbin_error err = {.offset = UINT64_MAX};
	struct bobbin_row row, before;

	memset(&row, 0x5a, sizeof(row));
	memcpy(&before, &row, sizeof(row));
	assert_int_equal(look(memory, off, &err, &row), status);
	assert_int_equal(err.reason, reason);
	assert_int_equal(err.offset, offset);
	assert_memory_equal(&row, &before, sizeof(row));
	assert_int_equal(look(memory, off, NULL, &row), status);
}

static const struct bobbin_arch *const *all_archs(void)
{
	static const struct bobbin_arch *archs[5];

	archs[0] = bobbin_arch_amd64();
	archs[1] = bobbin_arch_aarch64();
	archs[2] = bobbin_arch_aarch64_be();
	archs[3] = bobbin_arch_s390x();
	return archs;
}

static void each_address_finds_its_entry_in_every_byte_order(void **state)
{
	static struct memory memory;

	(void)state;
	for (const struct bobbin_arch *const *arch = all_archs(); *arch; arch++) {
		for (unsigned int count = 1; count <= ENTRIES; count++) {
			init(&memory, *arch);
			fill(&memory, 0, count, 0, 0);
			for (uint32_t i = 0; i < count; i++) {
				assert_row(&memory, 32 * i, 32 * i, 16, (int32_t)i);
				assert_row(&memory, 32 * i + 15, 32 * i, 16, (int32_t)i);
				assert_refused(&memory, 32 * i + 16, -ENOENT,
					       BOBBIN_REASON_NO_FUNCTION, HEAD + i * FRE);
			}
		}
	}
}

static void addresses_outside_of_the_text_have_no_row(void **state)
{
	static struct memory memory;
	const struct bobbin_mem mem = {read_memory, &memory};
	struct jit_chain chain = {NULL, &memory.info, &mem, NULL};
	struct bobbin_row row;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	chain.arch = memory.arch;
	fill(&memory, 0, 1, 0, 0);
	assert_int_equal(jit_table_lookup(&chain, TEXT - 1, &row), -ENOENT);
	assert_int_equal(look(&memory, TEXT_SIZE, NULL, &row), -ENOENT);
	memory.info.text_end = UINT64_MAX;
	assert_int_equal(jit_table_lookup(&chain, TEXT + (1ull << 32), &row), -ENOENT);
	assert_row(&memory, 0, 0, 16, 0);
}

static void an_address_before_the_first_entry_has_no_row(void **state)
{
	static struct memory memory;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 3, 64, 0);
	assert_refused(&memory, 63, -ENOENT, BOBBIN_REASON_NO_FUNCTION, 0);
}

static void a_chain_is_searched_up_to_its_last_table(void **state)
{
	static struct memory memory;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	for (unsigned int i = 0; i < JIT_MAX_TABLES; i++)
		fill(&memory, i, 3, 96 * i, i + 1 < JIT_MAX_TABLES ? table_at(i + 1) : 0);
	for (uint32_t i = 0; i < 3 * JIT_MAX_TABLES; i++) {
		assert_row(&memory, 32 * i + 8, 32 * i, 16, (int32_t)i);
		assert_refused(&memory, 32 * i + 16, -ENOENT, BOBBIN_REASON_NO_FUNCTION,
			       HEAD + i % 3 * FRE);
	}
}

static void empty_tables_in_a_chain_are_passed_over(void **state)
{
	static struct memory memory;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	set_head(&memory, 0, ENTRIES * FRE, 0, 0);
	assert_refused(&memory, 0, -ENOENT, BOBBIN_REASON_NO_FUNCTION, 0);
	set_head(&memory, 0, 0, 0, table_at(1));
	fill(&memory, 1, 2, 0, table_at(2));
	set_head(&memory, 2, ENTRIES * FRE, 0, table_at(3));
	fill(&memory, 3, 2, 64, 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_row(&memory, 32 * i, 32 * i, 16, (int32_t)i);
}

static void no_table_covers_nothing(void **state)
{
	static struct memory memory;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	memory.info.unwind_head = 0;
	assert_refused(&memory, 0, -ENOENT, BOBBIN_REASON_NO_FUNCTION, 0);
}

static void lengths_that_make_no_sense_are_refused(void **state)
{
	static struct memory memory;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 2, 0, 0);
	set_head(&memory, 0, 2 * FRE - 1, 2 * FRE, 0);
	assert_refused(&memory, 0, -EBADMSG, BOBBIN_REASON_JIT_TABLE, 8);
	set_head(&memory, 0, ENTRIES * FRE, 2 * FRE - 1, 0);
	assert_refused(&memory, 0, -EBADMSG, BOBBIN_REASON_JIT_TABLE, 8);
	set_head(&memory, 0, UINT64_MAX - BASE - HEAD + 1, FRE, 0);
	assert_refused(&memory, 0, -EBADMSG, BOBBIN_REASON_JIT_TABLE, 0);
	set_head(&memory, 0, UINT64_MAX - BASE - HEAD, FRE, 0);
	assert_row(&memory, 0, 0, 16, 0);
}

static void a_misaligned_or_wrapping_table_is_refused(void **state)
{
	static struct memory memory;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 2, 0, table_at(1) + 4);
	assert_refused(&memory, 0, -EBADMSG, BOBBIN_REASON_JIT_TABLE, 0);
	set_head(&memory, 0, ENTRIES * FRE, 2 * FRE, UINT64_MAX - 7);
	assert_refused(&memory, 0, -EBADMSG, BOBBIN_REASON_JIT_TABLE, 0);
}

static void a_loop_of_tables_ends(void **state)
{
	static struct memory memory;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	set_head(&memory, 0, 0, 0, table_at(0));
	assert_refused(&memory, 0, -EBADMSG, BOBBIN_REASON_JIT_CHAIN, 16);
	/* tables with entries cannot form a circle: they would not ascend */
	fill(&memory, 0, 2, 0, table_at(1));
	fill(&memory, 1, 2, 64, table_at(0));
	assert_refused(&memory, 96, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD);
}

static void one_table_too_many_is_refused(void **state)
{
	static struct memory memory;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	for (unsigned int i = 0; i < TABLES; i++)
		fill(&memory, i, 1, 32 * i, i + 1 < TABLES ? table_at(i + 1) : 0);
	assert_row(&memory, 32 * (JIT_MAX_TABLES - 2), 32 * (JIT_MAX_TABLES - 2), 16,
		   JIT_MAX_TABLES - 2);
	assert_refused(&memory, 32 * JIT_MAX_TABLES, -EBADMSG, BOBBIN_REASON_JIT_CHAIN, 16);
}

static void an_entry_of_no_code_or_outside_of_the_text_is_refused(void **state)
{
	static struct memory memory;
	struct code_jit_unwind_fre fre;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 2, 0, 0);
	fre = numbered(32, 0, 1);
	set_entry(&memory, 0, 1, &fre);
	assert_refused(&memory, 32, -EBADMSG, BOBBIN_REASON_JIT_ENTRY, HEAD + FRE);
	fre = numbered(32, TEXT_SIZE - 31, 1);
	set_entry(&memory, 0, 1, &fre);
	assert_refused(&memory, 32, -EBADMSG, BOBBIN_REASON_JIT_ENTRY, HEAD + FRE);
	fre = numbered(32, UINT32_MAX, 1);
	set_entry(&memory, 0, 1, &fre);
	assert_refused(&memory, 32, -EBADMSG, BOBBIN_REASON_JIT_ENTRY, HEAD + FRE);
	assert_row(&memory, 0, 0, 16, 0);
}

static void entries_that_do_not_ascend_are_refused_where_they_matter(void **state)
{
	static struct memory memory;
	struct code_jit_unwind_fre fre = numbered(0, 16, 9);

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 4, 0, 0);
	set_entry(&memory, 0, 2, &fre); /* starts like the first: looked up in the middle */
	assert_refused(&memory, 0, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD + 2 * FRE);
	fill(&memory, 0, 4, 0, 0);
	fre = numbered(0x1000, 16, 9);
	set_entry(&memory, 0, 1, &fre); /* after the third, which was seen before */
	assert_refused(&memory, 40, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD + FRE);
	assert_row(&memory, 64, 64, 16, 2);
}

static void entries_that_overlap_are_refused(void **state)
{
	static struct memory memory;
	struct code_jit_unwind_fre fre = numbered(32, 33, 1);

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 4, 0, 0);
	set_entry(&memory, 0, 1, &fre);
	assert_refused(&memory, 32, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD + FRE);
	fre.size = 32;
	set_entry(&memory, 0, 1, &fre);
	assert_row(&memory, 63, 32, 32, 1);
}

static void tables_that_overlap_or_do_not_ascend_are_refused(void **state)
{
	static struct memory memory;
	struct code_jit_unwind_fre fre = numbered(32, 33, 1);

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 2, 0, table_at(1));
	fill(&memory, 1, 2, 64, 0);
	set_entry(&memory, 0, 1, &fre); /* reaches into the second table */
	assert_refused(&memory, 32, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD + FRE);
	fill(&memory, 0, 3, 0, table_at(1)); /* whose last starts where the second table does */
	assert_refused(&memory, 48, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD + 2 * FRE);
	fill(&memory, 0, 2, 64, table_at(1));
	assert_refused(&memory, 64, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD);
}

static void memory_that_cannot_be_read_is_a_fault(void **state)
{
	static struct memory memory;
	const uint64_t last = BASE + sizeof(memory.bytes);

	(void)state;
	init(&memory, bobbin_arch_amd64());
	memory.info.unwind_head = last;
	assert_refused(&memory, 0, -EFAULT, BOBBIN_REASON_NO_MEMORY, 0);
	memory.info.unwind_head = table_at(TABLES - 1);
	fill(&memory, TABLES - 1, 1, 0, last);
	assert_refused(&memory, 0, -EFAULT, BOBBIN_REASON_NO_MEMORY, 0);
	set_head(&memory, TABLES - 1, (ENTRIES + 1) * FRE * 2, (ENTRIES + 1) * FRE * 2, 0);
	assert_refused(&memory, 0, -EFAULT, BOBBIN_REASON_NO_MEMORY, 0);
}

/* The rows that a listing gives, until there are as many as wanted. */
struct rows {
	struct bobbin_row list[2 * ENTRIES];
	unsigned int count, wanted;
};

static int take_row(void *ctx, const struct bobbin_row *row)
{
	struct rows *rows = ctx;

	rows->list[rows->count++] = *row;
	return rows->count == rows->wanted ? 1 : 0;
}

static int list_rows(const struct memory *memory, size_t at_once, struct bobbin_error *err,
		     struct rows *rows)
{
	const struct bobbin_mem mem = {read_memory, (void *)memory};
	const struct jit_chain chain = {memory->arch, &memory->info, &mem, err};
	struct code_jit_unwind_fre room[ENTRIES];

	*rows = (struct rows){.wanted = rows->wanted};
	return jit_table_rows(&chain, room, at_once, take_row, rows);
}

static void all_rows_are_what_lookups_find(void **state)
{
	static struct memory memory;
	struct rows rows = {0};

	(void)state;
	for (const struct bobbin_arch *const *arch = all_archs(); *arch; arch++) {
		init(&memory, *arch);
		fill(&memory, 0, ENTRIES, 32, table_at(1));
		fill(&memory, 1, 0, 0, table_at(2));
		fill(&memory, 2, 7, 32 * 100, 0);
		for (size_t at_once = 1; at_once <= ENTRIES; at_once++) {
			assert_int_equal(list_rows(&memory, at_once, NULL, &rows), 0);
			assert_int_equal(rows.count, ENTRIES + 7);
			for (unsigned int i = 0; i < rows.count; i++) {
				uint64_t off = rows.list[i].start - TEXT;
				struct bobbin_row row;

				assert_int_equal(off, i < ENTRIES ? 32 * (i + 1)
								  : 32 * (100 + i - ENTRIES));
				assert_int_equal(look(&memory, (uint32_t)off, NULL, &row), 0);
				assert_int_equal(row.end, rows.list[i].end);
				assert_int_equal(row.function, rows.list[i].function);
				assert_true(bobbin_rule_equal(&row.rule, &rows.list[i].rule));
			}
		}
	}
}

static void listing_ends_when_the_sink_has_enough(void **state)
{
	static struct memory memory;
	struct rows rows = {.wanted = 3};

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 3, 0, 0);
	assert_int_equal(list_rows(&memory, 2, NULL, &rows), 1);
	assert_int_equal(rows.count, 3);
	fill(&memory, 0, 10, 0, 0);
	assert_int_equal(list_rows(&memory, 2, NULL, &rows), 1);
	assert_int_equal(rows.count, 3);
	memory.info.unwind_head = 0;
	assert_int_equal(list_rows(&memory, 2, NULL, &rows), 0);
	assert_int_equal(rows.count, 0);
}

/* The rows before are given. */
static void assert_list_refused(const struct memory *memory, unsigned int count, int status,
				enum bobbin_reason reason, uint64_t offset)
{
	struct bobbin_error err;
	struct rows rows = {0};

	for (size_t at_once = 1; at_once < 8; at_once++) {
		assert_int_equal(list_rows(memory, at_once, &err, &rows), status);
		assert_int_equal(rows.count, count);
		assert_int_equal(err.reason, reason);
		assert_int_equal(err.offset, offset);
	}
}

static void listing_ends_at_what_is_malformed(void **state)
{
	static struct memory memory;
	struct code_jit_unwind_fre fre;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 8, 0, 0);
	fre = numbered(32 * 4, 0, 4);
	set_entry(&memory, 0, 4, &fre);
	assert_list_refused(&memory, 4, -EBADMSG, BOBBIN_REASON_JIT_ENTRY, HEAD + 4 * FRE);
	fre = numbered(32 * 4, 33, 4);
	set_entry(&memory, 0, 4, &fre);
	assert_list_refused(&memory, 4, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD + 4 * FRE);
	fre = numbered(32 * 4, 16, 4);
	fre.info = 5 << 1;
	set_entry(&memory, 0, 4, &fre);
	assert_list_refused(&memory, 4, -EBADMSG, BOBBIN_REASON_JIT_ENTRY, HEAD + 4 * FRE);
	fill(&memory, 0, 8, 0, 0);
	fre = numbered(32 * 7, TEXT_SIZE, 7);
	set_entry(&memory, 0, 7, &fre);
	assert_list_refused(&memory, 7, -EBADMSG, BOBBIN_REASON_JIT_ENTRY, HEAD + 7 * FRE);
	/* the next table begins before this one ends */
	fill(&memory, 0, 8, 0, table_at(1));
	fill(&memory, 1, 2, 32 * 7, 0);
	assert_list_refused(&memory, 7, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD + 7 * FRE);
	/* all memory is used, and there is no more */
	fill(&memory, 0, 8, 0, BASE - 64);
	assert_list_refused(&memory, 7, -EFAULT, BOBBIN_REASON_NO_MEMORY, 0);
}

static void a_listing_of_tables_in_a_loop_ends(void **state)
{
	static struct memory memory;

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 1, 0, table_at(0));
	assert_list_refused(&memory, 0, -EBADMSG, BOBBIN_REASON_JIT_ORDER, HEAD);
	fill(&memory, 0, 0, 0, table_at(0));
	assert_list_refused(&memory, 0, -EBADMSG, BOBBIN_REASON_JIT_CHAIN,
			    offsetof(struct code_jit_unwind_table, next));
}

#define MANY 100000

struct own_bytes {
	unsigned int reads;
};

static enum bobbin_reason read_own(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct own_bytes *own = ctx;

	own->reads++;
	memcpy(dst, (const void *)(uintptr_t)addr, len);
	return BOBBIN_REASON_NONE;
}

static int count_row(void *ctx, const struct bobbin_row *row)
{
	uint32_t *count = ctx;

	assert_int_equal(row->start, TEXT + 16 * (uint64_t)*count);
	++*count;
	return 0;
}

static void a_large_table_is_read_in_few_pieces(void **state)
{
	struct code_jit_unwind_table *table = calloc(1, HEAD + MANY * FRE);
	const struct bobbin_arch *arch = BOBBIN_HOST_BIG_ENDIAN ? bobbin_arch_s390x()
								: bobbin_arch_amd64();
	struct code_jit_info info = {TEXT, TEXT + 16 * MANY, (uintptr_t)table};
	struct code_jit_unwind_fre room[512];
	struct own_bytes own = {0};
	const struct bobbin_mem mem = {read_own, &own};
	uint32_t count = 0;

	(void)state;
	assert_non_null(table);
	table->reserved_len = table->used_len = MANY * FRE;
	for (uint32_t i = 0; i < MANY; i++)
		table->fre[i] = numbered(16 * i, 16, 1);
	assert_int_equal(jit_table_rows(&(struct jit_chain){arch, &info, &mem, NULL}, room, 512,
					count_row, &count),
			 0);
	assert_int_equal(count, MANY);
	/* three words of the head and the first entry */
	assert_int_equal(own.reads, 4 + MANY / 512 + 1);
	free(table);
}

static void no_damaged_byte_gives_a_row_of_another_address(void **state)
{
	static struct memory memory;
	const unsigned int size = HEAD + 8 * FRE;

	(void)state;
	init(&memory, bobbin_arch_s390x());
	fill(&memory, 0, 8, 0, 0);
	for (unsigned int at = 0; at < size * 8; at++) {
		memory.bytes[at / 8] ^= (uint8_t)(1 << at % 8);
		for (uint32_t off = 0; off < 8 * 32; off += 8) {
			struct bobbin_error err = {0};
			struct bobbin_row row;
			int status = look(&memory, off, &err, &row);

			if (status)
				assert_int_not_equal(err.reason, BOBBIN_REASON_NONE);
			else
				assert_true(row.start <= TEXT + off && TEXT + off < row.end &&
					    row.end <= TEXT + TEXT_SIZE);
		}
		memory.bytes[at / 8] ^= (uint8_t)(1 << at % 8);
	}
}

/* The rule of an entry: offsets, and an info byte. */
static int rule_of(const struct bobbin_arch *arch, int32_t cfa, int32_t ra, int32_t fp,
		   uint8_t info, struct bobbin_rule *ret)
{
	const struct code_jit_unwind_fre fre = {
		.size = 1, .cfa_off = cfa, .ra_off = ra, .fp_off = fp, .info = info};

	return jit_fre_rule(arch, &fre, ret);
}

static void assert_place(struct bobbin_place place, enum bobbin_how how, int32_t off)
{
	assert_int_equal(place.how, how);
	assert_int_equal(place.off, off);
}

static void on_amd64_the_return_address_is_where_the_call_left_it(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	struct bobbin_rule rule, same;

	(void)state;
	assert_int_equal(rule_of(arch, 24, 0, 0, CODE_JIT_FRE_BASE_SP | 1 << 1, &rule), 0);
	assert_place(rule.cfa, BOBBIN_HOW_AT_REG, 24);
	assert_int_equal(rule.cfa.reg, arch->sp);
	assert_place(rule.ra, BOBBIN_HOW_IN_CFA_MEM, -8);
	assert_place(rule.fp, BOBBIN_HOW_SAME, 0);
	assert_int_equal(rule.flags, 0);
	assert_int_equal(rule_of(arch, 24, -8, 0, CODE_JIT_FRE_BASE_SP | 1 << 1, &same), 0);
	assert_true(bobbin_rule_equal(&rule, &same));
	assert_int_equal(rule_of(arch, 16, 0, -16, 2 << 1, &rule), 0);
	assert_int_equal(rule.cfa.reg, arch->fp);
	assert_place(rule.fp, BOBBIN_HOW_IN_CFA_MEM, -16);
	assert_int_equal(rule_of(arch, 16, -24, -16, 3 << 1, &rule), 0);
	assert_place(rule.ra, BOBBIN_HOW_IN_CFA_MEM, -24);
}

static void on_aarch64_the_return_address_may_be_signed(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_aarch64();
	struct bobbin_rule rule;

	(void)state;
	assert_int_equal(rule_of(arch, 0, 0, 0, CODE_JIT_FRE_BASE_SP | 1 << 1, &rule), 0);
	assert_place(rule.ra, BOBBIN_HOW_SAME, 0);
	assert_int_equal(rule_of(arch, 32, -24, -32,
				 CODE_JIT_FRE_MANGLED | CODE_JIT_FRE_BASE_SP | 3 << 1, &rule),
			 0);
	assert_place(rule.ra, BOBBIN_HOW_IN_CFA_MEM, -24);
	assert_place(rule.fp, BOBBIN_HOW_IN_CFA_MEM, -32);
	assert_int_equal(rule.flags, BOBBIN_RULE_MANGLED);
	assert_int_equal(
		rule_of(bobbin_arch_amd64(), 8, 0, 0, CODE_JIT_FRE_MANGLED | 1 << 1, &rule),
		-EBADMSG);
	assert_int_equal(
		rule_of(bobbin_arch_s390x(), 160, 0, 0, CODE_JIT_FRE_MANGLED | 1 << 1, &rule),
		-EBADMSG);
}

static enum bobbin_reason read_s390x_stack(void *ctx, uint64_t addr, void *dst, size_t len)
{
	uint64_t word = 0x4711, value;

	(void)ctx;
	if (addr != 0x8000 + 320 - 48 || len != sizeof(word))
		return BOBBIN_REASON_NO_MEMORY;
	value = BOBBIN_HOST_BIG_ENDIAN ? word : __builtin_bswap64(word);
	memcpy(dst, &value, sizeof(value));
	return BOBBIN_REASON_NONE;
}

static void on_s390x_the_offset_of_the_cfa_holds_the_bias(void **state)
{
	const struct bobbin_arch *arch = bobbin_arch_s390x();
	const struct bobbin_mem mem = {read_s390x_stack, NULL};
	struct bobbin_regs regs = {.pc = TEXT, .sp = 0x8000, .fp = 5};
	struct bobbin_rule rule;

	(void)state;
	assert_int_equal(rule_of(arch, 320, -48, 0, CODE_JIT_FRE_BASE_SP | 2 << 1, &rule), 0);
	assert_int_equal(bobbin_step(arch, &rule, &mem, &regs), BOBBIN_REASON_NONE);
	assert_int_equal(regs.pc, 0x4711);
	assert_int_equal(regs.sp, 0x8000 + 160);
	assert_int_equal(regs.fp, 5);
}

static void an_entry_without_offsets_is_the_outermost_frame(void **state)
{
	struct bobbin_rule rule;

	(void)state;
	for (const struct bobbin_arch *const *arch = all_archs(); *arch; arch++) {
		assert_int_equal(rule_of(*arch, 0, 0, 0, 0, &rule), 0);
		assert_int_equal(rule.ra.how, BOBBIN_HOW_UNDEFINED);
		assert_int_equal(rule.cfa.how, BOBBIN_HOW_AT_REG);
	}
}

static void an_entry_with_more_offsets_than_it_counts_is_refused(void **state)
{
	struct bobbin_rule rule, before;

	(void)state;
	memset(&rule, 0x5a, sizeof(rule));
	memcpy(&before, &rule, sizeof(rule));
	assert_int_equal(rule_of(bobbin_arch_amd64(), 8, 0, -16, 1 << 1, &rule), -EBADMSG);
	assert_int_equal(rule_of(bobbin_arch_aarch64(), 8, -8, -16, 2 << 1, &rule), -EBADMSG);
	assert_int_equal(rule_of(bobbin_arch_aarch64(), 8, -8, -16, 4 << 1, &rule), -EBADMSG);
	assert_memory_equal(&rule, &before, sizeof(rule));
	/* words of 4 bytes in SFrame */
	assert_int_equal(rule_of(bobbin_arch_amd64(), 8, 0, 0, 0x40 | 1 << 1, &rule), 0);
}

static void a_malformed_entry_is_refused_by_the_lookup(void **state)
{
	static struct memory memory;
	struct code_jit_unwind_fre fre = numbered(32, 16, 1);

	(void)state;
	init(&memory, bobbin_arch_amd64());
	fill(&memory, 0, 2, 0, 0);
	fre.info = 5 << 1;
	set_entry(&memory, 0, 1, &fre);
	assert_refused(&memory, 32, -EBADMSG, BOBBIN_REASON_JIT_ENTRY, HEAD + FRE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_address_finds_its_entry_in_every_byte_order),
		cmocka_unit_test(addresses_outside_of_the_text_have_no_row),
		cmocka_unit_test(an_address_before_the_first_entry_has_no_row),
		cmocka_unit_test(a_chain_is_searched_up_to_its_last_table),
		cmocka_unit_test(empty_tables_in_a_chain_are_passed_over),
		cmocka_unit_test(no_table_covers_nothing),
		cmocka_unit_test(lengths_that_make_no_sense_are_refused),
		cmocka_unit_test(a_misaligned_or_wrapping_table_is_refused),
		cmocka_unit_test(a_loop_of_tables_ends),
		cmocka_unit_test(one_table_too_many_is_refused),
		cmocka_unit_test(an_entry_of_no_code_or_outside_of_the_text_is_refused),
		cmocka_unit_test(entries_that_do_not_ascend_are_refused_where_they_matter),
		cmocka_unit_test(entries_that_overlap_are_refused),
		cmocka_unit_test(tables_that_overlap_or_do_not_ascend_are_refused),
		cmocka_unit_test(memory_that_cannot_be_read_is_a_fault),
		cmocka_unit_test(all_rows_are_what_lookups_find),
		cmocka_unit_test(listing_ends_when_the_sink_has_enough),
		cmocka_unit_test(listing_ends_at_what_is_malformed),
		cmocka_unit_test(a_listing_of_tables_in_a_loop_ends),
		cmocka_unit_test(a_large_table_is_read_in_few_pieces),
		cmocka_unit_test(no_damaged_byte_gives_a_row_of_another_address),
		cmocka_unit_test(on_amd64_the_return_address_is_where_the_call_left_it),
		cmocka_unit_test(on_aarch64_the_return_address_may_be_signed),
		cmocka_unit_test(on_s390x_the_offset_of_the_cfa_holds_the_bias),
		cmocka_unit_test(an_entry_without_offsets_is_the_outermost_frame),
		cmocka_unit_test(an_entry_with_more_offsets_than_it_counts_is_refused),
		cmocka_unit_test(a_malformed_entry_is_refused_by_the_lookup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
