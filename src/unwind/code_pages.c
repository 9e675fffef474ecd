/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_pages.h"

#include <string.h>

#include "base/clock.h"
#include "base/process_reader.h"
#include "unwind/module.h"

/* For which a process's page is kept. */
#define KEPT_NS (50 * UINT64_C(1000000))

/* Whose bytes: a file's, or those of a process's memory. */
struct code_source {
	struct code_pages *pages;
	const struct module *module; /* NULL: of the process */
	struct process_reader *reader;
	int pid;
	uint64_t now;
};

static struct code_page *slot_of(const struct code_source *source, uint64_t addr)
{
	const uint64_t owner = (uintptr_t)source->module / sizeof(void *) + (uint64_t)source->pid;
	const uint64_t key = addr / CODE_PAGE + (owner << 16);

	return &source->pages->pages[(key * 0x9e3779b97f4a7c15ull >> 32) % CODE_PAGES];
}

static bool is_kept(const struct code_page *p, const struct code_source *source, uint64_t addr)
{
	if (p->module != source->module || p->addr != addr)
		return false;
	return p->module || (p->pid == source->pid && p->time && source->now - p->time < KEPT_NS);
}

static uint32_t read_page(const struct code_source *source, uint64_t addr, uint8_t bytes[CODE_PAGE])
{
	const struct remote_process process = {source->reader, source->pid};

	if (source->module)
		return (uint32_t)module_code_part(source->module, addr, bytes, CODE_PAGE);
	return process_read(&process, addr, bytes, CODE_PAGE) ? 0 : CODE_PAGE;
}

static const struct code_page *page_at(void *ctx, uint64_t addr)
{
	const struct code_source *source = ctx;
	struct code_page *p = slot_of(source, addr);

	if (is_kept(p, source, addr))
		return p;
	p->module = source->module;
	p->addr = addr;
	p->pid = source->pid;
	p->time = source->now;
	p->size = read_page(source, addr, p->bytes);
	return p;
}

bool code_page_copy(code_page_finder find, void *ctx, uint64_t addr, void *dst, size_t size)
{
	uint8_t *out = dst;

	while (size) {
		const uint64_t skip = addr % CODE_PAGE;
		const size_t part = CODE_PAGE - skip < size ? CODE_PAGE - skip : size;
		const struct code_page *p = find(ctx, addr - skip);

		if (!p || skip + part > p->size)
			return false;
		memcpy(out, p->bytes + skip, part);
		out += part;
		addr += part;
		size -= part;
	}
	return true;
}

bool code_pages_live(struct code_pages *pages, struct process_reader *reader, int pid,
		     uint64_t addr, void *dst, size_t size)
{
	struct code_source source = {
		.pages = pages, .reader = reader, .pid = pid, .now = clock_now()};

	return code_page_copy(page_at, &source, addr, dst, size);
}

bool code_pages_file(struct code_pages *pages, const struct module *module, uint64_t offset,
		     void *dst, size_t size)
{
	struct code_source source = {.pages = pages, .module = module};

	return code_page_copy(page_at, &source, offset, dst, size);
}
