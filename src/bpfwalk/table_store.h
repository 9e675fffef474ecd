/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table_store.h - compiled tables, where the program in the kernel finds them.
 *
 * A slot is an entry of the map of files.  Mappings name it by a number that is never used again.
 * Equal tables share a slot, which is found by a digest.  When room is short, tables that no list
 * of mappings names are dropped: those of registered code at once, those of files when they were
 * not used for a while.
 */
#ifndef BOBBIN_BPFWALK_TABLE_STORE_H
#define BOBBIN_BPFWALK_TABLE_STORE_H

#include "bpfwalk/bpf_lists.h"
#include "bpfwalk/map_allocator.h"
#include "bpfwalk/section_tables.h"

enum slot_state {
	SLOT_FREE,
	SLOT_TO_COME, /* the table is being built */
	SLOT_PLACED,
	SLOT_SILENT,   /* the section covers nothing */
	SLOT_REFUSED,  /* no table can be built */
	SLOT_ROOMLESS, /* there was no room; there may be later */
};

/**
 * struct table_slot - a table, or a request for one
 * @number: in mappings
 * @before: the number of the table in whose place it came, which says the same of the same code; or 0
 * @named: by a list, while that is found out
 * @run: its pages
 * @size, @digest: of the table
 * @used: when a process had it mapped last, as far as is known; of a free slot, when it was freed
 * @key: digest of the table, or of the registered section that it is built from
 */
struct table_slot {
	uint32_t number, before;
	enum slot_state state;
	bool named;
	struct map_run run;
	uint64_t size;
	uint8_t digest[CONTENT_DIGEST_SIZE];
	uint64_t used;
	uint8_t key[CONTENT_DIGEST_SIZE];
};

/**
 * struct table_store - all slots and pages
 * @files, @pages: memory of the maps
 * @room: free pages
 * @slots, @slot_end: of the entries; none was used from @slot_end on
 * @last_number: that was given out
 * @code_slots, @code_pages: in use by registered code, which has a share of each
 * @wants_room: for a slot, or for registered code, there was none
 * @looked: when room was last looked for
 * @found: times that room was found
 * @roomless: tables for which there was no room
 */
struct table_store {
	struct kernel_file *files;
	uint8_t *pages;
	struct map_allocator room;
	struct table_slot slots[KERNEL_FILES];
	uint32_t slot_end, last_number, code_slots, code_pages;
	bool wants_room;
	uint64_t looked, found, roomless;
};

/* The rest of @store is zero, or the caller's.  0 or -ENOMEM. */
int table_store_init(struct table_store *store);
void table_store_fini(struct table_store *store);

/* The slot with a number; NULL: it is another one's now.  With a key; NULL: there is none. */
struct table_slot *table_store_find(struct table_store *store, uint32_t number);
struct table_slot *table_store_find_key(struct table_store *store,
					const uint8_t key[CONTENT_DIGEST_SIZE]);

/* A slot for a table to come; NULL: there is none.  @registered: for registered code. */
struct table_slot *table_store_take(struct table_store *store, bool registered);
void table_store_free(struct table_store *store, struct table_slot *slot);

/* Bytes that tables of files may have now. */
uint64_t table_store_left(const struct table_store *store);

/*
 * Give a table, which may be empty, pages and the slot's entry; @file says what else is known of
 * it.  The state of the slot.
 */
enum slot_state table_store_place(struct table_store *store, struct table_slot *slot,
				  const struct section_table *table,
				  const struct kernel_file *file);

/* The slot of such a table, known or new; NULL: there is none.  It may have found no room. */
struct table_slot *table_store_put(struct table_store *store, const struct section_table *table,
				   const struct kernel_file *file, bool registered);

/*
 * Put the tables of a file once more, from @first on, before the table @last, which is asked for
 * what the last one of them does not cover.  The slot of the first one, or of one that found no
 * room; NULL: there is no slot, or not all tables are there.
 */
struct table_slot *table_store_extend(struct table_store *store, uint32_t first, uint32_t last);

/* A process has the file mapped whose first table this is. */
void table_store_use(struct table_store *store, uint32_t number);

/* If room is short, drop tables that no list names.  Not while a list is being made. */
void table_store_make_room(struct table_store *store, const struct bpf_lists *lists);

#endif
