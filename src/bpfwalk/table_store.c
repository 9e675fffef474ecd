/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/table_store.h"

#include <string.h>

#include "base/clock.h"
#include "table/compiled_table.h"

/* Room is short when files have fewer pages left, and is not looked for more often than that. */
#define FREE_PAGES ((KERNEL_PAGES - KERNEL_CODE_PAGES) / 4)
#define LOOK_NS 1000000000ull
/* Without a list, who maps a file is known from records, which are some ten milliseconds late. */
#define UNUSED_NS 2000000000ull

int table_store_init(struct table_store *store)
{
	return map_allocator_init(KERNEL_PAGES, &store->room);
}

void table_store_fini(struct table_store *store)
{
	map_allocator_fini(&store->room);
}

static struct kernel_file *entry_of(const struct table_store *s, uint32_t number)
{
	return &s->files[kernel_file_index(number)];
}

struct table_slot *table_store_find(struct table_store *s, uint32_t number)
{
	struct table_slot *slot = &s->slots[kernel_file_index(number)];

	return slot->state != SLOT_FREE && slot->number == number ? slot : NULL;
}

struct table_slot *table_store_find_key(struct table_store *s,
					const uint8_t key[CONTENT_DIGEST_SIZE])
{
	for (uint32_t i = 0; i < s->slot_end; i++)
		if (s->slots[i].state != SLOT_FREE &&
		    !memcmp(s->slots[i].key, key, CONTENT_DIGEST_SIZE))
			return &s->slots[i];
	return NULL;
}

/* Who found a file's table before it was dropped may still walk by it. */
static bool can_be_taken(const struct table_slot *slot, uint64_t now)
{
	return slot->state == SLOT_FREE && now - slot->used >= MAP_REST_NS;
}

/* The next number whose slot is free. */
struct table_slot *table_store_take(struct table_store *s, bool registered)
{
	uint32_t number = s->last_number, left = KERNEL_FILES;
	uint64_t now = clock_now();
	struct table_slot *slot;

	if (registered && s->code_slots == KERNEL_CODE_FILES)
		left = 0;
	for (; left && ++number < KERNEL_REGISTERED; left--) {
		slot = &s->slots[kernel_file_index(number)];
		if (!can_be_taken(slot, now))
			continue;
		*slot = (struct table_slot){.number = number, .state = SLOT_TO_COME, .used = now};
		slot->number |= registered ? KERNEL_REGISTERED : 0;
		s->last_number = number;
		s->code_slots += registered;
		if (s->slot_end <= kernel_file_index(number))
			s->slot_end = kernel_file_index(number) + 1;
		return slot;
	}
	s->roomless += !s->wants_room;
	s->wants_room = true;
	return NULL;
}

/*
 * Who walks by registered code sees after the walk that the list of mappings was replaced.  The
 * lists that the kernel makes of files do not show that, so a file's slot and pages rest.
 */
void table_store_free(struct table_store *s, struct table_slot *slot)
{
	bool registered = kernel_is_registered(slot->number);
	uint64_t now = clock_now();

	__atomic_store_n(&entry_of(s, slot->number)->number, 0, __ATOMIC_SEQ_CST);
	if (registered) {
		s->code_slots--;
		s->code_pages -= slot->run.count;
		map_allocator_give_now(&s->room, slot->run);
	} else {
		map_allocator_give(&s->room, slot->run, now);
	}
	*slot = (struct table_slot){.used = registered ? 0 : now};
}

/* Registered code cannot take more than its share, nor can files. */
static uint32_t pages_left(const struct table_store *s, bool registered)
{
	uint32_t reserved = KERNEL_CODE_PAGES - s->code_pages;

	if (registered)
		return reserved;
	return s->room.free > reserved ? s->room.free - reserved : 0;
}

uint64_t table_store_left(const struct table_store *s)
{
	return (uint64_t)pages_left(s, false) * KERNEL_PAGE;
}

