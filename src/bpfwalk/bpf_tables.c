/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/bpf_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "bpfwalk/section_tables.h"
#include "unwind/module.h"
#include "unwind/unwinder.h"

/* Larger registered sections are not compiled. */
#define SECTION_MAX (16u << 20)
/* Of more bytes one table is made at a time: of call-frame information that takes six times as much. */
#define LARGE (1u << 20)

/**
 * struct wanted_table - the tables of a file, or of a registered section
 * @module: of the file; it lives as long as the workers
 * @section: instead of a file; it is shared
 * @file: number of the file
 * @number: of the slot
 * @limit: bytes that the tables may have
 * @error: 0, or why there are none
 */
struct wanted_table {
	struct walk_job job; /* first */
	struct module *module;
	struct remote_table *section;
	uint32_t file, number;
	uint64_t limit;
	int error;
	struct section_tables made;
};

static void build(struct walk_job *job)
{
	struct wanted_table *w = (struct wanted_table *)job;

	if (w->section)
		w->error = section_tables_init_bare(&w->section->section, w->limit, &w->made);
	else
		w->error = section_tables_init(w->module, w->limit, &w->made);
}

static void drop(struct walk_job *job)
{
	struct wanted_table *w = (struct wanted_table *)job;

	section_tables_fini(&w->made);
	remote_table_release(w->section);
	free(w);
}

/* The slot's state then. */
static enum slot_state ask(struct bpf_tables *t, const struct wanted_table *wanted)
{
	struct wanted_table *w = malloc(sizeof(*w));

	if (!w)
		return SLOT_REFUSED;
	*w = *wanted;
	w->job = (struct walk_job){
		.run = build,
		.drop = drop,
		.large = w->module && w->module->cfi_bytes + w->module->go.size > LARGE,
	};
	if (w->section)
		remote_table_share(w->section);
	walk_workers_ask(t->workers, &w->job);
	return SLOT_TO_COME;
}

int bpf_tables_init(struct bpf_tables *tables)
{
	int r = table_store_init(&tables->store);

	return r ? r : walk_workers_open(&tables->workers);
}

void bpf_tables_fini(struct bpf_tables *tables)
{
	walk_workers_close(tables->workers);
	table_store_fini(&tables->store);
	free(tables->of_files);
	free(tables->list);
	*tables = (struct bpf_tables){0};
}

/* From the last table to the first.  The number of the first, or of one that found no room, or 0. */
static uint32_t put_file(struct bpf_tables *t, struct module *module,
			 const struct section_tables *made)
{
	uint32_t next = KERNEL_NO_FILE;

	for (unsigned int i = 0; i < made->count; i++) {
		const unsigned int at = made->count - 1 - i;
		struct kernel_file file = {.next = next};
		const struct table_slot *slot;

		section_tables_describe(made, at, module, &file);
		slot = table_store_put(&t->store, &made->list[at], &file, false);
		next = slot ? slot->number : 0;
		if (!slot || slot->state != SLOT_PLACED)
			break;
	}
	return next;
}

static void take_file(struct bpf_tables *t, const struct wanted_table *w, struct table_slot *slot)
{
	if (w->error == -E2BIG) {
		slot->state = SLOT_ROOMLESS;
		t->store.roomless++;
	} else {
		table_store_free(&t->store, slot);
		t->of_files[w->file].first = w->error ? KERNEL_NO_FILE
						      : put_file(t, w->module, &w->made);
		t->of_files[w->file].empty = w->error == -ENODATA;
	}
	w->module->compiling = false;
	module_rest(w->module);
}

static void take_section(struct bpf_tables *t, const struct wanted_table *w,
			 struct table_slot *slot)
{
	const struct kernel_file file = {.source = BOBBIN_SOURCE_SFRAME, .next = KERNEL_NO_FILE};

	if (w->error)
		slot->state = w->error == -ENODATA ? SLOT_SILENT : SLOT_REFUSED;
	else
		slot->state = table_store_place(&t->store, slot, &w->made.list[0], &file);
}

/*
 * A file that no table covers, or whose tables are there, without inferred rules, unless there was no
 * room for these and none has been found since.
 */
static bool is_extensible(struct bpf_tables *t, const struct file_tables *file)
{
	const struct table_slot *slot;

	if (file->extended || file->tried == 1 + t->store.found)
		return false;
	if (file->first == KERNEL_NO_FILE)
		return file->empty;
	slot = table_store_find(&t->store, file->first);
	return slot && slot->state == SLOT_PLACED;
}

