/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * program_table.h - the programs of a recording by the names of their threads.
 */
#ifndef BOBBIN_ACCURACY_PROGRAM_TABLE_H
#define BOBBIN_ACCURACY_PROGRAM_TABLE_H

#include <stddef.h>

#include "profile/process_table.h"

/* More than record-workloads runs; the last one takes all others. */
#define PROGRAMS_MAX 24

struct program_table {
	char names[PROGRAMS_MAX][COMM_SIZE];
	size_t count;
};

/**
 * program_index() - the number of a program, a new one for a new name
 * @table: zeroed at first
 * @comm: its name
 *
 * Return: less than PROGRAMS_MAX.
 */
size_t program_index(struct program_table *table, const char *comm);

#endif
