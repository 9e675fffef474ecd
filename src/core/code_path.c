/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/code_path.h"

/* Larger frames than functions have. */
#define FARTHEST (1 << 20)

void code_path_begin(uint64_t pc, bool exact, bool taken, bool resolver, struct code_path *ret)
{
	*ret = (struct code_path){
		.pc = pc,
		.sp = {0, CODE_SP, false},
		.fp = {0, CODE_FP, false},
		.ra = {0, CODE_RA, false},
		.called = {0, exact ? CODE_UNKNOWN : CODE_SP, false},
		.taken = taken,
		.resolver = resolver,
	};
}

static uint8_t register_of(const struct bobbin_arch *arch, uint8_t base)
{
	return base == CODE_SP ? arch->sp : base == CODE_FP ? arch->fp : arch->ra;
}

/*
 * Where the value of a register is at the PC; BOBBIN_HOW_NO_RULE: nowhere.  @cfa: of the same
 * rule; @own: the base that is the register itself.
 */
static BOBBIN_ALWAYS_INLINE struct bobbin_place place_of_value(const struct bobbin_arch *arch,
							       const struct code_value *v,
							       enum code_base own,
							       struct bobbin_place cfa)
{
	const uint8_t reg = register_of(arch, v->base);

	if (v->base == own && !v->loaded && !v->off)
		return place_of(BOBBIN_HOW_SAME, 0, 0);
	if (!v->loaded || v->base == CODE_UNKNOWN || v->base == CODE_RA)
		return place_of(BOBBIN_HOW_NO_RULE, 0, 0);
	if (reg == cfa.reg)
		return place_of(BOBBIN_HOW_IN_CFA_MEM, 0,
				(int32_t)((uint32_t)v->off - (uint32_t)cfa.off));
	return place_of(BOBBIN_HOW_IN_REG_MEM, reg, v->off);
}

bool code_path_rule(const struct bobbin_arch *arch, const struct code_path *path,
		    struct bobbin_rule *ret)
{
	const int32_t above = arch->default_ra_off ? 8 + path->popped : 0;
	struct bobbin_place cfa, ra, fp;

	if (!code_is_address(&path->sp) || path->sp.base == CODE_RA || path->sp.off > FARTHEST ||
	    path->sp.off < -FARTHEST || (path->sp.base == CODE_SP && path->sp.off < 0))
		return false;
	cfa = place_of(BOBBIN_HOW_AT_REG, register_of(arch, path->sp.base), path->sp.off + above);
	ra = arch->default_ra_off ? place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -above)
				  : place_of_value(arch, &path->ra, CODE_RA, cfa);
	fp = place_of_value(arch, &path->fp, CODE_FP, cfa);
	if (ra.how == BOBBIN_HOW_NO_RULE || fp.how == BOBBIN_HOW_NO_RULE)
		return false;
	/* member by member: clang 14 loses a copy of the whole for BPF */
	ret->cfa = place_of(cfa.how, cfa.reg, cfa.off);
	ret->ra = place_of(ra.how, ra.reg, ra.off);
	ret->fp = place_of(fp.how, fp.reg, fp.off);
	ret->plus = 0;
	ret->index = BOBBIN_NO_INDEX;
	ret->flags = ret->reason = 0;
	return true;
}
