/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bare_code.h - the caller of code that is there, and that no table covers.
 *
 * What is asked of the code is declared here, and core/fallbacks.h defines it; programs of BPF
 * bring their own, each as a part that is proved by itself.
 */
#ifndef BOBBIN_CORE_BARE_CODE_H
#define BOBBIN_CORE_BARE_CODE_H

#include "core/code_path.h"
#include "core/frame_rules.h"
#include "core/frame_walk.h"

/* Of frames that are searched for a return address. */
#define SEARCHED_WORDS 512
/* The same of all frames of a walk: hostile stacks would make it long. */
#define SEARCHED_IN_ALL 8192
/* Of user space, where something may be mapped. */
#define LOWEST_CODE 65536
#define HIGHEST_CODE (1ull << 47)

/* Whether a return leads to a root; @returns: what world_returns() says. */
static bool leads_to_root(struct frame_walk *w, uint64_t addr, enum code_answer returns);

/* Whether it is the dynamic loader's resolver that a stub of lazy binding jumps to. */
static bool is_resolver(struct frame_walk *w, uint64_t addr);

/* One turn of w->resort.path. */
static enum code_turn path_turn(struct frame_walk *w);

/* To the caller of a frame that was made elsewhere, see core/entered_code.h and haskell_frame.h. */
static bool step_entered(struct frame_walk *w);
static bool step_haskell(struct frame_walk *w);

/* Whether a table's rule for a caller leads to another one, or says that there is none. */
static bool leads_on_by_table(struct frame_walk *w, const struct bobbin_regs *caller);

/* By w->resort.rule, if it leads to code. */
static BOBBIN_OUT_OF_LINE void try_way(struct frame_walk *w, struct frame_way *ret)
{
	const struct bobbin_rule *rule = &w->resort.rule;
	struct bobbin_regs regs = {.pc = w->regs.pc,
				   .sp = w->regs.sp,
				   .fp = w->regs.fp,
				   .ra = w->regs.ra,
				   .exact = w->regs.exact,
				   .ra_known = w->regs.ra_known};
	struct rule_step s = {w, walk_arch(w), rule, &regs, 0};

	ret->slot = 0;
	ret->exists = ret->is_certain = false;
	if (step_cfa(&s, &s.cfa) || step_by_rule(w, walk_arch(w), rule, &regs))
		return;
	ret->caller = regs;
	ret->returns = (uint8_t)world_returns(w, regs.pc);
	if (rule->ra.how == BOBBIN_HOW_IN_CFA_MEM)
		ret->slot = s.cfa + (uint64_t)(int64_t)rule->ra.off;
	ret->exists = world_is_code(w, regs.pc - 1) || (w->some_code && ret->returns == CODE_YES);
}

/* @ctx: where the walk is */
static long turn_of_path(uint32_t i, void *ctx)
{
	struct frame_walk *w = *(struct frame_walk **)ctx;

	(void)i;
	w->resort.turn = (uint8_t)path_turn(w);
	return w->resort.turn != CODE_TURN_ON;
}

/*
 * Along the code from the PC to a return; @taken: by the jumps that are conditional.  The rule is
 * marked as likely where it is not certain: after a call, or beyond one, it may be another
 * function's, and what is stored below a register may be a buffer.
 */
static BOBBIN_OUT_OF_LINE bool follow_path(struct frame_walk *w, bool taken)
{
	struct fallbacks *r = &w->resort;

	code_path_begin(w->regs.pc, w->regs.exact, taken, is_resolver(w, w->regs.pc), &r->path);
	r->turn = CODE_TURN_ON;
	BOBBIN_REPEAT(PATH_INSNS, turn_of_path, &w);
	if (!code_path_end(walk_arch(w), &r->path, (enum code_turn)r->turn, &r->rule)) {
		r->rule = bobbin_rule_none(BOBBIN_REASON_BAD_RULE);
		return r->turn == CODE_TURN_RETURN;
	}
	if (!code_path_is_certain(&r->path, w->regs.exact))
		r->rule.flags |= BOBBIN_RULE_LEAF;
	return true;
}

