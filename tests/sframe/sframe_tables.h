/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_tables.h - sections with many functions for tests of searches.
 */
#ifndef TEST_SFRAME_TABLES_H
#define TEST_SFRAME_TABLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/sframe.h>

#include "sframe_bytes.h"

#define MAX_FUNCTIONS 90

/* Functions that share one row, in the order of the section; @abi 0: AMD64. */
struct table {
	uint8_t version, abi, flags;
	uint64_t addr;
	size_t count;
	uint64_t start[MAX_FUNCTIONS];
	uint32_t size[MAX_FUNCTIONS];
};

static inline void put_table_header(struct writer *w, uint8_t version, uint8_t abi,
				    size_t functions, size_t rows, size_t fre_len)
{
	put(w, 0xdee2, 2);
	put(w, version, 1);
	put(w, SORTED, 1);
	put(w, abi, 1);
	put(w, 0, 1);
	put(w, (uint8_t)-8, 1);
	put(w, 0, 1);
	put(w, functions, 4);
	put(w, rows, 4);
	put(w, fre_len, 4);
	put(w, 0, 4);
	put(w, functions * fde_size_of(version), 4);
}

static inline void put_function(struct writer *w, const struct table *t, size_t i)
{
	const struct section_spec s = {.version = t->version, .flags = t->flags, .addr = t->addr};
	const struct func_spec f = {.start = t->start[i], .size = t->size[i], .num_fres = 1};

	put_fde(w, &s, &f, 0);
}

/* In a heap block of its own size. */
static inline struct bobbin_sframe_view open_bytes(const struct writer *w, uint64_t addr)
{
	struct bobbin_sframe_view view;
	uint8_t *data = malloc(w->pos);

	if (!data)
		abort();
	memcpy(data, w->bytes, w->pos);
	assert_int_equal(bobbin_sframe_view(data, w->pos, addr, NULL, &view), 0);
	return view;
}

static inline struct bobbin_sframe_view open_table(const struct table *t)
{
	const struct func_spec shared = {.num_fres = 1, ROWS(0, 3, 8)};
	struct writer w = {.big_endian = t->abi == AARCH64_BE || t->abi == S390X};
	struct writer rows = {.big_endian = w.big_endian};

	put_rows(&rows, &(struct section_spec){.version = t->version}, &shared);
	put_table_header(&w, t->version, t->abi ? t->abi : AMD64, t->count, t->count, rows.pos);
	w.bytes[3] |= t->flags;
	for (size_t i = 0; i < t->count; i++)
		put_function(&w, t, i);
	put_bytes(&w, rows.bytes, rows.pos);
	return open_bytes(&w, t->addr);
}

static inline void close_view(struct bobbin_sframe_view *view)
{
	free((void *)view->data);
}

#endif
