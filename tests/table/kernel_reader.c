/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "kernel_world.h"

/* the file itself, with its static functions */
#include "compiled.c"

#include "kernel_reader.h"

struct kernel_world kernel_world;

struct kernel_reader {
	struct sframe_section section;
	struct code_text_range range;
};

struct kernel_reader *kernel_reader_open(const uint8_t *table, uint64_t size, uint64_t start,
					 uint64_t end, uint64_t bias)
{
	struct kernel_reader *reader = calloc(1, sizeof(*reader) + sizeof(reader->range));

	kernel_world.start = (uintptr_t)table;
	kernel_world.end = (uintptr_t)table + size;
	if (!reader)
		return NULL;
	reader->section.range_count = 1;
	reader->section.ranges[0] = (struct code_text_range){start + bias, end + bias};
	if (!sframe_open_compiled(&reader->section, (uintptr_t)table, size, bias, NULL, 0))
		return reader;
	free(reader);
	return NULL;
}

void kernel_reader_close(struct kernel_reader *reader)
{
	if (reader)
		kfree(reader->section.compiled);
	free(reader);
}

int kernel_reader_lookup(struct kernel_reader *reader, uint64_t pc, unsigned int *copies,
			 struct bobbin_row *ret)
{
	struct bobbin_error error = {0};
	int status;

	kernel_world.copies = 0;
	status = sframe_lookup_compiled(&reader->section, pc, &error, ret);
	*copies = kernel_world.copies;
	return status;
}

unsigned long kernel_reader_outside(void)
{
	return kernel_world.outside;
}
