// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * walk.c - from a frame of the current task to its caller, by a registered table, or by the
 * code itself where no table knows it.
 *
 * One more world of the core's step: its memory is that of the current process, read by
 * get_user(), which waits for a page only where that is allowed.
 */
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <linux/unwind_user.h>
#include <linux/unwind_user_sframe.h>

#include "core/code_path.h"
#include "core/known_code.h"
#include "core/rule_step.h"
#include "jit/jit_table.h"
#include "map.h"
#include "registers.h"
#include "section_registration.h"

static enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	return get_user(*ret, (u64 __user *)(unsigned long)addr) ? BOBBIN_REASON_NO_MEMORY
								 : BOBBIN_REASON_NONE;
}

/* A word in one piece: tables of JIT compilers change meanwhile. */
static enum bobbin_reason read_user(void *ctx, uint64_t addr, void *dst, size_t size)
{
	if (size == sizeof(u64))
		return world_word(NULL, addr, dst);
	return copy_from_user(dst, (const void __user *)(unsigned long)addr, size)
		       ? BOBBIN_REASON_NO_MEMORY
		       : BOBBIN_REASON_NONE;
}

static int lookup_jit(const struct sframe_section *section, u64 pc, struct bobbin_error *error,
		      struct bobbin_row *row)
{
	const struct code_jit_info info = {.text_start = section->ranges[0].start,
					   .text_end = section->ranges[0].end,
					   .unwind_head = section->key};
	const struct bobbin_mem mem = {.read = read_user};
	const struct jit_chain chain = {
		.arch = BOBBIN_NATIVE_ARCH(), .info = &info, .mem = &mem, .err = error};

	return jit_table_lookup(&chain, pc, row);
}

/* It was empty when it was registered, and may have been filled since: its magic comes last. */
static int view_filled(const struct sframe_section *section, struct bobbin_error *error,
		       struct bobbin_sframe_view *ret)
{
	u16 magic;

	if (get_user(magic, (const u16 __user *)section->key) || !magic)
		return -ENOENT;
	smp_rmb(); /* pairs with the release of who fills it */
	if (sframe_view(section->key, section->view.size, section->key, error, ret))
		return -ENOENT;
	return 0;
}

static int lookup(const struct sframe_section *section, u64 pc, struct bobbin_error *error,
		  struct bobbin_row *row)
{
	struct bobbin_sframe_view view = section->view;
	int status = 0;

	switch (section->kind) {
	case SFRAME_JIT:
		return lookup_jit(section, pc, error, row);
	case SFRAME_SECTION:
		if (!view.data)
			status = view_filled(section, error, &view);
		if (status)
			return status;
		return bobbin_sframe_lookup(&view, pc, error, row);
	case SFRAME_FILE:
		/* of zeros, which stay */
		if (!view.data)
			return -ENOENT;
		return bobbin_sframe_lookup(&view, pc, error, row);
	default:
		return -ENOENT;
	}
}

/* The rule for a PC.  0; -ENOENT: no table knows the code; others: the table is removed. */
static int find_rule(u64 pc, struct bobbin_rule *ret)
{
	struct bobbin_error error = {};
	struct sframe_section *section;
	struct bobbin_row row;
	int idx, status = -ENOENT;

	idx = srcu_read_lock(&sframe_srcu);
	section = sframe_map_find(current->mm, pc);
	if (section)
		status = lookup(section, pc, &error, &row);
	if (!status)
		*ret = row.rule;
	else if (status != -ENOENT && !faulthandler_disabled())
		sframe_map_drop(current->mm, section, &error);
	srcu_read_unlock(&sframe_srcu, idx);
	/* a function without a row for the code: nothing else knows better */
	if (status == -ENOENT && error.reason == BOBBIN_REASON_NO_ROW)
		return -EINVAL;
	return status;
}

