// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * walk.c - from a frame of the current task to its caller, by a registered table, or by the
 * code itself where no table knows it.
 *
 * One more world of the core's step: its memory is that of the current process, read by
 * get_user(), which waits for a page only where that is allowed.
 */
#include <linux/init.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <linux/unwind_user.h>
#include <linux/unwind_user_sframe.h>

#include "compiled.h"
#include "core/code_path.h"
#include "core/known_code.h"
#include "core/plain_step.h"
#include "core/rule_step.h"
#include "jit/jit_table.h"
#include "map.h"
#include "registers.h"
#include "section_registration.h"
#include "window_lookup.h"

/* How much below the CFA step_plain() reads. */
#define PLAIN_WINDOW 4096

static struct plain_forms plain_forms __ro_after_init;

static int __init plain_forms_init(void)
{
	plain_forms_of(BOBBIN_NATIVE_ARCH(), &plain_forms);
	return 0;
}
core_initcall(plain_forms_init);

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
	case SFRAME_COMPILED:
		return sframe_lookup_compiled(section, pc, error, row);
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

/* Of text that stays as it is until it is unregistered; JIT code and what was empty may change. */
static bool may_be_kept(const struct sframe_section *section)
{
	return section->view.data || section->kind == SFRAME_COMPILED;
}

/*
 * By the section of a PC: 0 and the rule; -ENOENT: it does not know the code; others: it was
 * removed.
 */
static int find_rule_in(struct sframe_section *section, u64 pc, struct bobbin_rule *ret)
{
	struct bobbin_error error = {};
	struct bobbin_row row;
	int status = lookup(section, pc, &error, &row);

	/* a dying task reads nothing, see core/memory.h */
	if (fatal_signal_pending(current))
		status = -EINTR;
	if (!status)
		*ret = row.rule;
	else if (status != -ENOENT && status != -EINTR && !faulthandler_disabled())
		sframe_map_drop(current->mm, section, &error);
	/* a function without a row for the code: nothing else knows better */
	if (status == -ENOENT && error.reason == BOBBIN_REASON_NO_ROW)
		return -EINVAL;
	return status;
}

static bool read_code(void *ctx, uint64_t addr, void *dst, size_t size)
{
	return !read_user(ctx, addr, dst, size);
}

/*
 * Whether the code puts a handler's frame in the place of its own, as libgcc's unwinder does at its
 * end: tables go on as if it had not.
 */
static bool is_eh_return(const struct unwind_user_state *state)
{
	const struct code_reader code = {.read = read_code};

	return state->exact && known_code_eh_return(BOBBIN_NATIVE_ARCH(), &code, state->ip);
}

/* The rule for the PC that is looked up for a frame.  0; -ENOENT; others as above. */
static int find_rule(const struct unwind_user_state *state, u64 pc, struct bobbin_rule *ret)
{
	struct sframe_map *map = sframe_map_of(current->mm);
	struct sframe_section *section;
	unsigned long generation;
	int status;
	u64 word;

	if (!map)
		return -ENOENT;
	generation = sframe_map_generation(map);
	section = sframe_map_find(map, pc);
	if (!section)
		return -ENOENT;
	status = find_rule_in(section, pc, ret);
	if (!status && is_eh_return(state))
		status = -EINVAL;
	if (!status && may_be_kept(section) && !bobbin_rule_pack(ret, &word))
		sframe_cache_keep(&map->cache, &map->generation, generation, pc, word);
	sframe_section_put(section);
	return status;
}

/* A return address that no table can know: almost all, where only the vDSO has a section. */
static bool is_left_to_fp(const struct unwind_user_state *state, const struct sframe_map *map)
{
	return IS_ENABLED(CONFIG_HAVE_UNWIND_USER_FP) && !state->exact &&
	       (!map || sframe_map_is_beyond(map, state->ip - 1));
}

static __always_inline void move_to_caller(struct unwind_user_state *state, u64 pc, u64 sp, u64 fp)
{
	state->ip = pc;
	state->sp = sp;
	state->fp = fp;
	state->signal_frame = 0;
	state->topmost = false;
	state->exact = false;
}

/*
 * The step of almost every frame: its return address and frame pointer lie below the CFA, and
 * are read together.  false: nothing has changed, and step() may know more, unless the word is 0.
 */
