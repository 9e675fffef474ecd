/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_walk.h - what a walk carries from frame to frame, and what its world brings.
 *
 * A world is one C file: it defines the functions below, always inlined where they are
 * short, and includes core/unwind_frame.h.  It has no policy: what a frame costs and decides is
 * there.  Its own data lie around struct frame_walk.
 */
#ifndef BOBBIN_CORE_FRAME_WALK_H
#define BOBBIN_CORE_FRAME_WALK_H

#include <bobbin/frame.h>

#include "core/code_path.h"
#include "core/known_code.h"
#include "core/plain_step.h"
#include "core/rule_step.h"
#include "core/table_step.h"

/* Each walks again from where all registers were known. */
#define MAX_RECOVERIES 8
/* Of stacks, at most: two may refer to each other. */
#define MAX_SWITCHES 64
/* Of all expressions together; GCC's own test of one has 500. */
#define MAX_OPERATIONS 0x10000

/* Memory where a word is a load; at first there is none. */
struct near_memory {
	uint64_t start, size;
};

/* A way to the caller of a frame without a table, see core/fallbacks.h. */
struct frame_way {
	struct bobbin_regs caller;
	uint64_t slot;   /* of the return address; 0: it is in a register */
	bool exists;     /* it leads to code */
	bool is_certain; /* nothing on it can be otherwise */
	uint8_t returns; /* enum code_answer: whether a call may return to where it leads */
};

/* The first word from the stack pointer on that may be a return address. */
struct return_slot {
	uint64_t at, word; /* 0: none was found */
	uint64_t next;     /* where to look */
	bool is_root;
};

/* What a frame without a table is looked at with; BPF has no room on its stack for it. */
struct fallbacks {
	struct frame_way by_code, by_record;
	struct return_slot first;
	struct code_path path;
	struct bobbin_rule rule, doubtful;
	bool code_doubts; /* its rule is the doubtful one, which proves nothing, nor refutes */
	bool code_denies; /* the code returns to where no rule can say */
	uint64_t entered; /* where step_entered() has found the return address */
	uint8_t turn;     /* enum code_turn */
	uint8_t code[CODE_PATH_BYTES];
};

struct frame_walk {
	const struct bobbin_arch *arch;
	struct plain_forms forms;
	struct near_memory near; /* in which the frames of a stack mostly are */
	/* the memory is a copy of a part of one stack */
	bool is_copy;
	/* there may be code that world_is_code() does not know */
	bool some_code;
	bool late_code;    /* it may have been made just now */
	bool likely;       /* a frame was left by a guess */
	uint32_t searched; /* words of the stack, for return addresses */
	uint32_t entered;  /* likewise, for those of code that was jumped to */
	uint64_t copy_start, copy_size;
	/*
	 * The function below all fibers, where it has no table, by minus the address of its start; or 0
	 * and 0.  The start is where fibers return to: it must not be left on a stack that is searched
	 * for such a word.
	 */
	uint64_t fiber_negated, fiber_size;

	struct bobbin_regs regs;        /* of the frame that the walk has come to */
	struct bobbin_regs known;       /* of the last one of which more is known */
	uint64_t bottom;                /* stack pointer of the innermost frame on this stack */
	uint8_t callee;                 /* source of the previous frame's rule */
	bool in_syscall;                /* the last frame is in the instruction before its PC */
	uint8_t switches;               /* of stacks */
	uint8_t recoveries;             /* that are still allowed */
	uint32_t operations;            /* likewise, of expressions */
	uint32_t lost;                  /* a bit for each register that was lost so far */
	uint64_t gpr[BOBBIN_REG_COUNT]; /* filled when a signal frame is met */
	uint64_t recovered[BOBBIN_REG_COUNT]; /* what was lost */
	struct fallbacks resort;
};

/* world_word() is rule_step.h's; @world: the walk. */

/* How much further a word of near memory is, and load it from there. */
static uint64_t world_shift(const struct frame_walk *w);
static void world_load(const struct frame_walk *w, uint64_t at, uint64_t *ret);

/* The packed rule for an address, if it is at hand, and its source.  0: ask world_rule(). */
static uint64_t world_packed(struct frame_walk *w, uint64_t pc, uint8_t *source);

/* The tables' rule; BOBBIN_SOURCE_NONE: there is none, and the rule says why. */
static enum bobbin_source world_rule(struct frame_walk *w, uint64_t pc, struct bobbin_rule *ret);

/*
 * A step by what call-frame information says of the code at an address.  NO_TABLE: nothing.
 * The world fills in the bias.
 */
static enum bobbin_reason world_table_step(struct frame_walk *w, uint64_t pc,
					   struct table_step *step);

