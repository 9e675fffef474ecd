/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_command.h - what the commands below `bobbin sframe` share.
 */
#ifndef BOBBIN_CLI_SFRAME_COMMAND_H
#define BOBBIN_CLI_SFRAME_COMMAND_H

#include <bobbin/sframe.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "convert/merger.h"
#include "elf/sframe_file.h"

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