/* Why there is no caller; or its registers. */
static enum bobbin_reason step(const struct unwind_user_state *state,
			       const struct bobbin_rule *rule, struct bobbin_regs *regs)
{
	enum bobbin_reason reason;
	u64 gpr[BOBBIN_REG_COUNT];

	if (state->topmost)
		sframe_leaf(task_pt_regs(current), gpr, regs);
	reason = step_by_rule(NULL, BOBBIN_NATIVE_ARCH(), rule, regs);
	if (reason != BOBBIN_REASON_NO_REGISTER || !state->signal_frame)
		return reason;
	/* the frame that a signal interrupted: the kernel has saved its registers */
	regs->gpr = gpr;
	regs->gpr_known = step_interrupted(NULL, BOBBIN_NATIVE_ARCH(), state->signal_frame, gpr);
	return step_by_rule(NULL, BOBBIN_NATIVE_ARCH(), rule, regs);
}

static bool read_code(void *ctx, uint64_t addr, void *dst, size_t size)
{
	return !read_user(ctx, addr, dst, size);
}

/* From the PC to a return; @taken: by the jumps that are conditional.  false: it says nothing. */
static bool follow_path(u64 pc, bool taken, struct code_path *path, struct bobbin_rule *ret)
{
	const struct bobbin_arch *arch = BOBBIN_NATIVE_ARCH();
	const struct code_reader code = {.read = read_code};
	enum code_turn turn = CODE_TURN_ON;
	u8 bytes[CODE_PATH_BYTES];

	code_path_begin(pc, true, taken, known_code_resolver(arch, &code, pc), path);
	for (unsigned int i = 0; i < PATH_INSNS && turn == CODE_TURN_ON; i++) {
		if (!read_code(NULL, path->pc, bytes, sizeof(bytes)))
			return false;
		turn = code_path_turn(arch, path, bytes);
	}
	return code_path_end(arch, path, turn, ret);
}

/*
 * The frame of code that no table knows, by the way from the next instruction to the function's
 * return.  A return address alone may be after the end of its function: such frames are left to
 * frame pointers.  A way that is no proof is taken only where a process has no tables at all: there
 * it is a better guess than the frame pointer, which skips a caller in each prologue.
 * 0; -ENOENT: the code says nothing, or proves nothing.
 */
static int step_bare(const struct unwind_user_state *state, struct bobbin_rule *rule,
		     struct bobbin_regs *regs)
{
	const struct bobbin_arch *arch = BOBBIN_NATIVE_ARCH();
	const struct code_reader code = {.read = read_code};
	struct code_path path;

	if (!state->exact)
		return -ENOENT;
	for (int taken = 0; taken < 2; taken++) {
		struct bobbin_regs caller = *regs;

		if (!follow_path(regs->pc, taken, &path, rule) || step(state, rule, &caller) ||
		    known_code_return(arch, &code, caller.pc) != CODE_YES)
			continue;
		if (!code_path_is_certain(&path, state->exact) && sframe_mm_has_map(current->mm))
			return -ENOENT;
		*regs = caller;
		return 0;
	}
	return -ENOENT;
}

int unwind_user_next_sframe(struct unwind_user_state *state)
{
	struct bobbin_regs regs = {
		.pc = state->ip, .sp = state->sp, .fp = state->fp, .exact = state->exact};
	struct bobbin_rule rule;
	enum bobbin_reason reason;
	int status;

	if (state->ws != sizeof(u64) || !current->mm)
		return -ENOENT;
	/* a lookup may read many rows, and a stack have many frames */
	if (!faulthandler_disabled())
		cond_resched();
	status = find_rule(bobbin_regs_lookup_pc(&regs), &rule);
	if (status == -ENOENT) {
		status = step_bare(state, &rule, &regs);
		reason = BOBBIN_REASON_NONE;
	} else if (!status) {
		reason = step(state, &rule, &regs);
	}
	if (status)
		return status;
	if (reason == BOBBIN_REASON_OUTERMOST)
		state->done = true;
	if (reason)
		return reason == BOBBIN_REASON_OUTERMOST ? 0 : -EINVAL;
	state->signal_frame = rule.flags & BOBBIN_RULE_SIGNAL ? state->sp : 0;
	state->ip = regs.pc;
	state->sp = regs.sp;
	state->fp = regs.fp;
	state->exact = regs.exact;
	state->topmost = false;
	return 0;
}
