/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call-frame programs to rows.  DWARF 5 section 6.4.2 and 6.4.3.
 *
 * Registers other than FP, RA and SP are parsed and dropped.  A row's rule is
 * put together only when the location advances.
 */
#include <bobbin/cfi.h>

#include "cfi/dwarf.h"
#include "cfi/encoding.h"
#include "cfi/expression.h"
#include "core/bytes.h"
#include "core/refusal.h"

/* What an instruction asks of the caller. */
enum outcome {
	GO_ON,
	ADVANCED,
	FAILED
};

struct run {
	struct bobbin_cfi_rows *rows;
	struct bobbin_error *err;
	uint64_t insn;    /* offset of the instruction that runs */
	uint64_t advance; /* ADVANCED: the new location */
	bool initial;     /* these are the CIE's instructions */
};

static enum outcome fail(struct run *run, enum bobbin_reason reason)
{
	refuse(run->err, run->insn, reason);
	return FAILED;
}

union whole_place {
	struct bobbin_place place;
	uint64_t whole;
};

/*
 * In one piece: a place that is read as a whole soon after its members were
 * written makes processors wait.
 */
static BOBBIN_ALWAYS_INLINE struct bobbin_place at(enum bobbin_how how, uint8_t reg, int32_t off)
{
	const union whole_place place = {
		.whole = BOBBIN_HOST_BIG_ENDIAN
				 ? (uint64_t)(uint32_t)off << 32 | (uint64_t)how << 24 | reg << 16
				 : (uint64_t)reg << 40 | (uint64_t)how << 32 | (uint32_t)off};

	_Static_assert(sizeof(place.place) == sizeof(place.whole), "a place is a word");
	return place.place;
}

/* An offset of a rule; false: it does not fit. */
static bool narrow(int64_t off, int32_t *ret)
{
	if (off < INT32_MIN || off > INT32_MAX)
		return false;
	*ret = (int32_t)off;
	return true;
}

/* The place of a register that rules follow, or NULL. */
static struct bobbin_place *tracked(struct run *run, uint64_t reg, uint8_t **reason)
{
	const struct bobbin_arch *arch = run->rows->view->arch;
	struct bobbin_cfi_state *now = &run->rows->now;

	if (reg == arch->ra) {
		*reason = &now->ra_reason;
		return &now->ra;
	}
	*reason = &now->fp_reason;
	if (reg == arch->fp)
		return &now->fp;
	return reg == arch->sp ? &now->sp : NULL;
}

static void set_place(struct run *run, uint64_t reg, struct bobbin_place place,
		      enum bobbin_reason why)
{
	uint8_t *reason;
	struct bobbin_place *p = tracked(run, reg, &reason);

	if (!p)
		return;
	*p = place;
	if (p != &run->rows->now.sp)
		*reason = (uint8_t)why;
	else if (why)
		p->how = BOBBIN_HOW_NO_RULE;
}

static void set_offset(struct run *run, uint64_t reg, int64_t factored, enum bobbin_how how)
{
	int64_t off;
	int32_t fits;

	if (__builtin_mul_overflow(factored, run->rows->fde.data_align, &off) ||
	    !narrow(off, &fits))
		set_place(run, reg, at(BOBBIN_HOW_SAME, 0, 0), BOBBIN_REASON_CFI_RANGE);
	else
		set_place(run, reg, at(how, 0, fits), BOBBIN_REASON_NONE);
}

static void set_register(struct run *run, uint64_t reg, uint64_t base)
{
	if (base >= BOBBIN_REG_COUNT)
		set_place(run, reg, at(BOBBIN_HOW_SAME, 0, 0), BOBBIN_REASON_CFI_REGISTER);
	else
		set_place(run, reg, at(BOBBIN_HOW_AT_REG, (uint8_t)base, 0), BOBBIN_REASON_NONE);
}

static void set_undefined(struct run *run, uint64_t reg)
{
	/* an undefined FP is lost; later frames that need it will say so by failing */
	enum bobbin_how how = reg == run->rows->view->arch->ra ? BOBBIN_HOW_UNDEFINED
							       : BOBBIN_HOW_SAME;

	set_place(run, reg, at(how, 0, 0), BOBBIN_REASON_NONE);
}

