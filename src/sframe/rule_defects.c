/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that can be read and can hardly be true.
 *
 * Hand-written assembly, as in dynamic linkers and switches of threads, may do what
 * compilers never do, so none of this is an error.
 */
#include "sframe/default_rule.h"
#include "sframe/defects.h"

#define WORD 8
/* DWARF numbers from here on are no general registers; AArch64 has 32. */
#define FEWEST_REGISTERS 16

static void add_at_row(struct defects *d, const struct bobbin_sframe_fre *fre,
		       enum bobbin_reason reason)
{
	defects_add(d, fre->offset, reason);
}

static bool holds_addresses(const struct bobbin_arch *arch, uint8_t reg)
{
	return arch->pac_mask || reg < FEWEST_REGISTERS;
}

static bool base_is_odd(const struct bobbin_arch *arch, const struct bobbin_place *place)
{
	if (place->how == BOBBIN_HOW_IN_REG_MEM || (place->how == BOBBIN_HOW_AT_REG && place->off))
		return !holds_addresses(arch, place->reg);
	return false;
}

static bool slot_is_unaligned(const struct bobbin_place *place)
{
	if (place->how != BOBBIN_HOW_IN_CFA_MEM && place->how != BOBBIN_HOW_IN_REG_MEM)
		return false;
	return place->off % WORD;
}

static bool on_stack_pointer(const struct bobbin_arch *arch, const struct bobbin_rule *rule)
{
	return rule->cfa.how == BOBBIN_HOW_AT_REG && rule->cfa.reg == arch->sp;
}

static void check_alignment(struct defects *d, const struct bobbin_sframe_fre *fre,
			    const struct bobbin_rule *rule)
{
	const struct bobbin_arch *arch = d->view->arch;

	if (rule->cfa.off % WORD || slot_is_unaligned(&rule->ra) || slot_is_unaligned(&rule->fp))
		add_at_row(d, fre, BOBBIN_REASON_SFRAME_UNALIGNED);
	else if (on_stack_pointer(arch, rule) && rule->cfa.off % arch->sp_align)
		add_at_row(d, fre, BOBBIN_REASON_SFRAME_STACK_ALIGN);
}

/*
 * The caller's stack pointer is not below this frame's.  A return address that a call
 * has pushed lies between the two, unless assembly has popped it.
 */
static void check_cfa(struct defects *d, const struct bobbin_sframe_fre *fre,
		      const struct bobbin_rule *rule)
{
	const struct bobbin_arch *arch = d->view->arch;
	int32_t least = arch->cfa_bias;

	if (rule->ra.how == BOBBIN_HOW_IN_CFA_MEM && arch->default_ra_off)
		least = -arch->default_ra_off;
	if (on_stack_pointer(arch, rule) && rule->cfa.off < least)
		add_at_row(d, fre, BOBBIN_REASON_SFRAME_CFA_BELOW);
}

/*
 * A register is saved between the stack pointer and the CFA.  Compilers leave a
 * frame pointer's slot in the rule when they have popped it.
 */
static void check_slots(struct defects *d, const struct bobbin_sframe_fre *fre,
			const struct bobbin_rule *rule)
{
	const struct bobbin_arch *arch = d->view->arch;
	bool ra = rule->ra.how == BOBBIN_HOW_IN_CFA_MEM, fp = rule->fp.how == BOBBIN_HOW_IN_CFA_MEM;
	bool below = on_stack_pointer(arch, rule) && rule->cfa.off >= 0 &&
		     (int64_t)rule->cfa.off + rule->ra.off < 0 && !arch->default_ra_off;

	if ((ra && (rule->ra.off > -WORD || below)) || (fp && rule->fp.off > -WORD) ||
	    (ra && fp && rule->ra.off == rule->fp.off))
		add_at_row(d, fre, BOBBIN_REASON_SFRAME_SLOT);
}

void defects_of_rule(struct defects *d, const struct bobbin_sframe_fde *fde,
		     const struct bobbin_sframe_fre *fre, const struct bobbin_rule *rule)
{
	const struct bobbin_arch *arch = d->view->arch;

	if (base_is_odd(arch, &rule->cfa) || base_is_odd(arch, &rule->ra) ||
	    base_is_odd(arch, &rule->fp))
		add_at_row(d, fre, BOBBIN_REASON_SFRAME_BASE);
	check_alignment(d, fre, rule);
	/* another stack, or the saved state of another thread */
	if (fde->signal || fde->flex)
		return;
	check_cfa(d, fre, rule);
	check_slots(d, fre, rule);
	if (fde->pcmask && !fre->start && !sframe_stub_rule_is_sane(arch, rule))
		add_at_row(d, fre, BOBBIN_REASON_SFRAME_STUB);
}
