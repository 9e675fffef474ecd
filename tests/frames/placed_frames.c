/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "placed_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

int place_open(void **state)
{
	void *at = mmap((void *)SECTION_ADDR, PLACE_SIZE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return at == (void *)SECTION_ADDR ? 0 : -1;
}

int place_close(void **state)
{
	return munmap((void *)SECTION_ADDR, PLACE_SIZE);
}

static uint8_t *readable(size_t size)
{
	uint8_t *bytes = (uint8_t *)SECTION_ADDR;

	assert_int_equal(mprotect(bytes, PLACE_SIZE, PROT_READ | PROT_WRITE), 0);
	memset(bytes, 0, PLACE_SIZE);
	assert_int_equal(mprotect(bytes + size, PLACE_SIZE - size, PROT_NONE), 0);
	return bytes;
}

void *place(const struct cfi_section *section)
{
	return memcpy(readable(0x3000), section->data, section->size);
}

void *place_further(const struct cfi_section *section)
{
	return memcpy((uint8_t *)SECTION_ADDR + 0x1000, section->data, section->size);
}

void *place_at_end(const struct cfi_section *section)
{
	return memcpy(readable(0x1000) + 0x1000 - section->size, section->data, section->size);
}
