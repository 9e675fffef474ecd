/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/bpf_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpfwalk/jit_snapshot.h"
#include "bpfwalk/table_place.h"

/* Of a section that is made a table. */
#define SECTION_MAX (16u << 20)
/* Numbers of files end before those that say something else. */
#define LAST_FILE (KERNEL_SILENT - 1)

static struct code_slot *slot_of(struct bpf_code *code, uint32_t file)
{
	return &code->slots[(file - KERNEL_FILES) % KERNEL_CODE_FILES];
}

static uint32_t slot_index(const struct bpf_code *code, const struct code_slot *slot)
{
	return (uint32_t)(slot - code->slots);
}

static void free_slot(struct bpf_code *code, struct code_slot *slot)
{
	memset(code->page_used + slot->page, 0, slot->page_count);
	*slot = (struct code_slot){0};
}

/* The next number whose slot is free; NULL: there is none. */
static struct code_slot *take_slot(struct bpf_code *code)
{
	uint32_t file = code->last_file < KERNEL_FILES ? KERNEL_FILES - 1 : code->last_file;

	for (uint32_t i = 0; i < KERNEL_CODE_FILES && file < LAST_FILE; i++) {
		struct code_slot *slot = slot_of(code, ++file);

		if (slot->state != CODE_FREE)
			continue;
		code->last_file = file;
		slot->file = file;
		return slot;
	}
	code->roomless += !code->wants_room;
	code->wants_room = true;
	return NULL;
}

static bool take_pages(struct bpf_code *code, struct code_slot *slot, uint32_t count)
{
	uint32_t free = 0;

	for (uint32_t i = 0; i < KERNEL_CODE_PAGES && free < count; i++) {
		free = code->page_used[i] ? 0 : free + 1;
		slot->page = i + 1 - free;
	}
	if (free < count)
		return false;
	slot->page_count = count;
	memset(code->page_used + slot->page, 1, count);
	return true;
}

static struct code_slot *find_slot(struct bpf_code *code, const uint8_t key[CONTENT_DIGEST_SIZE])
{
	for (uint32_t i = 0; i < KERNEL_CODE_FILES; i++)
		if (code->slots[i].state != CODE_FREE &&
		    !memcmp(code->slots[i].key, key, CONTENT_DIGEST_SIZE))
			return &code->slots[i];
	return NULL;
}

static void key_of_section(const struct elf_bytes *section, uint8_t ret[CONTENT_DIGEST_SIZE])
{
	struct content_digest d;

	content_digest_init(&d);
	/* JIT tables begin with another number */
	content_digest_u64(&d, BOBBIN_SOURCE_SFRAME);
	content_digest_add(&d, section->data, section->size);
	content_digest_get(&d, ret);
}

/* A slot for a section, whose table is asked for; NULL: there is no room. */
static struct code_slot *ask_table(struct bpf_code *code, struct remote_table *table,
				   const uint8_t key[CONTENT_DIGEST_SIZE])
{
	struct code_slot *slot = take_slot(code);
	struct wanted_table wanted = {
		.limit = (uint64_t)KERNEL_CODE_PAGES * KERNEL_PAGE,
		.section = table,
	};

	if (!slot)
		return NULL;
	memcpy(slot->key, key, sizeof(slot->key));
	wanted.file = slot->file;
	slot->state = CODE_REFUSED;
	remote_table_share(table);
	if (!table_workers_ask(code->maker, &wanted))
		slot->state = CODE_TO_COME;
	else
		remote_table_release(table);
	return slot;
}

/* Whether a table is a section, and nothing more, that may be asked. */
static bool is_section(const struct remote_range *range)
{
	const struct remote_table *table = range->table;

	return !range->debugger_image && !table->jit.mem.read && !table->frames.data &&
	       table->section.data && table->section.size <= SECTION_MAX;
}

/* The slot that a table was given last; NULL: none, or it is another one's now. */
static struct code_slot *known_slot(struct bpf_code *code, const struct remote_table *table)
{
	struct code_slot *slot = table->walk_file ? slot_of(code, table->walk_file) : NULL;

	return slot && slot->file == table->walk_file ? slot : NULL;
}

static struct code_slot *section_slot(struct bpf_code *code, struct remote_table *table)
{
	uint8_t key[CONTENT_DIGEST_SIZE];
	struct code_slot *slot = known_slot(code, table);

	if (slot)
		return slot;
	key_of_section(&table->section, key);
	slot = find_slot(code, key);
	if (!slot)
		slot = ask_table(code, table, key);
	table->walk_file = slot ? slot->file : 0;
	return slot;
}

/* A table is copied to the map; @file says what else is to be known of it. */
static enum code_state place(struct bpf_code *code, struct code_slot *slot, const uint8_t *data,
			     uint64_t size, struct kernel_file file)
{
	file.next = KERNEL_NO_FILE;
	file.registered = true;
	if (!take_pages(code, slot, (uint32_t)table_pages(size))) {
		code->wants_room = true;
		code->roomless++;
		return CODE_ROOMLESS;
	}
	if (size && !table_place(code->pages, KERNEL_PAGES + slot->page, data, size, &file.table))
		return CODE_REFUSED;
	code->files[KERNEL_FILES + slot_index(code, slot)] = file;
	return CODE_PLACED;
}

