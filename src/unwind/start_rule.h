/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * start_rule.h - where a function has its return address, as its code says from its start on.
 *
 *	function ─► push, sub, … ─► PC		by all ways, without the rule of a table
 *
 * The table tells where the function starts and ends, and that it is called there.  That is wrong of
 * code which is jumped to with words on the stack, so its returns must say the same.  Where there are
 * none, all ways must end: in a call, or in an instruction that stops.
 */
#ifndef BOBBIN_UNWIND_START_RULE_H
#define BOBBIN_UNWIND_START_RULE_H

#include <bobbin/rule.h>
#include <bobbin/step.h>

#include "core/known_code.h"

struct made_code;
struct table_set;

/**
 * struct start_query - a frame of a file's code
 * @code: how to read it
 * @tables: of the file
 * @bias: of the code, from the tables' addresses
 * @regs: the frame's
 */
struct start_query {
	struct code_reader code;
	struct table_set *tables;
	uint64_t bias;
	const struct bobbin_regs *regs;
};

/* Of larger functions nothing is said: the same walk ends the same, whatever was looked at before. */
#define START_RULE_SIZE 4096

/*
 * The rule at the PC, of which CFA and return address count.  false: the code says none.  Only for
 * x86-64.
 */
bool start_rule(struct made_code *made, const struct start_query *query, struct bobbin_rule *ret);

#endif
