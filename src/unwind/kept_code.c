/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/kept_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/process_reader.h"
#include "unwind/code_pages.h"

/* 4 MiB, of which as much is used as there is code. */
#define KEPT_PAGES 1024u
/* Where a page may be, from its own place on. */
#define PLACES 8u
/* For which a page is not read again. */
#define FRESH_NS (NS_PER_SECOND / 10)
/* What is looked at before a return address, and after it. */
#define BEFORE 128u
#define AFTER 512u

struct kept_code {
	struct code_page pages[KEPT_PAGES];
};

struct kept_code *kept_code_open(void)
{
	return calloc(1, sizeof(struct kept_code));
}

void kept_code_close(struct kept_code *kept)
{
	free(kept);
}

static uint32_t first_place(int pid, uint64_t addr)
{
	const uint64_t key = addr / CODE_PAGE + ((uint64_t)pid << 40);

	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 32) % KEPT_PAGES;
}

static bool is_page(const struct code_page *page, int pid, uint64_t addr)
{
	return page->time && page->pid == pid && page->addr == addr;
}

/* Where the page is, or the oldest one of those that it may replace. */
static struct code_page *place_of(struct kept_code *kept, int pid, uint64_t addr)
{
	const uint32_t first = first_place(pid, addr);
	struct code_page *oldest = &kept->pages[first];

	for (uint32_t i = 0; i < PLACES; i++) {
		struct code_page *page = &kept->pages[(first + i) % KEPT_PAGES];

		if (is_page(page, pid, addr))
			return page;
		if (page->time < oldest->time)
			oldest = page;
	}
	return oldest;
}

/* What was kept of the page before stays, if it cannot be read now. */
static void add_page(struct kept_code *kept, const struct remote_process *process, uint64_t addr)
{
	struct code_page *page = place_of(kept, process->pid, addr);
	const uint64_t now = clock_now();
	uint8_t bytes[CODE_PAGE];

	if (is_page(page, process->pid, addr) && now - page->time < FRESH_NS)
		return;
	if (process_read(process, addr, bytes, sizeof(bytes)))
		return;
	page->addr = addr;
	page->pid = process->pid;
	page->time = now;
	page->size = sizeof(bytes);
	memcpy(page->bytes, bytes, sizeof(bytes));
}

void kept_code_add(struct kept_code *kept, struct process_reader *reader, int pid, uint64_t addr)
{
	const struct remote_process process = {reader, pid};
	const uint64_t first = (addr - BEFORE) / CODE_PAGE, last = (addr + AFTER) / CODE_PAGE;

	add_page(kept, &process, first * CODE_PAGE);
	if (last != first)
		add_page(kept, &process, last * CODE_PAGE);
}

/* Of a process. */
struct kept_pages {
	struct kept_code *kept;
	int pid;
};

static const struct code_page *find_page(void *ctx, uint64_t addr)
{
	const struct kept_pages *of = ctx;
	const struct code_page *page = place_of(of->kept, of->pid, addr);

	return is_page(page, of->pid, addr) ? page : NULL;
}

bool kept_code_read(struct kept_code *kept, int pid, uint64_t addr, void *dst, size_t size)
{
	struct kept_pages of = {kept, pid};

	return kept && code_page_copy(find_page, &of, addr, dst, size);
}
