/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * annotation.h - the instructions of a function with their weights, as lines of text.
 *
 *	# spin, in chain: 99.21% of 1234 samples of 'cpu-clock'
 *	# /tmp/chain 0x1190-0x11b1
 *	#
 *	# Percent  Address  Code
 *	# .......  .......  ....
 *	#
 *	                    spin.h:21  while (now_ms() < end)
 *	   45.20%     1199  cmp %rax, %rbx
 *	    0.80%           [ 3 instructions ]
 *	                    now_ms (inlined)  spin.h:9  return s.tv_sec;
 *	   54.00%     11a6  mov (%rsp), %rax
 *
 * Names and lines of files nobody vouches for; what is printed is valid UTF-8 without control
 * characters.
 */
#ifndef BOBBIN_EXPORT_ANNOTATION_H
#define BOBBIN_EXPORT_ANNOTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct annotated_function - what stands above
 * @name, @dso: of the function, and its file
 * @event: what was sampled
 * @samples, @weight: of the function
 * @all_samples, @all: of everything
 * @start, @end: addresses in the file; the same: they are not known
 * @note: what is missing, or NULL
 */
struct annotated_function {
	const char *name, *dso, *event;
	uint64_t samples, weight, all_samples, all;
	uint64_t start, end;
	const char *note;
};

/**
 * struct annotated_code - an instruction
 * @text: "": it is not known
 * @target: the function to which it leads, another one, and @into how far in it that is; or NULL
 * @inlined: the innermost inlined function that it is of; or NULL
 * @file, @line: of its source; or NULL
 * @source: that line; or NULL
 */
struct annotated_code {
	uint64_t address, weight;
	const char *text, *target;
	uint64_t into;
	const char *inlined, *file;
	uint32_t line;
	const char *source;
};

/* A function that is being printed; errors stay in @out. */
struct annotation {
	FILE *out;
	uint64_t weight;
	char inlined[128], file[128]; /* of the last instruction, as far as they are compared */
	uint32_t line;
	bool begun;
};

void annotation_begin(struct annotation *annotation, const struct annotated_function *function,
		      FILE *out);

void annotation_code(struct annotation *annotation, const struct annotated_code *code);

/* Some instructions are left out; what they weigh together. */
void annotation_gap(struct annotation *annotation, size_t instructions, uint64_t weight);

#endif
