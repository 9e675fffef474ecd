/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symbol_search.h - the functions at some addresses of an ELF image, by its own symbol table.
 *
 * The table is read piece by piece, once for all addresses, since nothing can be allocated.  No byte
 * of the image is trusted.  Where several symbols are at an address, the choice is that of
 * symbol/functions.h.
 */
#ifndef BOBBIN_CRASH_SYMBOL_SEARCH_H
#define BOBBIN_CRASH_SYMBOL_SEARCH_H

#include <bobbin/types.h>

/* A file, or bytes in memory if @fd is negative. */
struct image_source {
	int fd;
	const uint8_t *bytes;
	uint64_t size; /* of these */
};

/* A symbol, as far as it has been read. */
struct symbol_found {
	uint64_t start, size;
	uint64_t name;     /* offset in the image; 0: there is none */
	uint64_t name_end; /* of all names */
	unsigned int rank;
};

struct symbol_query {
	uint64_t address;            /* as the file says it */
	struct symbol_found around;  /* the innermost that has a size */
	struct symbol_found nearest; /* the last that begins before */
};

/* Names are cut to this many bytes, with the NUL. */
#define SYMBOL_NAME_SIZE 1024

/* The address of code at an offset of the image; false: no segment has it. */
bool image_code_address(const struct image_source *image, uint64_t offset, uint64_t *ret);

/* @queries: by ascending addresses; the rest of them is filled in. */
void symbol_search(const struct image_source *image, struct symbol_query *queries, size_t count);

/* What a query has found: the offset of the address in the function, and the name.  false: nothing. */
bool symbol_query_name(const struct image_source *image, const struct symbol_query *query,
		       uint64_t *offset, char ret[SYMBOL_NAME_SIZE]);

#endif
