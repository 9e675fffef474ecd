// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* frame_state_rule.c - the unwind rule for a state. */
#include <bobbin/arch.h>

#include "infer/frame_state.h"

#define WORD 8

static bool fits(int64_t offset)
{
	return offset >= INT32_MIN && offset <= INT32_MAX;
}

static struct bobbin_place place(enum bobbin_how how, int64_t off)
{
	return (struct bobbin_place){.off = (int32_t)off, .how = (uint8_t)how};
}

static struct bobbin_place by_reg(const struct frame_state *s, enum bobbin_how how,
				  unsigned int reg, int64_t off)
{
	return (struct bobbin_place){
		.off = (int32_t)off, .how = (uint8_t)how, .reg = s->machine->dwarf[reg]};
}

/* The CFA is a register and an offset. */
static bool cfa_by_reg(const struct frame_state *s, unsigned int reg, struct bobbin_rule *ret)
{
	if (!value_is_cfa(s->regs[reg]) || !fits(value_offset(s->regs[reg])))
		return false;
	ret->cfa = by_reg(s, BOBBIN_HOW_AT_REG, reg, -value_offset(s->regs[reg]));
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
		    !fits(offset) || offset < 0 - (reg == s->machine->fp ? INT32_MAX : 0) ||
		    plus < INT16_MIN || plus > INT16_MAX)
			continue;
		ret->cfa = by_reg(s, BOBBIN_HOW_IN_REG_MEM, reg, offset);
		ret->plus = (int16_t)plus;
		return true;
	}
	return false;
}

static bool find_cfa(const struct frame_state *s, bool by_fp, struct bobbin_rule *ret)
{
	const uint8_t frame_regs[] = {s->machine->sp, s->machine->fp};

	if (by_fp && cfa_by_reg(s, s->machine->fp, ret))
		return true;
	for (unsigned int i = 0; i < 2; i++)
		if (cfa_by_reg(s, frame_regs[i], ret))
			return true;
	for (unsigned int i = 2; i-- > 0;)
		if (value_kind(s->regs[frame_regs[i]]) == VALUE_BASE &&
		    cfa_in_memory(s, frame_regs[i], ret))
			return true;
	for (unsigned int reg = 0; reg < s->machine->regs; reg++)
		if (cfa_by_reg(s, reg, ret))
			return true;
	return false;
}

/* A word of the stack, as a place in memory. */
static bool place_in_memory(const struct frame_state *s, value at, struct bobbin_place *ret)
{
	const uint8_t regs[] = {s->machine->fp, s->machine->sp};

	if (value_is_cfa(at)) {
		*ret = place(BOBBIN_HOW_IN_CFA_MEM, value_offset(at));
		return fits(value_offset(at));
	}
	for (unsigned int i = 0; i < 2; i++) {
		const value base = s->regs[regs[i]];
		int64_t offset = value_offset(at) - value_offset(base);

		if (value_kind(base) != VALUE_BASE || value_base(base) != value_base(at) ||
		    !fits(offset))
			continue;
		*ret = by_reg(s, BOBBIN_HOW_IN_REG_MEM, regs[i], offset);
		return true;
	}
	return false;
}

/* Whether a word of the stack is where signal handlers leave it as it is. */
static bool is_kept(const struct frame_state *s, value at)
{
	const value sp = frame_state_sp(s);

	return value_kind(sp) != VALUE_BASE || value_base(at) != value_base(sp) ||
	       value_offset(at) >= value_offset(sp);
}

/* The caller's frame pointer is in memory. */
static bool fp_in_memory(const struct frame_state *s, bool kept, struct bobbin_rule *ret)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (s->slots[i].held == VALUE_CALLERS_FP && (!kept || is_kept(s, s->slots[i].at)) &&
		    place_in_memory(s, s->slots[i].at, &ret->fp))
			return true;
	return false;
}

static bool find_fp(const struct frame_state *s, struct bobbin_rule *ret)
{
	/* who saves the return address stores both, and compilers' tables change but once */
	if (s->machine->ra != NO_REG && fp_in_memory(s, true, ret))
		return true;
	if (s->regs[s->machine->fp] == VALUE_CALLERS_FP) {
		ret->fp = place(BOBBIN_HOW_SAME, 0);
		return true;
	}
	if (fp_in_memory(s, false, ret))
		return true;
	for (unsigned int reg = 0; reg < s->machine->regs; reg++)
		if (s->regs[reg] == VALUE_CALLERS_FP) {
			ret->fp = by_reg(s, BOBBIN_HOW_AT_REG, reg, 0);
			return true;
		}
	return false;
}

/* Whether a value is the return address; *@flags: and how it is signed. */
static bool is_ra(value v, uint8_t *flags)
{
	*flags = 0;
	if (v == VALUE_SIGNED_RETURN(INSN_KEY_A))
		*flags = BOBBIN_RULE_MANGLED;
	else if (v == VALUE_SIGNED_RETURN(INSN_KEY_B))
		*flags = BOBBIN_RULE_MANGLED | BOBBIN_RULE_KEY_B;
	return *flags || v == VALUE_RETURN;
}

/* The return address is in memory: as compilers say it, once it has been stored. */
static bool ra_in_memory(const struct frame_state *s, struct bobbin_rule *ret)
{
	for (unsigned int i = 0; i < s->count; i++) {
		const struct frame_slot *slot = &s->slots[i];

		if (is_ra(slot->held, &ret->flags) && is_kept(s, slot->at) &&
		    place_in_memory(s, slot->at, &ret->ra))
			return true;
	}
	return false;
}

/* Where calls leave the return address in a register, which functions save. */
static bool find_saved_ra(const struct frame_state *s, struct bobbin_rule *ret)
{
	if (ra_in_memory(s, ret))
		return true;
	if (is_ra(s->regs[s->machine->ra], &ret->flags)) {
		ret->ra = place(BOBBIN_HOW_SAME, 0);
		return true;
	}
	for (unsigned int reg = 0; reg < s->machine->regs; reg++)
		if (is_ra(s->regs[reg], &ret->flags)) {
			ret->ra = by_reg(s, BOBBIN_HOW_AT_REG, reg, 0);
			return true;
		}
	return false;
}

static bool find_ra(const struct frame_state *s, struct bobbin_rule *ret)
{
	if (s->machine->ra != NO_REG)
		return find_saved_ra(s, ret);
	/* a function may move it, to push arguments below those that it was given */
	if (s->lost_ra)
		return ra_in_memory(s, ret);
	ret->ra = place(BOBBIN_HOW_IN_CFA_MEM, -WORD);
	return true;
}

bool frame_state_rule(const struct frame_state *state, bool by_fp, struct bobbin_rule *ret)
{
	struct bobbin_rule rule = {.index = BOBBIN_NO_INDEX};

	/* below the stack pointer, signal handlers may overwrite it */
	if (!find_ra(state, &rule) || frame_state_has_popped(state) ||
	    !find_cfa(state, by_fp, &rule) || !find_fp(state, &rule))
		return false;
	*ret = rule;
	return true;
}
