/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * small_object.h - a small sound relocatable file, to be changed before it is
 * written.
 *
 * Two sections with code, one FDE each, relocated against section symbols as
 * assemblers do it.
 */
#ifndef BOBBIN_TESTS_SMALL_OBJECT_H
#define BOBBIN_TESTS_SMALL_OBJECT_H

#include "object/object_attachment.h"

enum {
	OBJECT_NONE,
	OBJECT_TEXT,
	OBJECT_COLD,
	OBJECT_FRAME,
	OBJECT_RELA,
	OBJECT_SYMBOLS,
	OBJECT_STRINGS,
	OBJECT_NAMES,
	OBJECT_SECTIONS
};

#define OBJECT_SYMBOL_COUNT 4 /* none, the two sections', a global in the second */
#define OBJECT_TEXT_SIZE 32
#define OBJECT_COLD_SIZE 8

#define OBJECT_AT_TEXT 64
#define OBJECT_AT_COLD (OBJECT_AT_TEXT + OBJECT_TEXT_SIZE)
#define OBJECT_AT_FRAME (OBJECT_AT_COLD + OBJECT_COLD_SIZE)
#define OBJECT_CIE_SIZE 24
#define OBJECT_FDE_SIZE 24
#define OBJECT_AT_RELA (OBJECT_AT_FRAME + OBJECT_CIE_SIZE + 2 * OBJECT_FDE_SIZE)
#define OBJECT_AT_SYMBOLS (OBJECT_AT_RELA + 2 * sizeof(Elf64_Rela))
#define OBJECT_AT_STRINGS (OBJECT_AT_SYMBOLS + OBJECT_SYMBOL_COUNT * sizeof(Elf64_Sym))
#define OBJECT_AT_NAMES (OBJECT_AT_STRINGS + 8)
#define OBJECT_AT_TABLE (OBJECT_AT_NAMES + 64)
#define OBJECT_SIZE (OBJECT_AT_TABLE + OBJECT_SECTIONS * sizeof(Elf64_Shdr))
/* The field of an FDE that is relocated, from the start of .eh_frame. */
#define OBJECT_FIELD(i) (OBJECT_CIE_SIZE + (i)*OBJECT_FDE_SIZE + 8)

struct small_object {
	Elf64_Ehdr file;
	Elf64_Shdr sections[OBJECT_SECTIONS];
	Elf64_Sym symbols[OBJECT_SYMBOL_COUNT];
	Elf64_Rela relas[2];
	uint8_t bytes[OBJECT_SIZE];
};

/* For x86-64 or, of the other byte order, s390x. */
struct small_object small_object(uint16_t machine);

/* Put all tables into the bytes. */
void encode_object(struct small_object *o);

/* A file in memory of any bytes, or of these, as they are once encoded. */
int memory_file(const void *bytes, size_t size);
int file_of_object(struct small_object *o);
uint64_t file_size(int fd);

/*
 * Convert the file of @in, read it back, and return the new one; closes @in.
 * -errno with a reason in @err if it is refused.
 */
int convert_object_file(int in, unsigned int version, struct bobbin_error *err);

#endif
