/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/remote_table.h"

#include <errno.h>
#include <stdlib.h>

#include "jit/jit_table.h"

/* Of a table that is read from end to end: 12 KiB for each system call. */
#define JIT_ENTRIES_AT_ONCE 512

struct remote_table *remote_table_open(void)
{
	struct remote_table *t = calloc(1, sizeof(*t));

	if (t)
		t->users = 1;
	return t;
}

struct remote_table *remote_table_share(struct remote_table *table)
{
	table->users++;
	return table;
}

void remote_table_drop(struct remote_table *table, struct bobbin_error error)
{
	table->dropped = true;
	table->error = error;
}

void remote_table_close_section(struct remote_table *table)
{
	indexed_sections_fini(&table->sections);
	free(table->section.data);
	table->section = (struct elf_bytes){0};
}

void remote_table_close_frames(struct remote_table *table)
{
	call_frames_fini(&table->cfi);
	free(table->frames.data);
	table->frames = (struct elf_bytes){0};
}

void remote_table_release(struct remote_table *table)
{
	if (!table || --table->users)
		return;
	remote_table_close_section(table);
	remote_table_close_frames(table);
	free(table);
}

int remote_table_open_section(struct remote_table *table, const struct bobbin_arch *arch)
{
	const struct elf_bytes *s = &table->section;
	struct bobbin_error error;
	int r = indexed_sections_open(s->data, s->size, s->addr, arch, &error, &table->sections);

	if (r != -EBADMSG)
		return r;
	remote_table_drop(table, error);
	return 0;
}

int remote_table_open_frames(struct remote_table *table, const struct bobbin_arch *arch)
{
	return call_frames_init_bare(arch, &table->frames, &table->cfi);
}

uint64_t remote_table_bytes(const struct remote_table *table)
{
	return table->section.size + table->frames.size;
}

static bool section_lookup(struct remote_table *t, uint64_t pc, struct bobbin_row *row)
{
	struct bobbin_error error;
	int r = indexed_sections_lookup(&t->sections, pc, &error, row);

	if (r == -EBADMSG)
		remote_table_drop(t, error);
	return !r;
}

/* Straight from the process: a table that grows must not be read from copies. */
static enum bobbin_reason read_process(void *ctx, uint64_t addr, void *dst, size_t len)
{
	return process_read(ctx, addr, dst, len) ? BOBBIN_REASON_NO_MEMORY : BOBBIN_REASON_NONE;
}

static bool jit_lookup(struct remote_table *t, const struct bobbin_arch *arch, uint64_t pc,
		       struct bobbin_row *row)
{
	struct bobbin_mem mem = {read_process, &t->process};
	struct bobbin_error error;
	int r = jit_table_lookup(arch, &t->info, &mem, pc, &error, row);

	if (r == -EBADMSG)
		remote_table_drop(t, error);
	return !r;
}

bool remote_range_serves(const struct remote_range *range)
{
	const struct remote_table *t = range->table;

	return t && (!t->dropped || call_frames_exist(&t->cfi));
}

bool remote_range_lookup(const struct bobbin_arch *arch, const struct remote_range *range,
			 uint64_t pc, struct bobbin_row *row, enum bobbin_source *source)
{
	struct remote_table *t = range->table;

	if (!t)
		return false;
	*source = t->jit ? BOBBIN_SOURCE_JIT : BOBBIN_SOURCE_SFRAME;
	if (!t->dropped && (t->jit ? jit_lookup(t, arch, pc, row) : section_lookup(t, pc, row)))
		return true;
	*source = BOBBIN_SOURCE_EH_FRAME;
	*row = (struct bobbin_row){.start = pc, .end = pc + 1, .function = pc};
	return call_frames_ask(&t->cfi, pc, row, source);
}

unsigned int remote_range_version(const struct remote_range *range)
{
	const struct remote_table *t = range->table;

	return t && t->sections.count ? t->sections.list[0].view.version : 0;
}

struct function_sink {
	function_sink sink;
	void *ctx;
};

static int give_function(void *ctx, const struct bobbin_row *row)
{
	const struct function_sink *f = ctx;

	return f->sink(f->ctx, row->start, row->end);
}

static int jit_functions(struct remote_table *t, const struct bobbin_arch *arch, function_sink sink,
			 void *ctx)
{
	struct bobbin_mem mem = {read_process, &t->process};
	struct code_jit_unwind_fre room[JIT_ENTRIES_AT_ONCE];
	struct function_sink f = {sink, ctx};
	int r = jit_table_rows(arch, &t->info, &mem, room, JIT_ENTRIES_AT_ONCE, NULL, give_function,
			       &f);

	return r == -EFAULT ? -EBADMSG : r;
}

int remote_table_functions(const struct bobbin_arch *arch, struct remote_table *table,
			   enum bobbin_source source, function_sink sink, void *ctx)
{
	if (source == BOBBIN_SOURCE_EH_FRAME)
		return call_frames_functions(&table->cfi, CALL_FRAMES_EH, sink, ctx);
	if (table->dropped)
		return 0;
	if (source == BOBBIN_SOURCE_JIT && table->jit)
		return jit_functions(table, arch, sink, ctx);
	return source == BOBBIN_SOURCE_SFRAME
		       ? indexed_sections_functions(&table->sections, sink, ctx)
		       : 0;
}

int remote_range_functions(const struct bobbin_arch *arch, const struct remote_range *range,
			   enum bobbin_source source, function_sink sink, void *ctx)
{
	return range->table ? remote_table_functions(arch, range->table, source, sink, ctx) : 0;
}

bool remote_range_dropped(const struct remote_range *range, struct bobbin_error *ret)
{
	if (!range->table || !range->table->dropped)
		return false;
	*ret = range->table->error;
	return true;
}
