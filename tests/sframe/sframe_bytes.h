/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_bytes.h - SFrame sections for tests, byte by byte.
 *
 *	struct built s = build(&(struct section_spec){
 *		.version = 3, .abi = 3, .flags = 5, .fixed_ra = -8, .addr = 0x4000,
 *		.num_funcs = 1,
 *		.funcs = {{.start = 0x1000, .size = 6, .num_fres = 1, ROWS(0, 3, 8)}}});
 *	...
 *	free(s.data);
 *
 * Written from the specification, not from the reader; rows are given as the
 * bytes that stand in the section.  The block has exactly the section's size,
 * so that a sanitizer sees a read after it.
 */
#ifndef TEST_SFRAME_BYTES_H
#define TEST_SFRAME_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AARCH64_BE 1
#define AARCH64_LE 2
#define AMD64 3
#define S390X 4

#define SORTED 1
#define PCREL 4

#define ADDR1 0
#define ADDR2 1
#define ADDR4 2
#define PCMASK 0x10
#define KEY_B 0x20
#define SIGNAL 0x80
#define FLEX 1

/* The bytes of a function's rows. */
#define ROWS(...) .rows = {__VA_ARGS__}, .rows_size = sizeof((const uint8_t[]){__VA_ARGS__})

struct func_spec {
	uint64_t start;
	uint32_t size, num_fres;
	uint8_t info, info2, rep_size;
	uint8_t rows[32];
	size_t rows_size;
};

struct section_spec {
	uint8_t version, flags, abi, aux_len;
	int8_t fixed_fp, fixed_ra;
	uint64_t addr;
	size_t num_funcs;
	struct func_spec funcs[8];
};

struct built {
	uint8_t *data;
	size_t size;
};

struct writer {
	uint8_t bytes[2048];
	size_t pos;
	bool big_endian;
};

static inline void put(struct writer *w, uint64_t value, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		w->bytes[w->pos++] = (uint8_t)(value >> 8 * (w->big_endian ? n - 1 - i : i));
}

static inline void put_bytes(struct writer *w, const uint8_t *bytes, size_t n)
{
	if (n)
		memcpy(w->bytes + w->pos, bytes, n);
	w->pos += n;
}

static inline size_t fde_size_of(uint8_t version)
{
	return version == 1 ? 17 : version == 2 ? 20 : 16;
}

static inline void put_header(struct writer *w, const struct section_spec *s, size_t fre_len)
{
	uint32_t num_fres = 0;

	for (size_t i = 0; i < s->num_funcs; i++)
		num_fres += s->funcs[i].num_fres;
	put(w, 0xdee2, 2);
	put(w, s->version, 1);
	put(w, s->flags, 1);
	put(w, s->abi, 1);
	put(w, (uint8_t)s->fixed_fp, 1);
	put(w, (uint8_t)s->fixed_ra, 1);
	put(w, s->aux_len, 1);
	put(w, s->num_funcs, 4);
	put(w, num_fres, 4);
	put(w, fre_len, 4);
	put(w, 0, 4);
	put(w, s->num_funcs * fde_size_of(s->version), 4);
	for (unsigned int i = 0; i < s->aux_len; i++)
		put(w, 0xaa, 1);
}

static inline void put_fde(struct writer *w, const struct section_spec *s,
			   const struct func_spec *f, uint32_t fre_off)
{
	uint64_t field = f->start - s->addr;

	if (s->flags & PCREL)
		field -= w->pos;
	put(w, field, s->version == 3 ? 8 : 4);
	put(w, f->size, 4);
	put(w, fre_off, 4);
	if (s->version == 3)
		return;
	put(w, f->num_fres, 4);
	put(w, f->info, 1);
	if (s->version == 2) {
		put(w, f->rep_size, 1);
		put(w, 0, 2);
	}
}

static inline void put_rows(struct writer *w, const struct section_spec *s,
			    const struct func_spec *f)
{
	if (s->version == 3) {
		put(w, f->num_fres, 2);
		put(w, f->info, 1);
		put(w, f->info2, 1);
		put(w, f->rep_size, 1);
	}
	put_bytes(w, f->rows, f->rows_size);
}

/* The section, in a heap block of its own size; the caller frees it. */
static inline struct built build(const struct section_spec *s)
{
	struct writer w = {.big_endian = s->abi == AARCH64_BE || s->abi == S390X};
	struct writer fres = {.big_endian = w.big_endian};
	size_t offsets[8];
	struct built ret;

	for (size_t i = 0; i < s->num_funcs; i++) {
		offsets[i] = fres.pos;
		put_rows(&fres, s, &s->funcs[i]);
	}
	put_header(&w, s, fres.pos);
	for (size_t i = 0; i < s->num_funcs; i++)
		put_fde(&w, s, &s->funcs[i], (uint32_t)offsets[i]);
	put_bytes(&w, fres.bytes, fres.pos);
	ret.data = malloc(w.pos);
	ret.size = w.pos;
	if (!ret.data)
		abort();
	memcpy(ret.data, w.bytes, w.pos);
	return ret;
}

#endif
