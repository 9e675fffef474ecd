/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stepped_process.h - a program that is run instruction by instruction, from its entry point
 * on, with its shadow stack.
 */
#ifndef BOBBIN_TESTS_STEPPED_PROCESS_H
#define BOBBIN_TESTS_STEPPED_PROCESS_H

#include <sys/user.h>

#include "shadow_stack.h"

/**
 * struct stepped_process - stopped, always
 * @regs: of the next instruction
 * @code: its bytes, as far as they can be read
 * @signal: to be taken with the next step
 * @mapped: something was mapped or unmapped since this was last set to false
 * @not_understood: why stepping ended early; NULL: the program has ended
 * @parent: what waits for the process, which it has made by vfork() or the like and which is stepped
 *	until it executes a program or ends; pid 0: nobody
 */
struct stepped_process {
	pid_t pid;
	struct user_regs_struct regs;
	uint8_t code[INSN_BYTES];
	int signal;
	bool mapped;
	const char *not_understood;
	struct shadow_stack shadow;
	struct {
		pid_t pid;
		struct user_regs_struct regs;
		struct shadow_stack shadow;
	} parent;
};

/* Run a program up to its entry point.  0 or a negative errno. */
int stepped_process_start(char *const argv[], char *const environment[],
			  struct stepped_process *ret);
void stepped_process_end(struct stepped_process *process);

/* Execute an instruction; false: that was the last one. */
bool stepped_process_step(struct stepped_process *process);

#endif