/* Have what was inferred asked after a file's other tables. */
static void put_inferred(struct bpf_tables *t, struct file_tables *file,
			 const struct kept_table *inferred)
{
	struct kernel_file entry = {.next = KERNEL_NO_FILE};
	struct section_tables tables;
	struct table_slot *slot;

	section_tables_of_code(inferred, &tables);
	section_tables_describe(&tables, 0, file->module, &entry);
	/* somebody else is asked before */
	if (!entry.resort)
		return;
	slot = table_store_put(&t->store, &tables.list[0], &entry, false);
	if (slot && slot->state == SLOT_PLACED && file->first != KERNEL_NO_FILE)
		slot = table_store_extend(&t->store, file->first, slot->number);
	if (!slot || slot->state != SLOT_PLACED)
		return;
	slot->before = file->first;
	file->first = slot->number;
	file->extended = true;
	t->extended++;
}

static void take_inferred(struct bpf_tables *t)
{
	const uint64_t news = t->unwinder->inferred + t->taken + t->store.found;

	if (news == t->looked)
		return;
	t->looked = news;
	for (size_t i = 0; i < t->of_file_count; i++) {
		struct file_tables *file = &t->of_files[i];
		const struct kept_table *inferred =
			file->module ? inferred_rules_made(&file->module->inferred) : NULL;

		if (!inferred || !is_extensible(t, file))
			continue;
		file->tried = 1 + t->store.found;
		put_inferred(t, file, inferred);
	}
}

bool bpf_tables_replaced(struct bpf_tables *tables, uint32_t number, uint32_t before)
{
	const struct table_slot *slot = table_store_find(&tables->store, number);

	return slot && slot->before && slot->before == before;
}

void bpf_tables_take(struct bpf_tables *tables, bool wait)
{
	struct walk_job *job;

	while ((job = walk_workers_take(tables->workers, wait))) {
		const struct wanted_table *w = (const struct wanted_table *)job;
		struct table_slot *slot = table_store_find(&tables->store, w->number);

		if (w->section)
			take_section(tables, w, slot);
		else
			take_file(tables, w, slot);
		tables->taken++;
		drop(job);
	}
	take_inferred(tables);
}

static enum slot_state ask_file(struct bpf_tables *t, uint32_t file, struct module *module)
{
	struct wanted_table wanted = {
		.module = module,
		.file = file,
		.limit = table_store_left(&t->store),
	};
	struct table_slot *slot;

	t->of_files[file] = (struct file_tables){
		.first = KERNEL_NO_FILE, .module = module, .empty = section_tables_none(module)};
	if (!section_tables_possible(module))
		return SLOT_REFUSED;
	slot = table_store_take(&t->store, false);
	t->of_files[file].first = slot ? slot->number : 0;
	if (!slot)
		return SLOT_ROOMLESS;
	wanted.number = slot->number;
	if (!wanted.limit) {
		t->store.roomless++;
		return slot->state = SLOT_ROOMLESS;
	}
	module->asked = true;
	slot->state = ask(t, &wanted);
	module->compiling = slot->state == SLOT_TO_COME;
	return slot->state;
}

/* What is known of a file's tables, which are in use. */
static enum slot_state file_state(struct bpf_tables *t, const struct mapped_file *file,
				  struct module *module)
{
	const struct table_slot *slot;
	uint32_t number;

	if (vector_reserve(&t->of_files, &t->of_file_room, (size_t)file->number + 1,
			   sizeof(*t->of_files)))
		return SLOT_REFUSED;
	while (t->of_file_count <= file->number)
		t->of_files[t->of_file_count++] = (struct file_tables){0};
	number = t->of_files[file->number].first;
	if (number == KERNEL_NO_FILE)
		return SLOT_REFUSED;
	slot = table_store_find(&t->store, number);
	table_store_use(&t->store, number);
	return slot ? slot->state : ask_file(t, file->number, module);
}

bool image_delta(const struct elf_image *image, uint64_t start, uint64_t end, uint64_t *ret)
{
	bool found = false;

	*ret = 0;
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *s = &image->segments[i];
		uint64_t delta = s->offset - s->vaddr;

		if (!s->exec || s->offset >= end || s->offset + s->filesz <= start)
			continue;
		if (found && delta != *ret)
			return false;
		*ret = delta;
		found = true;
	}
	return found;
}

