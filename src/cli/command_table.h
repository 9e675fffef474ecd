/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * command_table.h - the commands of `bobbin`: one table to run them by and to explain them.
 *
 * A command is a function of its options and operands.  It returns the exit
 * status: 0, 1 for a failure (after one line on stderr), 2 for a wrong call.
 */
#ifndef BOBBIN_CLI_COMMAND_TABLE_H
#define BOBBIN_CLI_COMMAND_TABLE_H

#include <stdio.h>

struct arguments;

int run_record(struct arguments *a);
int run_top(struct arguments *a);
int run_report(struct arguments *a);
int run_script(struct arguments *a);
int run_flamegraph(struct arguments *a);
int run_stack(struct arguments *a);
int run_maps(struct arguments *a);
int run_doctor(struct arguments *a);
int run_sframe_dump(struct arguments *a);
int run_sframe_check(struct arguments *a);
int run_sframe_lint(struct arguments *a);
int run_sframe_convert(struct arguments *a);
int run_sframe_stat(struct arguments *a);
int run_sframe_merge(struct arguments *a);
int run_sframe_repair(struct arguments *a);
int run_sframe_pack(struct arguments *a);
int run_sframe_unpack(struct arguments *a);

/* Run the command that @argv names in one or two words. */
int commands_run(int argc, char **argv);

/* Explain the command that @argv names to stdout. */
int commands_help(int argc, char **argv);

/* A line for each command that is named in one word. */
void commands_list(FILE *out);

#endif
