// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* frame_state_rule.c - the unwind rule for a state. */
#include <bobbin/arch.h>

#include "infer/frame_state.h"

#define WORD 8

/* DWARF's numbers of the registers, by those of the hardware. */
static const uint8_t dwarf_numbers[X86_REGS] = {0, 2, 1,  3,  7,  6,  4,  5,
						8, 9, 10, 11, 12, 13, 14, 15};

static bool fits(int64_t offset)
{
	return offset >= INT32_MIN && offset <= INT32_MAX;
}

static struct bobbin_place place(enum bobbin_how how, unsigned int reg, int64_t off)
{
	return (struct bobbin_place){.off = (int32_t)off,
				     .how = (uint8_t)how,
				     .reg = reg < X86_REGS ? dwarf_numbers[reg] : 0};
}

/* The CFA is a register and an offset. */
static bool cfa_by_reg(const struct frame_state *s, unsigned int reg, struct bobbin_rule *ret)
{
	if (!value_is_cfa(s->regs[reg]) || !fits(value_offset(s->regs[reg])))
		return false;
	ret->cfa = place(BOBBIN_HOW_AT_REG, reg, -value_offset(s->regs[reg]));
	return true;
}

/* The CFA, or an address at a known distance from it, is in memory at SP or FP plus an offset. */
static bool cfa_in_memory(const struct frame_state *s, unsigned int reg, struct bobbin_rule *ret)
{
	const value base = s->regs[reg];

	for (unsigned int i = 0; i < s->count; i++) {
		const struct frame_slot *slot = &s->slots[i];
		int64_t offset = value_offset(slot->at) - value_offset(base);
		int64_t plus = -value_offset(slot->held);

		if (!value_is_cfa(slot->held) || value_base(slot->at) != value_base(base) ||
		    !fits(offset) || offset < 0 - (reg == X86_BP ? INT32_MAX : 0) ||
		    plus < INT16_MIN || plus > INT16_MAX)
			continue;
		ret->cfa = place(BOBBIN_HOW_IN_REG_MEM, reg, offset);
		ret->plus = (int16_t)plus;
		return true;
	}
	return false;
}

static bool find_cfa(const struct frame_state *s, bool by_fp, struct bobbin_rule *ret)
{
	static const uint8_t frame_regs[] = {X86_SP, X86_BP};

	if (by_fp && cfa_by_reg(s, X86_BP, ret))
		return true;
	for (unsigned int i = 0; i < 2; i++)
		if (cfa_by_reg(s, frame_regs[i], ret))
			return true;
	for (unsigned int i = 2; i-- > 0;)
		if (value_kind(s->regs[frame_regs[i]]) == VALUE_BASE &&
		    cfa_in_memory(s, frame_regs[i], ret))
			return true;
	for (unsigned int reg = 0; reg < X86_REGS; reg++)
		if (cfa_by_reg(s, reg, ret))
			return true;
	return false;
}

/* The caller's frame pointer is in memory at a place. */
static bool fp_in_memory(const struct frame_state *s, value at, struct bobbin_rule *ret)
{
	static const uint8_t regs[] = {X86_BP, X86_SP};

	if (value_is_cfa(at)) {
		ret->fp = place(BOBBIN_HOW_IN_CFA_MEM, X86_REGS, value_offset(at));
		return fits(value_offset(at));
	}
	for (unsigned int i = 0; i < 2; i++) {
		const value base = s->regs[regs[i]];
		int64_t offset = value_offset(at) - value_offset(base);

		if (value_kind(base) != VALUE_BASE || value_base(base) != value_base(at) ||
		    !fits(offset))
			continue;
		ret->fp = place(BOBBIN_HOW_IN_REG_MEM, regs[i], offset);
		return true;
	}
	return false;
}

static bool find_fp(const struct frame_state *s, struct bobbin_rule *ret)
{
	if (s->regs[X86_BP] == VALUE_CALLERS_FP) {
		ret->fp = place(BOBBIN_HOW_SAME, X86_REGS, 0);
		return true;
	}
	for (unsigned int i = 0; i < s->count; i++)
		if (s->slots[i].held == VALUE_CALLERS_FP && fp_in_memory(s, s->slots[i].at, ret))
			return true;
	for (unsigned int reg = 0; reg < X86_REGS; reg++)
		if (s->regs[reg] == VALUE_CALLERS_FP) {
			ret->fp = place(BOBBIN_HOW_AT_REG, reg, 0);
			return true;
		}
	return false;
}

bool frame_state_rule(const struct frame_state *state, bool by_fp, struct bobbin_rule *ret)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	/* below the stack pointer, signal handlers may overwrite it */
	if (state->lost_ra || frame_state_has_popped(state) || !find_cfa(state, by_fp, &rule) ||
	    !find_fp(state, &rule))
		return false;
	rule.ra = place(BOBBIN_HOW_IN_CFA_MEM, X86_REGS, -WORD);
	*ret = rule;
	return true;
}