static __always_inline bool step_plain(struct unwind_user_state *state, u64 word)
{
	u64 cfa, ra, fp = state->fp;
	s64 fp_off;

	if (!plain_cfa(&plain_forms, word, state->sp, fp, &cfa) || !plain_fp(word, &fp_off))
		return false;
	if (cfa <= state->sp || cfa % sizeof(u64))
		return false;
	/* of a size that is known, which is checked with less; the rest is for step() */
	if (fp_off < -(s64)PLAIN_WINDOW ||
	    !user_read_access_begin((const u64 __user *)(cfa + fp_off), PLAIN_WINDOW))
		return false;
	unsafe_get_user(ra, (const u64 __user *)(cfa + PLAIN_RA_OFF), unreadable);
	if (fp_off != PLAIN_RA_OFF)
		unsafe_get_user(fp, (const u64 __user *)(cfa + fp_off), unreadable);
	user_read_access_end();
	if (!ra)
		return false;
	move_to_caller(state, ra, cfa, fp);
	return true;
unreadable:
	user_read_access_end();
	return false;
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
 * frame pointers.  A way that is no proof is taken only in a mapping without any table: there it is
 * a better guess than the frame pointer, which skips a caller in each prologue.
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
		if (!code_path_is_certain(&path, state->exact) &&
		    sframe_mm_covers_mapping(current->mm, regs->pc))
			return -ENOENT;
		*regs = caller;
		return 0;
	}
	return -ENOENT;
}

static int apply_rule(struct unwind_user_state *state, const struct bobbin_rule *rule,
		      struct bobbin_regs *regs)
{
	enum bobbin_reason reason = step(state, rule, regs);

	if (reason != BOBBIN_REASON_OUTERMOST)
		return reason ? -EINVAL : 0;
	state->done = true;
	return 0;
}

/*
 * By code that is known for what it is: the kernel's trampoline that a signal handler returns
 * to, which is in the vDSO but on x86-64, or a stub of a PLT on AArch64.  0; -ENOENT: it is none.
 */
static int step_known(struct unwind_user_state *state, struct bobbin_rule *rule,
		      struct bobbin_regs *regs)
{
	const struct code_reader code = {.read = read_code};
	enum bobbin_source source;

	if (!known_code_rule(BOBBIN_NATIVE_ARCH(), &code, bobbin_regs_lookup_pc(regs), rule,
			     &source))
		return -ENOENT;
	/* a function that has just been called may begin right after a trampoline */
	if (state->exact && source == BOBBIN_SOURCE_TRAMPOLINE)
		return -ENOENT;
	return apply_rule(state, rule, regs);
}

/* The packed rule is at hand, or none is known to be. */
static noinline int next_general(struct unwind_user_state *state, u64 word)
{
	struct bobbin_regs regs = {
		.pc = state->ip, .sp = state->sp, .fp = state->fp, .exact = state->exact};
	struct bobbin_rule rule;
	unsigned long signal_frame;
	int status = 0;

	if (word)
		bobbin_rule_unpack(word, &rule);
	else
		status = find_rule(state, bobbin_regs_lookup_pc(&regs), &rule);
	if (!status)
		status = apply_rule(state, &rule, &regs);
	else if (status == -ENOENT)
		status = step_known(state, &rule, &regs);
	if (status == -ENOENT)
		status = step_bare(state, &rule, &regs);
	if (status || state->done)
		return status;
	signal_frame = 0;
	if (rule.flags & BOBBIN_RULE_SIGNAL)
		signal_frame = signal_frame_at(BOBBIN_NATIVE_ARCH(), &rule, state->sp);
	move_to_caller(state, regs.pc, regs.sp, regs.fp);
	state->signal_frame = signal_frame;
	state->exact = regs.exact;
	return 0;
}

/* The packed rule is no plain one, or none is kept. */
static noinline int next_unkept(struct unwind_user_state *state, struct sframe_map *map, u64 word)
{
	if (!word && is_left_to_fp(state, map))
		return -ENOENT;
	/* a lookup may read many rows, and a stack have many frames */
	if (!faulthandler_disabled()) {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	/* others are looked up with care, see is_eh_return() */
	if (!word && map && !state->exact) {
		word = sframe_window_lookup(map, state->ip - 1);
		if (likely(step_plain(state, word)))
			return 0;
	}
	return next_general(state, word);
}

int unwind_user_next_sframe(struct unwind_user_state *state)
{
	struct sframe_map *map;
	u64 word;

	if (unlikely(state->ws != sizeof(u64)))
		return -EOPNOTSUPP;
	if (unlikely(!current->mm))
		return -ENOENT;
	map = sframe_map_of(current->mm);
	word = map ? sframe_cache_find(&map->cache, state->ip - 1 + state->exact) : 0;
	if (likely(step_plain(state, word)))
		return 0;
	return next_unkept(state, map, word);
}