/* A part of a table, by its place in the map of pages. */
static const uint8_t *placed(const uint8_t *part, const uint8_t *data, uint64_t at)
{
	return (const uint8_t *)((uintptr_t)(part - data) + (uintptr_t)at);
}

/* Copy a table to its pages; @ret: as the program in the kernel finds it. */
static bool copy_table(uint8_t *pages, uint32_t page, const struct section_table *from,
		       struct compiled_table *ret)
{
	uint64_t at = (uint64_t)page * KERNEL_PAGE;
	struct compiled_table table;

	if (compiled_table_init(from->data, from->size, NULL, &table))
		return false;
	memcpy(pages + at, from->data, from->size);
	table.pairs = placed(table.pairs, from->data, at);
	table.words = placed(table.words, from->data, at);
	table.wide = placed(table.wide, from->data, at);
	table.index = placed(table.index, from->data, at);
	table.blocks = placed(table.blocks, from->data, at);
	/* these are user space's alone */
	table.beginners = table.build_id = NULL;
	table.arch = NULL;
	*ret = table;
	return true;
}

static bool take_pages(struct table_store *s, struct table_slot *slot, uint64_t count)
{
	bool registered = kernel_is_registered(slot->number);

	if (count > pages_left(s, registered) ||
	    !map_allocator_take(&s->room, (uint32_t)count, &slot->run.first)) {
		s->wants_room |= registered;
		s->roomless++;
		return false;
	}
	slot->run.count = (uint32_t)count;
	s->code_pages += registered ? slot->run.count : 0;
	return true;
}

enum slot_state table_store_place(struct table_store *s, struct table_slot *slot,
				  const struct section_table *table, const struct kernel_file *file)
{
	struct kernel_file *entry = entry_of(s, slot->number), new = *file;

	if (table->size) {
		if (!take_pages(s, slot, (table->size + KERNEL_PAGE - 1) / KERNEL_PAGE))
			return SLOT_ROOMLESS;
		if (!copy_table(s->pages, slot->run.first, table, &new.table))
			return SLOT_REFUSED;
	}
	/* somebody may look at the entry, whose number comes last */
	new.number = 0;
	slot->size = table->size;
	memcpy(slot->digest, table->digest, sizeof(slot->digest));
	*entry = new;
	__atomic_store_n(&entry->number, slot->number, __ATOMIC_SEQ_CST);
	return SLOT_PLACED;
}

static void key_of_entry(const struct kernel_file *file, const uint8_t table[CONTENT_DIGEST_SIZE],
			 uint8_t ret[CONTENT_DIGEST_SIZE])
{
	const uint64_t facts[] = {file->source,     file->entry, file->entry_size, file->first,
				  file->first_size, file->tail,  file->used,       file->next,
				  file->eh_returns, file->resort};
	struct content_digest d;

	content_digest_init(&d);
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		content_digest_u64(&d, facts[i]);
	content_digest_add(&d, table, CONTENT_DIGEST_SIZE);
	content_digest_get(&d, ret);
}

struct table_slot *table_store_put(struct table_store *s, const struct section_table *table,
				   const struct kernel_file *file, bool registered)
{
	uint8_t key[CONTENT_DIGEST_SIZE];
	struct table_slot *slot;

	key_of_entry(file, table->digest, key);
	slot = table_store_find_key(s, key);
	if (slot)
		return slot;
	slot = table_store_take(s, registered);
	if (!slot)
		return NULL;
	memcpy(slot->key, key, sizeof(key));
	slot->state = table_store_place(s, slot, table, file);
	return slot;
}

/* A table that is placed, once more, before another one. */
static struct table_slot *put_before(struct table_store *s, const struct table_slot *slot,
				     uint32_t next)
{
	struct kernel_file file = *entry_of(s, slot->number);
	struct section_table table = {
		.data = s->pages + (uint64_t)slot->run.first * KERNEL_PAGE,
		.size = slot->size,
	};

	memcpy(table.digest, slot->digest, sizeof(table.digest));
	file.next = next;
	file.resort = false;
	return table_store_put(s, &table, &file, false);
}

