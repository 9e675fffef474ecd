/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A frame costs a search of the code map, unless its code is that of the frame
 * before, a search of that code's table, and a step.
 */
#include "unwind/own_walk.h"

#include "core/deps.h"
#include "target/thread.h"
#include "unwind/code_tables.h"
#include "unwind/last_resort.h"
#include "unwind/loaded_object.h"
#include "unwind/loader_link.h"
#include "unwind/self_memory.h"
#include "unwind/stack_switch.h"

#define VSYSCALL_PAGE 0xffffffffff600000ull /* x86-64: arch/x86 uapi asm/vsyscall.h */
#define VSYSCALL_SIZE 0x1000

#define MAX_RECOVERIES 4 /* each walks again */

struct own_walk {
	const struct bobbin_arch *arch;
	const struct own_code *code;
	const struct code_map *map; /* NULL: there is none */
	struct code_range range;    /* the one that the last frame was in; of no code: none */
	const struct code *present; /* the last object that was found to be present */
	struct self_memory memory;
	struct code_asker asker;
	struct bobbin_mem mem; /* reads @memory */
	struct bobbin_regs regs;
	struct bobbin_regs known; /* of the last frame of which more is known */
	unsigned int recoveries;  /* that are still allowed */
	struct stack_in_use stack;
	enum bobbin_source callee;        /* who gave the rule of the frame before */
	uint64_t gpr[BOBBIN_REG_COUNT];   /* filled when a signal frame is met */
	uint64_t found[BOBBIN_REG_COUNT]; /* what was recovered */
	bool stale;                       /* the map does not know what is loaded */
};

/* The code at an address, or NULL. */
static struct code *find_code(struct own_walk *w, uint64_t pc)
{
	struct code_range *range = &w->range;

	if (range->code && pc - range->start < range->end - range->start)
		return range->code;
	range->code = NULL;
	return w->map ? code_map_find(w->map, pc, range) : NULL;
}

/* Whether an object is there; asked once while a walk stays in it. */
static bool is_present(struct own_walk *w, const struct code *code)
{
	if (w->present == code)
		return true;
	if (!loaded_object_present(code->object, &w->memory))
		return false;
	w->present = code;
	return true;
}

static bool loader_may_know(uint64_t pc)
{
	struct loader_link link;

	return !loader_link_usable() || loader_link_find(pc, &link);
}

/* The code that an address is in; NULL: it is not known, and @why. */
static struct code *known_code(struct own_walk *w, uint64_t pc, enum bobbin_reason *why)
{
	struct code *code = find_code(w, pc);

	if (!code) {
		w->stale |= loader_may_know(pc);
		*why = BOBBIN_REASON_NO_MAPPING;
	} else if (code->kind == CODE_OBJECT && !is_present(w, code)) {
		w->stale = true;
		*why = BOBBIN_REASON_UNLOADED;
		return NULL;
	}
	return code;
}

static bool read_own_code(void *ctx, uint64_t addr, void *dst, size_t size)
{
	return !self_memory_read(ctx, addr, dst, size);
}

static struct bobbin_rule find_rule(struct own_walk *w, uint64_t pc, enum bobbin_source *source)
{
	enum bobbin_reason why = BOBBIN_REASON_NONE;
	struct table_answer answer;

	if (w->arch->elf_machine == bobbin_arch_amd64()->elf_machine &&
	    pc - VSYSCALL_PAGE < VSYSCALL_SIZE) {
		*source = BOBBIN_SOURCE_VSYSCALL;
		return vsyscall_rule(w->arch);
	}
	code_tables_rule(&w->asker, known_code(w, pc, &why), pc, &answer);
	*source = answer.source;
	return why && answer.source == BOBBIN_SOURCE_NONE ? bobbin_rule_none(why) : answer.row.rule;
}

/* Whether there is code at an address, for what may be anything. */
static bool own_is_code(void *ctx, uint64_t addr)
{
	struct own_walk *w = ctx;
	const struct code *code = find_code(w, addr);

	return code && (code->kind != CODE_OBJECT || is_present(w, code));
}

