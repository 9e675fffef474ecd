/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/kernel_names.h"

#include <stdlib.h>

#include "base/vector.h"
#include "symbol/naming.h"
#include "symbol/recorded_names.h"
#include "symbol/symbolizer.h"

#define MAX_PLACES (1u << 16)

void kernel_names_fini(struct kernel_names *names)
{
	hash_index_fini(&names->index);
	free(names->places);
	*names = (struct kernel_names){0};
}

int kernel_names_note(struct kernel_names *names, uint64_t pc)
{
	const uint64_t hash = hash_words(pc, 0, 0);
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&names->index, hash, &at, &i))
		if (names->places[i] == pc)
			return 0;
	if (names->count == MAX_PLACES)
		return 0;
	return hash_index_push(&names->index, hash, names->places, names->count, names->room, pc);
}

static int by_address(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void write_functions(const struct kernel_names *names, struct symbolizer *symbolizer,
			    struct byte_buffer *blob, size_t at)
{
	struct recorded_function last = {0};

	for (size_t i = 0; i < names->count; i++) {
		const uint64_t pc = names->places[i];
		uint64_t start;
		const char *listed = symbolizer_kernel_listed(symbolizer, pc, &start);

		if (!listed || naming_is_bpf(listed) || pc - start >= UINT32_MAX)
			continue;
		if (last.name && last.address != start)
			recorded_names_add(blob, at, &last);
		last = (struct recorded_function){start, start, (uint32_t)(pc - start + 1), listed};
	}
	if (last.name)
		recorded_names_add(blob, at, &last);
}

void kernel_names_write(struct kernel_names *names, struct symbolizer *symbolizer,
			struct byte_buffer *blob)
{
	static char path[] = NAMING_KERNEL;
	const struct mapped_file kernel = {.path = path};
	size_t at;

	if (!names->count)
		return;
	qsort(names->places, names->count, sizeof(*names->places), by_address);
	recorded_names_begin(blob, &kernel, &at);
	write_functions(names, symbolizer, blob, at);
	recorded_names_end(blob, at);
}
