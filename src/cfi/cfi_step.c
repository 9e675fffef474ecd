/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cfi/cfi_step.h"

#include "cfi/cfi_state.h"
#include "cfi/evaluation.h"
#include "core/rule_step.h"

static BOBBIN_ALWAYS_INLINE enum bobbin_reason world_word(void *world, uint64_t addr, uint64_t *ret)
{
	const struct bobbin_mem *mem = world;

	return mem->read(mem->ctx, addr, ret, sizeof(*ret));
}

/* The places of a rule, of which some may be expressions. */
struct row_step {
	const struct bobbin_cfi_rows *rows;
	struct table_step *step;
	const struct bobbin_mem *mem;
	struct rule_step s;
};

static enum bobbin_reason expression(const struct row_step *r, const struct bobbin_place *place,
				     bool has_cfa, uint64_t *ret)
{
	const struct bobbin_cfi_view *view = r->rows->view;
	struct evaluation e = {
		.step = r->step,
		.mem = r->mem,
		.section = view->frame_addr,
		.block = bytes_of(view->frame, view->frame_size, view->arch->big_endian),
		.cfa = r->s.cfa,
		.has_cfa = has_cfa,
	};
	enum bobbin_reason reason;
	uint64_t size, value = 0;

	bytes_seek(&e.block, (uint32_t)place->off);
	size = bytes_uleb(&e.block);
	if (size > bytes_left(&e.block))
		return BOBBIN_REASON_TRUNCATED;
	e.block.size = e.block.pos + size;
	reason = evaluate(&e, &value);
	if (!reason && place->reg == EXPRESSION_ADDRESS)
		reason = evaluation_load(&e, value, sizeof(value), &value);
	if (!reason)
		*ret = value;
	return reason;
}

static enum bobbin_reason row_cfa(struct row_step *r, uint64_t pc)
{
	const struct bobbin_cfi_state *now = &r->rows->now;
	enum bobbin_reason reason;

	if (is_expression(&now->cfa))
		return expression(r, &now->cfa, false, &r->s.cfa);
	if (now->cfa.how == BOBBIN_HOW_NO_RULE)
		return (enum bobbin_reason)now->reason;
	reason = step_cfa(&r->s, &r->s.cfa);
	/* the second part of a lazy-binding stub */
	if (now->plt && (pc & 15) >= now->plt)
		r->s.cfa += 8;
	return reason;
}

/* The caller's stack pointer, which need not be the CFA. */
static enum bobbin_reason row_sp(struct row_step *r, uint64_t *ret)
{
	const struct bobbin_cfi_state *now = &r->rows->now;
	const struct bobbin_arch *arch = r->step->arch;
	enum bobbin_reason reason = BOBBIN_REASON_NONE;

	*ret = r->s.cfa - arch->cfa_bias;
	if (is_expression(&now->sp))
		reason = expression(r, &now->sp, true, ret);
	else if (now->sp.how == BOBBIN_HOW_NO_RULE)
		reason = BOBBIN_REASON_CFI_SP_RULE;
	else if (!sp_is_cfa(arch, now))
		reason = step_value(&r->s, &now->sp, ret);
	return reason ? reason : step_check_sp(&r->s, *ret);
}

static enum bobbin_reason row_ra(struct row_step *r, uint64_t *ret)
{
	const struct bobbin_cfi_state *now = &r->rows->now;
	enum bobbin_reason reason;

	if (!is_expression(&now->ra))
		return now->ra_reason ? (enum bobbin_reason)now->ra_reason : step_ra(&r->s, ret);
	reason = expression(r, &now->ra, true, ret);
	if (!reason && now->mangled)
		*ret = step_strip(r->step->arch, *ret);
	return reason;
}

static enum bobbin_reason row_fp(struct row_step *r, uint64_t *ret)
{
	const struct bobbin_cfi_state *now = &r->rows->now;

	if (is_expression(&now->fp))
		return expression(r, &now->fp, true, ret);
	return now->fp_reason ? (enum bobbin_reason)now->fp_reason : step_fp(&r->s, ret);
}

enum bobbin_reason cfi_step(const struct bobbin_cfi_rows *rows, uint64_t pc,
			    const struct bobbin_mem *mem, struct table_step *step)
{
	const struct bobbin_cfi_state *now = &rows->now;
	const struct bobbin_rule rule = {
		.cfa = now->cfa,
		.ra = now->ra,
		.fp = now->fp,
		.plus = now->plus,
		.index = now->index,
		.flags = (uint8_t)((rows->fde.signal ? BOBBIN_RULE_SIGNAL : 0) |
				   (now->mangled ? BOBBIN_RULE_MANGLED : 0)),
	};
	struct bobbin_mem world = *mem;
	struct row_step r = {rows, step, mem, {&world, step->arch, &rule, &step->regs, 0}};
	uint64_t sp = 0, ra = 0, fp = 0;
	enum bobbin_reason reason;

	if (now->ra.how == BOBBIN_HOW_UNDEFINED)
		return BOBBIN_REASON_OUTERMOST;
	step->missing = 0;
	reason = row_cfa(&r, pc);
	if (!reason)
		reason = row_sp(&r, &sp);
	if (!reason)
		reason = row_ra(&r, &ra);
	if (!reason)
		reason = row_fp(&r, &fp);
	if (!reason && !ra && !rows->fde.signal)
		reason = BOBBIN_REASON_ZERO_RA;
	if (reason == BOBBIN_REASON_NO_REGISTER)
		step->missing |= step_registers(step->arch, &rule, &step->regs);
	if (!reason)
		step->regs = (struct bobbin_regs){
			.pc = ra, .sp = sp, .fp = fp, .exact = rows->fde.signal};
	return reason;
}
