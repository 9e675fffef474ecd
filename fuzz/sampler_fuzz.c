/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program that walks in the kernel, over any tables, mappings, registers and memory.
 *
 *	u64 pc, sp, fp | u8 flags, files, mappings | files: FILE_BYTES each | mappings: 4 bytes each |
 *	table | memory, again and again
 *	table: u16 length, bytes; or, if it is built, u8 rows, each: u8 kind, u8 size, rule
 *
 * Contract: it stays in its own memory, which sanitizers see; it ends; what it gives out has
 * at most KERNEL_FRAMES frames; a complete stack has one at least.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/bpf/native_sampler.h"
#include "../tests/promise.h"
#include "base/native_arch.h"
#include "core/frame_rules.h"
#include "core/plain_step.h"
#include "table/compiled_table.h"
#include "table/table_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILES 4
#define MAPPINGS 8
#define TABLE_MAX (4 * KERNEL_PAGE)
#define TEXT 0x400000
#define TEXT_STEP 0x1000
#define STACK 0x7ffd00000000ull
#define STACK_SIZE 0x10000
/* Reads of a word and of code for each frame, and walks that wait begin again. */
#define READS_MAX (64ull * KERNEL_DEEP_FRAMES * 65)

struct input {
	const uint8_t *data;
	size_t size;
};

enum input_flag {
	PLACED = 1,  /* the registers are in code and in the stack */
	CODE = 2,    /* the stack leads to code and to the stack */
	ABSENT = 4,  /* some pages have to be waited for */
	MISSING = 8, /* some are not there, and there are other words on the stack */
	BUILT = 16,  /* the first file's table is a sane one, of any rules */
};

struct fuzzed_memory {
	struct input bytes;
	uint8_t flags;
	uint64_t there; /* pages by number */
};

static struct native_maps maps;

static uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < bytes && in->size; i++, in->data++, in->size--)
		number |= (uint64_t)*in->data << 8 * i;
	return number;
}

static void init(void)
{
	const struct bobbin_rule outermost = outermost_rule(native_arch());
	struct plain_forms forms;
	uint64_t word;

	plain_forms_of(native_arch(), &forms);
	promise(!bobbin_rule_pack(&outermost, &word));
	native_sampler_init(forms.from_sp, forms.from_fp, forms.record, word, &maps);
}

static uint8_t byte_at(const struct fuzzed_memory *m, uint64_t addr)
{
	const uint64_t word = addr / 8;
	const uint8_t byte = m->bytes.size ? m->bytes.data[addr % m->bytes.size] : 0;

	if (!(m->flags & CODE) || addr - STACK >= STACK_SIZE ||
	    (m->flags & MISSING && word % 4 == 3))
		return byte;
	/* odd words lead to code, even ones to the stack further out */
	if (word % 2)
		return addr % 8 == 0 ? byte : addr % 8 == 2 ? TEXT >> 16 : 0;
	return (uint8_t)((addr + 8 + (byte & 0xf8)) >> addr % 8 * 8);
}

static bool read_memory(void *ctx, unsigned long long addr, void *room, uint32_t size, bool wait)
{
	struct fuzzed_memory *m = ctx;
	uint64_t page = addr / KERNEL_PAGE % 64;

	if (m->flags & MISSING && page % 8 == 7)
		return false;
	if (m->flags & ABSENT && !(m->there >> page & 1) && !wait)
		return false;
	m->there |= wait ? 1ull << page : 0;
	for (uint32_t i = 0; i < size; i++)
		((uint8_t *)room)[i] = byte_at(m, addr + i);
	return true;
}

/* The parts of a table are anywhere, their sizes are any. */
static void make_file(struct input *in, uint32_t number)
{
	struct kernel_file *file = &maps.files[number];
	struct compiled_table *t = &file->table;

	*file = (struct kernel_file){.number = number};
	t->pairs = (const uint8_t *)(uintptr_t)(take(in, 1) % 8 * KERNEL_PAGE);
	t->words = (const uint8_t *)(uintptr_t)(take(in, 2) & ~7ull);
	t->index = (const uint8_t *)(uintptr_t)(take(in, 2) & ~63ull);
	t->blocks = (const uint8_t *)(uintptr_t)(take(in, 2) & ~63ull);
	t->start = take(in, 2);
	t->end = t->start + take(in, 3);
	t->cell_count = (uint32_t)take(in, 1);
	t->entry_count = (uint32_t)take(in, 1);
	t->block_count = (uint32_t)take(in, 2);
	t->word_count = (uint32_t)take(in, 2);
	t->wide_count = (uint32_t)take(in, 1);
	file->entry = take(in, 2);
	file->entry_size = take(in, 1);
	file->first = take(in, 2);
	file->next = (uint32_t)take(in, 1);
	file->source = (uint8_t)take(in, 1) % 8;
	file->eh_returns = take(in, 1) & 1;
	file->resort = take(in, 1) & 1;
}

