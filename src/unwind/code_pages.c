/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_pages.h"

#include <string.h>

#include "base/clock.h"
#include "base/process_reader.h"
#include "unwind/module.h"

/* For which a process's page is kept. */
#define KEPT_NS (50 * UINT64_C(1000000))

/* Where a page is kept. */
static struct code_page *slot_of(struct code_pages *pages, uint64_t owner, uint64_t addr)
{
	const uint64_t key = addr / CODE_PAGE + (owner << 16);

	return &pages->pages[(key * 0x9e3779b97f4a7c15ull >> 32) % CODE_PAGES];
}

static const struct code_page *file_page(struct code_pages *pages, const struct module *module,
					 uint64_t offset)
{
	struct code_page *p = slot_of(pages, (uintptr_t)module / sizeof(void *), offset);

	if (p->module == module && p->addr == offset)
		return p;
	p->module = module;
	p->addr = offset;
	p->size = (uint32_t)module_code_part(module, offset, p->bytes, sizeof(p->bytes));
	return p;
}

/* What is at hand for a process and an address. */
struct live_code {
	struct process_reader *reader;
	int pid;
	uint64_t now;
};

static const struct code_page *live_page(struct code_pages *pages, const struct live_code *code,
					 uint64_t addr)
{
	const struct remote_process process = {code->reader, code->pid};
	struct code_page *p = slot_of(pages, (uint64_t)code->pid, addr);

	if (!p->module && p->addr == addr && p->pid == code->pid && p->time &&
	    code->now - p->time < KEPT_NS)
		return p;
	p->module = NULL;
	p->addr = addr;
	p->pid = code->pid;
	p->time = code->now;
	p->size = process_read(&process, addr, p->bytes, sizeof(p->bytes)) ? 0 : sizeof(p->bytes);
	return p;
}

/* The part of the bytes at @addr that is in a page; 0: the page has not all of it. */
static size_t copy_part(const struct code_page *p, uint64_t addr, uint8_t *dst, size_t size)
{
	const size_t skip = addr % CODE_PAGE;
	const size_t part = CODE_PAGE - skip < size ? CODE_PAGE - skip : size;

	if (skip + part > p->size)
		return 0;
	memcpy(dst, p->bytes + skip, part);
	return part;
}

bool code_pages_live(struct code_pages *pages, struct process_reader *reader, int pid,
		     uint64_t addr, void *dst, size_t size)
{
	const struct live_code code = {reader, pid, clock_now()};
	size_t done = 0, part;

	for (; done < size; done += part) {
		const uint64_t at = addr + done;

		part = copy_part(live_page(pages, &code, at - at % CODE_PAGE), at,
				 (uint8_t *)dst + done, size - done);
		if (!part)
			return false;
	}
	return true;
}

bool code_pages_file(struct code_pages *pages, const struct module *module, uint64_t offset,
		     void *dst, size_t size)
{
	size_t done = 0, part;

	for (; done < size; done += part) {
		const uint64_t at = offset + done;

		part = copy_part(file_page(pages, module, at - at % CODE_PAGE), at,
				 (uint8_t *)dst + done, size - done);
		if (!part)
			return false;
	}
	return true;
}
