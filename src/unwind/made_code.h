/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * made_code.h - where functions that a process has made at run time have their return addresses.
 *
 *	PC ─► … ─► ret				by all ways from the PC on
 *	function ─► push, sub, … ─► PC		by the way to it from where the function starts
 *
 * What is beyond a call may be another function, if the call never returns.  So such a frame is proved
 * only if both agree: from the start of a function, which is what the call before the return address
 * calls, or follows what fills up, the PC is reached with the return address at the same place, and all
 * returns of the function are with its frame undone.
 *
 * Answers are kept for as long as a sample waits to be walked, since the code may be replaced, and for
 * a second where the code around the PC stays as it is.  In a second
 * MADE_CODE_RATE instructions are looked at, for all processes together; beyond, nothing is known.
 */
#ifndef BOBBIN_UNWIND_MADE_CODE_H
#define BOBBIN_UNWIND_MADE_CODE_H

#include <bobbin/step.h>

#include "core/code_survey.h"

#define MADE_CODE_RATE (1u << 20)

struct made_code;

/**
 * struct made_query - a frame of such code
 * @code: how to read it
 * @pid: whose it is
 * @start, @end: the mapping that the PC is in
 * @regs: the frame's
 */
struct made_query {
	struct code_reader code;
	int pid;
	uint64_t start, end;
	const struct bobbin_regs *regs;
};

/* NULL: no memory. */
struct made_code *made_code_open(void);
void made_code_close(struct made_code *made); /* NULL is fine */

/*
 * The rule at the PC by all ways to a return, marked as likely where they cross calls.  *@doubtful: it
 * may be another function's.  false: there is none, or not now.
 */
bool made_code_rule(struct made_code *made, const struct made_query *query, struct bobbin_rule *ret,
		    bool *doubtful);

/* Whether a function's start proves that the return address is @word, which is at @slot. */
bool made_code_proves(struct made_code *made, const struct made_query *query, uint64_t slot,
		      uint64_t word);

/* All ways of other code, which does not count: so much as the caller asks for. */
void made_code_look(struct made_code *made, const struct survey_query *query,
		    struct survey_answer *ret);

#endif
