// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/stated_rows.h"

#include "core/bisect.h"
#include "infer/landing_pads.h"
#include "table/compile_cfi.h"

int stated_rows_init(const struct bobbin_cfi_view *views, unsigned int count,
		     struct stated_rows *ret)
{
	int r;

	*ret = (struct stated_rows){0};
	r = fde_list_init(views, count, &ret->fdes);
	if (!r)
		r = table_builder_init(bobbin_arch_amd64(), NULL, 0, &ret->table);
	return r ? r : compile_cfi_rows(views, count, &ret->table, NULL);
}

void stated_rows_fini(struct stated_rows *rows)
{
	fde_list_fini(&rows->fdes);
	table_builder_fini(&rows->table);
	*rows = (struct stated_rows){0};
}

int stated_rows_bound(const struct stated_rows *rows, const struct bobbin_cfi_view *views,
		      unsigned int count, bool parts, struct program *program)
{
	int r = 0;

	for (size_t i = 0; i < rows->fdes.count && parts && !r; i++)
		r = program_add_start(program, rows->fdes.fdes[i].start, START_PART);
	for (unsigned int i = 0; i < count && !r; i++)
		if (!views[i].debug_frame)
			r = landing_pads_add(program, &views[i]);
	return r;
}

const struct bobbin_rule *stated_rows_at(const struct stated_rows *rows, uint64_t pc)
{
	const struct rule_rows *in = &rows->table.rows;
	size_t after = bisect(i, 0, in->count, in->row[i].start > pc);

	if (!after || pc >= rows->table.end || in->row[after - 1].rule == RULE_NONE)
		return NULL;
	return rule_rows_rule(in, after - 1);
}

bool stated_rule_has_caller(const struct bobbin_rule *rule)
{
	return rule->cfa.how != BOBBIN_HOW_NO_RULE && rule->ra.how == BOBBIN_HOW_IN_CFA_MEM &&
	       rule->ra.off == -8;
}

/* Hardware numbers by DWARF's. */
static const uint8_t hardware[X86_REGS] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

/* The CFA that a rule means, as a distance from the one that was inferred. */
static value cfa_of(const struct frame_state *s, const struct bobbin_rule *rule)
{
	const struct bobbin_place *cfa = &rule->cfa;
	value v;

	if (cfa->reg >= X86_REGS || rule->index != BOBBIN_NO_INDEX)
		return VALUE_NONE;
	v = value_plus(s->regs[hardware[cfa->reg]], cfa->off);
	if (cfa->how == BOBBIN_HOW_IN_REG_MEM)
		v = value_plus(frame_state_word(s, v), rule->plus);
	return v;
}

static bool fp_is_right(const struct frame_state *s, const struct bobbin_place *fp)
{
	value at = VALUE_NONE;

	/* tables go on to name the slot when the register has been popped */
	if (s->regs[X86_BP] == VALUE_CALLERS_FP)
		return true;
	if (fp->how == BOBBIN_HOW_IN_CFA_MEM)
		at = value_on_base(VALUE_CFA, fp->off);
	else if (fp->how == BOBBIN_HOW_IN_REG_MEM && fp->reg < X86_REGS)
		at = value_plus(s->regs[hardware[fp->reg]], fp->off);
	else if (fp->how == BOBBIN_HOW_AT_REG && fp->reg < X86_REGS && !fp->off)
		return s->regs[hardware[fp->reg]] == VALUE_CALLERS_FP;
	return frame_state_word(s, at) == VALUE_CALLERS_FP;
}

unsigned int stated_rule_check(const struct bobbin_rule *rule, const struct frame_state *state)
{
	unsigned int faults = 0;

	if (cfa_of(state, rule) != value_on_base(VALUE_CFA, 0))
		faults |= STATED_CFA_DIFFERS;
	if (!fp_is_right(state, &rule->fp))
		faults |= STATED_FP_DIFFERS;
	return faults;
}