static bool own_is_entry(void *ctx, uint64_t addr)
{
	const struct code *code = find_code(ctx, addr);
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;

	return object && object->module &&
	       table_set_is_entry(&object->module->tables, addr - object->image.bias);
}

static bool own_code_at(void *ctx, uint64_t addr, void *dst, size_t size)
{
	struct own_walk *w = ctx;

	return read_own_code(&w->memory, addr, dst, size);
}

static struct bobbin_rule own_rule(void *ctx, uint64_t pc, enum bobbin_source *source)
{
	return find_rule(ctx, pc, source);
}

/* From a frame to its caller, and what a register that @arch follows has there. */
static bool follow(struct own_walk *w, const struct bobbin_arch *arch, struct bobbin_regs *regs,
		   uint64_t *value)
{
	uint64_t gpr[BOBBIN_REG_COUNT], pc = bobbin_regs_lookup_pc(regs);
	const struct code *code = find_code(w, pc);
	const struct loaded_object *object = code ? loaded_object_of(code) : NULL;
	struct bobbin_regs other = *regs;
	enum bobbin_source source;
	struct bobbin_rule rule;

	if (!object || !object->module || !is_present(w, code) ||
	    !table_set_follow(&object->module->tables, arch, pc - object->image.bias, &rule))
		return false;
	/* the frame pointer is a register like others for this step */
	gpr[w->arch->fp] = regs->fp;
	other.gpr = gpr;
	other.gpr_known = 1u << w->arch->fp;
	other.fp = *value;
	if (bobbin_step(arch, &rule, &w->mem, &other))
		return false;
	rule = find_rule(w, pc, &source);
	*value = other.fp;
	return !bobbin_step(w->arch, &rule, &w->mem, regs);
}

/*
 * What a register that rules do not follow has in this frame: from where it was
 * known, by the places where functions in between have saved it.
 */
static bool recover(struct own_walk *w, uint8_t reg)
{
	struct bobbin_arch arch = *w->arch;
	struct bobbin_regs regs = w->known;
	uint64_t value;

	if (!w->recoveries || !regs.gpr || !(regs.gpr_known >> reg & 1))
		return false;
	w->recoveries--;
	arch.fp = reg;
	value = regs.gpr[reg];
	for (unsigned int i = 0; regs.sp != w->regs.sp || regs.pc != w->regs.pc; i++)
		if (i == BOBBIN_MAX_DEPTH || !follow(w, &arch, &regs, &value))
			return false;
	w->found[reg] = value;
	w->regs.gpr = w->found;
	w->regs.gpr_known |= 1u << reg;
	return true;
}

/*
 * A rule whose CFA is from another register than SP and FP, in a frame that is not
 * the leaf: the dynamic loader's resolver has such.
 */
static enum bobbin_reason step_by_other(struct own_walk *w, const struct bobbin_rule *rule)
{
	if (rule->cfa.reg >= BOBBIN_REG_COUNT || w->regs.gpr || !recover(w, rule->cfa.reg))
		return BOBBIN_REASON_NO_REGISTER;
	w->known = w->regs;
	return step_by_rule(w->arch, rule, &w->mem, w->gpr, &w->regs);
}

/* To a frame on another stack, if what is found there looks like one. */
static enum bobbin_reason switch_stacks(struct own_walk *w, const struct bobbin_rule *rule)
{
	struct bobbin_rule across = across_stacks(rule);
	struct bobbin_regs caller = w->regs;

	if (w->stack.switches == MAX_SWITCHES ||
	    step_by_rule(w->arch, &across, &w->mem, w->gpr, &caller) ||
	    !own_is_code(w, caller.pc - 1))
		return BOBBIN_REASON_OTHER_STACK;
	w->regs = caller;
	w->stack.bottom = caller.sp;
	w->stack.switches++;
	return BOBBIN_REASON_NONE;
}

/* The CFA did not move away from the leaf, or it is on another stack. */
static enum bobbin_reason leave_stack(struct own_walk *w, const struct bobbin_rule *rule)
{
	uint64_t cfa;

	if (!cfa_anywhere(w->arch, rule, &w->mem, &w->regs, &cfa) ||
	    !is_other_stack(&w->stack, cfa))
		return BOBBIN_REASON_STUCK;
	return switch_stacks(w, rule);
}

