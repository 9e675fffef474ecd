/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_file.h - the SFrame sections of a file, for those who look at the
 * sections themselves.
 *
 *	linked ELF file		its .sframe sections, or, without section
 *				headers, its segment
 *	relocatable ELF file	its .sframe sections, relocated as if every
 *				section were at address 0
 *	core file		the sections of what was mapped, at their
 *				addresses in the process, see core_images.c
 *	anything else		a section's bare bytes
 *
 * Everything is copied: a file that shrinks later does no harm.
 */
#ifndef BOBBIN_ELF_SFRAME_FILE_H
#define BOBBIN_ELF_SFRAME_FILE_H

#include <bobbin/sframe.h>
#include <gelf.h>

#include "base/coverage.h"

/**
 * struct sframe_target - what a relocation says about one function
 * @field: offset of the function's start field in the section's data
 * @start: of the function, from the start of its own section
 * @section: name of the section that holds the function, NULL for an undefined
 *	symbol; lives as long as the file
 * @symbol: name of the symbol that is relocated against, NULL for a section's
 *	own; lives as long as the file
 * @section_index: of its section header
 * @section_size: bytes of @section
 * @exec: @section holds code
 */
struct sframe_target {
	uint64_t field, start;
	const char *section, *symbol;
	size_t section_index;
	uint64_t section_size;
	bool exec;
};

/**
 * struct sframe_section - one section, or several that were only concatenated
 * @name: where it comes from, e.g. ".sframe"; owned
 * @image: path of the mapped file whose section it is, for core files, else
 *	NULL; owned
 * @data: the bytes; owned
 * @size: their number
 * @addr: address of @data in the file's own space, 0 for bare bytes
 * @offset: of @data in the file, or in @image if @from_image
 * @index: of its section header, 0 if there is none
 * @from_image: a core file lacks the bytes; they were read from @image
 * @relocated: the file is relocatable: starts are relative to their own fields
 *	whatever the header says, so BOBBIN_SFRAME_PCREL must be set in views
 * @targets: of the functions, ascending by @field; owned
 * @target_count: their number
 * @target_capacity: how many there is room for
 */
struct sframe_section {
	char *name, *image;
	uint8_t *data;
	uint64_t size, addr, offset;
	size_t index;
	bool from_image, relocated;
	struct sframe_target *targets;
	size_t target_count, target_capacity;
};

/* A file that was mapped in a core file's process, and that we cannot see. */
struct sframe_absence {
	char *image; /* owned */
	uint64_t addr;
};

/**
 * struct sframe_file - what was found
 * @arch: of the ELF file, NULL for bare bytes
 * @sections: in the file's order
 * @code: of a linked ELF file or a core file; see struct sframe_target for the
 *	others
 * @absences: what a core file lacks, and no file has instead
 * @elf: libelf's handle, in which the names of targets live; owned
 */
struct sframe_file {
	const struct bobbin_arch *arch;
	struct sframe_section *sections;
	size_t section_count, section_capacity;
	struct coverage code;
	struct sframe_absence *absences;
	size_t absence_count, absence_capacity;
	void *elf;
};

/*
 * Add a section; @section says all but @name and @image, which are copied, and its data
 * become the file's, or are freed.  @image may be NULL.  0 or -ENOMEM.
 */
int sframe_file_add(struct sframe_file *file, const char *name, const char *image,
		    struct sframe_section section);

/* Add an image that is absent.  0 or -ENOMEM. */
int sframe_file_miss(struct sframe_file *file, const char *image, uint64_t addr);

/* bobbin_sframe_next() over the tables of a section, those of relocatable files as such. */
int sframe_section_next(const struct sframe_section *section, uint64_t *pos,
			struct bobbin_error *err, struct bobbin_sframe_view *ret);

/* What a relocation says about the start field at this offset, or NULL. */
const struct sframe_target *sframe_section_target(const struct sframe_section *section,
						  uint64_t field);

void sframe_file_fini(struct sframe_file *file);

/*
 * Read all of it; @fd, which may be a pipe, stays the caller's.  A file without
 * any section is no error.  -EBADMSG with a reason and a file offset; -EFBIG;
 * -ENOMEM; the errno of reading.
 */
int sframe_file_init(int fd, struct bobbin_error *err, struct sframe_file *ret);

/* A section, or a file that is only bytes, is read up to this size. */
#define SFRAME_FILE_MAX_RAW ((uint64_t)1 << 30)

/**
 * struct sframe_reader - a file that is being read
 * @elf: the file
 * @fd: the same
 * @header: its header
 * @budget: bytes that may still be looked at; tables of a sound file do not
 *	overlap, so that a few times its size is enough for all of them
 * @err: where and why on failure, or NULL
 * @file: what was found
 */
struct sframe_reader {
	Elf *elf;
	int fd;
	GElf_Ehdr header;
	uint64_t budget;
	struct bobbin_error *err;
	struct sframe_file *file;
};

/* Spend some of the budget; -EBADMSG if it is exhausted. */
int sframe_reader_spend(struct sframe_reader *reader, uint64_t offset, uint64_t size);

/*
 * Bytes of the file, the caller's to free: libelf would search all chunks that
 * it gave before.  -EBADMSG if the file does not hold them all, -EFBIG, -ENOMEM.
 */
int sframe_reader_bytes(struct sframe_reader *reader, uint64_t offset, uint64_t size,
			uint8_t **ret);

/* Each of these: -EBADMSG with a reason and a file offset, -ENOMEM. */

/* All sections of an ELF file that is no core file. */
int image_sections_read(struct sframe_reader *reader);

/* sframe_relocation.c: relocate the sections that were found, and remember the targets. */
int sframe_relocate(struct sframe_reader *reader);

/* core_images.c: the sections of the ELF files that a core file's process had mapped. */
int core_images_read(struct sframe_reader *reader);

#endif
