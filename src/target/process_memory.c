/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/stack_memory.h>

#include <errno.h>
#include <string.h>

#include "base/process_reader.h"
#include "core/deps.h"

#define PAGE 4096u

BOBBIN_API void bobbin_process_memory_init(struct bobbin_process_memory *memory, int pid)
{
	memory->pid = pid;
	memory->next = 0;
	memory->reader = NULL;
	for (size_t i = 0; i < sizeof(memory->pages) / sizeof(*memory->pages); i++)
		memory->pages[i].size = 0;
}

/* The copy of the page at @page, read now if need be; NULL: unreadable, @error says why. */
static const uint8_t *page_bytes(struct bobbin_process_memory *memory, uint64_t page, int *error)
{
	const struct remote_process process = {memory->reader, memory->pid};
	const size_t count = sizeof(memory->pages) / sizeof(*memory->pages);
	size_t slot;

	for (size_t i = 0; i < count; i++)
		if (memory->pages[i].size && memory->pages[i].addr == page)
			return memory->pages[i].bytes;

	slot = memory->next++ % count;
	memory->pages[slot].size = 0;
	*error = process_read(&process, page, memory->pages[slot].bytes, PAGE);
	if (*error)
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
	int error;

	while (len) {
		uint64_t skip = addr % PAGE;
		size_t part = PAGE - skip < len ? PAGE - skip : len;
		const uint8_t *bytes = page_bytes(memory, addr - skip, &error);

		if (!bytes)
			return error == -ETIMEDOUT ? BOBBIN_REASON_NO_ANSWER
						   : BOBBIN_REASON_NO_MEMORY;
		memcpy(out, bytes + skip, part);
		out += part;
		addr += part;
		len -= part;
	}
	return BOBBIN_REASON_NONE;
}

BOBBIN_API enum bobbin_reason bobbin_stack_copy_read(void *ctx, uint64_t addr, void *dst,
						     size_t len)
{
	const struct bobbin_stack_copy *copy = ctx;
	uint64_t offset = addr - copy->addr;

	if (addr < copy->addr)
		return BOBBIN_REASON_NO_MEMORY;
	if (offset > copy->size || len > copy->size - offset)
		return BOBBIN_REASON_STACK_END;
	/* nearly always a word, which compilers copy without a call */
	if (len == sizeof(uint64_t))
		memcpy(dst, copy->data + offset, sizeof(uint64_t));
	else
		memcpy(dst, copy->data + offset, len);
	return BOBBIN_REASON_NONE;
}
