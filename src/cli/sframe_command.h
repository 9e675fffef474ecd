/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_command.h - what the commands below `bobbin sframe` share.
 */
#ifndef BOBBIN_CLI_SFRAME_COMMAND_H
#define BOBBIN_CLI_SFRAME_COMMAND_H

#include <bobbin/sframe.h>

#include "cli/arguments.h"
#include "cli/command.h"
#include "elf/sframe_file.h"

/* Open a file to read, "-" is stdin; complains and returns -1. */
int open_input(const char *path);

/* The same where it is read in any order, or twice: a regular file. */
int open_regular_input(const char *path);

/* false after a complaint: @output is "-" and that a terminal, which a section would upset. */
bool spares_terminal(const char *output);

/* Read the SFrame sections of a file, "-" is stdin; complains. */
bool read_sframe_file(const char *path, struct sframe_file *ret);

#endif