/* A slot with what a JIT table says now; NULL: there is no room, or it makes no sense. */
static struct code_slot *copy_jit_table(struct bpf_code *code, struct remote_table *table)
{
	struct kernel_file file = {.source = BOBBIN_SOURCE_JIT};
	struct code_slot *slot;
	struct jit_snapshot now;
	int r = jit_snapshot_make(&table->jit, table->tables.arch,
				  (uint64_t)KERNEL_CODE_PAGES * KERNEL_PAGE, &now);

	table->walk_file = 0;
	/* without memory it is tried again, and without a slot */
	if (r == -ENOMEM)
		table->walk_tail = 0;
	if (r)
		return NULL;
	slot = find_slot(code, now.key);
	if (!slot)
		slot = take_slot(code);
	if (slot && slot->state == CODE_FREE) {
		memcpy(slot->key, now.key, sizeof(slot->key));
		file.tail = now.tail;
		file.used = now.used;
		slot->state = place(code, slot, now.data, now.size, file);
	}
	table->walk_file = slot ? slot->file : 0;
	table->walk_tail = slot ? now.tail : 0;
	table->walk_used = now.used;
	free(now.data);
	return slot;
}

/* The same; a table that has not grown is not read again, also if that was in vain. */
static struct code_slot *jit_slot_of(struct bpf_code *code, struct remote_table *table)
{
	struct code_slot *slot = known_slot(code, table);
	uint64_t tail, used;

	if (jit_snapshot_tail(&table->jit, &tail, &used))
		return NULL;
	if (table->walk_tail && tail == table->walk_tail && used == table->walk_used &&
	    (slot || !table->walk_file))
		return slot;
	table->walk_tail = tail;
	table->walk_used = used;
	return copy_jit_table(code, table);
}

static bool is_jit(const struct remote_range *range)
{
	return range->table->jit.mem.read && !range->debugger_image;
}

/* @slot: of the range's table, or NULL. */
static void describe(const struct code_slot *slot, const struct remote_range *range, uint32_t *file,
		     uint64_t *bias)
{
	const struct remote_table *table = range->table;

	*file = KERNEL_NO_FILE;
	*bias = 0;
	if (!slot || (slot->state != CODE_PLACED && slot->state != CODE_SILENT))
		return;
	*file = slot->state == CODE_SILENT ? KERNEL_SILENT : slot->file;
	*bias = (is_jit(range) ? table->jit.info.text_start : table->section.addr) -
		SECTION_TABLE_ADDR;
}

bool bpf_code_file(struct bpf_code *code, const struct remote_range *range, uint32_t *ret,
		   uint64_t *bias)
{
	const struct code_slot *slot = NULL;
	bool whole = true;

	range->table->walk_asked = true;
	if (is_jit(range)) {
		slot = jit_slot_of(code, range->table);
	} else if (is_section(range)) {
		slot = section_slot(code, range->table);
		whole = slot && slot->state != CODE_TO_COME;
	}
	describe(slot, range, ret, bias);
	return whole && !(slot && slot->state == CODE_ROOMLESS);
}

void bpf_code_known_file(struct bpf_code *code, const struct remote_range *range, uint32_t *ret,
			 uint64_t *bias)
{
	bool served = is_jit(range) || is_section(range);

	if (!range->table->walk_asked)
		bpf_code_file(code, range, ret, bias);
	describe(served ? known_slot(code, range->table) : NULL, range, ret, bias);
}

void bpf_code_take(struct bpf_code *code, const struct wanted_table *wanted)
{
	struct code_slot *slot = slot_of(code, wanted->file);

	code->changes++;
	if (wanted->error)
		slot->state = wanted->error == -ENODATA ? CODE_SILENT : CODE_REFUSED;
	else
		slot->state = place(code, slot, wanted->made.list[0].data,
				    wanted->made.list[0].size,
				    (struct kernel_file){.source = BOBBIN_SOURCE_SFRAME});
}

static void note_named(void *ctx, const struct known_list *list)
{
	struct bpf_code *code = ctx;

	for (uint32_t i = 0; i < list->list.count; i++)
		if (bpf_code_has(list->entries[i].file))
			slot_of(code, list->entries[i].file)->named = true;
}

/* How many were freed. */
static unsigned int free_state(struct bpf_code *code, enum code_state state)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < KERNEL_CODE_FILES; i++) {
		struct code_slot *slot = &code->slots[i];

		if (slot->state != state || slot->named)
			continue;
		free_slot(code, slot);
		count++;
	}
	return count;
}

void bpf_code_make_room(struct bpf_code *code, const struct bpf_lists *lists)
{
	if (!code->wants_room)
		return;
	code->wants_room = false;
	bpf_lists_visit(lists, note_named, code);
	if (free_state(code, CODE_PLACED) + free_state(code, CODE_SILENT) +
	    free_state(code, CODE_REFUSED)) {
		/* who found none may try again */
		free_state(code, CODE_ROOMLESS);
		code->changes++;
	}
	for (uint32_t i = 0; i < KERNEL_CODE_FILES; i++)
		code->slots[i].named = false;
}