static void restore(struct run *run, uint64_t reg)
{
	const struct bobbin_arch *arch = run->rows->view->arch;
	const struct bobbin_cfi_state *initial = &run->rows->initial;

	if (reg == arch->ra)
		set_place(run, reg, initial->ra, (enum bobbin_reason)initial->ra_reason);
	else if (reg == arch->fp)
		set_place(run, reg, initial->fp, (enum bobbin_reason)initial->fp_reason);
	else if (reg == arch->sp)
		set_place(run, reg, initial->sp, BOBBIN_REASON_NONE);
}

static void no_cfa(struct run *run, enum bobbin_reason reason)
{
	run->rows->now.cfa = at(BOBBIN_HOW_NO_RULE, 0, 0);
	run->rows->now.plt = 0;
	run->rows->now.reason = (uint8_t)reason;
}

static void set_cfa(struct run *run, uint64_t reg, int64_t off)
{
	struct bobbin_cfi_state *now = &run->rows->now;
	int32_t fits;

	if (reg >= BOBBIN_REG_COUNT) {
		no_cfa(run, BOBBIN_REASON_CFI_REGISTER);
		return;
	}
	if (!narrow(off, &fits)) {
		no_cfa(run, BOBBIN_REASON_CFI_RANGE);
		return;
	}
	now->cfa = at(BOBBIN_HOW_AT_REG, (uint8_t)reg, fits);
	now->base = now->cfa;
	now->index = BOBBIN_NO_INDEX;
	now->plus = 0;
	now->plt = 0;
}

/*
 * The two below continue where the last register and offset were, be there an
 * expression in between: not in the standard, but GCC's runtime does so, and
 * hand-written code (libgcrypt) counts on it.
 */
static void set_cfa_offset(struct run *run, int64_t off)
{
	const struct bobbin_place *base = &run->rows->now.base;

	if (base->how == BOBBIN_HOW_AT_REG)
		set_cfa(run, base->reg, off);
	else
		no_cfa(run, BOBBIN_REASON_CFI_NO_CFA);
}

static void set_cfa_register(struct run *run, uint64_t reg)
{
	const struct bobbin_place *base = &run->rows->now.base;

	if (base->how == BOBBIN_HOW_AT_REG)
		set_cfa(run, reg, base->off);
	else
		no_cfa(run, BOBBIN_REASON_CFI_NO_CFA);
}

/* The block of an expression operand. */
static struct bytes expression_bytes(struct bytes *b)
{
	uint64_t size = bytes_uleb(b);
	struct bytes block = *b;

	bytes_skip(b, size);
	block.bad = b->bad;
	block.size = b->bad ? block.pos : b->pos;
	return block;
}

static void set_cfa_expression(struct run *run, struct bytes *b)
{
	struct bobbin_cfi_state *now = &run->rows->now;
	struct symbolic v = expression_value(run->rows->view->arch, expression_bytes(b), false);
	int32_t off;

	if ((v.kind != SYM_REG && v.kind != SYM_MEM) || v.plus < INT16_MIN || v.plus > INT16_MAX) {
		no_cfa(run, BOBBIN_REASON_CFI_EXPRESSION);
		return;
	}
	/* room for the stub's 8 bytes */
	if (!narrow(v.off, &off) || (v.plt && off > INT32_MAX - 8) ||
	    (v.kind == SYM_REG && v.index != BOBBIN_NO_INDEX)) {
		no_cfa(run, BOBBIN_REASON_CFI_EXPRESSION);
		return;
	}
	now->cfa = at(v.kind == SYM_REG ? BOBBIN_HOW_AT_REG : BOBBIN_HOW_IN_REG_MEM, v.reg, off);
	now->plus = (int16_t)v.plus;
	now->index = v.index;
	now->plt = v.plt;
}

/* A register whose address (@value: whose value) an expression gives. */
static void set_expression(struct run *run, struct bytes *b, uint64_t reg, bool value)
{
	struct symbolic v = expression_value(run->rows->view->arch, expression_bytes(b), true);
	struct bobbin_place place = {.reg = v.reg};
	bool ok = v.index == BOBBIN_NO_INDEX && !v.plt && !v.plus && narrow(v.off, &place.off);

	if (v.kind == SYM_CFA)
		place.how = value ? BOBBIN_HOW_AT_CFA : BOBBIN_HOW_IN_CFA_MEM;
	else if (v.kind == SYM_REG)
		place.how = value ? BOBBIN_HOW_AT_REG : BOBBIN_HOW_IN_REG_MEM;
	else if (v.kind == SYM_MEM && value)
		place.how = BOBBIN_HOW_IN_REG_MEM;
	else
		ok = false;
	if (v.kind == SYM_CFA)
		place.reg = 0;

	if (ok)
		set_place(run, reg, place, BOBBIN_REASON_NONE);
	else
		set_place(run, reg, at(BOBBIN_HOW_SAME, 0, 0), BOBBIN_REASON_CFI_EXPRESSION);
}

