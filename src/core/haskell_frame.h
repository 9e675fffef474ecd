/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * haskell_frame.h - the caller of Haskell code, which runs in the frame of StgRun().
 *
 * That code has no table, and what the frame pointer has is Haskell's stack.  Its stack pointer is
 * that of StgRun() at its jump, see core/stg_run.h.  So the return address of that function is at one
 * place: where a call of it has put it, nothing has been called since.  A function in C has its own
 * return address in between.
 *
 * After a call of such a function there may still be its arguments on the stack.  The code takes
 * them off, so the way from the PC must come to StgRun()'s stack pointer.
 */
#ifndef BOBBIN_CORE_HASKELL_FRAME_H
#define BOBBIN_CORE_HASKELL_FRAME_H

#include "core/bare_code.h"
#include "core/stg_run.h"

/* Words that may be on the stack beside: arguments of a call, and padding. */
#define HASKELL_WORDS 16

/*
 * The stack pointer of StgRun() at its jump: the first one from w->regs.sp on, of HASKELL_WORDS, from
 * which its return address is found after a call of it; 0: none.
 */
static uint64_t stg_run_above(struct frame_walk *w);

/*
 * Whether the code at the PC comes to a stack pointer by this way.  It returns by none, but for that to
 * StgRun(), which takes its frame down.  Where the way was followed no further nothing is said.
 */
static BOBBIN_ALWAYS_INLINE enum code_answer way_comes_to(struct frame_walk *w, uint64_t sp,
							  bool taken)
{
	const struct code_path *p = &w->resort.path;
	const struct fallbacks *r = &w->resort;

	follow_path(w, taken);
	if (r->turn == CODE_TURN_RETURN)
		sp += STG_RUN_RA;
	if (p->sp.base == CODE_SP && !p->sp.loaded &&
	    w->regs.sp + (uint64_t)(int64_t)p->sp.off == sp)
		return CODE_YES;
	return r->turn == CODE_TURN_RETURN || r->turn == CODE_TURN_JUMP ? CODE_NO : CODE_UNREADABLE;
}

static BOBBIN_ALWAYS_INLINE bool code_comes_to(struct frame_walk *w, uint64_t sp)
{
	const enum code_answer passed = way_comes_to(w, sp, false);
	const enum code_answer taken = way_comes_to(w, sp, true);

	return passed != CODE_NO && taken != CODE_NO && (passed == CODE_YES || taken == CODE_YES);
}

/* Move to the caller of StgRun(), if the code at the PC runs in its frame. */
static BOBBIN_ALWAYS_INLINE bool step_haskell(struct frame_walk *w)
{
	const struct rule_step s = {.world = w, .arch = walk_arch(w)};
	uint64_t sp, fp = 0, ra = 0;

	if (!walk_arch(w)->default_ra_off || w->regs.sp % 8)
		return false;
	sp = stg_run_above(w);
	if (!sp || !code_comes_to(w, sp) || step_load(&s, sp + STG_RUN_FP, &fp) ||
	    step_load(&s, sp + STG_RUN_RA, &ra))
		return false;
	w->regs = (struct bobbin_regs){.pc = ra, .sp = sp + STG_RUN_RA + 8, .fp = fp};
	return true;
}

#endif
