// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/flow_body.h"

#include <string.h>

#include "base/vector.h"

#define PAGE_SHIFT 8
#define PAGE_SIZE (1u << PAGE_SHIFT)

/* For each byte, the number of the instruction that starts there + 1, or 0. */
struct insn_page {
	uint32_t numbers[PAGE_SIZE];
	struct insn_page *next;
};

int insn_map_init(struct insn_map *map, uint64_t start, uint64_t end)
{
	*map = (struct insn_map){.base = start};
	if (end < start || end - start > UINT32_MAX - PAGE_SIZE)
		return -EFBIG;
	map->page_count = (size_t)((end - start) >> PAGE_SHIFT) + 1;
	map->pages = calloc(map->page_count, sizeof(struct insn_page *));
	return map->pages ? 0 : -ENOMEM;
}

void insn_map_fini(struct insn_map *map)
{
	if (!map->pages)
		return;
	insn_map_empty(map);
	while (map->spare) {
		struct insn_page *page = map->spare;

		map->spare = page->next;
		free(page);
	}
	free(map->pages);
	free(map->insns);
	free(map->used);
	*map = (struct insn_map){0};
}

void insn_map_empty(struct insn_map *map)
{
	for (size_t i = 0; i < map->used_count; i++) {
		struct insn_page *page = map->pages[map->used[i]];

		memset(page->numbers, 0, sizeof(page->numbers));
		page->next = map->spare;
		map->spare = page;
		map->pages[map->used[i]] = NULL;
	}
	map->used_count = 0;
	map->count = 0;
}

uint32_t insn_map_find(const struct insn_map *map, uint64_t addr)
{
	const uint64_t at = addr - map->base;
	const struct insn_page *page;

	if (addr < map->base || at >> PAGE_SHIFT >= map->page_count)
		return NO_INSN;
	page = map->pages[at >> PAGE_SHIFT];
	return page ? page->numbers[at % PAGE_SIZE] - 1 : NO_INSN;
}

static struct insn_page *page_of(struct insn_map *map, uint32_t at)
{
	const uint32_t number = at >> PAGE_SHIFT;
	struct insn_page *page = map->pages[number];

	if (page)
		return page;
	if (vector_push(map->used, map->used_count, map->used_capacity, number))
		return NULL;
	page = map->spare;
	if (page)
		map->spare = page->next;
	else
		page = calloc(1, sizeof(*page));
	if (!page) {
		map->used_count--;
		return NULL;
	}
	return map->pages[number] = page;
}

int insn_map_add(struct insn_map *map, const struct insn *insn)
{
	struct insn_page *page = page_of(map, insn->at);

	if (!page ||
	    vector_push(map->insns, map->count, map->capacity, (struct mapped_insn){.insn = *insn}))
		return -ENOMEM;
	page->numbers[insn->at % PAGE_SIZE] = (uint32_t)map->count;
	return 0;
}
