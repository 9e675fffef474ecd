/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/kernel_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/native_arch.h"
#include "base/vector.h"
#include "table/compiled_table.h"
#include "unwind/module.h"

/* Bytes of a section of which a table is made. */
#define SECTION_MAX (64u << 20)
/* Instead of a file's entry: its table is in the making. */
#define TO_COME (KERNEL_NO_FILE - 1)

void kernel_tables_fini(struct kernel_tables *tables)
{
	table_maker_close(tables->maker);
	free(tables->known);
	*tables = (struct kernel_tables){0};
}

/* A part of a table, by its place in the map of pages. */
static const uint8_t *placed(const uint8_t *part, const uint8_t *data, uint32_t page)
{
	return (const uint8_t *)((uintptr_t)(part - data) + (uintptr_t)page * KERNEL_PAGE);
}

static bool place_table(struct kernel_tables *t, const uint8_t *data, uint64_t size,
			struct compiled_table *ret)
{
	uint64_t count = (size + KERNEL_PAGE - 1) / KERNEL_PAGE;
	uint32_t page = t->page_count;

	if (count > KERNEL_PAGES - page || compiled_table_init(data, size, NULL, ret))
		return false;
	memcpy(t->pages + (size_t)page * KERNEL_PAGE, data, size);
	t->page_count += (uint32_t)count;
	ret->pairs = placed(ret->pairs, data, page);
	ret->words = placed(ret->words, data, page);
	ret->wide = placed(ret->wide, data, page);
	ret->lines = placed(ret->lines, data, page);
	ret->blocks = placed(ret->blocks, data, page);
	/* these are user space's alone */
	ret->beginners = ret->build_id = NULL;
	ret->arch = NULL;
	return true;
}

struct entry_search {
	uint64_t start, size;
};

static int note_entry(void *ctx, uint64_t start, uint64_t end)
{
	struct entry_search *search = ctx;

	if (start != search->start)
		return 0;
	search->size = end - start;
	return 1;
}

/* The first function of a program has no caller, whatever its table says. */
static void find_entry(struct module *module, struct kernel_file *ret)
{
	struct entry_search search = {.start = module->tables.entry};

	if (search.start)
		table_set_functions(&module->tables, (enum bobbin_source)ret->source, note_entry,
				    &search);
	ret->entry = search.start;
	ret->entry_size = search.size;
}

/* Whether the first table is all that walks ask. */
static bool has_no_other(const struct module *module, unsigned int views)
{
	struct late_sidefile sidefile = module->sidefile;
	struct bobbin_row row;
	bool none;

	if (views > 1)
		return false;
	none = late_sidefile_lookup(&sidefile, 0, &row) == -ENODATA;
	sidefile_close(sidefile.file == module->sidefile.file ? NULL : sidefile.file);
	return none;
}

/* Whether one section of call-frame information is what walks ask first. */
static bool has_one_table(const struct module *module)
{
	return module->image.arch == native_arch() && call_frames_exist(&module->frames) &&
	       (module->tables.tables[0].kind == TABLE_CALL_FRAMES ||
		module->tables.tables[0].kind == TABLE_KEPT);
}

static bool add_file(struct kernel_tables *t, struct module *module, const uint8_t *data,
		     uint64_t size)
{
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];
	struct kernel_file file = {0};
	unsigned int count = call_frames_views(&module->image, views);

	if (t->file_count == KERNEL_FILES)
		return false;
	file.source = views[0].debug_frame ? BOBBIN_SOURCE_DEBUG_FRAME : BOBBIN_SOURCE_EH_FRAME;
	file.eh_returns = module->tables.eh_returns;
	file.resort = has_no_other(module, count);
	file.first = module->tables.entry;
	find_entry(module, &file);
	if (!place_table(t, data, size, &file.table))
		return false;
	t->files[t->file_count++] = file;
	return true;
}

/* false: it cannot have one. */
static bool ask_table(struct kernel_tables *t, uint32_t file, struct module *module)
{
	const struct wanted_table wanted = {
		.module = module,
		.file = file,
		.limit = (uint64_t)(KERNEL_PAGES - t->page_count) * KERNEL_PAGE,
	};
	struct bobbin_cfi_view views[CALL_FRAMES_SECTIONS];

	if (!has_one_table(module) || !call_frames_views(&module->image, views) ||
	    views[0].frame_size > SECTION_MAX)
		return false;
	if (!wanted.limit || t->file_count == KERNEL_FILES) {
		t->roomless++;
		return false;
	}
	module->asked = true;
	return !table_maker_ask(t->maker, &wanted);
}

void kernel_tables_take(struct kernel_tables *tables, bool wait)
{
	struct wanted_table w;

	while (table_maker_take(tables->maker, wait, &w)) {
		bool added = !w.error && add_file(tables, w.module, w.data, w.size);

		tables->known[w.file] = added ? tables->file_count : KERNEL_NO_FILE;
		tables->taken++;
		tables->roomless += w.error == -E2BIG || (!w.error && !added);
		free(w.own);
	}
}

/* The file's entry, KERNEL_NO_FILE, or TO_COME. */
static uint32_t file_of(struct kernel_tables *t, const struct mapped_file *file,
			struct module *module)
{
	uint32_t *known;

	if (vector_reserve(&t->known, &t->known_room, (size_t)file->number + 1, sizeof(*t->known)))
		return KERNEL_NO_FILE;
	while (t->known_count <= file->number)
		t->known[t->known_count++] = 0;
	known = &t->known[file->number];
	if (!*known)
		*known = ask_table(t, file->number, module) ? TO_COME : KERNEL_NO_FILE;
	return *known >= TO_COME ? *known : *known - 1;
}

/* From addresses in the file to those of a mapping; false: there is not one distance for all. */
static bool find_bias(const struct elf_image *image, const struct mapping *m, uint64_t *ret)
{
	uint64_t end = m->offset + (m->end - m->start);
	bool found = false;

	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *s = &image->segments[i];
		uint64_t bias = m->start - m->offset + s->offset - s->vaddr;

		if (!s->exec || s->offset >= end || s->offset + s->filesz <= m->offset)
			continue;
		if (found && bias != *ret)
			return false;
		*ret = bias;
		found = true;
	}
	return found;
}

bool kernel_tables_mapping(struct kernel_tables *tables, const struct mapping *mapping,
			   struct kernel_mapping *ret)
{
	bool bare = mapping->file->kind == FILE_NONE;
	struct module *module = bare ? NULL : unwinder_file_module(tables->unwinder, mapping->file);
	uint32_t file = KERNEL_NO_FILE;

	*ret = (struct kernel_mapping){.start = mapping->start, .end = mapping->end};
	if (module && find_bias(&module->image, mapping, &ret->bias))
		file = file_of(tables, mapping->file, module);
	ret->file = bare ? KERNEL_BARE : file == TO_COME ? KERNEL_NO_FILE : file;
	return file != TO_COME;
}
