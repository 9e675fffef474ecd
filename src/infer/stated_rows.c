// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/stated_rows.h"

#include "base/vector.h"
#include "infer/landing_pads.h"

static int add_fde(struct stated_rows *rows, const struct bobbin_cfi_view *views,
		   const struct listed_fde *fde, struct bobbin_cfi_rows *program)
{
	struct bobbin_row row;

	if (listed_fde_start(views, fde, NULL, program))
		return 0;
	while (bobbin_cfi_rows_next(program, NULL, &row) > 0)
		if (vector_push(rows->rows, rows->count, rows->capacity,
				(struct stated_row){row.start, row.end, fde->start, row.rule,
						    program->plt, (uint8_t)fde->view}))
			return -ENOMEM;
	return 0;
}

int stated_rows_init(const struct bobbin_cfi_view *views, unsigned int count,
		     struct stated_rows *ret)
{
	struct bobbin_cfi_rows program = {0};
	int r;

	*ret = (struct stated_rows){0};
	r = fde_list_init(views, count, &ret->fdes);
	for (size_t i = 0; i < ret->fdes.count && !r; i++)
		r = add_fde(ret, views, &ret->fdes.fdes[i], &program);
	return r;
}

void stated_rows_fini(struct stated_rows *rows)
{
	fde_list_fini(&rows->fdes);
	free(rows->rows);
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

const struct stated_row *stated_rows_at(const struct stated_rows *rows, uint64_t pc)
{
	size_t low = 0, high = rows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows->rows[middle].end <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rows->count && rows->rows[low].start <= pc ? &rows->rows[low] : NULL;
}

bool stated_rule_has_caller(const struct bobbin_rule *rule)
{
	return rule->cfa.how != BOBBIN_HOW_NO_RULE && rule->ra.how == BOBBIN_HOW_IN_CFA_MEM &&
	       rule->ra.off == -8;
}

/* Hardware numbers by DWARF's. */
static const uint8_t hardware[X86_REGS] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

/* The CFA that a rule means, as a distance from the one that was inferred. */
static value cfa_of(const struct frame_state *s, const struct bobbin_rule *rule, bool stub_pushed)
{
	const struct bobbin_place *cfa = &rule->cfa;
	value v;

	if (cfa->reg >= X86_REGS || rule->index != BOBBIN_NO_INDEX)
		return VALUE_NONE;
	v = value_plus(s->regs[hardware[cfa->reg]], cfa->off);
	if (stub_pushed)
		v = value_plus(v, 8);
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

unsigned int stated_rule_check(const struct bobbin_rule *rule, unsigned int plt,
			       const struct frame_state *state, uint64_t pc)
{
	const bool stub_pushed = plt && pc % STUB_SIZE >= plt;
	unsigned int faults = 0;

	if (cfa_of(state, rule, stub_pushed) != value_on_base(VALUE_CFA, 0))
		faults |= STATED_CFA_DIFFERS;
	if (!fp_is_right(state, &rule->fp))
		faults |= STATED_FP_DIFFERS;
	return faults;
}
