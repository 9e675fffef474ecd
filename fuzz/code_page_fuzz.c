/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A published page that is changed before and while it is read.
 *
 *	change: reads before it (1 byte) | where (2) | bytes, less one (1) | bytes
 *
 * The memory is a good page with entries and identities, from address BASE; the
 * changes fall on it in their order, each once so many reads have been made since the
 * one before.
 *
 * Contract: what is read is in order, without overlaps, of known kinds, and its strings
 * are bounded; a refusal leaves what was known; what is read again from memory
 * that does not change any more is the same each time.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codemap/page_copy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x7fff00000000ull
#define ENTRIES 12
#define MAX_READS 100000
#define IDENTITY_SIZE (sizeof(struct bobbin_code_identity) + 32)

struct image {
	struct bobbin_code_page page;
	struct bobbin_code_entry entries[ENTRIES];
	uint8_t identities[3][IDENTITY_SIZE];
};

struct memory {
	struct image image;
	const uint8_t *changes;
	size_t size;
	unsigned int reads, due;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void fill(struct image *image)
{
	image->page = (struct bobbin_code_page){
		.magic = BOBBIN_CODE_PAGE_MAGIC,
		.version = BOBBIN_CODE_PAGE_VERSION,
		.header_size = sizeof(image->page),
		.entry_size = sizeof(image->entries[0]),
		.pid = 1000,
		.sequence = 2,
		.changes = 7,
		.entries = BASE + offsetof(struct image, entries),
		.entry_max = ENTRIES,
		.entry_count = ENTRIES,
	};
	for (uint64_t i = 0; i < ENTRIES; i++)
		image->entries[i] = (struct bobbin_code_entry){
			.sequence = 2 * i,
			.id = i + 1,
			.kind = (uint32_t)i % 4,
			.text_start = (ENTRIES - i) << 12,
			.text_end = ((ENTRIES - i) << 12) + 100,
			.table = 0x1000,
			.table_size = 50,
			.table_addr = 0x1000,
			.identity = i % 2 ? BASE + offsetof(struct image, identities[i % 3]) : 0,
		};
	for (unsigned int i = 0; i < 3; i++) {
		const struct bobbin_code_identity head = {
			.size = IDENTITY_SIZE,
			.elf_start = 0x1000,
			.elf_end = 0x9000,
			.path_len = 10,
			.build_id_len = 20 * (i % 2),
			.debug_link_len = 2 * i % 3,
		};

		memset(image->identities[i], 'a', IDENTITY_SIZE);
		memcpy(image->identities[i], &head, sizeof(head));
	}
}

/* Make the changes whose time has come. */
static void change(struct memory *m)
{
	while (m->size >= 4 && m->reads - m->due >= m->changes[0]) {
		size_t at = (m->changes[1] | (size_t)m->changes[2] << 8) % sizeof(m->image);
		size_t n = m->changes[3] % 16 + 1;

		m->due += m->changes[0];
		m->changes += 4;
		m->size -= 4;
		if (n > m->size)
			n = m->size;
		if (n > sizeof(m->image) - at)
			n = sizeof(m->image) - at;
		memcpy((uint8_t *)&m->image + at, m->changes, n);
		m->changes += n;
		m->size -= n;
	}
}

static enum bobbin_reason read_memory(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct memory *m = ctx;

	m->reads++;
	must(m->reads < MAX_READS);
	change(m);
	if (addr < BASE || addr - BASE > sizeof(m->image) || sizeof(m->image) - (addr - BASE) < len)
		return BOBBIN_REASON_NO_MEMORY;
	memcpy(dst, (const uint8_t *)&m->image + (addr - BASE), len);
	return BOBBIN_REASON_NONE;
}

static void check(const struct page_copy *code)
{
	uint64_t end = 0;

	must(code->count <= PAGE_COPY_MAX_ENTRIES);
	for (size_t i = 0; i < code->count; i++) {
		const struct page_range *r = &code->ranges[i];

		must(r->entry.text_start >= end && r->entry.text_start < r->entry.text_end);
		end = r->entry.text_end;
		must(r->entry.kind != BOBBIN_CODE_FREE && r->entry.kind <= BOBBIN_CODE_COMPILED);
		must(r->entry.sequence % 2 == 0);
		must(r->entry.table + r->entry.table_size >= r->entry.table);
		must(r->image.start < r->image.end || (!r->image.start && !r->image.end));
		must(r->image.build_id_len <= sizeof(r->image.build_id));
		must(!r->image.path || strlen(r->image.path) <= PAGE_COPY_MAX_STRING);
		must(!r->debug_link || strlen(r->debug_link) <= PAGE_COPY_MAX_STRING);
	}
}

/* The ranges without their strings, to be compared. */
static uint64_t sum(const struct page_copy *code)
{
	uint64_t h = code->count;

	for (size_t i = 0; i < code->count; i++) {
		const uint8_t *bytes = (const uint8_t *)&code->ranges[i].entry;

		for (size_t k = 0; k < sizeof(code->ranges[i].entry); k++)
			h = (h ^ bytes[k]) * 0x100000001b3ull;
	}
	return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory m = {.changes = data, .size = size};
	struct bobbin_mem mem = {read_memory, &m};
	struct page_copy code, still;
	uint64_t before;
	int r;

	fill(&m.image);
	page_copy_init(&(struct remote_process){NULL, 1000}, &code);
	code.page = BASE;
	for (unsigned int i = 0; i < 4; i++) {
		before = sum(&code);
		r = page_copy_parse(&code, &mem, NULL);
		must(r == 1 || r == 0 || r == -EAGAIN || r == -EFAULT || r == -EBADMSG);
		must(r == 1 || r == -EAGAIN || sum(&code) == before);
		check(&code);
	}
	m.size = 0;
	page_copy_init(&(struct remote_process){NULL, 1000}, &still);
	still.page = BASE;
	if (page_copy_parse(&still, &mem, NULL) == 1) {
		must(page_copy_parse(&still, &mem, NULL) == 0);
		page_copy_fini(&code);
		page_copy_init(&(struct remote_process){NULL, 1000}, &code);
		code.page = BASE;
		must(page_copy_parse(&code, &mem, NULL) == 1 && sum(&code) == sum(&still));
	}
	check(&still);
	page_copy_fini(&still);
	check(&code);
	r = page_copy_probe(BASE, &mem);
	must(r == 0 || r == -EBADMSG || r == -EFAULT);
	page_copy_fini(&code);
	return 0;
}
