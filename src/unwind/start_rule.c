/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/start_rule.h"

#include <bobbin/arch.h>

#include "core/frame_rules.h"
#include "unwind/made_code.h"
#include "unwind/table_set.h"

#define WORD 8
/* The caller's frame pointer, in terms of the stack pointer at the start: nowhere near. */
#define ELSEWHERE (UINT64_C(1) << 62)

/* Whether a rule is that of the first instruction of a function that is called. */
static bool is_at_call(const struct bobbin_rule *rule)
{
	return rule->cfa.how == BOBBIN_HOW_AT_REG && rule->cfa.reg == bobbin_arch_amd64()->sp &&
	       rule->cfa.off == WORD && rule->ra.how == BOBBIN_HOW_IN_CFA_MEM &&
	       rule->ra.off == -WORD && !rule->flags;
}

/* Whether the function returns to what is on top of the stack at its start, or never. */
static bool returns_there(const struct survey_answer *a)
{
	const struct bobbin_rule *rule = &a->rule;

	if (a->spent)
		return false;
	if (!a->returns)
		return !a->leaves;
	return !a->conflict && a->undone && rule->cfa.how == BOBBIN_HOW_AT_REG &&
	       rule->cfa.reg == bobbin_arch_amd64()->sp && rule->cfa.off + rule->ra.off == 0;
}

/* The rule of a place where a register is so far from where the stack pointer was at the start. */
static bool rule_by(uint8_t reg, const struct code_value *value, struct bobbin_rule *ret)
{
	if (!code_is_address(value) || value->base != CODE_SP)
		return false;
	*ret = (struct bobbin_rule){.index = BOBBIN_NO_INDEX};
	ret->cfa = place_of(BOBBIN_HOW_AT_REG, reg, WORD - value->off);
	ret->ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -WORD);
	ret->fp = place_of(BOBBIN_HOW_SAME, 0, 0);
	return true;
}

bool start_rule(struct made_code *made, const struct start_query *query, struct bobbin_rule *ret)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();
	struct survey_query survey = {
		.code = query->code,
		.to = query->regs->pc,
		.fp = ELSEWHERE,
		.exact = true,
		.over_calls = true,
		.to_exact = query->regs->exact,
	};
	struct survey_answer found;
	struct table_answer first;
	uint64_t end;

	if (query->tables->arch != arch ||
	    !table_set_extent(query->tables, bobbin_regs_lookup_pc(query->regs) - query->bias,
			      &first, &end) ||
	    end - first.row.function > START_RULE_SIZE || !is_at_call(&first.row.rule))
		return false;
	survey.from = survey.start = first.row.function + query->bias;
	survey.end = end + query->bias;
	made_code_look(made, &survey, &found);
	return found.reached && returns_there(&found) &&
	       (rule_by(arch->sp, &found.to_sp, ret) || rule_by(arch->fp, &found.to_fp, ret));
}