static enum outcome advance(struct run *run, uint64_t delta)
{
	uint64_t bytes;

	if (run->initial)
		return fail(run, BOBBIN_REASON_CFI_OPCODE);
	if (__builtin_mul_overflow(delta, run->rows->fde.code_align, &bytes) ||
	    __builtin_add_overflow(run->rows->pc, bytes, &run->advance))
		return fail(run, BOBBIN_REASON_CFI_RANGE);
	return bytes ? ADVANCED : GO_ON;
}

static enum outcome set_loc(struct run *run, struct bytes *b)
{
	const struct bobbin_cfi_rows *rows = run->rows;

	if (run->initial ||
	    !encoded_pointer(b, rows->fde.fde_enc, rows->view->frame_addr, 0, &run->advance))
		return fail(run, BOBBIN_REASON_CFI_OPCODE);
	if (run->advance < rows->pc)
		return fail(run, b->bad ? BOBBIN_REASON_TRUNCATED : BOBBIN_REASON_CFI_RANGE);
	return run->advance > rows->pc ? ADVANCED : GO_ON;
}

static enum outcome remember(struct run *run)
{
	struct bobbin_cfi_rows *rows = run->rows;

	if (rows->depth == BOBBIN_CFI_STATES)
		return fail(run, BOBBIN_REASON_CFI_STATE);
	rows->saved[rows->depth++] = rows->now;
	return GO_ON;
}

static enum outcome recall(struct run *run)
{
	struct bobbin_cfi_rows *rows = run->rows;

	if (!rows->depth)
		return fail(run, BOBBIN_REASON_CFI_STATE);
	rows->now = rows->saved[--rows->depth];
	return GO_ON;
}

static int64_t factored(const struct run *run, struct bytes *b)
{
	int64_t off;

	if (__builtin_mul_overflow(bytes_sleb(b), run->rows->fde.data_align, &off))
		return INT64_MAX; /* refused as out of range by whoever uses it */
	return off;
}

static enum outcome toggle_mangled(struct run *run)
{
	if (!run->rows->view->arch->pac_mask)
		return fail(run, BOBBIN_REASON_CFI_OPCODE);
	run->rows->now.mangled = !run->rows->now.mangled;
	return GO_ON;
}

