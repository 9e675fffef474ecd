/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_writer.c - append to tables that others read.
 *
 * What lies after used_len is nobody's but the writer's.  Entries are written
 * there and then made visible by one store with release; so is a table, by the
 * next of the one before.  Neither is ever written again.
 */
#include <bobbin/jit.h>

#include "core/deps.h"
#include "jit/jit_table.h"

static struct bobbin_rule frame_rule(const struct bobbin_arch *arch, uint8_t base, int32_t cfa_off,
				     int32_t ra_off, int32_t fp_off)
{
	return (struct bobbin_rule){
		.cfa = {.how = BOBBIN_HOW_AT_REG, .reg = base, .off = cfa_off},
		.ra = jit_slot(ra_off ? ra_off : arch->default_ra_off),
		.fp = jit_slot(fp_off),
		.index = BOBBIN_NO_INDEX,
	};
}

BOBBIN_API struct bobbin_rule bobbin_jit_rule_sp(const struct bobbin_arch *arch, int32_t cfa_off,
						 int32_t ra_off, int32_t fp_off)
{
	return frame_rule(arch, arch->sp, cfa_off, ra_off, fp_off);
}

BOBBIN_API struct bobbin_rule bobbin_jit_rule_fp(const struct bobbin_arch *arch, int32_t cfa_off,
						 int32_t ra_off, int32_t fp_off)
{
	return frame_rule(arch, arch->fp, cfa_off, ra_off, fp_off);
}

static int make_table(void *memory, size_t size, struct code_jit_unwind_table **ret)
{
	struct code_jit_unwind_table *table = memory;

	if (!memory || (uintptr_t)memory % sizeof(uint64_t) || size < JIT_HEAD_SIZE + JIT_FRE_SIZE)
		return -BOBBIN_EINVAL;
	table->reserved_len = (size - JIT_HEAD_SIZE) / JIT_FRE_SIZE * JIT_FRE_SIZE;
	table->used_len = 0;
	table->next = 0;
	*ret = table;
	return 0;
}

BOBBIN_API int bobbin_jit_writer_init(const struct bobbin_arch *arch, uint64_t text_start,
				      uint64_t text_size, void *memory, size_t size,
				      struct bobbin_jit_writer *ret)
{
	struct bobbin_jit_writer writer = {.arch = arch, .text_start = text_start, .tables = 1};
	int status;

	if (arch->big_endian != BOBBIN_HOST_BIG_ENDIAN || !text_size ||
	    __builtin_add_overflow(text_start, text_size, &writer.text_end))
		return -BOBBIN_EINVAL;
	status = make_table(memory, size, &writer.head);
	if (status)
		return status;
	writer.tail = writer.head;
	writer.end = text_start;
	*ret = writer;
	return 0;
}

BOBBIN_API int bobbin_jit_writer_extend(struct bobbin_jit_writer *writer, void *memory, size_t size)
{
	struct code_jit_unwind_table *table;
	int status;

	if (writer->tables == JIT_MAX_TABLES)
		return -BOBBIN_E2BIG;
	status = make_table(memory, size, &table);
	if (status)
		return status;
	/* its fields, before it can be found */
	__atomic_store_n(&writer->tail->next, (uintptr_t)table, __ATOMIC_RELEASE);
	writer->tail = table;
	writer->tables++;
	return 0;
}

BOBBIN_API void bobbin_jit_writer_info(const struct bobbin_jit_writer *writer,
				       struct code_jit_info *ret)
{
	*ret = (struct code_jit_info){
		.text_start = writer->text_start,
		.text_end = writer->text_end,
		.unwind_head = (uintptr_t)writer->head,
	};
}

static unsigned int count_offsets(const struct code_jit_unwind_fre *fre)
{
	return fre->fp_off ? 3 : fre->ra_off ? 2 : 1;
}

