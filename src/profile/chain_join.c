/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/chain_join.h"

#include "core/frame_rules.h"
#include "unwind/space.h"
#include "unwind/unwinder_rule.h"

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

bool chain_keeps_records(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
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

static bool has_guess(const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++)
		if (trace->frames[i].source == BOBBIN_SOURCE_GUESS)
			return true;
	return false;
}

void chain_join(struct bobbin_unwinder *unwinder, struct bobbin_space *space,
		const struct perf_sample *sample, struct bobbin_trace *trace)
{
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
}