/* One case for each instruction of the standard. */
static enum outcome run_extended(struct run *run, struct bytes *b, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_NOP:
		return GO_ON;
	case CFA_SET_LOC:
		return set_loc(run, b);
	case CFA_ADVANCE_LOC1:
		return advance(run, bytes_u8(b));
	case CFA_ADVANCE_LOC2:
		return advance(run, bytes_u16(b));
	case CFA_ADVANCE_LOC4:
		return advance(run, bytes_u32(b));
	case CFA_OFFSET_EXTENDED:
		reg = bytes_uleb(b);
		set_offset(run, reg, (int64_t)bytes_uleb(b), BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	case CFA_OFFSET_EXTENDED_SF:
		reg = bytes_uleb(b);
		set_offset(run, reg, bytes_sleb(b), BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = bytes_uleb(b);
		set_offset(run, reg, -(int64_t)(bytes_uleb(b) & INT64_MAX), BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	case CFA_VAL_OFFSET:
		reg = bytes_uleb(b);
		set_offset(run, reg, (int64_t)bytes_uleb(b), BOBBIN_HOW_AT_CFA);
		return GO_ON;
	case CFA_VAL_OFFSET_SF:
		reg = bytes_uleb(b);
		set_offset(run, reg, bytes_sleb(b), BOBBIN_HOW_AT_CFA);
		return GO_ON;
	case CFA_RESTORE_EXTENDED:
		restore(run, bytes_uleb(b));
		return GO_ON;
	case CFA_UNDEFINED:
		set_undefined(run, bytes_uleb(b));
		return GO_ON;
	case CFA_SAME_VALUE:
		set_place(run, bytes_uleb(b), at(BOBBIN_HOW_SAME, 0, 0), BOBBIN_REASON_NONE);
		return GO_ON;
	case CFA_REGISTER:
		reg = bytes_uleb(b);
		set_register(run, reg, bytes_uleb(b));
		return GO_ON;
	case CFA_EXPRESSION:
		set_expression(run, b, bytes_uleb(b), false);
		return GO_ON;
	case CFA_VAL_EXPRESSION:
		set_expression(run, b, bytes_uleb(b), true);
		return GO_ON;
	case CFA_REMEMBER_STATE:
		return remember(run);
	case CFA_RESTORE_STATE:
		return recall(run);
	case CFA_DEF_CFA:
		reg = bytes_uleb(b);
		set_cfa(run, reg, (int64_t)bytes_uleb(b));
		return GO_ON;
	case CFA_DEF_CFA_SF:
		reg = bytes_uleb(b);
		set_cfa(run, reg, factored(run, b));
		return GO_ON;
	case CFA_DEF_CFA_REGISTER:
		set_cfa_register(run, bytes_uleb(b));
		return GO_ON;
	case CFA_DEF_CFA_OFFSET:
		set_cfa_offset(run, (int64_t)bytes_uleb(b));
		return GO_ON;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(run, factored(run, b));
		return GO_ON;
	case CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(run, b);
		return GO_ON;
	case CFA_AARCH64_NEGATE_RA_STATE:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return toggle_mangled(run);
	case CFA_GNU_ARGS_SIZE:
		bytes_uleb(b); /* for exceptions only */
		return GO_ON;
	default:
		return fail(run, BOBBIN_REASON_CFI_OPCODE);
	}
}

/* What programs are made of stands here, with a cursor of which no one else knows. */
static BOBBIN_ALWAYS_INLINE enum outcome run_one(struct run *run, struct bytes *b)
{
	enum outcome outcome = GO_ON;
	uint8_t op;

	run->insn = b->pos;
	op = bytes_u8(b);
	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC:
		return advance(run, op & 0x3f);
	case CFA_OFFSET:
		set_offset(run, op & 0x3f, (int64_t)bytes_uleb(b), BOBBIN_HOW_IN_CFA_MEM);
		break;
	case CFA_RESTORE:
		restore(run, op & 0x3f);
		break;
	default:
		if (op == CFA_DEF_CFA_OFFSET) {
			set_cfa_offset(run, (int64_t)bytes_uleb(b));
		} else if (op == CFA_ADVANCE_LOC1) {
			outcome = advance(run, bytes_u8(b));
		} else if (op == CFA_REMEMBER_STATE) {
			outcome = remember(run);
		} else if (op == CFA_RESTORE_STATE) {
			outcome = recall(run);
		} else if (op != CFA_NOP) {
			struct bytes known = *b;

			outcome = run_extended(run, &known, op);
			*b = known;
		}
	}
	if (b->bad && outcome != FAILED)
		return fail(run, BOBBIN_REASON_TRUNCATED);
	return outcome;
}

static BOBBIN_ALWAYS_INLINE struct bytes program_bytes(const struct bobbin_cfi_rows *rows,
						       uint64_t pos, uint64_t end)
{
	struct bytes b = bytes_of(rows->view->frame, end, rows->view->arch->big_endian);

	bytes_seek(&b, pos);
	return b;
}

/* What holds before any instruction. */
static struct bobbin_cfi_state no_state(const struct bobbin_arch *arch)
{
	return (struct bobbin_cfi_state){
		.cfa = at(BOBBIN_HOW_NO_RULE, 0, 0),
		.ra = at(arch->default_ra_off ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME, 0,
			 arch->default_ra_off),
		.fp = at(BOBBIN_HOW_SAME, 0, 0),
		.sp = at(BOBBIN_HOW_SAME, 0, 0),
		.index = BOBBIN_NO_INDEX,
		.reason = BOBBIN_REASON_CFI_NO_CFA,
	};
}

static int run_cie(const struct bobbin_cfi_fde *fde, struct bobbin_error *err,
		   struct bobbin_cfi_rows *rows)
{
	struct bytes b = program_bytes(rows, fde->init, fde->init_end);
	struct run run = {.rows = rows, .err = err, .initial = true};

	rows->now = no_state(rows->view->arch);
	rows->initial = rows->now;
	rows->depth = 0;
	while (bytes_left(&b))
		if (run_one(&run, &b) == FAILED)
			return -BOBBIN_EBADMSG;
	rows->initial = rows->now;
	return 0;
}

static void start_rows(const struct bobbin_cfi_fde *fde, struct bobbin_cfi_rows *rows)
{
	rows->fde = *fde;
	rows->pos = fde->insn;
	rows->pc = fde->start;
	rows->depth = 0;
	rows->plt = 0;
	rows->done = fde->start >= fde->end;
}

BOBBIN_API int bobbin_cfi_rows_init(const struct bobbin_cfi_view *view,
				    const struct bobbin_cfi_fde *fde, struct bobbin_error *err,
				    struct bobbin_cfi_rows *ret)
{
	/* where its code lies is known all the same */
	if (fde->ra_column != view->arch->ra)
		return refuse(err, fde->cie, BOBBIN_REASON_CFI_RA_COLUMN);
	ret->view = view;
	start_rows(fde, ret);
	if (run_cie(fde, err, ret))
		return -BOBBIN_EBADMSG;
	ret->depth = 0;
	return 0;
}

BOBBIN_API int bobbin_cfi_rows_again(const struct bobbin_cfi_fde *fde, struct bobbin_error *err,
				     struct bobbin_cfi_rows *rows)
{
	if (fde->cie != rows->fde.cie)
		return bobbin_cfi_rows_init(rows->view, fde, err, rows);
	start_rows(fde, rows);
	rows->now = rows->initial;
	return 0;
}

/*
 * The caller's SP is the CFA by definition of a rule, and mostly nothing else is
 * said of it.  Compilers for s390x save r15 with the other registers or park it
 * in a floating-point register, and signal trampolines load it from where they
 * load the CFA: all of these say the same in other words.
 */
static bool sp_is_cfa(const struct bobbin_arch *arch, const struct bobbin_cfi_state *s)
{
	switch (s->sp.how) {
	case BOBBIN_HOW_AT_CFA:
		return s->sp.off == -arch->cfa_bias;
	case BOBBIN_HOW_IN_CFA_MEM:
		return arch->cfa_bias != 0;
	case BOBBIN_HOW_AT_REG:
		return arch->cfa_bias != 0 && !s->sp.off;
	case BOBBIN_HOW_IN_REG_MEM:
		return s->cfa.how == BOBBIN_HOW_IN_REG_MEM && s->sp.reg == s->cfa.reg &&
		       s->sp.off == s->cfa.off && !s->plus && s->index == BOBBIN_NO_INDEX;
	default:
		return false;
	}
}

static enum bobbin_reason why_no_rule(const struct bobbin_arch *arch,
				      const struct bobbin_cfi_state *s)
{
	if (s->cfa.how == BOBBIN_HOW_NO_RULE)
		return (enum bobbin_reason)s->reason;
	if (s->ra_reason || s->fp_reason)
		return (enum bobbin_reason)(s->ra_reason ? s->ra_reason : s->fp_reason);
	if (s->ra.how == BOBBIN_HOW_AT_CFA ||
	    (s->ra.how == BOBBIN_HOW_SAME && arch->default_ra_off))
		return BOBBIN_REASON_BAD_RULE;
	if (s->sp.how == BOBBIN_HOW_SAME)
		return BOBBIN_REASON_NONE;
	return sp_is_cfa(arch, s) ? BOBBIN_REASON_NONE : BOBBIN_REASON_CFI_SP_RULE;
}

static uint8_t rule_flags(const struct bobbin_cfi_rows *rows)
{
	uint8_t flags = rows->fde.signal ? BOBBIN_RULE_SIGNAL : 0;

	if (rows->now.mangled)
		flags |= BOBBIN_RULE_MANGLED | (rows->fde.key_b ? BOBBIN_RULE_KEY_B : 0);
	return flags;
}

/* Members one by one: this is where half of a conversion's time goes. */
static void get_rule(const struct bobbin_cfi_rows *rows, struct bobbin_rule *ret)
{
	const struct bobbin_arch *arch = rows->view->arch;
	const struct bobbin_cfi_state *s = &rows->now;
	enum bobbin_reason why = why_no_rule(arch, s);

	if (why && s->ra.how != BOBBIN_HOW_UNDEFINED) {
		*ret = bobbin_rule_none(why);
		return;
	}
	/* an outermost frame needs nothing else */
	ret->cfa = why ? at(BOBBIN_HOW_AT_REG, arch->sp, 0) : s->cfa;
	ret->ra = s->ra;
	ret->fp = why ? at(BOBBIN_HOW_SAME, 0, 0) : s->fp;
	ret->plus = why ? 0 : s->plus;
	ret->index = why ? BOBBIN_NO_INDEX : s->index;
	ret->flags = rule_flags(rows);
	ret->reason = BOBBIN_REASON_NONE;
}

/* Run to the next row, of which there is one. */
static BOBBIN_ALWAYS_INLINE bool next_row(struct run *run, struct bytes *b, struct bobbin_row *ret)
{
	struct bobbin_cfi_rows *rows = run->rows;
	enum outcome outcome = GO_ON;
	uint64_t end = rows->fde.end;

	while (bytes_left(b) && outcome == GO_ON)
		outcome = run_one(run, b);
	if (outcome == FAILED)
		return false;
	if (outcome == ADVANCED && run->advance < end)
		end = run->advance;
	ret->start = rows->pc;
	ret->end = end;
	ret->function = rows->fde.start;
	get_rule(rows, &ret->rule);
	rows->plt = ret->rule.cfa.how == BOBBIN_HOW_NO_RULE ? 0 : rows->now.plt;
	rows->pc = end;
	return true;
}

BOBBIN_API int bobbin_cfi_rows_fill(struct bobbin_cfi_rows *rows, struct bobbin_error *err,
				    struct bobbin_row *ret, unsigned int max)
{
	struct bytes b = program_bytes(rows, rows->pos, rows->fde.insn_end);
	struct run run = {.rows = rows, .err = err};
	unsigned int count = 0;

	rows->plt = 0;
	while (!rows->done && count < max && !rows->plt) {
		if (!next_row(&run, &b, &ret[count]))
			return -BOBBIN_EBADMSG;
		count++;
		rows->done = rows->pc == rows->fde.end;
	}
	rows->pos = b.pos;
	return (int)count;
}

BOBBIN_API int bobbin_cfi_rows_next(struct bobbin_cfi_rows *rows, struct bobbin_error *err,
				    struct bobbin_row *ret)
{
	return bobbin_cfi_rows_fill(rows, err, ret, 1);
}

/* The part of a lazy-binding stub's row in which @pc lies. */
static void pick_stub_part(struct bobbin_row *row, uint8_t plt, uint64_t pc)
{
	uint64_t block = pc & ~15ull, split = block + plt;
	uint64_t start = pc >= split ? split : block;
	uint64_t last = pc >= split ? block + 15 : split - 1;

	if (pc >= split)
		row->rule.cfa.off += 8;
	if (start > row->start)
		row->start = start;
	if (last < row->end - 1)
		row->end = last + 1;
}

BOBBIN_API int bobbin_cfi_fde_lookup(const struct bobbin_cfi_view *view,
				     const struct bobbin_cfi_fde *fde, uint64_t pc,
				     struct bobbin_error *err, struct bobbin_row *ret)
{
	struct bobbin_cfi_rows rows;
	struct bobbin_row row;
	int r;

	r = bobbin_cfi_rows_init(view, fde, err, &rows);
	if (r)
		return r;
	/* each turn consumes program bytes or is the last */
	while ((r = bobbin_cfi_rows_next(&rows, err, &row)) > 0) {
		if (pc < row.start || pc >= row.end)
			continue;
		if (rows.plt)
			pick_stub_part(&row, rows.plt, pc);
		*ret = row;
		return 0;
	}
	if (r)
		return r;
	return refuse_as(-BOBBIN_ENOENT, err, fde->offset, BOBBIN_REASON_NO_ROW);
}

BOBBIN_API int bobbin_cfi_lookup(const struct bobbin_cfi_view *view, uint64_t pc,
				 struct bobbin_error *err, struct bobbin_row *ret)
{
	struct bobbin_cfi_fde fde;
	int r;

	r = bobbin_cfi_find(view, pc, err, &fde);
	return r ? r : bobbin_cfi_fde_lookup(view, &fde, pc, err, ret);
}