/* The rule that the code says, for w->resort.rule: a doubtful one, if both ways lead to none else. */
static BOBBIN_ALWAYS_INLINE void rule_of_code(struct frame_walk *w)
{
	struct fallbacks *r = &w->resort;
	bool found = false;

	for (int taken = 0; taken < 2 && !found; taken++) {
		if (!follow_path(w, taken))
			continue;
		found = !r->path.doubtful;
		r->code_doubts = !found;
		if (r->code_doubts)
			r->doubtful = r->rule;
	}
	if (r->code_doubts) {
		r->rule = r->doubtful;
		return;
	}
	if (!found)
		r->rule = bobbin_rule_none(BOBBIN_REASON_NO_FUNCTION);
	world_keep(w, &r->rule);
}

/* Where one way says nothing that is certain, all ways may. */
static BOBBIN_ALWAYS_INLINE void rule_of_ways(struct frame_walk *w)
{
	struct fallbacks *r = &w->resort;
	bool doubtful;

	if (r->rule.cfa.how != BOBBIN_HOW_NO_RULE && !(r->rule.flags & BOBBIN_RULE_LEAF))
		return;
	if (world_ways(w, &r->rule, &doubtful))
		r->code_doubts = doubtful;
}

/* What may be data does not say where it returns to. */
static BOBBIN_ALWAYS_INLINE void way_of_code(struct frame_walk *w)
{
	struct fallbacks *r = &w->resort;

	r->by_code.exists = r->by_code.is_certain = r->code_denies = r->code_doubts = false;
	if (!world_is_code(w, bobbin_regs_lookup_pc(&w->regs)))
		return;
	if (!world_kept(w, &r->rule))
		rule_of_code(w);
	rule_of_ways(w);
	if (r->rule.cfa.how == BOBBIN_HOW_NO_RULE) {
		r->code_denies = !r->code_doubts && r->rule.reason == BOBBIN_REASON_BAD_RULE;
		return;
	}
	try_way(w, &r->by_code);
	r->by_code.exists &= r->by_code.returns != CODE_NO;
	r->by_code.is_certain = !(r->rule.flags & BOBBIN_RULE_LEAF);
}

/*
 * Whether the caller has a caller, by its own frame record or by its table.  The first return
 * address on the stack may be an old one, and stand next to whatever the frame pointer happens
 * to be.
 */
static BOBBIN_ALWAYS_INLINE bool is_chained(struct frame_walk *w, const struct bobbin_regs *caller)
{
	const struct rule_step s = {.world = w, .arch = walk_arch(w)};
	uint64_t word = 0;

	if (caller->fp >= caller->sp && !(caller->fp & 7) &&
	    !step_load(&s, caller->fp + 8, &word) &&
	    world_returns(w, step_strip(walk_arch(w), word)) == CODE_YES)
		return true;
	return leads_on_by_table(w, caller);
}

/* s390x, which has a bias, has no frame records. */
static BOBBIN_ALWAYS_INLINE void way_of_record(struct frame_walk *w)
{
	w->resort.by_record.exists = false;
	if (walk_arch(w)->cfa_bias || !w->regs.fp)
		return;
	w->resort.rule = frame_record_rule(walk_arch(w));
	try_way(w, &w->resort.by_record);
}

/* @ctx: where the walk is */
static long turn_of_search(uint32_t i, void *ctx)
{
	struct frame_walk *w = *(struct frame_walk **)ctx;
	struct return_slot *first = &w->resort.first;
	const struct rule_step s = {.world = w, .arch = walk_arch(w)};
	uint64_t at = first->next, word = 0;
	enum code_answer returns;

	(void)i;
	if (w->searched++ >= SEARCHED_IN_ALL || step_load(&s, at, &word))
		return 1;
	first->next = at + sizeof(word);
	word = step_strip(walk_arch(w), word);
	if (!word)
		return 0;
	/* code that is not known yet ends the search, and proves nothing */
	if (!world_is_code(w, word - 1))
		return w->late_code && world_returns(w, word) == CODE_YES;
	returns = world_returns(w, word);
	first->is_root = leads_to_root(w, word, returns);
	if (!first->is_root && returns == CODE_NO)
		return 0;
	first->at = at;
	first->word = word;
	return 1;
}

static BOBBIN_ALWAYS_INLINE void first_return(struct frame_walk *w)
{
	w->resort.first = (struct return_slot){.next = w->regs.sp};
	if (w->regs.sp % 8 == 0)
		BOBBIN_REPEAT(SEARCHED_WORDS, turn_of_search, &w);
}

/*
 * Whether nothing but the first return address on the stack can be the caller's: in a leaf
 * with a link register it may be there, and where not all code is known words may be missed.
 */
