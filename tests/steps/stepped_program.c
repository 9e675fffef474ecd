/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "stepped_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \n"

bool stepped_program_parse(char *line, unsigned int leasts, struct stepped_program *ret)
{
	const char *name = strtok(line, BLANKS), *stops = strtok(NULL, BLANKS), *least;
	unsigned int i;

	if (!name || !stops)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	ret->stops = strtoull(stops, NULL, 0);
	for (i = 0; i < leasts; i++) {
		least = strtok(NULL, BLANKS);
		if (!least)
			return false;
		ret->least[i] = (unsigned int)atoi(least);
	}
	for (i = 0; i < STEPPED_ARGUMENTS && (ret->arguments[i] = strtok(NULL, BLANKS)); i++)
		;
	ret->arguments[i] = NULL;
	return i;
}
