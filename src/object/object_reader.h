/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object_reader.h - what the parts share that read a struct object_code.
 */
#ifndef BOBBIN_OBJECT_READER_H
#define BOBBIN_OBJECT_READER_H

#include "base/byte_buffer.h"
#include "elf/elf_headers.h"

struct object_code;

/**
 * struct object_place - where a section of the file went
 * @start: address of its first byte
 * @size: bytes that it has there
 * @frame: it is a part of these bytes, at the same offset, or NULL
 * @text: its entry + 1, or 0
 */
struct object_place {
	uint64_t start, size;
	struct byte_buffer *frame;
	size_t text;
};

/**
 * struct object_reader - a file that is being read
 * @fd: the file
 * @headers: of it
 * @places: of its sections; owned.  No size: nowhere
 * @symbols, @symbol_count: of its symbol table; owned
 * @long_indices, @long_count: sections of those whose index is SHN_XINDEX; owned
 * @symbol_table: the section that has them, 0: there is none
 * @budget: bytes of relocations that may still be read: those of a sound file
 *	do not overlap
 * @err: where and why on failure, or NULL
 * @code: what was found
 */
struct object_reader {
	int fd;
	struct elf_headers headers;
	struct object_place *places;
	Elf64_Sym *symbols;
	Elf32_Word *long_indices;
	size_t symbol_count, long_count, symbol_table;
	uint64_t budget;
	struct bobbin_error *err;
	struct object_code *code;
};

/* The place of the section that a symbol is defined in, or NULL. */
const struct object_place *object_reader_place(const struct object_reader *reader, size_t symbol);

#endif
