/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf.h - the SFrame sections of a file.
 *
 *	linked ELF file		its .sframe sections or, without section headers, its
 *				PT_GNU_SFRAME segment
 *	relocatable ELF file	its .sframe sections, relocated as if every section were at
 *				address 0
 *	core file		the sections of what was mapped, at their addresses in the
 *				process; from the mapped files where the core file lacks them
 *	anything else		the bytes of a section
 *
 *	for (size_t i = 0; i < bobbin_elf_count(elf); i++) {
 *		uint64_t pos = 0;
 *
 *		while (bobbin_elf_next(elf, i, &pos, &error, &view) > 0)
 *			if (!bobbin_sframe_lookup(&view, pc, NULL, &row))
 *				use(&row.rule);
 *	}
 *
 * Sections are copied when the file is opened; it may be changed or removed afterwards.
 * Several threads may read one struct bobbin_elf.  None of the functions is
 * async-signal-safe but bobbin_elf_next().
 */
#ifndef BOBBIN_ELF_H
#define BOBBIN_ELF_H

#include <bobbin/range.h>
#include <bobbin/sframe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bobbin_elf;

/**
 * bobbin_elf_open() - read the SFrame sections of a file
 * @fd: the file, or a pipe, which is read to its end; remains the caller's
 * @err: where in the file and why on failure, or NULL.  BOBBIN_REASON_NONE if the errno says
 *	all
 * @ret: the sections; untouched on failure
 *
 * A file without any is no error.  Memory and time are bounded by the size of the file; a
 * section has up to 1 GiB.
 *
 * Return: 0; -EBADMSG; -EFBIG; -EISDIR; -ENOMEM; the errno of reading.
 */
int bobbin_elf_open(int fd, struct bobbin_error *err, struct bobbin_elf **ret);

/**
 * bobbin_elf_close() - release the sections
 * @elf: NULL is fine
 */
void bobbin_elf_close(struct bobbin_elf *elf);

/**
 * bobbin_elf_arch() - what the file was made for
 * @elf: the file
 *
 * Return: constant data; NULL: it is no ELF file.
 */
const struct bobbin_arch *bobbin_elf_arch(const struct bobbin_elf *elf);

/**
 * bobbin_elf_code() - where the file has code
 * @elf: the file
 * @ret: ranges of addresses in the file's own space, ascending and not touching each other;
 *	they live as long as @elf
 *
 * By its executable sections, or its executable segments if it has no section headers.
 *
 * Return: how many; 0 for relocatable files and bare bytes.
 */
size_t bobbin_elf_code(const struct bobbin_elf *elf, const struct bobbin_range **ret);

/**
 * bobbin_elf_count() - how many SFrame sections the file has
 * @elf: the file
 *
 * Return: the number.
 */
size_t bobbin_elf_count(const struct bobbin_elf *elf);

/**
 * struct bobbin_elf_section - an SFrame section
 * @name: of the section header, or "PT_GNU_SFRAME"; for bare bytes "bytes"
 * @image: in a core file: path of the mapped file whose section it is; else NULL
 * @data: the bytes
 * @size: their number
 * @addr: address of @data in the file's own space, which is that of bobbin_elf_code(), or
 *	in the process of a core file; 0 for bare bytes and relocatable files
 * @offset: of @data in the file, or in @image if @from_image
 * @from_image: a core file lacks the bytes; they were read from @image
 * @relocatable: functions start relative to their own section of code
 *
 * Everything in it is borrowed and lives as long as the struct bobbin_elf.
 */
struct bobbin_elf_section {
	const char *name, *image;
	const uint8_t *data;
	uint64_t size, addr, offset;
	bool from_image, relocatable;
};

/**
 * bobbin_elf_section() - one of the SFrame sections
 * @elf: the file
 * @number: of the section, in the file's order, from 0
 * @ret: the section; untouched on failure
 *
 * Return: 0; -ENOENT: there is no such section.
 */
int bobbin_elf_section(const struct bobbin_elf *elf, size_t number, struct bobbin_elf_section *ret);

/**
 * bobbin_elf_next() - walk over the tables of a section
 * @elf: the file
 * @number: of the section, in the file's order, from 0
 * @pos: as for bobbin_sframe_next()
 * @err: where (from the start of the section) and why on failure, or NULL
 * @ret: the table; untouched otherwise.  Borrows its bytes: it lives as long as @elf
 *
 * bobbin_sframe_next() with the section's bytes and address.
 *
 * Return: 1 and a table; 0 at the end; -EBADMSG; -ENOENT: there is no such section.
 */
int bobbin_elf_next(const struct bobbin_elf *elf, size_t number, uint64_t *pos,
		    struct bobbin_error *err, struct bobbin_sframe_view *ret);

#ifdef __cplusplus
}
#endif

#endif
