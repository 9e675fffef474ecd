/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_command.h - what the commands below `bobbin sframe` share.
 */
#ifndef BOBBIN_CLI_SFRAME_COMMAND_H
#define BOBBIN_CLI_SFRAME_COMMAND_H

#include "cli/command.h"
#include "elf/sframe_file.h"

/* Open a file to read, "-" is stdin; complains and returns -1. */
int open_input(const char *path);

/* Read the SFrame sections of a file, "-" is stdin; complains. */
bool read_sframe_file(const char *path, struct sframe_file *ret);

#endif