static uint32_t make_mappings(struct input *in, uint32_t count)
{
	uint64_t at = TEXT;

	for (uint32_t i = 0; i < count; i++) {
		struct kernel_mapping *m = &maps.mappings[i];

		m->start = at + take(in, 1) % 4 * TEXT_STEP;
		m->end = at = m->start + (1 + take(in, 1)) * TEXT_STEP;
		m->bias = TEXT + take(in, 1);
		m->file = (uint32_t)take(in, 1) % (FILES + 2);
		if (m->file >= FILES)
			m->file = m->file == FILES ? KERNEL_BARE : KERNEL_NO_FILE;
	}
	return count;
}

static void make_table(struct input *in)
{
	uint64_t size = take(in, 2) % TABLE_MAX;

	memset(maps.pages, 0, TABLE_MAX);
	if (size > in->size)
		size = in->size;
	memcpy(maps.pages, in->data, size);
	in->data += size;
	in->size -= size;
}

static struct bobbin_rule take_rule(struct input *in)
{
	struct bobbin_rule rule = {
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = 7},
		.ra = {.how = BOBBIN_HOW_IN_CFA_MEM, .off = -8},
		.fp = {.how = BOBBIN_HOW_SAME},
		.index = BOBBIN_NO_INDEX,
	};
	uint64_t kind = take(in, 1) % 8;

	if (kind == 0)
		return outermost_rule(native_arch());
	if (kind < 4) {
		rule.cfa.off = (int32_t)(8 + 8 * take(in, 1));
	} else if (kind == 4) {
		rule.cfa.reg = 6;
		rule.cfa.off = 16;
		rule.fp.how = BOBBIN_HOW_IN_CFA_MEM;
		rule.fp.off = -16;
	} else {
		bobbin_rule_unpack(take(in, 8), &rule);
	}
	return rule;
}

static void add_row(struct table_builder *b, const struct bobbin_rule *rule, uint64_t *at,
		    uint64_t size)
{
	promise(!table_builder_rule(b, *at, rule));
	*at += size;
}

/* As table_store.c places it. */
static void place_table(const uint8_t *bytes, uint64_t size, struct compiled_table *ret)
{
	struct compiled_table t;

	if (size > TABLE_MAX || compiled_table_init(bytes, size, NULL, &t))
		return;
	memcpy(maps.pages, bytes, size);
	t.pairs = (const uint8_t *)(uintptr_t)(t.pairs - bytes);
	t.words = (const uint8_t *)(uintptr_t)(t.words - bytes);
	t.wide = (const uint8_t *)(uintptr_t)(t.wide - bytes);
	t.index = (const uint8_t *)(uintptr_t)(t.index - bytes);
	t.blocks = (const uint8_t *)(uintptr_t)(t.blocks - bytes);
	*ret = t;
}

static void build_table(struct input *in)
{
	struct bobbin_rule rule = outermost_rule(native_arch());
	uint64_t at = 1, rows = take(in, 1), size;
	struct table_builder b;
	uint8_t *bytes;

	promise(!table_builder_init(bobbin_arch_amd64(), NULL, 0, &b));
	promise(!table_builder_begin(&b, at));
	add_row(&b, &rule, &at, 1);
	for (uint64_t i = 0; i < rows; i++) {
		rule = take_rule(in);
		add_row(&b, &rule, &at, 1 + take(in, 1) * 16);
	}
	promise(!table_builder_end(&b, at));
	if (!table_builder_make(&b, &bytes, &size)) {
		place_table(bytes, size, &maps.files[0].table);
		free(bytes);
	}
	table_builder_fini(&b);
}

static void walk(struct native_process *process, bool may_wait)
{
	struct native_walk walk;

	/* what is kept of the rules of the last one is of no use */
	process->list.number++;
	native_sampler_walk(process, may_wait, &walk);
	promise(walk.count <= KERNEL_FRAMES && walk.reads <= READS_MAX);
	promise(!walk.whole || walk.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	static struct native_process process = {.read = read_memory};
	struct fuzzed_memory memory = {0};

	if (!maps.files)
		init();
	process.pc = take(&in, 8);
	process.sp = take(&in, 8);
	process.fp = take(&in, 8);
	memory.flags = (uint8_t)take(&in, 1);
	for (uint32_t i = take(&in, 1) % (FILES + 1); i > 0; i--)
		make_file(&in, i - 1);
	process.list.count = make_mappings(&in, (uint32_t)take(&in, 1) % (MAPPINGS + 1));
	if (memory.flags & BUILT)
		build_table(&in);
	else
		make_table(&in);
	memory.bytes = in;
	if (memory.flags & PLACED) {
		process.pc = TEXT + process.pc % (MAPPINGS * TEXT_STEP);
		process.sp = STACK + process.sp % (STACK_SIZE / 2) / 8 * 8;
		process.fp = process.sp + process.fp % 1024 / 8 * 8;
	}
	process.ctx = &memory;
	walk(&process, false);
	memory.there = 0;
	walk(&process, true);
	return 0;
}