bool bpf_tables_mapping(struct bpf_tables *tables, const struct mapping *mapping,
			struct kernel_mapping *ret)
{
	uint64_t size = mapping->end - mapping->start, delta;
	bool bare = mapping->file->kind == FILE_NONE;
	struct module *module = bare ? NULL : unwinder_file_module(tables->unwinder, mapping->file);
	enum slot_state state;

	*ret = (struct kernel_mapping){
		.start = mapping->start,
		.end = mapping->end,
		.file = bare ? KERNEL_BARE : KERNEL_NO_FILE,
		.under = KERNEL_NO_FILE,
	};
	if (!module ||
	    !image_delta(&module->image, mapping->offset, mapping->offset + size, &delta))
		return true;
	ret->bias = mapping->start - mapping->offset + delta;
	state = file_state(tables, mapping->file, module);
	if (state == SLOT_PLACED)
		ret->file = tables->of_files[mapping->file->number].first;
	return state != SLOT_TO_COME && state != SLOT_ROOMLESS;
}

static void key_of_section(const struct elf_bytes *section, uint8_t ret[CONTENT_DIGEST_SIZE])
{
	struct content_digest d;

	content_digest_init(&d);
	content_digest_u64(&d, BOBBIN_SOURCE_NONE);
	content_digest_add(&d, section->data, section->size);
	content_digest_get(&d, ret);
}

/* Have a registered section's table built; NULL: there is no slot. */
static struct table_slot *ask_section(struct bpf_tables *t, struct remote_table *table,
				      const uint8_t key[CONTENT_DIGEST_SIZE])
{
	struct table_slot *slot = table_store_take(&t->store, true);
	struct wanted_table wanted = {
		.limit = (uint64_t)KERNEL_CODE_PAGES * KERNEL_PAGE,
		.section = table,
	};

	if (!slot)
		return NULL;
	memcpy(slot->key, key, sizeof(slot->key));
	wanted.number = slot->number;
	slot->state = ask(t, &wanted);
	return slot;
}

static struct table_slot *section_slot(struct bpf_tables *t, struct remote_table *table)
{
	struct table_slot *slot = table_store_find(&t->store, table->walk_file);
	uint8_t key[CONTENT_DIGEST_SIZE];

	if (slot)
		return slot;
	key_of_section(&table->section, key);
	slot = table_store_find_key(&t->store, key);
	if (!slot)
		slot = ask_section(t, table, key);
	table->walk_file = slot ? slot->number : 0;
	return slot;
}

/* A slot with what a JIT table says now; NULL: there is none, or it makes no sense. */
static struct table_slot *copy_jit_table(struct bpf_tables *t, struct remote_table *table)
{
	struct kernel_file file = {.source = BOBBIN_SOURCE_JIT, .next = KERNEL_NO_FILE};
	struct table_slot *slot = NULL;
	struct section_table now;
	int r = section_tables_of_jit(&table->jit, table->tables.arch, &now, &file);

	if (!r) {
		slot = table_store_put(&t->store, &now, &file, true);
		free(now.own);
	}
	table->walk_file = slot ? slot->number : 0;
	if (slot) {
		table->walk_tail = file.tail;
		table->walk_used = file.used;
	} else if (!r || r == -ENOMEM) {
		/* without memory or a slot it is tried again */
		table->walk_tail = 0;
	}
	return slot;
}

/* The same; a table that has not grown is not read again, also if that was in vain. */
static struct table_slot *jit_slot(struct bpf_tables *t, struct remote_table *table)
{
	struct table_slot *slot = table_store_find(&t->store, table->walk_file);
	uint64_t tail, used;

	if (section_tables_jit_end(&table->jit, &tail, &used))
		return NULL;
	if (table->walk_tail && tail == table->walk_tail && used == table->walk_used &&
	    (slot || !table->walk_file))
		return slot;
	table->walk_tail = tail;
	table->walk_used = used;
	return copy_jit_table(t, table);
}

static bool is_jit(const struct remote_range *range)
{
	return range->table->jit.mem.read && !range->debugger_image;
}

/* Whether a table is a section, and nothing more, that may be asked. */
static bool is_section(const struct remote_range *range)
{
	const struct remote_table *table = range->table;

	return !range->debugger_image && !table->jit.mem.read && !table->hotspot &&
	       !table->frames.data && table->section.data && table->section.size <= SECTION_MAX;
}

