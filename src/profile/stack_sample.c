/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/stack_sample.h"

#include <string.h>
#include <time.h>

#include "core/frame_rules.h"
#include "core/known_regs.h"
#include "profile/left_stack.h"
#include "profile/process_table.h"
#include "unwind/space.h"
#include "unwind/unwinder.h"

/* What all samples stand for is not said by each. */
static uint64_t period_of(const struct perf_event *event, const struct perf_event_attr *attr)
{
	if (event->sample.period)
		return event->sample.period;
	return !(attr->sample_type & PERF_SAMPLE_PERIOD) && !attr->freq && attr->sample_period
		       ? attr->sample_period
		       : 1;
}

struct stack_sample stack_sample_of(const struct perf_event *event,
				    const struct perf_event_attr *attr)
{
	bool monotonic = attr->use_clockid && attr->clockid == CLOCK_MONOTONIC;

	return (struct stack_sample){
		.pid = (int)event->pid,
		.tid = (int)event->tid,
		.cpu = event->cpu,
		.time = event->time,
		.code_time = monotonic ? event->time : UINT64_MAX,
		.period = period_of(event, attr),
		.id = event->id,
		.ip = event->sample.ip,
		.misc = event->misc,
		/* whatever happens is a sample */
		.weighed = !attr->freq && attr->sample_period <= 1,
		.chained = attr->sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER),
	};
}

struct bobbin_frame stack_sample_place(const struct stack_sample *sample)
{
	return (struct bobbin_frame){
		.pc = sample->ip,
		.exact = true,
		.kernel = (sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL,
	};
}

struct bobbin_frame stack_sample_gap(uint32_t count)
{
	return (struct bobbin_frame){.pc = count, .source = BOBBIN_SOURCE_LEFT_OUT};
}

void stack_sample_mark(struct bobbin_trace *trace)
{
	uint32_t at = trace->count - trace->outer;

	if (!trace->left_out)
		return;
	memmove(&trace->frames[at + 1], &trace->frames[at], trace->outer * sizeof(*trace->frames));
	trace->frames[at] = stack_sample_gap(trace->left_out);
	trace->count++;
}

/* For each DWARF register its number in the kernel's uapi asm/perf_regs.h. */
struct perf_numbering {
	uint8_t pc;
	uint8_t count;
	uint8_t gpr[BOBBIN_REG_COUNT];
};

/* AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8.. */
static const struct perf_numbering amd64 = {
	.pc = 8,
	.count = 16,
	.gpr = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23},
};

/* X0..X29 LR SP PC */
static const struct perf_numbering aarch64 = {
	.pc = 32,
	.count = 32,
	.gpr = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
};

/*
 * R0..R15 FP0..FP15 MASK PC.  Leaf functions save registers in others, of floating point:
 * DWARF 16 to 31 are f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15.
 */
static const struct perf_numbering s390x = {
	.pc = 33,
	.count = 32,
	.gpr = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		16, 18, 20, 22, 17, 19, 21, 23, 24, 26, 28, 30, 25, 27, 29, 31},
};

static const struct perf_numbering *numbering_of(const struct bobbin_arch *arch)
{
	if (arch == bobbin_arch_amd64())
		return &amd64;
	return arch == bobbin_arch_s390x() ? &s390x : &aarch64;
}

uint64_t sample_regs_mask(const struct bobbin_arch *arch)
{
	const struct perf_numbering *n = numbering_of(arch);
	uint64_t mask = 1ull << n->pc;

	for (unsigned int i = 0; i < n->count; i++)
		mask |= 1ull << n->gpr[i];
	return mask;
}

void sample_regs_order(const struct bobbin_arch *arch, uint64_t pc,
		       const uint64_t gpr[BOBBIN_REG_COUNT], uint64_t ret[BOBBIN_REG_COUNT + 1])
{
	const struct perf_numbering *n = numbering_of(arch);
	const uint64_t mask = sample_regs_mask(arch);

	ret[__builtin_popcountll(mask & ((1ull << n->pc) - 1))] = pc;
	for (unsigned int i = 0; i < n->count; i++)
		ret[__builtin_popcountll(mask & ((1ull << n->gpr[i]) - 1))] = gpr[i];
}

bool sample_regs(const struct bobbin_arch *arch, const struct perf_sample *sample,
		 uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret)
{
	const struct perf_numbering *n = numbering_of(arch);
	uint32_t known = 0;
	uint64_t pc;

	if (sample->regs_abi != PERF_SAMPLE_REGS_ABI_64 || !sample->regs)
		return false;
	if (!perf_sample_reg(sample, n->pc, &pc))
		return false;
	for (unsigned int i = 0; i < n->count; i++)
		if (perf_sample_reg(sample, n->gpr[i], &gpr[i]))
			known |= 1u << i;
	if (!(known >> arch->sp & 1))
		return false;
	*ret = known_regs(arch, pc, gpr, known);
	return true;
}

