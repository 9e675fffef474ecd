/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/core_memory.h"

#include <string.h>

/* The number of the copy of a page, which is read now if need be. */
static size_t page_number(struct core_pages *pages, uint64_t page)
{
	size_t number;
	ssize_t n;

	for (size_t i = 0; i < CORE_PAGES; i++)
		if (pages->pages[i].size && pages->pages[i].addr == page)
			return i;
	number = pages->next++ % CORE_PAGES;
	n = core_file_read(pages->core, page, pages->pages[number].bytes, CORE_PAGE);
	pages->pages[number].addr = page;
	pages->pages[number].size = n > 0 ? (size_t)n : 0;
	return number;
}

/* Words at the start and the end of what a core has may be in no page of it. */
static bool read_directly(const struct core_file *core, uint64_t addr, void *dst, size_t len)
{
	return core_file_read(core, addr, dst, len) == (ssize_t)len;
}

enum bobbin_reason core_pages_read(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct core_pages *pages = ctx;
	const uint64_t skip = addr % CORE_PAGE;

	if (len <= CORE_PAGE && skip <= CORE_PAGE - len) {
		const size_t i = page_number(pages, addr - skip);

		if (skip + len <= pages->pages[i].size) {
			memcpy(dst, pages->pages[i].bytes + skip, len);
			return BOBBIN_REASON_NONE;
		}
	}
	return read_directly(pages->core, addr, dst, len) ? BOBBIN_REASON_NONE
							  : BOBBIN_REASON_NO_MEMORY;
}
