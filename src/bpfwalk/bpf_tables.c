/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/bpf_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/vector.h"
#include "bpfwalk/table_place.h"
#include "unwind/module.h"

/* Room is short from here on, and is not looked for more often than that. */
#define FREE_PAGES (KERNEL_PAGES / 4)
#define LOOK_NS 1000000000ull
/* Without a list, who maps a file is known from records, which are some ten milliseconds late. */
#define UNUSED_NS 2000000000ull

int bpf_tables_init(struct bpf_tables *tables)
{
	return page_allocator_init(KERNEL_PAGES, &tables->room);
}

void bpf_tables_fini(struct bpf_tables *tables)
{
	table_workers_close(tables->maker);
	page_allocator_fini(&tables->room);
	free(tables->known);
	*tables = (struct bpf_tables){0};
}

static bool place_table(struct bpf_tables *t, const uint8_t *data, uint64_t size,
			struct page_run *run, struct compiled_table *ret)
{
	uint64_t count = table_pages(size);
	uint32_t page;

	if (count > KERNEL_PAGES || !page_allocator_take(&t->room, (uint32_t)count, &page))
		return false;
	*run = (struct page_run){page, (uint32_t)count};
	if (!table_place(t->pages, page, data, size, ret)) {
		page_allocator_give(&t->room, page, (uint32_t)count, clock_now());
		return false;
	}
	return true;
}

/* Bytes of the function that begins there, or 0. */
static uint64_t function_size(const struct compiled_table *table, uint64_t start)
{
	struct compiled_row row;
	uint64_t end = start;

	for (unsigned int i = 0; i < TABLE_FUNCTION_ROWS; i++) {
		if (compiled_table_find(table, end, &row) || row.start != end ||
		    row.begins != (end == start))
			break;
		end = row.end;
	}
	return end - start;
}

/* The first function of a program has no caller, whatever its table says. */
static void find_entry(struct module *module, const struct section_table *from,
		       struct kernel_file *ret)
{
	uint64_t function;
	struct compiled_table table;

	ret->entry = module->tables.entry;
	if (!ret->entry)
		return;
	if (!table_set_function(&module->tables, ret->entry, &function)) {
		ret->first = ret->entry;
		ret->first_size = module->tables.entry_size;
	}
	if (!compiled_table_init(from->data, from->size, NULL, &table))
		ret->entry_size = function_size(&table, ret->entry);
}

/* Whether sections of the file are all that walks ask. */
static bool has_no_sidefile(const struct module *module)
{
	struct late_sidefile sidefile = module->sidefile;
	struct bobbin_row row;
	bool none;

	none = late_sidefile_lookup(&sidefile, 0, &row) == -ENODATA;
	sidefile_close(sidefile.file == module->sidefile.file ? NULL : sidefile.file);
	return none;
}

/*
 * Entries for so many tables, which the file has for good; false: there are none.  Where there was
 * less room before there are too few, and it is given others.
 */
static bool take_entries(struct bpf_tables *t, uint32_t number, struct known_file *known,
			 unsigned int count)
{
	if (count <= known->entry_count)
		return true;
	if (count > KERNEL_FILES - t->file_count)
		return false;
	known->entry = t->file_count;
	known->entry_count = count;
	t->file_count += count;
	for (unsigned int i = 0; i < count; i++)
		t->owners[known->entry + i] = number;
	return true;
}

/* Nobody finds the tables from now on; who has found them may still be walking. */
static void drop_tables(struct bpf_tables *t, struct known_file *known)
{
	uint64_t now = clock_now();

	for (unsigned int i = 0; i < known->entry_count; i++) {
		__atomic_store_n(&t->files[known->entry + i].source, BOBBIN_SOURCE_NONE,
				 __ATOMIC_SEQ_CST);
		if (known->runs[i].count)
			page_allocator_give(&t->room, known->runs[i].first, known->runs[i].count,
					    now);
		known->runs[i] = (struct page_run){0};
	}
	known->state = FILE_UNASKED;
}

/* Somebody may look at the entry, whose source comes last. */
static void put_entry(struct kernel_file *entry, const struct kernel_file *file)
{
	struct kernel_file sourceless = *file;

	sourceless.source = BOBBIN_SOURCE_NONE;
	*entry = sourceless;
	__atomic_store_n(&entry->source, file->source, __ATOMIC_SEQ_CST);
}

/* From the last table to the first, whose entry is the file's. */
static bool add_file(struct bpf_tables *t, uint32_t number, struct module *module,
		     const struct section_tables *made)
{
	struct known_file *known = &t->known[number];
	uint32_t next = KERNEL_NO_FILE, first;

	if (!take_entries(t, number, known, made->count))
		return false;
	/* the last one is the file's, however many there are */
	first = known->entry_count - made->count;
	for (unsigned int i = 0; i < made->count; i++) {
		const struct section_table *table = &made->list[made->count - 1 - i];
		struct kernel_file file = {
			.source = (uint8_t)table->source,
			.eh_returns = module->tables.eh_returns,
			.resort = !i && made->whole && has_no_sidefile(module),
			.next = next,
		};

		find_entry(module, table, &file);
		if (!place_table(t, table->data, table->size, &known->runs[first + i],
				 &file.table)) {
			drop_tables(t, known);
			return false;
		}
		next = known->entry + first + i;
		put_entry(&t->files[next], &file);
	}
	return true;
}