/* The PC of a 32-bit program; false: the sample is not of one. */
static bool pc_of_32(const struct bobbin_arch *arch, const struct perf_sample *sample,
		     uint64_t *ret)
{
	return sample->regs_abi == PERF_SAMPLE_REGS_ABI_32 && sample->regs &&
	       perf_sample_reg(sample, numbering_of(arch)->pc, ret);
}

/* The user part of the kernel's chain, leaf first. */
struct user_chain {
	const uint64_t *pcs;
	uint64_t count;
};

static struct user_chain user_part(const struct perf_sample *sample)
{
	uint64_t i = 0;

	while (i < sample->callchain_nr && sample->callchain[i] != PERF_CONTEXT_USER)
		i++;
	if (i < sample->callchain_nr)
		i++;
	return (struct user_chain){sample->callchain + i, sample->callchain_nr - i};
}

/*
 * Whether the frame pointer of this frame points to a frame record: then the kernel finds
 * the return address next to it.  Without a table that is a guess.
 */
static bool keeps_record(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
			 enum bobbin_source source)
{
	if (source == BOBBIN_SOURCE_NONE)
		return true;
	if (rule->ra.how != BOBBIN_HOW_IN_CFA_MEM || rule->ra.off != -8 ||
	    rule->fp.how != BOBBIN_HOW_IN_CFA_MEM || rule->fp.off != -16)
		return false;
	/* Go's functions do, though its table does not need it */
	return rule->cfa.how == BOBBIN_HOW_AT_REG &&
	       (source == BOBBIN_SOURCE_GO || (rule->cfa.reg == arch->fp && rule->cfa.off == 16));
}

/*
 * The entry of the chain that is the last frame with this address.  The chain may lack
 * frames and go on where the trace ended: it has to have as many with this address.
 */
static bool find_entry(const struct user_chain *chain, const struct bobbin_trace *trace,
		       uint64_t pc, uint64_t *ret)
{
	uint64_t more = 0, at = 0;

	for (uint32_t i = 0; i < trace->count; i++)
		more += trace->frames[i].pc == pc;
	for (uint64_t i = 0; i < chain->count; i++) {
		if (chain->pcs[i] != pc)
			continue;
		at = i;
		more--;
	}
	*ret = at;
	return !more;
}

/* Whether a signal's handler returns to a frame. */
static bool is_trampoline(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			  const struct bobbin_frame *f)
{
	struct bobbin_rule rule;

	return f->source == BOBBIN_SOURCE_TRAMPOLINE ||
	       (unwinder_rule(unwinder, space, bobbin_frame_lookup_pc(f), &rule) !=
			BOBBIN_SOURCE_NONE &&
		rule.flags & BOBBIN_RULE_SIGNAL);
}

/*
 * What a signal interrupted is no return address, so that the chain has the frame before
 * it, the trampoline; the frame pointer is the same in both.
 */
static bool find_join(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		      const struct user_chain *chain, const struct bobbin_trace *trace,
		      uint64_t *ret)
{
	uint32_t last = trace->count - 1;

	if (last &&
	    (trace->frames[last].exact || is_trampoline(unwinder, space, &trace->frames[last - 1])))
		last--;
	if (!find_entry(chain, trace, trace->frames[last].pc, ret))
		return false;
	/* a chain may lack this frame, and have another with its address further out */
	return last ? *ret && chain->pcs[*ret - 1] == trace->frames[last - 1].pc : !*ret;
}

static bool has_guess(const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++)
		if (trace->frames[i].source == BOBBIN_SOURCE_GUESS)
			return true;
	return false;
}

/*
 * Go on where the copy of the stack ends.  The kernel follows frame pointers in live memory, on
 * whatever stack they lead to, and skips what keeps none.  So a trace continues with its chain from
 * a frame that both have, as long as tables say that the functions keep frame pointers: then the
 * next address of the chain is the return address.  @fp: of the leaf.
 */
static void chain_join(struct bobbin_unwinder *unwinder, struct process *process,
		       const struct perf_sample *sample, uint64_t fp, const struct bobbin_mem *copy,
		       struct bobbin_trace *trace)
{
	struct bobbin_space *space = process->space;
	struct user_chain chain = user_part(sample);
	struct bobbin_frame *last = &trace->frames[trace->count - 1];
	uint64_t pc = bobbin_frame_lookup_pc(last), at;
	struct bobbin_rule rule;
	enum bobbin_source source;