/* @slot: of the range's table, or NULL; nothing is known of an address that is silent. */
static void put_over(const struct table_slot *slot, const struct remote_range *range,
		     struct kernel_mapping *entry)
{
	const struct remote_table *table = range->table;
	bool placed = slot && slot->state == SLOT_PLACED;

	if (slot && slot->state == SLOT_SILENT)
		return;
	entry->under = entry->file;
	entry->under_bias = entry->bias;
	entry->file = placed ? slot->number : KERNEL_NO_FILE;
	entry->bias = placed ? (is_jit(range) ? table->jit.info.text_start : table->section.addr) -
				       SECTION_TABLE_ADDR
			     : 0;
}

/*
 * Put registered code over the entry of what is mapped there.  @ask: find out what its table is
 * now; else that is done only once, for a new one.  false: the table is to come.
 */
static bool registered_entry(struct bpf_tables *tables, const struct remote_range *range, bool ask,
			     struct kernel_mapping *entry)
{
	struct remote_table *table = range->table;
	const bool jit = is_jit(range), served = jit || is_section(range);
	struct table_slot *slot = served ? table_store_find(&tables->store, table->walk_file)
					 : NULL;

	if (served && (ask || !table->walk_asked))
		slot = jit ? jit_slot(tables, table) : section_slot(tables, table);
	table->walk_asked = true;
	put_over(slot, range, entry);
	if (!served)
		return true;
	if (!slot)
		return jit;
	return slot->state != SLOT_TO_COME && slot->state != SLOT_ROOMLESS;
}

/* @mapping may be NULL. */
static struct kernel_mapping mapped_entry(struct bpf_tables *t, const struct mapping *mapping)
{
	struct kernel_mapping entry = {.file = KERNEL_NO_FILE, .under = KERNEL_NO_FILE};

	if (mapping && !bpf_tables_mapping(t, mapping, &entry))
		t->whole = false;
	return entry;
}

/* The entry where @mapping and @range overlap; one of them may be NULL. */
static struct kernel_mapping entry_of(struct bpf_tables *t, const struct mapping *mapping,
				      const struct remote_range *range)
{
	struct kernel_mapping entry = mapped_entry(t, mapping);

	if (!range || !remote_range_serves(range))
		return entry;
	if (!registered_entry(t, range, true, &entry))
		t->whole = false;
	t->grows |= range->table->jit.mem.read != NULL;
	return entry;
}

static int add_entry(struct bpf_tables *t, uint64_t start, uint64_t end,
		     struct kernel_mapping entry)
{
	if (t->list_count == KERNEL_LIST_MAX)
		return -E2BIG;
	entry.start = start;
	entry.end = end;
	return vector_push(t->list, t->list_count, t->list_room, entry);
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int bpf_tables_make_list(struct bpf_tables *tables, const struct bobbin_space *space)
{
	const struct mapping *m = space->maps.list, *last = m + space->maps.count;
	const struct remote_range *r = NULL, *last_range = NULL;
	uint64_t at = 0;
	int error = 0;

	tables->list_count = 0;
	tables->whole = true;
	tables->grows = false;
	if (space->remote) {
		r = space->remote->ranges;
		last_range = r + space->remote->count;
	}
	while (!error && (m < last || r < last_range)) {
		uint64_t mapped = m < last ? m->start : UINT64_MAX;
		uint64_t registered = r < last_range ? r->start : UINT64_MAX;
		uint64_t end = UINT64_MAX;

		if (at < lower(mapped, registered))
			at = lower(mapped, registered);
		if (m < last)
			end = at < mapped ? mapped : m->end;
		if (r < last_range)
			end = lower(end, at < registered ? registered : r->end);
		error = add_entry(
			tables, at, end,
			entry_of(tables, at < mapped ? NULL : m, at < registered ? NULL : r));
		at = end;
		m += m < last && m->end <= at;
		r += r < last_range && r->end <= at;
	}
	return error;
}

bool bpf_tables_entry_at(struct bpf_tables *tables, struct bobbin_space *space, uint64_t addr,
			 struct kernel_mapping *ret)
{
	const struct remote_range *range = remote_code_find(space->remote, addr);
	const struct mapping *mapping = space_find(space, addr);

	if (!range && !mapping)
		return false;
	*ret = mapped_entry(tables, mapping);
	if (range && remote_range_serves(range))
		registered_entry(tables, range, false, ret);
	return true;
}