/* The meaning of @fre, as readers see it, must be the rule's, or it cannot hold it. */
static bool means(const struct bobbin_arch *arch, const struct code_jit_unwind_fre *fre,
		  const struct bobbin_rule *rule)
{
	struct bobbin_rule back;

	if (jit_fre_rule(arch, fre, &back))
		return false;
	if (rule->ra.how == BOBBIN_HOW_UNDEFINED)
		return back.ra.how == BOBBIN_HOW_UNDEFINED && !(rule->flags & BOBBIN_RULE_SIGNAL);
	return bobbin_rule_equal(&back, rule);
}

static int encode(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
		  struct code_jit_unwind_fre *ret)
{
	struct code_jit_unwind_fre fre = {0};

	if (rule->ra.how != BOBBIN_HOW_UNDEFINED) {
		fre.cfa_off = rule->cfa.off;
		fre.ra_off = rule->ra.off;
		fre.fp_off = rule->fp.off;
		fre.info = (uint8_t)(count_offsets(&fre) << 1);
		if (rule->cfa.reg == arch->sp)
			fre.info |= CODE_JIT_FRE_BASE_SP;
		if (rule->flags & BOBBIN_RULE_MANGLED)
			fre.info |= CODE_JIT_FRE_MANGLED;
	}
	if (!means(arch, &fre, rule))
		return -BOBBIN_ERANGE;
	*ret = fre;
	return 0;
}

static uint32_t row_end(const struct bobbin_sframe_function *function, uint32_t row)
{
	return row + 1 < function->count ? function->rows[row + 1].start : function->size;
}

static int check_place(const struct bobbin_jit_writer *writer,
		       const struct bobbin_sframe_function *function)
{
	if (!function->size || function->start < writer->end ||
	    function->start >= writer->text_end ||
	    function->size > writer->text_end - function->start)
		return -BOBBIN_EINVAL;
	for (uint32_t i = 0; i < function->count; i++)
		if (function->rows[i].start >= row_end(function, i))
			return -BOBBIN_EINVAL;
	return 0;
}

static int check_rules(const struct bobbin_jit_writer *writer,
		       const struct bobbin_sframe_function *function)
{
	struct code_jit_unwind_fre fre;
	uint64_t last = function->start + function->size - 1;

	if (function->signal || function->rep_size || last - writer->text_start > UINT32_MAX)
		return -BOBBIN_ERANGE;
	for (uint32_t i = 0; i < function->count; i++)
		if (encode(writer->arch, &function->rows[i].rule, &fre))
			return -BOBBIN_ERANGE;
	return 0;
}

static void write_entries(const struct bobbin_jit_writer *writer,
			  const struct bobbin_sframe_function *function,
			  struct code_jit_unwind_fre *fre)
{
	uint32_t off = (uint32_t)(function->start - writer->text_start);

	/* without rows: one entry of zeros, no caller */
	*fre = (struct code_jit_unwind_fre){.ip_off = off, .size = function->size};
	for (uint32_t i = 0; i < function->count; i++, fre++) {
		const struct bobbin_sframe_row *row = &function->rows[i];

		encode(writer->arch, &row->rule, fre);
		fre->ip_off = off + row->start;
		fre->size = row_end(function, i) - row->start;
	}
}

BOBBIN_API int bobbin_jit_writer_append(struct bobbin_jit_writer *writer,
					const struct bobbin_sframe_function *function)
{
	uint64_t need = (function->count ? function->count : 1) * (uint64_t)JIT_FRE_SIZE;
	struct code_jit_unwind_table *table = writer->tail;
	uint64_t used = table->used_len;
	int status = check_place(writer, function);

	if (!status)
		status = check_rules(writer, function);
	if (!status && need > table->reserved_len - used)
		status = -BOBBIN_ENOBUFS;
	if (status)
		return status;
	write_entries(writer, function, table->fre + used / JIT_FRE_SIZE);
	/* the entries, before they count */
	__atomic_store_n(&table->used_len, used + need, __ATOMIC_RELEASE);
	writer->end = function->start + function->size;
	return 0;
}
