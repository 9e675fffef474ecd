/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* made_machine.h - a Java virtual machine without Java: its heaps of code, and what it says of them. */
#ifndef BOBBIN_TESTS_MADE_MACHINE_H
#define BOBBIN_TESTS_MADE_MACHINE_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MADE_HEAPS 3
#define MADE_SHIFT 7
#define MADE_SEGMENT (1 << MADE_SHIFT)
#define MADE_SEGMENTS 32
#define MADE_HEAP_SIZE (MADE_SEGMENTS * MADE_SEGMENT)
#define MADE_UNUSED 0xff
/* A segment's byte leads back no further than that. */
#define MADE_BACK 5

struct made_entry {
	const char *type, *field, *text;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

struct made_type {
	const char *name, *super;
	uint64_t size;
};

struct made_array {
	int32_t length, capacity;
	struct made_heap **data;
};

struct made_space {
	uint64_t low, high, boundary;
};

struct made_heap {
	struct made_space memory, map;
	int32_t shift;
};

struct made_block {
	uint64_t length;
	bool used;
};

/* As in JDK 17. */
struct made_older {
	void *vtable;
	int32_t size, complete;
	uint64_t code, end;
	int32_t frame;
	const char *name;
	uint64_t method, entry, second;
	int32_t id, stubs, handlers;
};

/* As in JDK 25. */
struct made_newer {
	const char *name;
	int32_t size;
	int16_t complete;
	int32_t code, data, frame;
	uint64_t method, second;
	int32_t id, stubs, handlers;
	uint16_t entry;
};

struct made_symbol {
	uint32_t hash;
	uint16_t length, users;
	char body[24];
};

struct made_class {
	void *vtable;
	const struct made_symbol *name;
};

struct made_pool {
	void *vtable;
	const struct made_class *holder;
};

struct made_names {
	const struct made_pool *pool;
	uint16_t name;
};

struct made_method {
	void *vtable;
	const struct made_names *names;
};

struct made_queue {
	void *vtable;
	const void *buffer;
	int32_t limit, end;
};

struct made_codelet {
	const char *text;
	int32_t size;
};

struct made_machine {
	struct made_array heaps, *heaps_array;
	struct made_heap *list[MADE_HEAPS], heap[MADE_HEAPS];
	uint8_t map[MADE_HEAPS][MADE_SEGMENTS];
	struct made_queue queue, *interpreter;
	_Alignas(32) uint8_t codelets[256]; /* code begins at multiples of it */
	struct made_method method;
	struct made_names names;
	struct {
		struct made_pool head;
		const struct made_symbol *symbols[2];
	} pool;
	struct made_class class;
	struct made_symbol class_name, method_name;
	/* what the variables of the library say */
	uint64_t *structs, *structs_stride, *types, *types_stride;
	bool is_newer;
};

/* Empty heaps at @memory, one after another, of which one is used; @is_newer: which tables. */
void made_machine_begin(uint8_t *memory, bool is_newer);

/* A blob of a heap, in segments. */
struct made_blob {
	unsigned int heap, first, count;
	const char *name;
	int32_t frame, id;
};

static inline uint64_t made_segment(const struct made_machine *m, unsigned int heap,
				    unsigned int segment)
{
	return m->heap[heap].memory.low + segment * MADE_SEGMENT;
}

/* Where the blob's description is. */
static inline uint64_t made_description(const struct made_machine *m, const struct made_blob *b)
{
	return made_segment(m, b->heap, b->first) + sizeof(struct made_block);
}

/* Its code, behind the description. */
static inline uint64_t made_code(const struct made_machine *m, const struct made_blob *b)
{
	const size_t head = m->is_newer ? sizeof(struct made_newer) : sizeof(struct made_older);

	return made_description(m, b) + head;
}

static inline uint64_t made_end(const struct made_machine *m, const struct made_blob *b)
{
	return made_segment(m, b->heap, b->first + b->count);
}

static inline void made_put(struct made_machine *m, const struct made_blob *b)
{
	const uint64_t at = made_description(m, b), code = made_code(m, b), end = made_end(m, b);
	const int32_t size = (int32_t)(end - at), offset = (int32_t)(code - at);
	const struct made_older older = {
		.size = size,
		.complete = 4,
		.code = code,
		.end = end,
		.frame = b->frame,
		.name = b->name,
		.method = (uintptr_t)&m->method,
		.entry = code + 1,
		.second = code + 2,
		.id = b->id,
		.stubs = offset + 3,
		.handlers = offset + 5,
	};
	const struct made_newer newer = {
		.name = b->name,
		.size = size,
		.complete = 4,
		.code = offset,
		.data = size,
		.frame = b->frame,
		.method = (uintptr_t)&m->method,
		.second = code + 2,
		.id = b->id,
		.stubs = offset + 3,
		.handlers = offset + 5,
		.entry = 1,
	};

	for (unsigned int i = 0; i < b->count; i++)
		m->map[b->heap][b->first + i] = (uint8_t)(i < MADE_BACK ? i : MADE_BACK);
	if (m->is_newer)
		memcpy((void *)(uintptr_t)at, &newer, sizeof(newer));
	else
		memcpy((void *)(uintptr_t)at, &older, sizeof(older));
}

#endif