	if (!find_join(unwinder, space, &chain, trace, &at))
		return;
	source = unwinder_rule(unwinder, space, pc, &rule);
	if (trace->count > 1 && was_left_by_record(last[-1].source))
		skip_shared_record(space->arch, &rule);
	for (; keeps_record(space->arch, &rule, source) && ++at < chain.count;
	     source = unwinder_rule(unwinder, space, pc, &rule)) {
		pc = chain.pcs[at] - 1;
		if (!space_has(space, pc))
			return;
		last->source = source == BOBBIN_SOURCE_NONE ? BOBBIN_SOURCE_GUESS
							    : BOBBIN_SOURCE_KERNEL;
		if (trace->count == trace->max) {
			trace->reason = BOBBIN_REASON_DEPTH;
			return;
		}
		last = &trace->frames[trace->count++];
		*last = (struct bobbin_frame){.pc = chain.pcs[at]};
	}
	last->source = (uint8_t)source;
	if (rule.cfa.how != BOBBIN_HOW_NO_RULE && rule.ra.how == BOBBIN_HOW_UNDEFINED)
		trace->reason = has_guess(trace) ? BOBBIN_REASON_LIKELY : BOBBIN_REASON_OUTERMOST;
	else if (trace->reason == BOBBIN_REASON_OTHER_STACK && at < chain.count &&
		 source != BOBBIN_SOURCE_GO) /* which moves its stacks */
		left_stack_walk(unwinder, space, &process->left,
				&(struct left_stack){chain.pcs, at, fp, copy, process->program},
				trace);
}

/* x86-64's DWARF numbers */
#define RAX 0
#define RCX 2
#define ENOSYS_RESULT ((uint64_t)-38)

/*
 * Whether x86-64's registers are those of a thread in a system call: the instruction
 * leaves the return address in RCX, and Linux an error in RAX until there is a result.
 */
static bool in_system_call(const struct bobbin_arch *arch, const struct bobbin_regs *regs)
{
	const uint32_t both = 1u << RAX | 1u << RCX;

	return arch == bobbin_arch_amd64() && (regs->gpr_known & both) == both &&
	       regs->gpr[RCX] == regs->pc && regs->gpr[RAX] == ENOSYS_RESULT;
}

/*
 * The kernel stops to copy where it would have to wait for a page, before the limit that it
 * was given.  Who has just called it had a stack: if nothing is there any more, it is since
 * execve or exit has given the memory back.
 */
static enum bobbin_reason why_copy_ends(const struct bobbin_arch *arch,
					const struct perf_sample *sample,
					const struct bobbin_regs *regs)
{
	if (sample->dyn_size >= sample->stack_size)
		return BOBBIN_REASON_STACK_END;
	return !sample->dyn_size && in_system_call(arch, regs) ? BOBBIN_REASON_NEW_SPACE
							       : BOBBIN_REASON_STACK_HOLE;
}

/* The stack that was in use, and those that were left for it. */
struct stack_copies {
	struct bobbin_stack_copy used;
	const struct bobbin_stack_copy *left;
};

static enum bobbin_reason stack_copies_read(void *ctx, uint64_t addr, void *dst, size_t len)
{
	struct stack_copies *copies = ctx;

	for (size_t i = 0; i < SAMPLE_LEFT_STACKS; i++) {
		struct bobbin_stack_copy left = copies->left[i];

		if (!bobbin_stack_copy_read(&left, addr, dst, len))
			return BOBBIN_REASON_NONE;
	}
	return bobbin_stack_copy_read(&copies->used, addr, dst, len);
}

/* Go on where a goroutine has been left, if only the runtime's structures say where that was. */
static void left_join(struct bobbin_unwinder *unwinder, struct process *process,
		      const struct perf_sample *sample, struct bobbin_trace *trace)
{
	struct bobbin_stack_copy left = sample->left[sample->left[1].size != 0];
	const struct bobbin_mem mem = {bobbin_stack_copy_read, &left};
	/* the runtime says addresses of returns and starts of functions alike */
	const struct bobbin_regs regs = {.pc = sample->left_pc, .sp = left.addr, .exact = true};
	struct bobbin_trace rest = {.frames = trace->frames + trace->count,
				    .max = trace->max - trace->count};

	if (!sample->left_pc || trace->reason != BOBBIN_REASON_OTHER_STACK || trace->left_out ||
	    trace->frames[trace->count - 1].source != BOBBIN_SOURCE_GO || !rest.max)
		return;
	bobbin_unwind(unwinder, process->space, &regs, &mem, &rest);
	trace->reason = rest.reason == BOBBIN_REASON_OUTERMOST && has_guess(trace)
				? BOBBIN_REASON_LIKELY
				: rest.reason;
	trace->count += rest.count;
}

