/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fallbacks.h - the caller of a frame that no table covers.
 *
 *	after a system call	the rule before it: nothing has moved
 *	a PC that is no code	a call led there: its return address is on top of the stack
 *	code at the PC		where the way from there to the function's return finds it
 *	frame record		what the frame pointer names, if nothing else can be the caller
 *	root			the only thing above that may be a return address
 *	guess			the frame record, or the code's way, although others could be
 *
 * On x86-64 the return address is on the stack, at or above the stack pointer.  So the first
 * word there that a call may return to is the only one, or it is older than the frame: where
 * it is the one that the frame record or the code names, no caller can be missing.  All but
 * the last are such; a trace with a guess in it is likely and never complete.
 */
#ifndef BOBBIN_CORE_FALLBACKS_H
#define BOBBIN_CORE_FALLBACKS_H

#include "core/code_path.h"
#include "core/known_code.h"
#include "core/lost_register.h"

/* Of frames that are searched for a return address. */
#define SEARCHED_WORDS 512
/* The same of all frames of a walk: hostile stacks would make it long. */
#define SEARCHED_IN_ALL 8192
/* Of user space, where something may be mapped. */
#define LOWEST_CODE 65536
#define HIGHEST_CODE (1ull << 47)

static enum bobbin_reason frame_step_on(struct frame_walk *w, const struct bobbin_rule *rule);

/* Programs of BPF bring these, each as a part that is proved by itself. */
#ifdef __bpf__
static bool leads_to_root(struct frame_walk *w, uint64_t addr);
static bool is_resolver(struct frame_walk *w, uint64_t addr);
static enum code_turn path_turn(struct frame_walk *w);
static bool leads_on_by_table(struct frame_walk *w, const struct bobbin_regs *caller);
#else
static inline bool leads_to_root(struct frame_walk *w, uint64_t addr)
{
	const struct code_reader code = {world_code, w};

	return known_code_root(w->arch, &code, addr);
}

static inline bool is_resolver(struct frame_walk *w, uint64_t addr)
{
	const struct code_reader code = {world_code, w};

	return known_code_resolver(w->arch, &code, addr);
}

/* Whether a table's rule for a caller leads to another one, or says that there is none. */
static inline bool leads_on_by_table(struct frame_walk *w, const struct bobbin_regs *caller)
{
	struct bobbin_regs regs = *caller;
	enum bobbin_reason reason;
	struct bobbin_rule rule;

	if (frame_rule(w, bobbin_regs_lookup_pc(&regs), &rule) == BOBBIN_SOURCE_NONE ||
	    rule.flags & BOBBIN_RULE_LEAF)
		return false;
	reason = step_by_rule(w, w->arch, &rule, &regs);
	return reason == BOBBIN_REASON_OUTERMOST ||
	       (!reason && world_returns(w, regs.pc) == CODE_YES);
}

/* One turn of w->resort.path. */
static inline enum code_turn path_turn(struct frame_walk *w)
{
	struct fallbacks *r = &w->resort;

	if (!world_code(w, r->path.pc, r->code, sizeof(r->code)))
		return CODE_TURN_STUCK;
	return code_path_turn(w->arch, &r->path, r->code);
}
#endif

/* Rules that were inferred are not trusted: a return address is after a call. */
static inline enum bobbin_reason step_checked(struct frame_walk *w, uint8_t source,
					      const struct bobbin_rule *rule)
{
	enum bobbin_reason reason = frame_step_on(w, rule);

	if (reason || source != BOBBIN_SOURCE_CODE || world_returns(w, w->regs.pc) == CODE_YES)
		return reason;
	return BOBBIN_REASON_NO_CALL;
}

/*
 * In a system call the PC is after the instruction.  If that is the last one of its
 * function, or of the table, as in clone(), the rule before it holds; but not in the child
 * of clone(), which starts there on a stack of its own.
 */
static inline bool step_after_syscall(struct frame_walk *w, uint8_t *source,
				      enum bobbin_reason *reason)
{
	const struct code_reader code = {world_code, w};
	const struct bobbin_regs *regs = &w->regs;
	enum bobbin_source found;
	struct bobbin_rule rule;
	bool in_table = true;

