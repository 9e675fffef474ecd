/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * small_elf.h - a small sound ELF file, to be changed before it is written.
 *
 *	headers, .text at SMALL_TEXT, .data and a .bss, names, section headers
 */
#ifndef BOBBIN_TESTS_SMALL_ELF_H
#define BOBBIN_TESTS_SMALL_ELF_H

#include "elf/sframe_attachment.h"

#define PT_SFRAME 0x6474e554
#define SHT_SFRAME 0x6ffffff4

#define SMALL_BASE 0x400000
#define SMALL_PHDRS 3
#define SMALL_SHDRS 5
#define SMALL_ROOM (2 * sizeof(Elf64_Phdr))
#define SMALL_TEXT 0x300
#define SMALL_DATA 0x400
#define SMALL_NAMES 0x500
#define SMALL_TABLE 0x540
#define SMALL_SIZE (SMALL_TABLE + SMALL_SHDRS * sizeof(Elf64_Shdr))
#define SMALL_SPARE 65536

struct small {
	Elf64_Ehdr file;
	Elf64_Phdr segments[SMALL_PHDRS];
	Elf64_Shdr sections[SMALL_SHDRS];
	size_t size;
	uint8_t bytes[SMALL_SIZE + SMALL_SPARE];
};

/* No room after the program headers: .text follows at once. */
struct small small_file(uint16_t machine, unsigned char data);

/* Make room for two more, all zero. */
void make_room(struct small *s);

/* Put the headers to where the ELF header says, as far as the file reaches. */
void encode_headers(struct small *s);

/* A file in memory, of any bytes or of these. */
int file_of(const void *bytes, size_t size);
int file_of_small(struct small *s);
uint64_t size_of(int fd);

/* A new file with @size bytes of @fill as its section; closes @in. */
int attach(int in, size_t size, uint8_t fill, struct sframe_attachment *plan);

#endif
