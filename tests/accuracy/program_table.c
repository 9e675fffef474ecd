/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "program_table.h"

#include <stdio.h>
#include <string.h>

size_t program_index(struct program_table *table, const char *comm)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		if (!strcmp(table->names[i], comm))
			return i;
	if (i == PROGRAMS_MAX)
		return PROGRAMS_MAX - 1;
	snprintf(table->names[i], COMM_SIZE, "%s", i == PROGRAMS_MAX - 1 ? "(others)" : comm);
	table->count++;
	return i;
}
