/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_survey.h - all ways that machine code can take from an address on.
 *
 *	pc ─┬► add $24, %rsp ─► pop %rbx ─► ret		CFA = SP + 40
 *	    └► call … ─► jmp ─┬► … ─► ret		the same, or they contradict
 *	                      └► jmp *%rax		nothing is known of what follows
 *
 * core/code_path.h follows one way, for 48 instructions.  Code that a JIT compiler has made is large and
 * branches often, so here both ways of each branch are followed, and tables of jumps, up to their
 * returns.  Where ways meet, what differs is unknown.  Returns from different places contradict
 * each other.  Only x86-64.
 *
 * The memory is large, so it is the caller's.  The work is bounded by SURVEY_INSNS.
 */
#ifndef BOBBIN_CORE_CODE_SURVEY_H
#define BOBBIN_CORE_CODE_SURVEY_H

#include <bobbin/step.h>

#include "core/code_path.h"
#include "core/known_code.h"

/* Instructions that are followed, and places that are jumped to. */
#define SURVEY_INSNS 8192u
#define SURVEY_LABELS 1024u
/* Of one table of jumps. */
#define SURVEY_ENTRIES 256u
/* Bytes of code that are read at once. */
#define SURVEY_WINDOW 256u

/* What is jumped to. */
struct survey_label {
	struct code_path path; /* there */
	uint32_t number;       /* of the survey that it is of */
	bool queued;
};

/**
 * struct survey_query - what is asked
 * @code: how to read code
 * @start, @end: code outside of this is not followed
 * @from: the first instruction
 * @to: what is sought, or 0; @to_exact: it is that instruction, not where a call returns to
 * @sp, @fp: the registers at @from, to compare what is relative to one of them with what is to the other
 * @exact: nothing has been called at @from
 * @over_calls: calls are taken to return; otherwise ways end there
 */
struct survey_query {
	struct code_reader code;
	uint64_t start, end;
	uint64_t from, to;
	uint64_t sp, fp;
	bool exact, over_calls, to_exact;
};

/**
 * struct survey_answer - what was found
 * @rule: at the first instruction, by the returns; of use if @returns
 * @reached: @to was found, with @to_sp and @to_fp
 * @returns: a way leads to a return
 * @conflict: returns contradict each other, or one tells nothing
 * @undone: at a return the registers are as at the first instruction
 * @doubtful: a return may be another function's, see struct code_path
 * @leaves: a way leads out of the code, but for a call that is its last instruction, or to what cannot
 *	be followed
 * @spent: not all ways were followed
 */
struct survey_answer {
	struct bobbin_rule rule;
	struct code_value to_sp, to_fp;
	bool reached, returns, conflict, undone, doubtful, leaves, spent;
};

/* Memory for it, all zeros at first. */
struct code_survey {
	const struct survey_query *query;
	struct survey_answer answer;
	uint64_t returned; /* where the return address is, if @answer.returns */
	bool counted;      /* that is a return which takes off arguments of some number */
	uint32_t number;   /* of this survey */
	uint32_t insns, label_count, queue_count;
	uint16_t queue[SURVEY_LABELS];
	struct survey_label labels[SURVEY_LABELS];
	uint64_t taken[SURVEY_LABELS / 64]; /* a bit for each place where a label's search begins */
	uint64_t table;                     /* the last constant on the way, or 0 */
	bool called;                        /* the last instruction is a call */
	uint64_t window_at;
	uint32_t window_size;
	uint8_t window[SURVEY_WINDOW];
};

/* Follow all ways.  How many instructions they had. */
uint32_t code_survey_run(struct code_survey *survey, const struct survey_query *query,
			 struct survey_answer *ret);

#endif