void sample_trace(struct bobbin_unwinder *unwinder, const struct bobbin_arch *arch,
		  struct process *process, const struct perf_sample *sample,
		  struct bobbin_trace *trace)
{
	struct stack_copies copies = {
		.used = {.data = sample->stack, .size = sample->dyn_size},
		.left = sample->left,
	};
	struct bobbin_mem mem = {sample->left[0].size ? stack_copies_read : bobbin_stack_copy_read,
				 &copies};
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	trace->left_out = 0;
	if (sample_regs(arch, sample, gpr, &regs)) {
		copies.used.addr = regs.sp;
		unwind_copied(unwinder, process->space, &regs, &mem, &copies.used, trace);
		if (trace->reason == BOBBIN_REASON_STACK_END ||
		    (!copies.used.size && trace->reason == BOBBIN_REASON_NO_MEMORY))
			trace->reason = why_copy_ends(arch, sample, &regs);
		if (trace->reason == BOBBIN_REASON_OTHER_STACK ||
		    trace->reason == BOBBIN_REASON_STACK_END ||
		    trace->reason == BOBBIN_REASON_STACK_HOLE)
			chain_join(unwinder, process, sample, regs.fp, &mem, trace);
		left_join(unwinder, process, sample, trace);
		process_has_run(process, trace);
		if (!process->in_exec)
			return;
	}
	trace->count = 0;
	trace->reason = BOBBIN_REASON_NO_USER;
	if (pc_of_32(arch, sample, &regs.pc)) {
		trace->frames[trace->count++] = (struct bobbin_frame){.pc = regs.pc, .exact = true};
		trace->reason = BOBBIN_REASON_ABI_32;
	}
}

void sample_keep_code(struct bobbin_unwinder *unwinder, struct process *process,
		      const struct perf_sample *sample)
{
	const size_t registers = sample->regs ? (size_t)__builtin_popcountll(sample->regs_mask) : 0;

	unwinder_keep_code(unwinder, process->space, sample->regs, registers);
	if (sample->stack)
		unwinder_keep_code(unwinder, process->space, sample->stack, sample->dyn_size / 8);
	for (size_t i = 0; i < SAMPLE_LEFT_STACKS; i++)
		unwinder_keep_code(unwinder, process->space, sample->left[i].data,
				   sample->left[i].size / 8);
}

/*
 * Whether each of the frames has made a frame record, as far as tables know: then a walk by frame
 * pointers has left none of their callers out.
 */
static bool keep_records(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
			 const struct bobbin_frame *frames, uint32_t count)
{
	struct bobbin_rule rule;

	for (uint32_t i = 0; i < count; i++) {
		const enum bobbin_source source =
			unwinder_rule(unwinder, space, bobbin_frame_lookup_pc(&frames[i]), &rule);

		if (source == BOBBIN_SOURCE_NONE || !keeps_record(space->arch, &rule, source))
			return false;
	}
	return true;
}

/* The kernel does not say why it stopped: at a root, which has no caller, or before. */
static void find_end(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		     struct bobbin_trace *trace)
{
	struct bobbin_frame *last = &trace->frames[trace->count - 1];
	struct bobbin_rule rule;

	last->source = (uint8_t)unwinder_rule(unwinder, space, bobbin_frame_lookup_pc(last), &rule);
	if (rule.cfa.how == BOBBIN_HOW_NO_RULE || rule.ra.how != BOBBIN_HOW_UNDEFINED)
		return;
	/* it does not say either whether it went by frame pointers, which leave callers out */
	trace->reason = keep_records(unwinder, space, trace->frames, trace->count - 1)
				? BOBBIN_REASON_OUTERMOST
				: BOBBIN_REASON_LIKELY;
}

void chain_trace(struct bobbin_unwinder *unwinder, struct bobbin_space *space, const uint64_t *pcs,
		 uint64_t count, struct bobbin_trace *trace)
{
	bool deep = false;

	trace->count = trace->left_out = 0;
	for (uint64_t i = 0; i < count; i++) {
		if (pcs[i] >= PERF_CONTEXT_MAX)
			continue;
		deep = trace->count == trace->max;
		if (deep)
			break;
		trace->frames[trace->count] = (struct bobbin_frame){
			.pc = pcs[i],
			.exact = !trace->count,
			.source = BOBBIN_SOURCE_KERNEL,
		};
		trace->count++;
	}
	trace->reason = deep ? BOBBIN_REASON_DEPTH : BOBBIN_REASON_KERNEL_END;
	if (!trace->count)
		trace->reason = BOBBIN_REASON_NO_USER;
	else if (!deep)
		find_end(unwinder, space, trace);
}
