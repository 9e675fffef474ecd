/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * registration.h - one registration: its code, its ranges, and by what it is found.
 *
 * struct code is what walkers see of it; the rest is the registry's.  All live
 * ones are in an index by key, so that each is found as fast among 100,000.
 */
#ifndef BOBBIN_CODEMAP_REGISTRATION_H
#define BOBBIN_CODEMAP_REGISTRATION_H

#include <bobbin/code_page.h>
#include <bobbin/codectl.h>

#include "codemap/code.h"

/* Identity of registered code, copied; zero: unknown. */
struct code_identity {
	uint64_t elf_start, elf_end;
	const char *path, *debug_link;
	const uint8_t *build_id;
	uint32_t build_id_len, debug_link_crc;
};

/**
 * struct code_request - what is to be registered, checked
 * @kind: not CODE_OBJECT
 * @key: by which it is unregistered: address of the table, or of the text where the
 *	table is not the caller's memory.  In use only once
 * @ranges, @count: text, ascending and not overlapping
 * @table, @table_size: in memory
 * @sframe: of a section; @addr is right even if @data is NULL
 * @compiled: of a compiled table
 * @identity: or NULL; copied
 * @owned, @free_owned: the table's memory, if it becomes the registration's
 * @added: by registry_add_section()
 */
struct code_request {
	enum code_kind kind;
	uint64_t key;
	const struct code_text_range *ranges;
	size_t count;
	uint64_t table, table_size;
	struct bobbin_sframe_view sframe;
	struct compiled_code compiled;
	const struct code_identity *identity;
	void *owned;
	void (*free_owned)(void *);
	bool added;
};

struct registry;

/* The range is not on the page. */
#define UNPUBLISHED UINT32_MAX

struct registration_range {
	struct code_text_range text;
	_Atomic uint32_t number; /* of its entry on the page; read by walkers */
};

/**
 * struct registration - what one call registered
 * @code: first member
 * @registry: whose it is
 * @key: see struct code_request
 * @id: never used again
 * @in_kernel: the kernel has it, too
 * @added: by registry_add_section(), which is taken back by registry_remove() only
 * @owned, @free_owned: the table's memory, if it is not the caller's
 * @buckets: index of @code.sframe; owned, or NULL
 * @identity: owned, or NULL
 * @count: of @ranges, which ascend
 */
struct registration {
	struct code code;
	struct registry *registry;
	uint64_t key, id;
	bool in_kernel, added;
	void *owned;
	void (*free_owned)(void *);
	uint32_t *buckets;
	struct bobbin_code_identity *identity;
	size_t count;
	struct registration_range ranges[];
};

/* What a registration begins as: all of the request, nothing published.  -ENOMEM. */
int registration_open(const struct code_request *request, struct registration **ret);

/* Also frees what it owns. */
void registration_close(struct registration *registration);

/* What its page entry says of a range. */
struct bobbin_code_entry registration_entry(const struct registration *registration, size_t range);

/* The key stands beside, so that a search touches one line and what it finds. */
struct registration_slot {
	uint64_t key;
	struct registration *registration; /* NULL: free */
};

/* By key: open addressing, at most half full.  Zero is empty. */
struct registration_index {
	struct registration_slot *slots;
	size_t slot_count, used; /* a power of two, or 0 */
};

struct registration *registration_index_find(const struct registration_index *index, uint64_t key);
/* -EEXIST, -ENOMEM. */
int registration_index_add(struct registration_index *index, struct registration *registration);
void registration_index_remove(struct registration_index *index, struct registration *registration);
void registration_index_fini(struct registration_index *index);

#endif
