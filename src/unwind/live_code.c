/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/live_code.h"

#include <string.h>

#include "base/clock.h"
#include "base/process_reader.h"

/* For which a page is kept. */
#define KEPT_NS (50 * UINT64_C(1000000))

static struct live_code_page *find_page(struct live_code *code, int pid, uint64_t addr,
					uint64_t now)
{
	for (unsigned int i = 0; i < LIVE_CODE_PAGES; i++) {
		struct live_code_page *p = &code->pages[i];

		if (p->addr == addr && p->pid == pid && p->time && now - p->time < KEPT_NS)
			return p;
	}
	return NULL;
}

static struct live_code_page *page_at(struct live_code *code, struct process_reader *reader,
				      int pid, uint64_t addr)
{
	const struct remote_process process = {reader, pid};
	const uint64_t now = clock_now();
	struct live_code_page *p = find_page(code, pid, addr, now);

	if (p)
		return p;
	p = &code->pages[code->next++ % LIVE_CODE_PAGES];
	p->addr = addr;
	p->pid = pid;
	p->time = now;
	p->readable = !process_read(&process, addr, p->bytes, sizeof(p->bytes));
	return p;
}

bool live_code_read(struct live_code *code, struct process_reader *reader, int pid, uint64_t addr,
		    void *dst, size_t size)
{
	uint8_t *out = dst;

	while (size) {
		const uint64_t skip = addr % LIVE_CODE_PAGE;
		const size_t part = LIVE_CODE_PAGE - skip < size ? LIVE_CODE_PAGE - skip : size;
		const struct live_code_page *p = page_at(code, reader, pid, addr - skip);

		if (!p->readable)
			return false;
		memcpy(out, p->bytes + skip, part);
		out += part;
		addr += part;
		size -= part;
	}
	return true;
}
