/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_world.h - the world of the own stack, over any way to find the code at an address.
 *
 * Whoever includes it has defined struct code_search, which lasts as long as a walk, and:
 *
 *	search_begin(), search_end()	of a walk; the slot may be NULL
 *	search_generation()		of what rules are remembered of
 *	search_is_near()		whether an address is in the object last found to be present
 *	search_code()			the code at an address, if it is present; NULL and why not.
 *					Not @certain: the address may be no frame's
 *	search_has()			whether there is code at an address, which may be anything
 *	search_is_entry()		whether it is the first code of a program or a dynamic loader
 *	search_set()			the tables of the object that has the code of a frame
 *	search_ask()			what the tables of search_code()'s answer say
 *	search_keeps()			whether to remember that, and with which source
 *
 * All are async-signal-safe.  A frame costs a look at what the last walks found; the first time a
 * search, unless its code is that of the frame before, and a question to that code's tables.
 */
#ifndef BOBBIN_UNWIND_OWN_WORLD_H
#define BOBBIN_UNWIND_OWN_WORLD_H

#include "base/native_arch.h"
#include "unwind/own_code.h"
#include "unwind/self_memory.h"
#include "unwind/unkept_code.h"
#include "unwind/unsurveyed_code.h"
#include "unwind/walk_loop.h"
#include "unwind/walk_slot.h"

/* How far before the PC core/fallbacks.h looks for what a system call belongs to. */
#define SYSCALL_CODE_MAX 3

struct own_walk {
	struct frame_walk frames;
	struct self_memory memory;
	struct code_search search;
	struct walk_slot *slot; /* or NULL */
	struct memo_use memo;
};

/* What is above @sp on the thread's own stack can be read from now on. */
static void trust(struct own_walk *w, uint64_t sp)
{
	const struct memory_run run = self_memory_trust(&w->memory, sp);

	w->frames.near = (struct near_memory){run.start, run.size};
}

static BOBBIN_OUT_OF_LINE enum bobbin_reason far_word(struct own_walk *w, uint64_t addr,
						      uint64_t *ret)
{
	/* a signal frame may have led to the thread's own stack */
	trust(w, w->frames.regs.sp);
	return self_memory_read(&w->memory, addr, ret, sizeof(*ret));
}

static BOBBIN_ALWAYS_INLINE void world_load(const struct frame_walk *frames, uint64_t at,
					    uint64_t *ret)
{
	(void)frames;
	self_memory_load(at, ret);
}

static BOBBIN_ALWAYS_INLINE void world_near(struct frame_walk *frames, uint64_t sp)
{
	if (sp - frames->near.start >= frames->near.size)
		trust((struct own_walk *)frames, sp);
}

static BOBBIN_ALWAYS_INLINE uint64_t world_shift(const struct frame_walk *frames)
{
	(void)frames;
	return 0;
}

static BOBBIN_ALWAYS_INLINE enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	struct own_walk *w = world;

	if (!self_memory_near(&w->memory, addr, sizeof(*ret)))
		return far_word(w, addr, ret);
	world_load(&w->frames, addr, ret);
	return BOBBIN_REASON_NONE;
}

static bool world_code(void *world, uint64_t addr, void *dst, size_t size)
{
	struct own_walk *w = world;

	return !self_memory_read(&w->memory, addr, dst, size);
}

/* Whether the object at an address is there, and is the one that rules are remembered of. */
static BOBBIN_ALWAYS_INLINE bool is_same_object(const struct own_walk *w, uint64_t pc)
{
	return search_is_near(&w->search, pc) &&
	       search_generation(&w->search) == w->slot->generation;
}

static BOBBIN_ALWAYS_INLINE uint64_t world_packed(struct frame_walk *frames, uint64_t pc,
						  uint8_t *source)
{
	const struct own_walk *w = (const struct own_walk *)frames;
	const struct cached_rule *cached = w->slot ? walk_slot_find(w->slot, pc) : NULL;

	*source = BOBBIN_SOURCE_NONE;
	if (!BOBBIN_LIKELY(cached))
		return 0;
	*source = (uint8_t)cached_source(cached);
	if (!BOBBIN_LIKELY(!(*source & SOURCE_ONCE)) && !is_same_object(w, pc))
		return 0;
	return cached->word;
}

/* The search has learned since the walk began: forget what was remembered before. */
static void keep_up(struct own_walk *w)
{
	if (!w->slot || search_generation(&w->search) == w->slot->generation)
		return;
	walk_slot_renew(w->slot, search_generation(&w->search));
	memo_none(&w->memo);
}

/* Not in a fiber's first function: its end is no row's. */
static void remember(struct own_walk *w, const void *found, uint64_t pc,
		     const struct table_answer *answer)
{
	const struct frame_walk *frames = &w->frames;
	uint8_t source = (uint8_t)answer->source;

	if (!w->slot || !found || pc + 1 + frames->fiber_negated <= frames->fiber_size)
		return;
	if (source != BOBBIN_SOURCE_NONE && search_keeps(&w->search, found, &source))
		walk_slot_remember(w->slot, pc, &answer->row.rule, source);
}

