/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/core_contents.h"

#include <stdlib.h>

#include "base/vector.h"
#include "core/bisect.h"

const struct core_memory *core_file_memory(const struct core_file *core, uint64_t addr)
{
	size_t after = bisect(i, 0, core->memory_count, core->memory[i].start > addr);
	const struct core_memory *last = after ? &core->memory[after - 1] : NULL;

	return last && addr - last->start < last->size ? last : NULL;
}

uint64_t core_file_dumped(const struct core_file *core, uint64_t addr, uint64_t *offset)
{
	const struct core_memory *memory = core_file_memory(core, addr);
	uint64_t skip = memory ? addr - memory->start : 0;

	if (!memory || skip >= memory->dumped)
		return 0;
	*offset = memory->offset + skip;
	return memory->dumped - skip;
}

const struct core_mapping *core_file_mapping(const struct core_file *core, uint64_t addr)
{
	size_t after = bisect(i, 0, core->mapping_count, core->mappings[i].start > addr);
	const struct core_mapping *last = after ? &core->mappings[after - 1] : NULL;

	return last && addr < last->end ? last : NULL;
}

int core_file_map(struct core_file *core, uint64_t start, uint64_t end, uint64_t offset,
		  const char *path)
{
	struct core_mapping mapping = {.start = start, .end = end, .offset = offset};
	int r = name_pool_intern(&core->paths, path, &mapping.path);

	return r ? r
		 : vector_push(core->mappings, core->mapping_count, core->mapping_room, mapping);
}

void core_file_sort_mappings(struct core_file *core)
{
	if (core->mapping_count)
		qsort(core->mappings, core->mapping_count, sizeof(*core->mappings),
		      vector_by_start);
}