	if (!regs->exact || !known_code_syscall(w->arch, &code, regs->pc))
		return false;
	found = frame_rule(w, regs->pc - 1, &rule);
	if (found == BOBBIN_SOURCE_NONE) {
		in_table = false;
		found = frame_rule(w, regs->pc - 3, &rule);
	}
	if (found == BOBBIN_SOURCE_NONE)
		return false;
	*source = (uint8_t)found;
	w->in_syscall = true;
	if (!in_table && regs->gpr && regs->gpr_known & 1 && !regs->gpr[0])
		*reason = BOBBIN_REASON_OUTERMOST;
	else
		*reason = step_checked(w, *source, &rule);
	return true;
}

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
static BOBBIN_ALWAYS_INLINE bool follow_path(struct frame_walk *w, bool taken)
{
	struct fallbacks *r = &w->resort;

	code_path_begin(w->regs.pc, taken, is_resolver(w, w->regs.pc), &r->path);
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

/* The rule that the code says, for w->resort.rule. */
static BOBBIN_ALWAYS_INLINE void rule_of_code(struct frame_walk *w)
{
	struct fallbacks *r = &w->resort;
	bool found = false;

	for (int taken = 0; taken < 2 && !found; taken++)
		found = follow_path(w, taken);
	if (!found)
		r->rule = bobbin_rule_none(BOBBIN_REASON_NO_FUNCTION);
	world_keep(w, &r->rule);
}

/* What may be data does not say where it returns to. */
static BOBBIN_ALWAYS_INLINE void way_of_code(struct frame_walk *w)
{
	struct fallbacks *r = &w->resort;

	r->by_code.exists = r->code_denies = false;
	if (!world_is_code(w, bobbin_regs_lookup_pc(&w->regs)))
		return;
	if (!world_kept(w, &r->rule))
		rule_of_code(w);
	if (r->rule.cfa.how == BOBBIN_HOW_NO_RULE) {
		r->code_denies = r->rule.reason == BOBBIN_REASON_BAD_RULE;
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
	first->is_root = leads_to_root(w, word);
	if (!first->is_root && world_returns(w, word) == CODE_NO)
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

static BOBBIN_ALWAYS_INLINE bool is_proved(const struct frame_walk *w, const struct frame_way *way)
{
	return way->exists && way->returns == CODE_YES && first_is_only(w) && way->slot &&
	       way->slot == w->resort.first.at;
}

/*
 * A call of a null pointer, of data, or of memory that was given back: nothing has happened
 * since the call.
 */
static inline bool step_after_bad_call(struct frame_walk *w, uint8_t *source)
{
	struct frame_way *way = &w->resort.by_record;
	struct bobbin_rule *rule = &w->resort.rule;
	uint8_t code;

	if (!w->regs.exact || walk_arch(w)->cfa_bias || world_is_code(w, w->regs.pc))
		return false;
	/* in samples a mapping may be missing, but not where there can be none */
	*source = (w->some_code && world_code(w, w->regs.pc, &code, sizeof(code))) ||
				  (w->is_copy && w->regs.pc - LOWEST_CODE < HIGHEST_CODE)
			  ? BOBBIN_SOURCE_GUESS
			  : BOBBIN_SOURCE_PATH;
	*rule = (struct bobbin_rule){.index = BOBBIN_NO_INDEX};
	rule->cfa = place_of(BOBBIN_HOW_AT_REG, walk_arch(w)->sp,
			     walk_arch(w)->default_ra_off ? 8 : 0);
	rule->fp = place_of(BOBBIN_HOW_SAME, 0, 0);
	rule->ra = walk_arch(w)->default_ra_off ? place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8) : rule->fp;
	try_way(w, way);
	if (!way->exists || way->returns != CODE_YES)
		return false;
	w->regs = way->caller;
	return true;
}

/* Whether the code at the PC does not say that the return address is elsewhere, or nowhere. */
static BOBBIN_ALWAYS_INLINE bool agrees_with_code(const struct frame_walk *w, uint64_t slot)
{
	const struct frame_way *way = &w->resort.by_code;

	return !w->resort.code_denies && (!way->exists || way->slot == slot);
}

/* To a root, if it is the first that may be returned to.  Only where calls push the return address. */
static BOBBIN_ALWAYS_INLINE bool step_to_root(struct frame_walk *w)
{
	const struct return_slot *first = &w->resort.first;

	if (!walk_arch(w)->default_ra_off || !first->word ||
	    (!w->regs.exact && world_returns(w, w->regs.pc) != CODE_YES))
		return false;
	if (!agrees_with_code(w, first->at))
		return false;
	if (!first->is_root &&
	    (world_returns(w, first->word) != CODE_YES || !world_is_entry(w, first->word - 1)))
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
	if (is_proved(w, &r->by_code)) {
		w->regs = r->by_code.caller;
		return BOBBIN_SOURCE_PATH;
	}
	way_of_record(w);
	if (is_proved(w, &r->by_record) && agrees_with_code(w, r->by_record.slot) &&
	    is_chained(w, &r->by_record.caller)) {
		w->regs = r->by_record.caller;
		return BOBBIN_SOURCE_FRAME_POINTER;
	}
	if (step_to_root(w))
		return BOBBIN_SOURCE_ROOT_SEARCH;
	if (!r->by_code.exists && !r->by_record.exists)
		return BOBBIN_SOURCE_NONE;
	w->regs = r->by_code.exists ? r->by_code.caller : r->by_record.caller;
	return BOBBIN_SOURCE_GUESS;
}

/*
 * A PC outside of code may be due to a wrong stack pointer.  Code that has taken the place of
 * unloaded code has tables, and maybe a large frame, in which old roots are left.
 */
static inline bool is_unknown_code(enum bobbin_reason without)
{
	return without == BOBBIN_REASON_NO_MAPPING || without == BOBBIN_REASON_UNLOADED;
}

/* Whether a walk may go on from there: what is not known as code must be after a call. */
static inline bool is_walked_on(struct frame_walk *w, enum bobbin_reason without)
{
	uint8_t code;

	if (!is_unknown_code(without))
		return true;
	if (!w->some_code || without == BOBBIN_REASON_UNLOADED)
		return false;
	return w->regs.exact ? world_code(w, w->regs.pc, &code, sizeof(code))
			     : world_returns(w, w->regs.pc) == CODE_YES;
}

/* @without: why there is no rule. */
static BOBBIN_NEVER_INLINE enum bobbin_reason step_without_rule(struct frame_walk *w,
								enum bobbin_reason without,
								uint8_t *source)
{
	enum bobbin_reason reason;

	if (step_after_syscall(w, source, &reason))
		return reason;
	if (is_unknown_code(without) && step_after_bad_call(w, source))
		return BOBBIN_REASON_NONE;
	*source = BOBBIN_SOURCE_NONE;
	if (is_walked_on(w, without))
		*source = (uint8_t)step_in_code(w);
	if (*source != BOBBIN_SOURCE_NONE)
		return BOBBIN_REASON_NONE;
	return without ? without : BOBBIN_REASON_BAD_RULE;
}

#endif