static enum file_state ask_table(struct bpf_tables *t, uint32_t file, struct module *module)
{
	const struct wanted_table wanted = {
		.module = module,
		.file = file,
		.limit = (uint64_t)t->room.free * KERNEL_PAGE,
	};

	if (!section_tables_possible(module))
		return FILE_WITHOUT;
	if (!wanted.limit || t->file_count == KERNEL_FILES) {
		t->roomless++;
		return FILE_ROOMLESS;
	}
	module->asked = true;
	return table_workers_ask(t->maker, &wanted) ? FILE_WITHOUT : FILE_TO_COME;
}

static void take_file(struct bpf_tables *tables, const struct wanted_table *w)
{
	bool added = !w->error && add_file(tables, w->file, w->module, &w->made);
	bool roomless = w->error == -E2BIG || (!w->error && !added);

	tables->known[w->file].state = added      ? FILE_PLACED
				       : roomless ? FILE_ROOMLESS
						  : FILE_WITHOUT;
	tables->taken++;
	tables->roomless += roomless;
	module_rest(w->module);
}

void bpf_tables_take(struct bpf_tables *tables, bool wait)
{
	struct wanted_table w;

	while (table_workers_take(tables->maker, wait, &w)) {
		if (w.section)
			bpf_code_take(tables->code, &w);
		else
			take_file(tables, &w);
		section_tables_fini(&w.made);
		remote_table_release(w.section);
	}
}

static void note_named(void *ctx, const struct known_list *list)
{
	struct bpf_tables *t = ctx;

	for (uint32_t i = 0; i < list->list.count; i++) {
		const struct kernel_mapping *m = &list->entries[i];
		/* the file below registered code is asked, too */
		uint32_t file = bpf_code_has(m->file) ? m->under : m->file;

		if (file < t->file_count)
			t->known[t->owners[file]].named = true;
	}
}

/* The one that was not used for longest, or NULL. */
static struct known_file *find_unused(struct bpf_tables *t, uint64_t now)
{
	struct known_file *oldest = NULL;

	for (size_t i = 0; i < t->known_count; i++) {
		struct known_file *known = &t->known[i];

		if (known->state == FILE_PLACED && !known->named && now - known->used > UNUSED_NS &&
		    (!oldest || known->used < oldest->used))
			oldest = known;
	}
	return oldest;
}

/* Those for which there was no room are asked for again, when they are mapped or followed. */
static void try_again(struct bpf_tables *t)
{
	for (size_t i = 0; i < t->known_count; i++)
		if (t->known[i].state == FILE_ROOMLESS)
			t->known[i].state = FILE_UNASKED;
	t->taken++;
}

void bpf_tables_make_room(struct bpf_tables *tables, const struct bpf_lists *lists)
{
	uint64_t now = clock_now();
	struct known_file *unused;

	if (page_allocator_wake(&tables->room, now))
		try_again(tables);
	if (tables->room.free >= FREE_PAGES || now - tables->looked < LOOK_NS)
		return;
	tables->looked = now;
	for (size_t i = 0; i < tables->known_count; i++)
		tables->known[i].named = false;
	bpf_lists_visit(lists, note_named, tables);
	while (tables->room.free < FREE_PAGES && (unused = find_unused(tables, now)))
		drop_tables(tables, unused);
}

/* NULL without memory. */
static struct known_file *file_of(struct bpf_tables *t, const struct mapped_file *file,
				  struct module *module)
{
	struct known_file *known;

	if (vector_reserve(&t->known, &t->known_room, (size_t)file->number + 1, sizeof(*t->known)))
		return NULL;
	while (t->known_count <= file->number)
		t->known[t->known_count++] = (struct known_file){0};
	known = &t->known[file->number];
	known->used = clock_now();
	if (known->state == FILE_UNASKED)
		known->state = ask_table(t, file->number, module);
	return known;
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

bool bpf_tables_mapping(struct bpf_tables *tables, const struct mapping *mapping,
			struct kernel_mapping *ret)
{
	bool bare = mapping->file->kind == FILE_NONE;
	struct module *module = bare ? NULL : unwinder_file_module(tables->unwinder, mapping->file);
	const struct known_file *known = NULL;

	*ret = (struct kernel_mapping){
		.start = mapping->start,
		.end = mapping->end,
		.file = bare ? KERNEL_BARE : KERNEL_NO_FILE,
		.under = KERNEL_NO_FILE,
	};
	if (module && find_bias(&module->image, mapping, &ret->bias))
		known = file_of(tables, mapping->file, module);
	if (!known)
		return true;
	if (known->state == FILE_PLACED)
		ret->file = known->entry + known->entry_count - 1;
	return known->state != FILE_TO_COME && known->state != FILE_ROOMLESS;
}

/* For all of its code; false: there is not one. */
static bool find_delta(const struct elf_image *image, uint64_t *ret)
{
	bool found = false;

	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *s = &image->segments[i];

		if (s->exec && found && s->offset - s->vaddr != *ret)
			return false;
		if (s->exec)
			*ret = s->offset - s->vaddr;
		found |= s->exec;
	}
	return found;
}

bool bpf_tables_inode_file(struct bpf_tables *tables, const struct mapping *mapping,
			   struct kernel_inode_file *ret)
{
	struct kernel_mapping known;
	const struct module *module;

	if (!bpf_tables_mapping(tables, mapping, &known) || known.file >= KERNEL_FILES)
		return false;
	module = unwinder_file_module(tables->unwinder, mapping->file);
	ret->file = known.file;
	return module && find_delta(&module->image, &ret->delta);
}
