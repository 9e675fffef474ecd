/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/remote_table.h"

#include <errno.h>
#include <stdlib.h>

#include "table/compiled_table.h"
#include "unwind/registered_table.h"

struct remote_table *remote_table_open(const struct bobbin_arch *arch)
{
	struct remote_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->users = 1;
	table_set_init(arch, &t->tables);
	return t;
}

struct remote_table *remote_table_share(struct remote_table *table)
{
	table->users++;
	return table;
}

void remote_table_close_section(struct remote_table *table)
{
	table_set_remove(&table->tables, TABLE_SFRAME);
	indexed_sections_fini(&table->sections);
	free(table->section.data);
	table->section = (struct elf_bytes){0};
}

void remote_table_close_frames(struct remote_table *table)
{
	table_set_remove(&table->tables, TABLE_CALL_FRAMES);
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
	free(table->table.data);
	hotspot_code_release(table->hotspot);
	free(table);
}

int remote_table_open_section(struct remote_table *table)
{
	const struct elf_bytes *s = &table->section;
	struct bobbin_error error;
	int r = indexed_sections_open(s->data, s->size, s->addr, table->tables.arch, &error,
				      &table->sections);

	if (r == -ENOMEM)
		return r;
	table_set_add(&table->tables, &indexed_sections_ops, &table->sections);
	/* the mark may be of other bytes that were tried before */
	atomic_store(&table->tables.dropped, 0);
	if (r)
		table_set_drop(&table->tables, &error);
	return 0;
}

void remote_table_open_compiled(struct remote_table *table)
{
	const struct elf_bytes *t = &table->table;
	struct bobbin_error error;

	table->compiled.bias = t->addr;
	if (compiled_table_init(t->data, t->size, &error, &table->compiled.table))
		table_set_drop(&table->tables, &error);
	else
		table_set_add(&table->tables, &registered_table_ops, &table->compiled);
}

int remote_table_open_frames(struct remote_table *table)
{
	table_set_add(&table->tables, &call_frames_ops, &table->cfi);
	return call_frames_init_bare(table->tables.arch, &table->frames, &table->cfi);
}

/* Straight from the process: a table that grows must not be read from copies. */
static enum bobbin_reason read_process(void *ctx, uint64_t addr, void *dst, size_t len)
{
	return process_read(ctx, addr, dst, len) ? BOBBIN_REASON_NO_MEMORY : BOBBIN_REASON_NONE;
}

void remote_table_open_jit(struct remote_table *table, const struct remote_process *process,
			   const struct code_jit_info *info)
{
	table->process = *process;
	table->jit = (struct jit_source){*info, {read_process, &table->process}};
	table_set_add(&table->tables, &jit_table_ops, &table->jit);
}

void remote_table_open_hotspot(struct remote_table *table, struct hotspot_code *code)
{
	table->hotspot = hotspot_code_share(code);
	table_set_add(&table->tables, &hotspot_code_ops, code);
}

uint64_t remote_table_bytes(const struct remote_table *table)
{
	return table->section.size + table->table.size + table->frames.size;
}
