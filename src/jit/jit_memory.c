/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_memory.c - tables that grow by themselves.
 *
 * Each table is twice as large as the one before, so that few are enough for any
 * text, and a lookup passes few.
 */
#include <bobbin/jit.h>

#include <errno.h>
#include <stdlib.h>

#include "core/deps.h"

#define FIRST_SIZE 4096

struct bobbin_jit_table {
	struct bobbin_jit_writer writer;
	size_t size; /* of the last table */
};

BOBBIN_API int bobbin_jit_table_open(const struct bobbin_arch *arch, uint64_t text_start,
				     uint64_t text_size, struct bobbin_jit_table **ret)
{
	struct bobbin_jit_table *table = malloc(sizeof(*table));
	void *memory = malloc(FIRST_SIZE);
	int status = -ENOMEM;

	if (table && memory)
		status = bobbin_jit_writer_init(arch, text_start, text_size, memory, FIRST_SIZE,
						&table->writer);
	if (status) {
		free(memory);
		free(table);
		return status;
	}
	table->size = FIRST_SIZE;
	*ret = table;
	return 0;
}

BOBBIN_API void bobbin_jit_table_close(struct bobbin_jit_table *table)
{
	struct code_jit_unwind_table *next;

	if (!table)
		return;
	for (struct code_jit_unwind_table *part = table->writer.head; part; part = next) {
		next = (struct code_jit_unwind_table *)(uintptr_t)part->next;
		free(part);
	}
	free(table);
}

static int extend(struct bobbin_jit_table *table, uint32_t rows)
{
	size_t need = sizeof(struct code_jit_unwind_table) +
		      ((size_t)rows + 1) * sizeof(struct code_jit_unwind_fre);
	size_t size = 2 * table->size;
	void *memory;
	int status;

	while (size < need)
		size *= 2;
	memory = malloc(size);
	if (!memory)
		return -ENOMEM;
	status = bobbin_jit_writer_extend(&table->writer, memory, size);
	if (status) {
		free(memory);
		return status;
	}
	table->size = size;
	return 0;
}

BOBBIN_API int bobbin_jit_table_append(struct bobbin_jit_table *table,
				       const struct bobbin_sframe_function *function)
{
	int status = bobbin_jit_writer_append(&table->writer, function);

	if (status != -ENOBUFS)
		return status;
	status = extend(table, function->count);
	return status ? status : bobbin_jit_writer_append(&table->writer, function);
}

BOBBIN_API void bobbin_jit_table_info(const struct bobbin_jit_table *table,
				      struct code_jit_info *ret)
{
	bobbin_jit_writer_info(&table->writer, ret);
}
