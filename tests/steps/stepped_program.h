/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stepped_program.h - a line of a list of programs that are stepped:
 *
 *	NAME STOPS LEAST... PROGRAM [ARGUMENT...]
 */
#ifndef BOBBIN_TESTS_STEPPED_PROGRAM_H
#define BOBBIN_TESTS_STEPPED_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define STEPPED_ARGUMENTS 8
#define STEPPED_LEASTS 4

/**
 * struct stepped_program - a program
 * @stops: that are judged
 * @least: shares of complete traces, in percent, by the ways in which they are walked
 * @arguments: words of the line
 */
struct stepped_program {
	char name[64];
	uint64_t stops;
	unsigned int least[STEPPED_LEASTS];
	char *arguments[STEPPED_ARGUMENTS + 1];
};

/* A line with so many least shares, which is changed and outlives @ret.  false: it is no such line. */
bool stepped_program_parse(char *line, unsigned int leasts, struct stepped_program *ret);

#endif
