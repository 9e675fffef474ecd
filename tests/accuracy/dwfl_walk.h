/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dwfl_walk.h - the same walk with elfutils' libdwfl.
 *
 * libdwfl gets what perf gives it: the files that are mapped, each at its place; the
 * registers; the copy of the stack and, for other addresses, what the mapped files hold.  Like
 * bobbin, it does not search for separate debug files.
 */
#ifndef BOBBIN_ACCURACY_DWFL_WALK_H
#define BOBBIN_ACCURACY_DWFL_WALK_H

#include <bobbin/unwind.h>

/**
 * struct dwfl_result - a call chain of libdwfl
 * @count: frames
 * @frames: @source is not set
 * @readable: frames found before memory was asked for that the sample lacks
 * @missed: the first such address
 * @lacks_memory: there was one
 * @error: of dwfl_errno(3), 0 at the outermost frame
 */
struct dwfl_result {
	uint32_t count, readable;
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	uint64_t missed;
	bool lacks_memory;
	int error;
};

struct dwfl_walk;

/**
 * dwfl_walk_open() - give libdwfl the files of a process
 * @space: what is mapped
 * @ret: the walk; untouched on failure
 *
 * Return: 0, -ENOMEM, -EIO if libdwfl refuses.
 */
int dwfl_walk_open(const struct bobbin_space *space, struct dwfl_walk **ret);

/**
 * dwfl_walk_close() - give it back
 * @walk: or NULL
 */
void dwfl_walk_close(struct dwfl_walk *walk);

/**
 * dwfl_walk_run() - a thread's call chain
 * @walk: its files
 * @regs: all registers of the leaf
 * @stack: the copy of its stack
 * @popped: in an epilogue, answer questions for what lies below the stack
 *	pointer: a register's slot there has been popped into the register
 * @ret: the chain
 */
void dwfl_walk_run(struct dwfl_walk *walk, const struct bobbin_regs *regs,
		   const struct bobbin_stack_copy *stack, bool popped, struct dwfl_result *ret);

#endif
