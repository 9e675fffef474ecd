/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lookups in chains of JIT tables of any content.
 *
 *	architecture (1) | size of the text (4) | memory from address BASE, the head first
 *
 * Contract: a row holds the address and lies inside the text, and its rule makes
 * sense to a step; a refusal has a reason and writes nothing else; the same again
 * gives the same; the number of reads is bounded, none wraps around; what is listed
 * ascends and is what lookups find.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jit/jit_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x10000ull
#define TEXT 0x7f0000000000ull
/* Three words and an entry of each table, and a search in one. */
#define MAX_READS (JIT_MAX_TABLES * 4 + 64)
/* Of a listing of tables that are the same memory, at worst. */
#define AT_ONCE 43
#define MAX_LIST_READS(size) (JIT_MAX_TABLES * (5 + (size) / (AT_ONCE * JIT_FRE_SIZE)))
#define PLACES 64

struct memory {
	const uint8_t *data;
	size_t size;
	size_t reads, max_reads;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static enum bobbin_reason read_memory(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct memory *memory = ctx;

	must(++memory->reads <= memory->max_reads && addr + len > addr);
	if (addr < BASE || addr - BASE > memory->size || memory->size - (addr - BASE) < len)
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(dst, memory->data + (addr - BASE), len);
	return BOBBIN_REASON_NONE;
}

static void check_row(const struct bobbin_arch *arch, const struct code_jit_info *info, uint64_t pc,
		      const struct bobbin_row *row)
{
	const struct bobbin_rule *rule = &row->rule;

	must(row->start <= pc && pc < row->end && row->function == row->start);
	must(row->start >= info->text_start && row->end <= info->text_end);
	must(rule->cfa.how == BOBBIN_HOW_AT_REG);
	must(rule->cfa.reg == arch->sp || rule->cfa.reg == arch->fp);
	must(rule->ra.how == BOBBIN_HOW_UNDEFINED || rule->ra.how == BOBBIN_HOW_IN_CFA_MEM ||
	     (rule->ra.how == BOBBIN_HOW_SAME && !arch->default_ra_off));
	must(rule->fp.how == BOBBIN_HOW_SAME || rule->fp.how == BOBBIN_HOW_IN_CFA_MEM);
	must(!(rule->flags & BOBBIN_RULE_MANGLED) || arch->pac_mask);
}

static void check_lookup(const struct bobbin_arch *arch, const struct code_jit_info *info,
			 struct memory *memory, uint64_t pc)
{
	const struct bobbin_mem mem = {read_memory, memory};
	struct bobbin_error err = {0};
	struct bobbin_row row, before, again;
	int status;

	memset(&row, 0x5a, sizeof(row));
	memcpy(&before, &row, sizeof(row));
	memory->reads = 0;
	status = jit_table_lookup(&(struct jit_chain){arch, info, &mem, &err}, pc, &row);
	memory->reads = 0;
	must(jit_table_lookup(&(struct jit_chain){arch, info, &mem, NULL}, pc, &again) == status);
	if (!status) {
		must(err.reason == BOBBIN_REASON_NONE && again.start == row.start);
		check_row(arch, info, pc, &row);
		return;
	}
	must(status == -ENOENT || status == -EBADMSG || status == -EFAULT);
	must(err.reason != BOBBIN_REASON_NONE && !memcmp(&row, &before, sizeof(row)));
}

struct listing {
	const struct bobbin_arch *arch;
	const struct code_jit_info *info;
	uint64_t end; /* of the last row */
	uint32_t count;
};

static int check_listed(void *ctx, const struct bobbin_row *row)
{
	struct listing *l = ctx;

	must(row->start >= l->end && ++l->count);
	check_row(l->arch, l->info, row->start, row);
	l->end = row->end;
	return 0;
}

/* What all of a table is listed of, lookups find. */
static void check_rows(const struct bobbin_arch *arch, const struct code_jit_info *info,
		       struct memory *memory)
{
	const struct bobbin_mem mem = {read_memory, memory};
	struct listing l = {arch, info, 0, 0}, again = l;
	struct bobbin_error err = {0};
	struct code_jit_unwind_fre room[AT_ONCE + 5];
	struct bobbin_row row;
	int status;

	memory->reads = 0;
	memory->max_reads = MAX_LIST_READS(memory->size);
	status = jit_table_rows(&(struct jit_chain){arch, info, &mem, &err}, room, AT_ONCE + 5,
				check_listed, &l);
	memory->reads = 0;
	must(!jit_table_rows(&(struct jit_chain){arch, info, &mem, NULL}, room, AT_ONCE,
			     check_listed, &again) == !status);
	memory->max_reads = MAX_READS;
	must(status ? err.reason != BOBBIN_REASON_NONE : l.count == again.count);
	must(!status || status == -EBADMSG || status == -EFAULT);
	memory->reads = 0;
	if (!status && l.count)
		must(!jit_table_lookup(&(struct jit_chain){arch, info, &mem, NULL}, l.end - 1,
				       &row) &&
		     row.end == l.end);
}

/* The PCs at which most can go wrong are those that entries name. */
static uint64_t place(const struct memory *memory, unsigned int i)
{
	uint32_t off = i;

	if (memory->size >= sizeof(off))
		memcpy(&off, memory->data + i * 12u % (memory->size - 3), sizeof(off));
	return TEXT + (i % 3 ? off : __builtin_bswap32(off)) - i % 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bobbin_arch *const archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
						   bobbin_arch_aarch64_be(), bobbin_arch_s390x()};
	struct code_jit_info info = {.text_start = TEXT, .unwind_head = BASE};
	struct memory memory;
	uint32_t text_size;

	if (size < 5)
		return 0;
	memcpy(&text_size, data + 1, sizeof(text_size));
	info.text_end = TEXT + text_size;
	memory = (struct memory){data + 5, size - 5, 0, MAX_READS};
	check_rows(archs[*data % 4], &info, &memory);
	for (unsigned int i = 0; i < PLACES; i++) {
		check_lookup(archs[*data % 4], &info, &memory, TEXT + 8 * i);
		check_lookup(archs[*data % 4], &info, &memory, place(&memory, i));
	}
	return 0;
}
