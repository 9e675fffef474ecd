/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/registration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"

#define FIRST_SLOTS 64

static size_t length_of(const char *string)
{
	return string ? strlen(string) : 0;
}

static bool is_known(const struct code_identity *i)
{
	return i && (i->elf_end || i->path || i->debug_link || i->build_id_len);
}

/* As the page has it; NULL: no memory. */
static struct bobbin_code_identity *identity_open(const struct code_identity *i)
{
	size_t path = length_of(i->path), link = length_of(i->debug_link);
	size_t size = sizeof(struct bobbin_code_identity) + path + i->build_id_len + link;
	struct bobbin_code_identity *identity = malloc(size);

	if (!identity)
		return NULL;
	*identity = (struct bobbin_code_identity){.size = (uint32_t)size,
						  .debug_link_crc = i->debug_link_crc,
						  .elf_start = i->elf_start,
						  .elf_end = i->elf_end,
						  .path_len = (uint32_t)path,
						  .build_id_len = i->build_id_len,
						  .debug_link_len = (uint32_t)link};
	if (path)
		memcpy(identity->bytes, i->path, path);
	if (i->build_id_len)
		memcpy(identity->bytes + path, i->build_id, i->build_id_len);
	if (link)
		memcpy(identity->bytes + path + i->build_id_len, i->debug_link, link);
	return identity;
}

/* Lookups in large sections become faster; they work without, too. */
static void index_section(struct registration *r)
{
	struct bobbin_sframe_view *view = &r->code.sframe;
	bool filled = r->code.kind == CODE_SECTION && view->data;
	uint32_t count = filled ? bobbin_sframe_index_count(view) : 0;

	if (!count)
		return;
	r->buckets = malloc(count * sizeof(*r->buckets));
	if (r->buckets)
		bobbin_sframe_view_index(view, r->buckets, count);
}

static void set_ranges(struct registration *r, const struct code_request *request)
{
	r->count = request->count;
	for (size_t i = 0; i < request->count; i++) {
		r->ranges[i].text = request->ranges[i];
		atomic_init(&r->ranges[i].number, UNPUBLISHED);
	}
	r->code.text_start = request->ranges[0].start;
	r->code.text_end = request->ranges[request->count - 1].end;
}

int registration_open(const struct code_request *request, struct registration **ret)
{
	size_t size = sizeof(struct registration) +
		      request->count * sizeof(struct registration_range);
	struct registration *r = calloc(1, size);

	if (!r)
		return -ENOMEM;
	if (is_known(request->identity)) {
		r->identity = identity_open(request->identity);
		if (!r->identity) {
			free(r);
			return -ENOMEM;
		}
	}
	r->key = request->key;
	r->added = request->added;
	r->code.kind = request->kind;
	r->code.table = request->table;
	r->code.table_size = request->kind == CODE_JIT ? 0 : request->table_size;
	if (request->kind == CODE_COMPILED)
		r->code.compiled = request->compiled;
	else
		r->code.sframe = request->sframe;
	set_ranges(r, request);
	index_section(r);
	*ret = r;
	return 0;
}

void registration_close(struct registration *r)
{
	if (!r)
		return;
	if (r->owned && r->free_owned)
		r->free_owned(r->owned);
	free(r->buckets);
	free(r->identity);
	free(r);
}

static uint32_t published_kind(const struct code *code)
{
	switch (code->kind) {
	case CODE_SECTION:
		return BOBBIN_CODE_SFRAME;
	case CODE_COMPILED:
		return BOBBIN_CODE_COMPILED;
	case CODE_JIT:
		return BOBBIN_CODE_JIT;
	default:
		return BOBBIN_CODE_NAMED;
	}
}

/* As struct bobbin_code_entry.table_addr. */
static uint64_t table_addr(const struct code *code)
{
	switch (code->kind) {
	case CODE_SECTION:
		return code->sframe.addr;
	case CODE_COMPILED:
		return code->compiled.bias;
	default:
		return code->table;
	}
}

struct bobbin_code_entry registration_entry(const struct registration *r, size_t range)
{
	const struct code *code = &r->code;

	return (struct bobbin_code_entry){
		.id = r->id,
		.kind = published_kind(code),
		.text_start = r->ranges[range].text.start,
		.text_end = r->ranges[range].text.end,
		.table = code->table,
		.table_size = code->table_size,
		.table_addr = table_addr(code),
		.identity = (uintptr_t)r->identity,
	};
}

/* Where a key should be.  Keys are addresses: nobody chooses them to collide. */
static size_t home_of(const struct registration_index *index, uint64_t key)
{
	return hash_words(key, 0, 0) & (index->slot_count - 1);
}

/* The key's slot, or the free one where it would be. */
static size_t slot_of(const struct registration_index *index, uint64_t key)
{
	size_t at = home_of(index, key);

	while (index->slots[at].registration && index->slots[at].key != key)
		at = (at + 1) & (index->slot_count - 1);
	return at;
}

struct registration *registration_index_find(const struct registration_index *index, uint64_t key)
{
	return index->slot_count ? index->slots[slot_of(index, key)].registration : NULL;
}

static int grow(struct registration_index *index)
{
	struct registration_index larger = {
		.slot_count = index->slot_count ? 2 * index->slot_count : FIRST_SLOTS,
		.used = index->used,
	};

	larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->slot_count; i++) {
		const struct registration_slot *slot = &index->slots[i];

		if (slot->registration)
			larger.slots[slot_of(&larger, slot->key)] = *slot;
	}
	free(index->slots);
	*index = larger;
	return 0;
}

int registration_index_add(struct registration_index *index, struct registration *registration)
{
	struct registration_slot *slot;

	if (index->used >= index->slot_count / 2 && grow(index))
		return -ENOMEM;
	slot = &index->slots[slot_of(index, registration->key)];
	if (slot->registration)
		return -EEXIST;
	*slot = (struct registration_slot){registration->key, registration};
	index->used++;
	return 0;
}

/* What follows moves up if a search would not find it any more. */
void registration_index_remove(struct registration_index *index, struct registration *registration)
{
	size_t mask = index->slot_count - 1, gap = slot_of(index, registration->key);

	for (size_t at = (gap + 1) & mask; index->slots[at].registration; at = (at + 1) & mask) {
		size_t home = home_of(index, index->slots[at].key);

		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		index->slots[gap] = index->slots[at];
		gap = at;
	}
	index->slots[gap].registration = NULL;
	index->used--;
}

void registration_index_fini(struct registration_index *index)
{
	free(index->slots);
	*index = (struct registration_index){0};
}
