/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sample_code.h - text that can be executed and sections for it.
 *
 *	struct sample s = sample_open(4);
 *	... s.text, s.section: one function of a page's size a page ...
 *	sample_close(&s);
 */
#ifndef TEST_SAMPLE_CODE_H
#define TEST_SAMPLE_CODE_H

#include <bobbin/code_abi.h>
#include <bobbin/sframe_builder.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../promise.h"
#include "base/native_arch.h"

#define SAMPLE_MAX 64
#define SAMPLE_ROOM 8192

/* A mapping of text, followed by a page that can only be read. */
struct sample {
	uint8_t *text;
	size_t page, pages;
	uint8_t *section; /* writable memory; SAMPLE_ROOM bytes */
	size_t section_size;
};

/* One function a page, from page @first on, none of them with callers. */
static inline size_t make_section(uint8_t *out, uint64_t addr, uint64_t text, size_t page,
				  size_t functions)
{
	struct bobbin_sframe_builder builder;
	struct bobbin_sframe_built fdes[SAMPLE_MAX];
	uint8_t rows[2048];

	promise(!bobbin_sframe_builder_init(native_arch(), addr, 3, &builder));
	builder.fdes = fdes;
	builder.fde_max = SAMPLE_MAX;
	builder.fres = rows;
	builder.fre_max = sizeof(rows);
	for (size_t i = 0; i < functions; i++) {
		const struct bobbin_sframe_function f = {.start = text + i * page,
							 .size = (uint32_t)page};

		promise(!bobbin_sframe_builder_add(&builder, &f));
	}
	promise(!bobbin_sframe_builder_finish(&builder, out, SAMPLE_ROOM));
	return bobbin_sframe_builder_size(&builder);
}

static inline void *map_pages(size_t size, int prot)
{
	void *pages = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	promise(pages != MAP_FAILED);
	return pages;
}

static inline struct sample sample_open(size_t pages)
{
	struct sample s = {.page = (size_t)sysconf(_SC_PAGESIZE), .pages = pages};

	s.text = map_pages((pages + 1) * s.page, PROT_READ);
	promise(!mprotect(s.text, pages * s.page, PROT_READ | PROT_EXEC));
	s.section = map_pages(SAMPLE_ROOM, PROT_READ | PROT_WRITE);
	s.section_size = make_section(s.section, (uintptr_t)s.section, (uintptr_t)s.text, s.page,
				      pages);
	return s;
}

static inline void sample_close(struct sample *s)
{
	munmap(s->text, (s->pages + 1) * s->page);
	munmap(s->section, SAMPLE_ROOM);
}

static inline uint64_t text_end(const struct sample *s)
{
	return (uintptr_t)s->text + s->pages * s->page;
}

static inline struct sframe_setup setup_of(const struct sample *s)
{
	return (struct sframe_setup){.sframe_start = (uintptr_t)s->section,
				     .sframe_size = s->section_size,
				     .text_start = (uintptr_t)s->text,
				     .text_size = s->pages * s->page};
}

static inline struct code_elf_info elf_of(const struct sample *s)
{
	return (struct code_elf_info){.text_start = (uintptr_t)s->text,
				      .text_end = text_end(s),
				      .sframe_start = (uintptr_t)s->section,
				      .sframe_end = (uintptr_t)s->section + s->section_size};
}

#endif