static BOBBIN_ALWAYS_INLINE bool first_is_only(const struct frame_walk *w)
{
	return !w->some_code && (walk_arch(w)->default_ra_off || !w->regs.exact);
}

/* Whether the function of the code at the PC says from its start on that this is its caller. */
static BOBBIN_ALWAYS_INLINE bool is_proved_by_start(struct frame_walk *w,
						    const struct frame_way *way)
{
	return way->exists && way->returns == CODE_YES && way->slot &&
	       world_proves(w, way->slot, way->caller.pc);
}

static BOBBIN_ALWAYS_INLINE bool is_proved(const struct frame_walk *w, const struct frame_way *way)
{
	return way->exists && way->returns == CODE_YES && first_is_only(w) && way->slot &&
	       way->slot == w->resort.first.at;
}

/*
 * Whether the code at the PC does not say that the return address is elsewhere, or nowhere.  What it
 * is certain of may be no address after a call: code can push another one, and jump.
 */
static BOBBIN_ALWAYS_INLINE bool agrees_with_code(const struct frame_walk *w, uint64_t slot)
{
	const struct frame_way *way = &w->resort.by_code;

	if (w->resort.code_denies)
		return false;
	return w->resort.code_doubts || (!way->exists && !way->is_certain) || way->slot == slot;
}

/*
 * The same where one way through the code says nothing of its own: it may return through a register,
 * after it has taken its arguments off.
 */
static BOBBIN_ALWAYS_INLINE bool is_proved_by_start_alone(struct frame_walk *w,
							  const struct frame_way *way)
{
	return (w->resort.code_denies || agrees_with_code(w, way->slot)) &&
	       is_proved_by_start(w, way);
}

/*
 * Whether the frame that step_entered() has left can be no other: no return address is below, or the
 * code returns there, too.
 */
static BOBBIN_ALWAYS_INLINE bool is_frame_of_entry(const struct fallbacks *r)
{
	return r->entered == r->first.at ||
	       (r->by_code.exists && !r->code_doubts && r->by_code.slot == r->entered);
}

/* To a root, if it is the first that may be returned to.  Only where calls push the return address. */
static BOBBIN_ALWAYS_INLINE bool step_to_root(struct frame_walk *w)
{
	const struct return_slot *first = &w->resort.first;

	if (!walk_arch(w)->default_ra_off || !first->word ||
	    (!w->regs.exact && world_returns(w, w->regs.pc) != CODE_YES))
		return false;
	if (!first->is_root || !agrees_with_code(w, first->at))
		return false;
	w->regs = (struct bobbin_regs){.pc = first->word, .sp = first->at + 8};
	return true;
}

/* Code that is there, without a table; BOBBIN_SOURCE_NONE: nothing leads on. */
static BOBBIN_ALWAYS_INLINE enum bobbin_source step_in_code(struct frame_walk *w)
{
	struct fallbacks *r = &w->resort;

	way_of_code(w);
	if (r->by_code.exists && r->by_code.is_certain && r->by_code.returns == CODE_YES) {
		w->regs = r->by_code.caller;
		return BOBBIN_SOURCE_PATH;
	}
	first_return(w);
	if (!r->code_doubts && is_proved(w, &r->by_code)) {
		w->regs = r->by_code.caller;
		return BOBBIN_SOURCE_PATH;
	}
	if (is_proved_by_start(w, &r->by_code)) {
		w->regs = r->by_code.caller;
		return BOBBIN_SOURCE_PATH;
	}
	way_of_record(w);
	if (is_proved_by_start_alone(w, &r->by_record) ||
	    (is_proved(w, &r->by_record) && agrees_with_code(w, r->by_record.slot) &&
	     is_chained(w, &r->by_record.caller))) {
		w->regs = r->by_record.caller;
		return BOBBIN_SOURCE_FRAME_POINTER;
	}
	if (step_haskell(w))
		return BOBBIN_SOURCE_PATH;
	if (step_entered(w))
		return is_frame_of_entry(r) ? BOBBIN_SOURCE_PATH : BOBBIN_SOURCE_GUESS;
	if (step_to_root(w))
		return BOBBIN_SOURCE_ROOT_SEARCH;
	if (!r->by_code.exists && !r->by_record.exists)
		return BOBBIN_SOURCE_NONE;
	w->regs = r->by_code.exists ? r->by_code.caller : r->by_record.caller;
	return BOBBIN_SOURCE_GUESS;
}

#endif
