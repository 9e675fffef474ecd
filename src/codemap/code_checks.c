/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/code_checks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/native_arch.h"
#include "base/vector.h"
#include "codemap/struct_copy.h"
#include "core/bisect.h"
#include "core/refusal.h"
#include "jit/jit_table.h"
#include "table/compiled_table.h"

int check_ranges(struct code_text_range *ranges, size_t count)
{
	if (count > 1)
		qsort(ranges, count, sizeof(*ranges), vector_by_start);
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].start >= ranges[i].end ||
		    ranges[i].end - ranges[i].start > CHECK_MAX_TEXT)
			return -EINVAL;
		if (i && ranges[i].start < ranges[i - 1].end)
			return -EINVAL;
	}
	return count ? 0 : -EINVAL;
}

int check_text(struct own_mappings *mappings, const struct code_text_range *ranges, size_t count)
{
	int r = 0;

	for (size_t i = 0; i < count && !r; i++)
		r = own_mappings_executable(mappings, ranges[i].start, ranges[i].end);
	return r == -EFAULT ? -EINVAL : r;
}

int check_readable(uint64_t start, uint64_t end)
{
	if (!start || start >= end)
		return -EINVAL;
	if (end - start > CHECK_MAX_TABLE)
		return -EFBIG;
	return memory_is_readable(start, end - start) ? 0 : -EFAULT;
}

/* Ranges that touch are one: a function may go on from one to the next. */
static bool lies_in(uint64_t start, uint64_t end, const struct code_text_range *text, size_t count)
{
	size_t lo = bisect(i, 1, count, text[i].start > start) - 1;

	if (start < text[lo].start || start > text[lo].end)
		return false;
	while (end > text[lo].end) {
		if (lo + 1 == count || text[lo + 1].start != text[lo].end)
			return false;
		lo++;
	}
	return true;
}

static int check_functions(const struct bobbin_sframe_view *view,
			   const struct code_text_range *text, size_t count,
			   struct bobbin_error *err)
{
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_fde fde;
		int r = bobbin_sframe_fde(view, i, err, &fde);

		if (r)
			return r;
		if (fde.start + fde.size < fde.start ||
		    !lies_in(fde.start, fde.start + fde.size, text, count))
			return refuse(err, view->fde_off + (uint64_t)i * view->fde_size,
				      BOBBIN_REASON_SFRAME_TEXT);
	}
	return 0;
}

/* Whoever only concatenated sections would lose all but the first. */
static int check_after(const uint8_t *bytes, uint64_t from, uint64_t size, struct bobbin_error *err)
{
	for (uint64_t i = from; i < size; i++)
		if (bytes[i])
			return refuse(err, i, BOBBIN_REASON_SFRAME_TRAILING);
	return 0;
}

int check_section(const void *bytes, uint64_t size, uint64_t addr,
		  const struct code_text_range *text, size_t count, struct bobbin_error *err,
		  struct bobbin_sframe_view *ret)
{
	struct bobbin_sframe_view view;
	int r = bobbin_sframe_view(bytes, size, addr, err, &view);

	if (r == -ENODATA) {
		*ret = (struct bobbin_sframe_view){.addr = addr};
		return 0;
	}
	if (r)
		return r;
	if (view.arch != native_arch())
		return refuse(err, 0, BOBBIN_REASON_ELF_MACHINE);
	r = check_after(bytes, view.size, size, err);
	if (!r)
		r = check_functions(&view, text, count, err);
	if (!r)
		*ret = view;
	return r;
}

/* A table has whole cells: it may begin before the text. */
static bool is_about(const struct compiled_code *compiled, const struct code_text_range *text,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t start = text[i].start - compiled->bias, end = text[i].end - compiled->bias;

		if (start < end && start < compiled->table.end && end > compiled->table.start)
			return true;
	}
	return false;
}

int check_compiled(const void *bytes, uint64_t size, uint64_t bias, const uint8_t *build_id,
		   uint32_t length, const struct code_text_range *text, size_t count,
		   struct bobbin_error *err, struct compiled_code *ret)
{
	struct compiled_code compiled = {.bias = bias};
	const struct compiled_table *table = &compiled.table;
	int r = compiled_table_init(bytes, size, err, &compiled.table);

	if (r)
		return r;
	if (table->arch != native_arch())
		return refuse(err, TABLE_AT_MACHINE, BOBBIN_REASON_ELF_MACHINE);
	if (length && table->build_id_len &&
	    (length != table->build_id_len || memcmp(build_id, table->build_id, length) != 0))
		return refuse(err, TABLE_AT_BUILD_ID, BOBBIN_REASON_TABLE_OTHER);
	if (!is_about(&compiled, text, count))
		return refuse(err, TABLE_AT_START, BOBBIN_REASON_TABLE_OTHER);
	*ret = compiled;
	return 0;
}

int check_jit_head(const struct code_jit_info *info, struct bobbin_error *err)
{
	const struct code_jit_unwind_table *head;
	uint64_t reserved, used, at = info->unwind_head;

	if (info->text_end - info->text_start > UINT32_MAX || at % _Alignof(uint64_t))
		return -EINVAL;
	if (!at)
		return -EINVAL;
	if (!memory_is_readable(at, sizeof(*head)))
		return -EFAULT;
	head = (const struct code_jit_unwind_table *)(uintptr_t)at;
	reserved = __atomic_load_n(&head->reserved_len, __ATOMIC_RELAXED);
	used = __atomic_load_n(&head->used_len, __ATOMIC_ACQUIRE);
	return jit_table_check(at, reserved, used, err);
}
