/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_run.h - what the test asks the program in the kernel, and its answer.
 *
 * The section and the copy of the stack are in the memory of the process that runs the
 * program, which reads them by helper.
 */
#ifndef BOBBIN_TESTS_FRAME_RUN_H
#define BOBBIN_TESTS_FRAME_RUN_H

#include <bobbin/sframe.h>
#include <bobbin/step.h>

/**
 * struct frame_run - one frame
 * @section, @section_size: the bytes, here
 * @section_addr: where they are in the space of the PCs
 * @stack, @stack_size: the copy of the stack, here
 * @stack_addr: where it was
 * @regs: in: the frame's; out: its caller's.  With @gpr where @regs.gpr is not NULL
 * @gpr: by DWARF number
 * @status: out: of the view, else of the lookup
 * @error: out: why, if there is no rule
 * @row: out: from the lookup
 * @word: out: its rule, packed, or 0
 * @reason: out: of the step
 */
struct frame_run {
	uint64_t section, section_size, section_addr;
	uint64_t stack, stack_size, stack_addr;
	struct bobbin_regs regs;
	uint64_t gpr[BOBBIN_REG_COUNT];
	int32_t status;
	struct bobbin_error error;
	struct bobbin_row row;
	uint64_t word;
	enum bobbin_reason reason;
};

#endif
