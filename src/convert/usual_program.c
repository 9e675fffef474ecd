/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "convert/usual_program.h"

#include "cfi/dwarf.h"
#include "core/bytes.h"

/* How deep states are saved; compilers reach 2. */
#define MAX_SAVED 4

/* Factors and operands, at most: their products are far from overflowing. */
#define MAX_FACTOR 128
#define MAX_OPERAND UINT16_MAX

/**
 * struct program - a program that is being run
 * @bytes: its instructions
 * @arch: of the section
 * @initial: as given
 * @now: what holds
 * @saved, @depth: states to come back to
 * @data_align: factor of offsets
 */
struct program {
	struct bytes bytes;
	const struct bobbin_arch *arch;
	struct usual_rule initial, now, saved[MAX_SAVED];
	unsigned int depth;
	int32_t data_align;
};

/* Whether the next register or offset of the CFA changes the one that holds. */
static bool goes_on(const struct bobbin_cfi_state *s)
{
	return s->base.how == BOBBIN_HOW_AT_REG && s->base.reg == s->cfa.reg &&
	       s->base.off == s->cfa.off;
}

bool usual_program_start(const struct bobbin_cfi_rows *rows, struct usual_rule *ret)
{
	const struct bobbin_cfi_state *s = &rows->initial;
	const struct bobbin_rule rule = {
		.cfa = s->cfa,
		.ra = s->ra,
		.fp = s->fp,
		.plus = s->plus,
		.index = s->index,
		.flags = rows->fde.signal ? BOBBIN_RULE_SIGNAL : 0,
	};

	if (!goes_on(s) || s->plt || s->ra_reason || s->fp_reason || s->mangled ||
	    s->sp.how != BOBBIN_HOW_SAME || rows->fde.code_align > MAX_FACTOR ||
	    rows->fde.data_align > MAX_FACTOR || rows->fde.data_align < -MAX_FACTOR)
		return false;
	return usual_rule_of(rows->view->arch, &rule, ret);
}

/* Whether rules speak of a register: FP, and those whose rules are never given usually. */
static BOBBIN_ALWAYS_INLINE bool is_fp(const struct program *p, uint64_t reg)
{
	return reg == p->arch->fp;
}

static BOBBIN_ALWAYS_INLINE bool is_fixed(const struct program *p, uint64_t reg)
{
	return reg == p->arch->ra || reg == p->arch->sp;
}

static BOBBIN_ALWAYS_INLINE bool save_register(struct program *p, uint64_t reg)
{
	uint64_t operand = bytes_uleb(&p->bytes);

	if (!is_fp(p, reg))
		return !is_fixed(p, reg);
	if (operand > MAX_OPERAND)
		return false;
	p->now.in_frame = true;
	p->now.fp = (int32_t)operand * p->data_align;
	return true;
}

static BOBBIN_ALWAYS_INLINE bool restore_register(struct program *p, uint64_t reg)
{
	if (is_fp(p, reg)) {
		p->now.in_frame = p->initial.in_frame;
		p->now.fp = p->initial.fp;
	}
	return !is_fixed(p, reg);
}

static BOBBIN_ALWAYS_INLINE bool set_offset(struct program *p)
{
	uint64_t operand = bytes_uleb(&p->bytes);

	if (operand > MAX_OPERAND)
		return false;
	p->now.cfa = (int32_t)operand;
	return true;
}

static BOBBIN_ALWAYS_INLINE bool set_base(struct program *p)
{
	uint64_t reg = bytes_uleb(&p->bytes);

	p->now.sp = reg == p->arch->sp;
	return p->now.sp || reg == p->arch->fp;
}

static BOBBIN_ALWAYS_INLINE bool save_state(struct program *p)
{
	if (p->depth == MAX_SAVED)
		return false;
	p->saved[p->depth++] = p->now;
	return true;
}

static BOBBIN_ALWAYS_INLINE bool restore_state(struct program *p)
{
	if (!p->depth)
		return false;
	p->now = p->saved[--p->depth];
	return true;
}

/* One instruction; false: it is not usual.  @delta: what it advances the location by. */
static BOBBIN_ALWAYS_INLINE bool run_one(struct program *p, uint64_t *delta)
{
	uint8_t op = bytes_u8(&p->bytes);

	*delta = 0;
	if ((op & 0xc0) == CFA_ADVANCE_LOC) {
		*delta = op & 0x3f;
		return true;
	}
	if ((op & 0xc0) == CFA_OFFSET)
		return save_register(p, op & 0x3f);
	if ((op & 0xc0) == CFA_RESTORE)
		return restore_register(p, op & 0x3f);
	switch (op) {
	case CFA_DEF_CFA_OFFSET:
		return set_offset(p);
	case CFA_ADVANCE_LOC1:
		*delta = bytes_u8(&p->bytes);
		return true;
	case CFA_NOP:
		return true;
	case CFA_REMEMBER_STATE:
		return save_state(p);
	case CFA_RESTORE_STATE:
		return restore_state(p);
	case CFA_DEF_CFA_REGISTER:
		return set_base(p);
	case CFA_DEF_CFA:
		return set_base(p) && set_offset(p);
	case CFA_ADVANCE_LOC2:
		*delta = bytes_u16(&p->bytes);
		return true;
	case CFA_ADVANCE_LOC4:
		*delta = bytes_u32(&p->bytes);
		return true;
	case CFA_GNU_ARGS_SIZE:
		bytes_uleb(&p->bytes);
		return true;
	default:
		return false;
	}
}

/* Saved states stay as they are: clearing them for each program would show. */
static BOBBIN_ALWAYS_INLINE void start(const struct bobbin_cfi_view *view,
				       const struct bobbin_cfi_fde *fde,
				       const struct usual_rule *initial, struct program *ret)
{
	ret->bytes = bytes_of(view->frame, fde->insn_end, view->arch->big_endian);
	bytes_seek(&ret->bytes, fde->insn);
	ret->arch = view->arch;
	ret->initial = *initial;
	ret->now = *initial;
	ret->depth = 0;
	ret->data_align = (int32_t)fde->data_align;
}

bool usual_program_run(const struct bobbin_cfi_view *view, const struct bobbin_cfi_fde *fde,
		       const struct usual_rule *initial, uint32_t size, struct usual_rows *rows,
		       uint32_t *count)
{
	struct usual_rows to = *rows;
	struct program p;
	uint64_t pc = 0, delta;
	uint32_t n = 0;

	start(view, fde, initial, &p);
	while (bytes_left(&p.bytes)) {
		if (!run_one(&p, &delta) || p.bytes.bad)
			return false;
		delta *= fde->code_align;
		if (!delta)
			continue;
		if (!usual_rows_add(&to, (uint32_t)pc, &p.now))
			return false;
		n++;
		pc += delta;
		if (pc >= size)
			break;
	}
	/* behind the end of the address space */
	if (pc > UINT64_MAX - fde->start)
		return false;
	if (pc < size) {
		if (!usual_rows_add(&to, (uint32_t)pc, &p.now))
			return false;
		n++;
	}
	*rows = to;
	*count = n;
	return true;
}