static enum bobbin_reason walk_by(struct own_walk *w, const struct bobbin_rule *rule)
{
	enum bobbin_reason reason;

	if (rule->flags & BOBBIN_RULE_SWITCH)
		return switch_stacks(w, rule);
	reason = step_by_rule(w->arch, rule, &w->mem, w->gpr, &w->regs);
	if (reason == BOBBIN_REASON_NO_REGISTER)
		return step_by_other(w, rule);
	if (reason == BOBBIN_REASON_STUCK)
		return leave_stack(w, rule);
	if (rule->flags & BOBBIN_RULE_SIGNAL)
		w->stack.bottom = w->regs.sp;
	return reason;
}

static enum bobbin_reason own_step(void *ctx, const struct bobbin_rule *rule)
{
	return walk_by(ctx, rule);
}

static enum bobbin_reason walk_without_rule(struct own_walk *w, struct bobbin_frame *frame,
					    enum bobbin_reason without)
{
	const struct last_resort resort = {
		.arch = w->arch,
		.mem = &w->mem,
		.code = {own_code_at, w},
		.is_code = own_is_code,
		.is_entry = own_is_entry,
		.rule = own_rule,
		.step = own_step,
	};

	return step_without_rule(&resort, &w->regs, frame, without);
}

static enum bobbin_reason walk_on(struct own_walk *w, struct bobbin_frame *frame)
{
	const struct own_code *code = w->code;
	enum bobbin_source source;
	struct bobbin_rule rule;

	if (w->regs.pc - code->fiber_start < code->fiber_end - code->fiber_start) {
		frame->source = BOBBIN_SOURCE_ENTRY;
		return BOBBIN_REASON_OUTERMOST;
	}
	if (w->regs.gpr)
		w->known = w->regs;
	rule = find_rule(w, bobbin_regs_lookup_pc(&w->regs), &source);
	frame->source = (uint8_t)source;
	if (source == BOBBIN_SOURCE_NONE)
		return walk_without_rule(w, frame, (enum bobbin_reason)rule.reason);
	skip_shared_record(w->arch, w->callee, &rule);
	return walk_by(w, &rule);
}

static enum bobbin_reason walk(struct own_walk *w, uint32_t skip, struct bobbin_trace *trace)
{
	uint32_t max = trace->max < BOBBIN_MAX_DEPTH ? trace->max : BOBBIN_MAX_DEPTH;
	enum bobbin_reason reason = BOBBIN_REASON_NONE;

	for (trace->count = 0; trace->count < max && !reason;) {
		struct bobbin_frame frame = {.pc = w->regs.pc, .exact = w->regs.exact};

		reason = walk_on(w, &frame);
		w->callee = frame.source;
		if (skip)
			skip--;
		else
			trace->frames[trace->count++] = frame;
	}
	return reason ? reason : BOBBIN_REASON_DEPTH;
}

bool own_walk(const struct own_code *code, const struct bobbin_regs *regs, uint32_t skip,
	      struct bobbin_trace *trace)
{
	struct read_sections *readers = NULL;
	unsigned int token = 0;
	struct own_walk w;

	/* not the registers, which are many and rarely used */
	w.arch = native_arch();
	w.code = code;
	w.map = NULL;
	w.range.code = NULL;
	w.present = NULL;
	w.mem = (struct bobbin_mem){self_memory_read, &w.memory};
	w.asker = (struct code_asker){.arch = w.arch,
				      .registry = code->registry,
				      .mem = w.mem,
				      .code = {read_own_code, &w.memory}};
	w.regs = *regs;
	w.known.gpr = NULL;
	w.recoveries = MAX_RECOVERIES;
	w.stack = (struct stack_in_use){.bottom = regs->sp};
	w.callee = BOBBIN_SOURCE_NONE;
	w.stale = false;
	self_memory_init(&w.memory);
	if (code->registry) {
		w.map = registry_map(code->registry);
		readers = code_map_readers(registry_map(code->registry));
		token = read_enter(readers);
	}
	trace->left_out = 0;
	trace->reason = walk(&w, skip, trace);
	if (readers)
		read_leave(readers, token);
	return w.stale;
}