/* Whether an address is that of the frame that the walk has come to, or of a system call before it. */
static bool is_of_frame(const struct frame_walk *frames, uint64_t pc)
{
	return !frames->likely && bobbin_regs_lookup_pc(&frames->regs) - pc <= SYSCALL_CODE_MAX;
}

static enum bobbin_source world_rule(struct frame_walk *frames, uint64_t pc,
				     struct bobbin_rule *ret)
{
	struct own_walk *w = (struct own_walk *)frames;
	enum bobbin_reason why = BOBBIN_REASON_NONE;
	void *found = search_code(&w->search, pc, is_of_frame(frames, pc), &why);
	const struct code_reader bytes = {world_code, w};
	struct table_answer answer;
	uint8_t source;
	uint64_t word;

	keep_up(w);
	word = world_packed(frames, pc, &source);
	if (word) {
		bobbin_rule_unpack(word, ret);
		return (enum bobbin_source)(source & ~SOURCE_ONCE);
	}
	search_ask(&w->search, found, pc, &bytes, &answer);
	remember(w, found, pc, &answer);
	*ret = answer.row.rule;
	if (why && answer.source == BOBBIN_SOURCE_NONE)
		*ret = bobbin_rule_none(why);
	return answer.source;
}

static bool world_is_code(struct frame_walk *frames, uint64_t addr)
{
	return search_has(&((struct own_walk *)frames)->search, addr);
}

static bool world_is_root(struct frame_walk *frames, uint64_t addr)
{
	const struct code_reader code = {world_code, frames};

	return known_code_root(frames->arch, &code, addr);
}

/* Who makes code in its own process registers it. */
static bool world_is_made(struct frame_walk *frames, uint64_t addr)
{
	(void)frames;
	(void)addr;
	return false;
}

static bool world_slot(struct frame_walk *frames, uint64_t addr, uint64_t *ret)
{
	(void)frames;
	(void)addr;
	(void)ret;
	return false;
}

static bool world_is_entry(struct frame_walk *frames, uint64_t addr)
{
	return search_is_entry(&((struct own_walk *)frames)->search, addr);
}

static enum bobbin_reason world_table_step(struct frame_walk *frames, uint64_t pc,
					   struct table_step *step)
{
	struct own_walk *w = (struct own_walk *)frames;
	const struct bobbin_mem mem = {self_memory_read, &w->memory};
	const struct table_set *set = search_set(&w->search, pc, &step->bias);

	if (!set || !search_has(&w->search, pc))
		return BOBBIN_REASON_NO_TABLE;
	return table_set_step(set, pc - step->bias, &mem, step);
}

static void own_walk_init(struct own_walk *w, const struct own_code *code,
			  const struct bobbin_regs *regs)
{
	struct plain_forms forms;

	/* first: @regs have just been written, one by one, and may now be read two at a time */
	w->slot = code->slots ? walk_slot_take(code->slots) : NULL;
	if (code->slots)
		forms = code->slots->forms;
	else
		plain_forms_of(native_arch(), &forms);
	frame_walk_init(&w->frames, native_arch(), &forms, regs);
	/* compilers that do not register their code */
	w->frames.some_code = true;
	w->frames.fiber_negated = code->fiber_negated;
	w->frames.fiber_size = code->fiber_size;
	self_memory_init(&w->memory);
	trust(w, regs->sp);
	search_begin(&w->search, code, &w->memory, w->slot);
	memo_none(&w->memo);
	if (w->slot)
		walk_slot_renew(w->slot, search_generation(&w->search));
}

/* To the caller of the first frame, which is no part of the trace. */
static enum bobbin_reason pass_over(struct own_walk *w, const struct bobbin_regs *caller)
{
	struct bobbin_frame frame;
	enum bobbin_reason reason;

	if (caller->pc) {
		w->frames.regs.pc = caller->pc;
		w->frames.regs.sp = caller->sp;
		w->frames.regs.fp = caller->fp;
		w->frames.regs.gpr = NULL;
		w->frames.regs.gpr_known = 0;
		w->frames.regs.exact = false;
		return BOBBIN_REASON_NONE;
	}
	reason = walk_on(&w->frames, &w->memo, &frame);
	w->frames.callee = frame.source;
	return reason;
}

static void own_walk_fini(struct own_walk *w)
{
	if (w->slot)
		walk_slot_give_back(w->slot);
	search_end(&w->search);
}

/* Walk on, from @caller if it is not NULL, see walk_own_stack(). */
static void own_walk_run(struct own_walk *w, const struct bobbin_regs *caller,
			 struct bobbin_trace *trace)
{
	trace->count = 0;
	trace->left_out = 0;
	trace->reason = caller ? pass_over(w, caller) : BOBBIN_REASON_NONE;
	if (trace->reason)
		return;
	if (w->slot)
		memo_begin(&w->frames, &w->slot->memo, &w->memo);
	walk_stack(&w->frames, &w->memo, trace);
	memo_end(&w->memo);
}

#endif