struct table_slot *table_store_extend(struct table_store *s, uint32_t first, uint32_t last)
{
	struct table_slot *chain[KERNEL_SECTIONS], *slot = NULL;
	unsigned int count = 0;

	for (uint32_t at = first; at != KERNEL_NO_FILE; at = entry_of(s, at)->next) {
		slot = table_store_find(s, at);
		if (!slot || slot->state != SLOT_PLACED || count == KERNEL_SECTIONS)
			return NULL;
		chain[count++] = slot;
	}
	while (count) {
		slot = put_before(s, chain[--count], last);
		if (!slot || slot->state != SLOT_PLACED)
			break;
		last = slot->number;
	}
	return slot;
}

/* A file's first table is dropped before the others, which it names. */
void table_store_use(struct table_store *s, uint32_t number)
{
	uint64_t now = clock_now();
	struct table_slot *slot;

	while ((slot = table_store_find(s, number))) {
		slot->used = now++;
		number = slot->state == SLOT_PLACED ? entry_of(s, number)->next : KERNEL_NO_FILE;
	}
}

static void name(struct table_store *s, uint32_t number)
{
	struct table_slot *slot;

	while ((slot = table_store_find(s, number)) && slot->state == SLOT_PLACED) {
		slot->named = true;
		number = entry_of(s, number)->next;
	}
}

static void note_named(void *ctx, const struct known_list *list)
{
	for (uint32_t i = 0; i < list->list.count; i++) {
		name(ctx, list->entries[i].file);
		/* the file below registered code is asked, too */
		name(ctx, list->entries[i].under);
	}
}

/* Whether any was dropped. */
static bool drop_registered(struct table_store *s)
{
	bool dropped = false;

	for (uint32_t i = 0; i < s->slot_end; i++) {
		struct table_slot *slot = &s->slots[i];

		if (!kernel_is_registered(slot->number) || slot->named ||
		    slot->state == SLOT_TO_COME || slot->state == SLOT_ROOMLESS)
			continue;
		table_store_free(s, slot);
		dropped = true;
	}
	return dropped;
}

/* The file's table that was not used for longest, or NULL. */
static struct table_slot *find_unused(struct table_store *s, uint64_t now)
{
	struct table_slot *oldest = NULL;

	for (uint32_t i = 0; i < s->slot_end; i++) {
		struct table_slot *slot = &s->slots[i];

		if (slot->state == SLOT_PLACED && !kernel_is_registered(slot->number) &&
		    !slot->named && now - slot->used > UNUSED_NS &&
		    (!oldest || slot->used < oldest->used))
			oldest = slot;
	}
	return oldest;
}

/* Those for which there was no room are asked for again, when they are mapped or followed. */
static void try_again(struct table_store *s)
{
	for (uint32_t i = 0; i < s->slot_end; i++)
		if (s->slots[i].state == SLOT_ROOMLESS)
			table_store_free(s, &s->slots[i]);
	s->found++;
}

void table_store_make_room(struct table_store *store, const struct bpf_lists *lists)
{
	uint64_t now = clock_now();
	struct table_slot *unused;
	bool found = map_allocator_wake(&store->room, now);

	if (store->wants_room ||
	    (pages_left(store, false) < FREE_PAGES && now - store->looked >= LOOK_NS)) {
		store->wants_room = false;
		store->looked = now;
		for (uint32_t i = 0; i < store->slot_end; i++)
			store->slots[i].named = false;
		bpf_lists_visit(lists, note_named, store);
		found |= drop_registered(store);
		while (pages_left(store, false) < FREE_PAGES && (unused = find_unused(store, now)))
			table_store_free(store, unused);
	}
	if (found)
		try_again(store);
}
