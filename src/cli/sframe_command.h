/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_command.h - what the commands below `bobbin sframe` share.
 */
#ifndef BOBBIN_CLI_SFRAME_COMMAND_H
#define BOBBIN_CLI_SFRAME_COMMAND_H

#include <bobbin/cfi.h>
#include <bobbin/sframe.h>
#include <stdio.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "convert/converter.h"
#include "convert/merger.h"
#include "elf/elf_image.h"
#include "elf/sframe_file.h"
#include "export/json_output.h"
#include "object/object_code.h"

/* Open a file to read, "-" is stdin; complains and returns -1. */
int open_input(const char *path);

/* The same where it is read in any order, or twice: a regular file. */
int open_regular_input(const char *path);

/* A section that was made; @data is its owner's to free(). */
struct made_section {
	uint8_t *data;
	uint64_t size, addr;
};

/*
 * What is wrong with --output and --in-place, or NULL.  The same for all commands that write a
 * file; a command may find more.
 */
const char *output_fault(const struct arguments *arguments);

/* false after a complaint: a section would go to a terminal, which it would upset. */
bool spares_terminal(const struct arguments *arguments);

/* Read the SFrame sections of a file, "-" is stdin; complains. */
bool read_sframe_file(const char *path, struct sframe_file *ret);

/*
 * What merge_sections() says of a function; @offset: in the file, or in what @place names, which
 * is empty or " SECTION:".
 */
void complain_function(const char *path, const char *place, uint64_t offset,
		       const struct merge_report *report);

/*
 * The call-frame information of a linked or a relocatable file.  In a relocatable file the code
 * has the addresses of struct object_code; users see sections' names and offsets instead.
 */

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

/**
 * struct file_report - what a command says of files
 * @file: says it of one; returns an exit status
 * @total: says what follows the files, or NULL
 * @ctx: for both
 * @failed: the exit status if standard output fails
 */
struct file_report {
	int (*file)(void *ctx, const char *path);
	void (*total)(void *ctx);
	void *ctx;
	int failed;
};

/*
 * Report on all operands, with --json as a document {"files": […]} on @json.  The greatest exit
 * status.
 */
int report_files(const struct arguments *arguments, struct json_output *json,
		 const struct file_report *report);

#endif
