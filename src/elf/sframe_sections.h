/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_sections.h - the SFrame sections that were found in a file.
 */
#ifndef BOBBIN_ELF_SFRAME_SECTIONS_H
#define BOBBIN_ELF_SFRAME_SECTIONS_H

#include <bobbin/sframe.h>

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

#endif