/* Whether there is code at an address, which may be anything. */
static bool world_is_code(struct frame_walk *w, uint64_t addr);

/* Whether a call, or a signal handler, may return to an address, which may be anything. */
static enum code_answer world_returns(struct frame_walk *w, uint64_t addr);

/* Whether the code at an address ends the thread or fiber that returns to it, see known_code_root(). */
static bool world_is_root(struct frame_walk *w, uint64_t addr);

/* Whether the code at an address was made at run time, and is no file's. */
static bool world_is_made(struct frame_walk *w, uint64_t addr);

/* A word of data that is not on the stack, such as a pointer to a function; false: it cannot be read. */
static bool world_slot(struct frame_walk *w, uint64_t addr, uint64_t *ret);

/*
 * What the code at the PC of w->regs says may be kept, and had the next time.  A rule with
 * BOBBIN_RULE_LEAF is not certain.
 */
static void world_keep(struct frame_walk *w, const struct bobbin_rule *rule);
static bool world_kept(struct frame_walk *w, struct bobbin_rule *ret);

/*
 * What all ways say that code which was made at run time can take from the PC on, see
 * unwind/made_code.h.  *@doubtful: it may be of another function.  false: nothing.
 */
static bool world_ways(struct frame_walk *w, struct bobbin_rule *ret, bool *doubtful);

/* Whether such a function proves from its start on that it returns to @word, which is at @slot. */
static bool world_proves(struct frame_walk *w, uint64_t slot, uint64_t word);

/*
 * The rule at the PC of w->regs that the code says from its function's start on, without that of
 * a table: of use are the CFA and the return address.  false: there is none.
 */
static bool world_start_rule(struct frame_walk *w, struct bobbin_rule *ret);

/* Whether it is the first code of a program or of a dynamic loader. */
static bool world_is_entry(struct frame_walk *w, uint64_t addr);

/* Code bytes; false: they cannot be read.  @world: the walk. */
static bool world_code(void *world, uint64_t addr, void *dst, size_t size);

/* Not the arrays of registers, which are large and rarely used. */
static BOBBIN_ALWAYS_INLINE void frame_walk_init(struct frame_walk *w,
						 const struct bobbin_arch *arch,
						 const struct plain_forms *forms,
						 const struct bobbin_regs *regs)
{
	w->arch = arch;
	w->forms = *forms;
	w->near = (struct near_memory){0};
	w->is_copy = w->some_code = w->late_code = w->likely = false;
	w->searched = w->entered = 0;
	w->copy_start = w->copy_size = 0;
	w->fiber_negated = w->fiber_size = 0;
	w->regs = w->known = *regs;
	w->bottom = regs->sp;
	w->callee = BOBBIN_SOURCE_NONE;
	w->in_syscall = false;
	w->switches = 0;
	w->recoveries = MAX_RECOVERIES;
	w->operations = MAX_OPERATIONS;
	w->lost = 0;
}

/* @regs are of code that a signal interrupted, whose frame is at @sp. */
static BOBBIN_ALWAYS_INLINE void frame_interrupted(struct frame_walk *w, uint64_t sp,
						   struct bobbin_regs *regs)
{
	regs->gpr_known = step_interrupted(w, w->arch, sp, w->gpr);
	regs->gpr = w->gpr;
	if (!w->arch->default_ra_off && regs->gpr_known >> w->arch->ra & 1) {
		regs->ra = w->gpr[w->arch->ra];
		regs->ra_known = true;
	}
}

/* Programs of a kernel know one, and can follow no pointer to it. */
static BOBBIN_ALWAYS_INLINE const struct bobbin_arch *walk_arch(const struct frame_walk *w)
{
#if BOBBIN_NATIVE_ONLY
	(void)w;
	return BOBBIN_NATIVE_ARCH();
#else
	return w->arch;
#endif
}

/* What an outermost frame ends a walk with. */
static BOBBIN_ALWAYS_INLINE enum bobbin_reason frame_walk_end(const struct frame_walk *w,
							      enum bobbin_reason reason)
{
	return reason == BOBBIN_REASON_OUTERMOST && w->likely ? BOBBIN_REASON_LIKELY : reason;
}

/* From a frame to its caller, with all that a signal frame has. */
static BOBBIN_OUT_OF_LINE enum bobbin_reason frame_step(struct frame_walk *w,
							const struct bobbin_rule *rule,
							struct bobbin_regs *regs)
{
	uint64_t sp = regs->sp;
	enum bobbin_reason reason = step_by_rule(w, w->arch, rule, regs);

	if (!reason && rule->flags & BOBBIN_RULE_SIGNAL)
		frame_interrupted(w, signal_frame_at(w->arch, rule, sp), regs);
	return reason;
}

#endif
