/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_set.h - all frames of recordings that SFrame has rules for, in memory.
 *
 * Each sample is walked in user space.  The sections are made from the files' call-frame
 * information, in each version of the format.
 */
#ifndef BOBBIN_TESTS_FRAME_SET_H
#define BOBBIN_TESTS_FRAME_SET_H

#include <bobbin/sframe.h>
#include <bobbin/unwind.h>

#define FRAME_VERSIONS 3 /* of SFrame: 1 to 3 */

/**
 * struct frame_file - a file with code
 * @known: looked at
 * @data, @size: its sections by version, for address 0 in the file's own space; NULL: none
 */
struct frame_file {
	bool known;
	uint8_t *data[FRAME_VERSIONS + 1];
	uint64_t size[FRAME_VERSIONS + 1];
};

/**
 * struct recorded_frame - one frame of a sample
 * @file: that holds its PC
 * @bias: where the process has that file
 * @regs, @stack: borrow of the sample
 */
struct recorded_frame {
	const struct frame_file *file;
	uint64_t bias;
	struct bobbin_regs regs;
	const struct bobbin_stack_copy *stack;
};

struct frame_set {
	const struct recorded_frame *frames;
	size_t count;
};

/* Read recordings, for as long as the program runs; aborts if that fails. */
void frame_set_load(char **paths, int count, struct frame_set *ret);

#endif
