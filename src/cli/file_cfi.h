/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_cfi.h - the call-frame information of a linked or a relocatable file.
 *
 * In a relocatable file the code has the addresses of struct object_code; users
 * see sections' names and offsets instead.
 */
#ifndef BOBBIN_CLI_FILE_CFI_H
#define BOBBIN_CLI_FILE_CFI_H

#include <bobbin/cfi.h>
#include <stdio.h>

#include "convert/converter.h"
#include "elf/elf_image.h"
#include "elf/sframe_file.h"
#include "object/object_code.h"

/**
 * struct file_cfi - what was read
 * @path, @fd: the file, open
 * @image: of a linked file, else zero
 * @object: of a relocatable file, else zero
 * @arch: of the file
 * @views: borrow from one of the two
 * @count: 0 to 2; 0: there is no call-frame information
 * @bytes: of it, with .eh_frame_hdr
 * @code, @code_count: where executable code lies; borrowed from one of the two
 */
struct file_cfi {
	const char *path;
	int fd;
	struct elf_image image;
	struct object_code object;
	const struct bobbin_arch *arch;
	struct bobbin_cfi_view views[2];
	unsigned int count;
	uint64_t bytes;
	const struct bobbin_range *code;
	size_t code_count;
};

/*
 * Read a regular file, "-" is stdin.  false after a complaint: for files that are neither
 * linked nor relocatable and those whose call-frame information cannot be read, too.
 */
bool file_cfi_open(const char *path, struct file_cfi *ret);
void file_cfi_close(struct file_cfi *input);

/* Tables of SFrame sections; zero to begin, @views are to be free()d. */
struct sframe_tables {
	struct bobbin_sframe_view *views;
	unsigned int count;
	size_t capacity;
};

/*
 * Add those of a section of the file, up to the first that cannot be read.  The starts of
 * functions in a relocatable file's section are changed to addresses in its code.  0, -ENOMEM.
 */
int file_cfi_add_tables(const struct file_cfi *input, const struct sframe_section *section,
			struct sframe_tables *ret);

/* The SFrame section of a linked file; without bytes if it has none. */
struct sframe_section file_cfi_sframe(const struct file_cfi *input);

/*
 * convert_cfi() with all of it.  In a relocatable file, whose sections a linker may
 * put anywhere, none shares rows with another.
 */
int file_cfi_convert(const struct file_cfi *input, const struct convert_options *options,
		     struct convert_stats *stats, uint8_t **data, uint64_t *size);

/*
 * The section of a relocatable file that holds the code at an address, and makes
 * *@addr an offset in it; NULL, with *@addr as it was, in a linked file or elsewhere.
 */
const char *file_cfi_section(const struct file_cfi *input, uint64_t *addr);

/* Print "0x10..0x20", after the name of the section in a relocatable file. */
void file_cfi_print_range(const struct file_cfi *input, FILE *out, uint64_t start, uint64_t end);

#endif
