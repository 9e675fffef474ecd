/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/unwind.h>

#include <string.h>
#include <sys/uio.h>

#include "core/deps.h"

#define PAGE 4096u

BOBBIN_API void bobbin_process_memory_init(struct bobbin_process_memory *memory, int pid)
{
	memory->pid = pid;
	memory->next = 0;
	for (size_t i = 0; i < sizeof(memory->pages) / sizeof(*memory->pages); i++)
		memory->pages[i].size = 0;
}

/* The copy of the page at @page, read now if need be; NULL: unreadable. */
static const uint8_t *page_bytes(struct bobbin_process_memory *memory, uint64_t page)
{
	const size_t count = sizeof(memory->pages) / sizeof(*memory->pages);
	struct iovec local = {.iov_len = PAGE}, remote = {(void *)page, PAGE};
	size_t slot;

	for (size_t i = 0; i < count; i++)
		if (memory->pages[i].size && memory->pages[i].addr == page)
			return memory->pages[i].bytes;

	slot = memory->next++ % count;
	local.iov_base = memory->pages[slot].bytes;
	memory->pages[slot].size = 0;
	if (process_vm_readv(memory->pid, &local, 1, &remote, 1, 0) != PAGE)
		return NULL;
	memory->pages[slot].addr = page;
	memory->pages[slot].size = PAGE;
	return memory->pages[slot].bytes;
}

BOBBIN_API enum bobbin_reason bobbin_process_memory_read(void *ctx, uint64_t addr, void *dst,
							 size_t len)
{
	struct bobbin_process_memory *memory = ctx;
	uint8_t *out = dst;

	while (len) {
		uint64_t skip = addr % PAGE;
		size_t part = PAGE - skip < len ? PAGE - skip : len;
		const uint8_t *bytes = page_bytes(memory, addr - skip);

		if (!bytes)
			return BOBBIN_NO_MEMORY;
		memcpy(out, bytes + skip, part);
		out += part;
		addr += part;
		len -= part;
	}
	return BOBBIN_NONE;
}
