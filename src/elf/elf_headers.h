/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf_headers.h - the headers of a linked or relocatable 64-bit ELF file, to be
 * changed and written again.
 *
 * In memory they have this machine's byte order; libelf converts.  They are read
 * by offset, so that each can be checked before memory is spent on it.
 */
#ifndef BOBBIN_ELF_ELF_HEADERS_H
#define BOBBIN_ELF_ELF_HEADERS_H

#include <bobbin/arch.h>
#include <bobbin/reason.h>
#include <elf.h>
#include <libelf.h>

/* Linux runs no file with more program headers than fit into 64 KiB. */
#define ELF_HEADERS_MAX_SEGMENTS (65536 / sizeof(Elf64_Phdr))
/* Section names may take this many bytes. */
#define ELF_HEADERS_MAX_NAMES ((uint64_t)1 << 20)
/* The same, where they stand among those of symbols. */
#define ELF_HEADERS_MAX_STRINGS ((uint64_t)1 << 30)

/**
 * struct elf_headers - what was read
 * @arch: of the file
 * @file: ELF header; its counts of headers are those below
 * @segments: owned; room for two more; NULL: the file is relocatable
 * @segment_count: their number
 * @sections: owned; room for two more; NULL: the file has none
 * @section_count: their number, 0 if there are none
 * @names: owned; bytes of the section header string table, ends in NUL; room
 *	for another ELF_HEADERS_NAME_ROOM
 * @names_size: their number, 0 if there is none
 * @names_index: section that holds @names, 0 if there is none
 * @file_size: bytes of the file
 */
struct elf_headers {
	const struct bobbin_arch *arch;
	Elf64_Ehdr file;
	Elf64_Phdr *segments;
	size_t segment_count;
	Elf64_Shdr *sections;
	size_t section_count;
	char *names;
	size_t names_size, names_index;
	uint64_t file_size;
};

#define ELF_HEADERS_NAME_ROOM 16

/*
 * Read and check the headers of the regular file of @fd, a linked or a relocatable
 * one, which has no segments.  Afterwards each
 * segment and section lies inside the file, and loaded segments ascend without
 * overlap.  -EBADMSG or -ENOTSUP with a reason and a file offset, -EINVAL,
 * -ENOMEM, the errno of reading.  elf_headers_fini() gives @ret back.
 */
int elf_headers_init(int fd, bool relocatable, struct bobbin_error *err, struct elf_headers *ret);

void elf_headers_fini(struct elf_headers *headers);

/* The name of a section, "" if it has none. */
const char *elf_headers_name(const struct elf_headers *headers, size_t section);

/*
 * The place of a name among the names, to which it is added if it is not there; there is room
 * for one such name.
 */
uint32_t elf_headers_add_name(struct elf_headers *headers, const char *name);

/* The least multiple of a power of two that is not less than a value. */
static inline uint64_t elf_round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) & ~(unit - 1);
}

/* The offset of a section's header in the file. */
uint64_t elf_headers_place(const struct elf_headers *headers, size_t section);

/*
 * Read what a section holds as entries of one type, in this machine's byte order.
 * @ret becomes the caller's.  -EBADMSG with a reason and a file offset if the
 * header says that it holds something else, -ENOMEM, the errno of reading.
 */
int elf_headers_table(const struct elf_headers *headers, int fd, size_t section, Elf_Type type,
		      size_t entry_size, struct bobbin_error *err, void **ret, size_t *count);

/* Write such entries, @size bytes of them.  -ENOMEM or the errno of writing. */
int elf_headers_encode(const struct elf_headers *headers, int fd, uint64_t offset, Elf_Type type,
		       const void *table, size_t size);

/*
 * Write the ELF header, the program headers at e_phoff and, if there are any,
 * the section headers at e_shoff, with the numbers of them in @headers.
 * -ENOMEM or the errno of writing.
 */
int elf_headers_write(const struct elf_headers *headers, int fd);

#endif
