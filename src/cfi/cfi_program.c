/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call-frame programs to rows.  DWARF 5 section 6.4.2 and 6.4.3.
 *
 * Rules for registers other than FP, RA and SP are parsed and dropped.  A state also has its
 * rule as a packed word: most instructions only change the CFA's register or offset, which are
 * fields of the word.  After other instructions the rule is built and packed when a row needs
 * it.
 */
#include <bobbin/cfi.h>

#include "cfi/cfi_state.h"
#include "cfi/dwarf.h"
#include "cfi/encoding.h"
#include "cfi/expression.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "core/rule_word.h"

/* The effect of an instruction on its caller. */
enum outcome {
	GO_ON,
	ADVANCED,
	FAILED
};

struct run {
	struct bobbin_cfi_rows *rows;
	struct bobbin_error *err;
	uint64_t insn;    /* offset of the instruction that runs */
	uint64_t pc;      /* the location */
	uint64_t advance; /* ADVANCED: the new one */
	bool initial;     /* these are the CIE's instructions */
};

static BOBBIN_ALWAYS_INLINE enum outcome refuse_program(const struct run *run,
							enum bobbin_reason reason)
{
	refuse(run->err, run->insn, reason);
	return FAILED;
}

static BOBBIN_ALWAYS_INLINE struct bobbin_place at(enum bobbin_how how, uint8_t reg, int32_t off)
{
	return (struct bobbin_place){.off = off, .how = (uint8_t)how, .reg = reg};
}

/* An offset of a rule; false: it does not fit. */
static bool narrow(int64_t off, int32_t *ret)
{
	if (off < INT32_MIN || off > INT32_MAX)
		return false;
	*ret = (int32_t)off;
	return true;
}

/* An offset that is given as a multiple of the data alignment. */
static bool scale(const struct bobbin_cfi_rows *rows, int64_t factored, int32_t *ret)
{
	int64_t align = rows->fde.data_align;
	int32_t small;

	if (!factored || !align) {
		*ret = 0;
		return true;
	}
	return narrow(factored, &small) && narrow(align, &small) && narrow(factored * align, ret);
}

static BOBBIN_ALWAYS_INLINE bool is_followed(const struct bobbin_cfi_rows *rows, uint64_t reg)
{
	return reg == rows->view->arch->fp || reg == rows->view->arch->ra ||
	       reg == rows->view->arch->sp;
}

static void set_place(struct bobbin_cfi_rows *rows, uint64_t reg, struct bobbin_place place,
		      enum bobbin_reason why)
{
	struct bobbin_cfi_state *now = &rows->now;

	uint64_t word = 0;

	if (reg == rows->view->arch->ra) {
		now->ra = place;
		now->ra_reason = (uint8_t)why;
	} else if (reg == rows->view->arch->fp) {
		now->fp = place;
		now->fp_reason = (uint8_t)why;
		if (place.how == BOBBIN_HOW_IN_CFA_MEM && !why)
			word = rule_word_with_fp(now->word, place.off);
	} else if (reg == rows->view->arch->sp) {
		now->sp = place;
	} else {
		return;
	}
	now->word = word;
}

static void set_lost(struct bobbin_cfi_rows *rows, uint64_t reg, enum bobbin_reason why)
{
	set_place(rows, reg, at(BOBBIN_HOW_NO_RULE, 0, 0), why);
}

static void set_offset(struct bobbin_cfi_rows *rows, uint64_t reg, int64_t factored,
		       enum bobbin_how how)
{
	int32_t off;

	if (scale(rows, factored, &off))
		set_place(rows, reg, at(how, 0, off), BOBBIN_REASON_NONE);
	else
		set_lost(rows, reg, BOBBIN_REASON_CFI_RANGE);
}

static void set_register(struct bobbin_cfi_rows *rows, uint64_t reg, uint64_t base)
{
	if (base == rows->view->arch->pc && reg == rows->view->arch->ra)
		set_place(rows, reg, at(BOBBIN_HOW_AT_PC, 0, 0), BOBBIN_REASON_NONE);
	else if (!may_be_base(rows->view->arch, base))
		set_lost(rows, reg, BOBBIN_REASON_CFI_REGISTER);
	else
		set_place(rows, reg, at(BOBBIN_HOW_AT_REG, (uint8_t)base, 0), BOBBIN_REASON_NONE);
}

static void set_undefined(struct bobbin_cfi_rows *rows, uint64_t reg)
{
	/* an undefined FP is lost: frames that need it cannot be unwound */
	enum bobbin_how how = reg == rows->view->arch->ra ? BOBBIN_HOW_UNDEFINED : BOBBIN_HOW_SAME;

	set_place(rows, reg, at(how, 0, 0), BOBBIN_REASON_NONE);
}

static void restore(struct bobbin_cfi_rows *rows, uint64_t reg)
{
	const struct bobbin_cfi_state *initial = &rows->initial;

	if (reg == rows->view->arch->ra)
		set_place(rows, reg, initial->ra, (enum bobbin_reason)initial->ra_reason);
	else if (reg == rows->view->arch->fp)
		set_place(rows, reg, initial->fp, (enum bobbin_reason)initial->fp_reason);
	else if (reg == rows->view->arch->sp)
		set_place(rows, reg, initial->sp, BOBBIN_REASON_NONE);
}

static void cfa_by(struct bobbin_cfi_rows *rows, struct bobbin_place place,
		   enum bobbin_reason reason)
{
	struct bobbin_cfi_state *now = &rows->now;

	now->cfa = place;
	now->plt = 0;
	now->reason = (uint8_t)reason;
	now->word = 0;
}

static void no_cfa(struct bobbin_cfi_rows *rows, enum bobbin_reason reason)
{
	cfa_by(rows, at(BOBBIN_HOW_NO_RULE, 0, 0), reason);
}

static void set_cfa(struct bobbin_cfi_rows *rows, uint64_t reg, int64_t off)
{
	struct bobbin_cfi_state *now = &rows->now;
	int32_t fits;

	if (!may_be_base(rows->view->arch, reg)) {
		no_cfa(rows, BOBBIN_REASON_CFI_REGISTER);
		return;
	}
	if (!narrow(off, &fits)) {
		no_cfa(rows, BOBBIN_REASON_CFI_RANGE);
		return;
	}
	now->cfa = at(BOBBIN_HOW_AT_REG, (uint8_t)reg, fits);
	now->base = now->cfa;
	now->index = BOBBIN_NO_INDEX;
	now->plus = 0;
	now->plt = 0;
	now->word = rule_word_with_cfa(now->word, (uint8_t)reg, (uint64_t)off);
}

/*
 * A state with a word has a CFA by register and offset, the last ones that were set, so only
 * the offset changes.
 */
static BOBBIN_ALWAYS_INLINE bool move_cfa(struct bobbin_cfi_state *now, int64_t off)
{
	uint64_t word = rule_word_with_offset(now->word, (uint64_t)off);

	if (!word)
		return false;
	now->cfa.off = now->base.off = (int32_t)off;
	now->word = word;
	return true;
}

/*
 * The two below continue with the last register and offset, even after an expression.  That is
 * not in the standard, but GCC's runtime does it, and hand-written code (libgcrypt) relies on
 * it.
 */
static BOBBIN_ALWAYS_INLINE void set_cfa_offset(struct bobbin_cfi_rows *rows, int64_t off)
{
	const struct bobbin_place *base = &rows->now.base;

	if (move_cfa(&rows->now, off))
		return;
	if (base->how == BOBBIN_HOW_AT_REG)
		set_cfa(rows, base->reg, off);
	else
		no_cfa(rows, BOBBIN_REASON_CFI_NO_CFA);
}

static void set_cfa_register(struct bobbin_cfi_rows *rows, uint64_t reg)
{
	const struct bobbin_place *base = &rows->now.base;

	if (base->how == BOBBIN_HOW_AT_REG)
		set_cfa(rows, reg, base->off);
	else
		no_cfa(rows, BOBBIN_REASON_CFI_NO_CFA);
}

/* The value of an expression operand. */
static void read_expression(struct bobbin_cfi_rows *rows, struct bytes *b, bool with_cfa,
			    struct symbolic *ret)
{
	uint64_t size = bytes_uleb(b);
	struct bytes block = *b;

	bytes_skip(b, size);
	block.bad = b->bad;
	block.size = b->bad ? block.pos : b->pos;
	expression_value(rows->view->arch, &block, with_cfa, ret);
}

static void set_cfa_expression(struct bobbin_cfi_rows *rows, struct bytes *b)
{
	struct bobbin_cfi_state *now = &rows->now;
	const struct bobbin_place itself = expression_place(EXPRESSION_VALUE, b->pos);
	struct symbolic v;
	int32_t off = 0;

	read_expression(rows, b, false, &v);
	/* room for the stub's 8 bytes */
	if ((v.kind != SYM_REG && v.kind != SYM_MEM) || v.plus < INT16_MIN || v.plus > INT16_MAX ||
	    !narrow(v.off, &off) || (v.plt && off > INT32_MAX - 8) ||
	    (v.kind == SYM_REG && v.index != BOBBIN_NO_INDEX)) {
		cfa_by(rows, itself, BOBBIN_REASON_CFI_EXPRESSION);
		return;
	}
	now->cfa = at(v.kind == SYM_REG ? BOBBIN_HOW_AT_REG : BOBBIN_HOW_IN_REG_MEM, v.reg, off);
	now->plus = (int16_t)v.plus;
	now->index = v.index;
	now->plt = v.plt;
	now->word = 0;
}

/* A register whose address (@value: whose value) an expression gives. */
static void set_expression(struct bobbin_cfi_rows *rows, struct bytes *b, uint64_t reg, bool value)
{
	const struct bobbin_place itself =
		expression_place(value ? EXPRESSION_VALUE : EXPRESSION_ADDRESS, b->pos);
	enum bobbin_how how = BOBBIN_HOW_NO_RULE;
	struct symbolic v;
	bool is_base;
	int32_t off;

	read_expression(rows, b, true, &v);
	is_base = v.kind == SYM_REG || v.kind == SYM_MEM;
	if (v.kind == SYM_CFA)
		how = value ? BOBBIN_HOW_AT_CFA : BOBBIN_HOW_IN_CFA_MEM;
	else if (v.kind == SYM_REG)
		how = value ? BOBBIN_HOW_AT_REG : BOBBIN_HOW_IN_REG_MEM;
	else if (v.kind == SYM_MEM && value)
		how = BOBBIN_HOW_IN_REG_MEM;
	else if (v.kind == SYM_PC && value && reg == rows->view->arch->ra)
		how = BOBBIN_HOW_AT_PC;

	if (how && v.index == BOBBIN_NO_INDEX && !v.plt && !v.plus && narrow(v.off, &off))
		set_place(rows, reg, at(how, is_base ? v.reg : 0, off), BOBBIN_REASON_NONE);
	else
		set_place(rows, reg, itself, BOBBIN_REASON_CFI_EXPRESSION);
}

/* @delta is below 2^32; false: the product does not fit. */
static BOBBIN_ALWAYS_INLINE bool multiply(uint64_t align, uint64_t delta, uint64_t *ret)
{
	uint64_t high = (align >> 32) * delta, low = (align & UINT32_MAX) * delta;

	*ret = align * delta;
	return align <= UINT32_MAX || (high <= UINT32_MAX && *ret >= low);
}

static BOBBIN_ALWAYS_INLINE enum outcome advance(struct run *run, uint64_t delta)
{
	uint64_t bytes;

	if (run->initial)
		return refuse_program(run, BOBBIN_REASON_CFI_OPCODE);
	if (!multiply(run->rows->fde.code_align, delta, &bytes) ||
	    __builtin_add_overflow(run->pc, bytes, &run->advance))
		return refuse_program(run, BOBBIN_REASON_CFI_RANGE);
	return ADVANCED;
}

static enum outcome set_loc(struct run *run, struct bytes *b)
{
	const struct bobbin_cfi_rows *rows = run->rows;

	if (run->initial ||
	    !encoded_pointer(b, rows->fde.fde_enc, rows->view->frame_addr, 0, &run->advance))
		return refuse_program(run, BOBBIN_REASON_CFI_OPCODE);
	if (b->bad)
		return GO_ON;
	if (run->advance < run->pc)
		return refuse_program(run, BOBBIN_REASON_CFI_RANGE);
	return ADVANCED;
}

static enum outcome remember(struct run *run)
{
	struct bobbin_cfi_rows *rows = run->rows;

	if (rows->depth >= BOBBIN_CFI_STATES)
		return refuse_program(run, BOBBIN_REASON_CFI_STATE);
	rows->saved[rows->depth++] = rows->now;
	return GO_ON;
}

static enum outcome recall(struct run *run)
{
	struct bobbin_cfi_rows *rows = run->rows;

	if (!rows->depth)
		return refuse_program(run, BOBBIN_REASON_CFI_STATE);
	rows->now = rows->saved[--rows->depth];
	return GO_ON;
}

static int64_t read_factored(const struct bobbin_cfi_rows *rows, struct bytes *b)
{
	int32_t off;

	/* the callers refuse what does not fit as out of range */
	return scale(rows, bytes_sleb(b), &off) ? off : INT64_MAX;
}

static enum outcome toggle_mangled(struct run *run)
{
	struct bobbin_cfi_state *now = &run->rows->now;

	if (!run->rows->view->arch->pac_mask)
		return refuse_program(run, BOBBIN_REASON_CFI_OPCODE);
	now->mangled = !now->mangled;
	now->word = 0;
	return GO_ON;
}

/* What begins with a register. */
static enum outcome run_register(struct run *run, struct bytes *b, uint8_t op)
{
	struct bobbin_cfi_rows *rows = run->rows;
	uint64_t reg = (op & 0xc0) == CFA_RESTORE ? op & 0x3f : bytes_uleb(b);

	switch ((op & 0xc0) == CFA_RESTORE ? CFA_RESTORE_EXTENDED : op) {
	case CFA_OFFSET_EXTENDED:
		set_offset(rows, reg, (int64_t)bytes_uleb(b), BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	case CFA_OFFSET_EXTENDED_SF:
		set_offset(rows, reg, bytes_sleb(b), BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_offset(rows, reg, -(int64_t)(bytes_uleb(b) & INT64_MAX), BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	case CFA_VAL_OFFSET:
		set_offset(rows, reg, (int64_t)bytes_uleb(b), BOBBIN_HOW_AT_CFA);
		return GO_ON;
	case CFA_VAL_OFFSET_SF:
		set_offset(rows, reg, bytes_sleb(b), BOBBIN_HOW_AT_CFA);
		return GO_ON;
	case CFA_RESTORE_EXTENDED:
		restore(rows, reg);
		return GO_ON;
	case CFA_UNDEFINED:
		set_undefined(rows, reg);
		return GO_ON;
	case CFA_SAME_VALUE:
		set_place(rows, reg, at(BOBBIN_HOW_SAME, 0, 0), BOBBIN_REASON_NONE);
		return GO_ON;
	case CFA_REGISTER:
		set_register(rows, reg, bytes_uleb(b));
		return GO_ON;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		set_expression(rows, b, reg, op == CFA_VAL_EXPRESSION);
		return GO_ON;
	default:
		return refuse_program(run, BOBBIN_REASON_CFI_OPCODE);
	}
}

static __attribute__((__noinline__)) enum outcome run_extended(struct run *run, struct bytes *b,
							       uint8_t op)
{
	struct bobbin_cfi_rows *rows = run->rows;
	uint64_t reg;

	switch (op) {
	case CFA_SET_LOC:
		return set_loc(run, b);
	case CFA_REMEMBER_STATE:
		return remember(run);
	case CFA_RESTORE_STATE:
		return recall(run);
	case CFA_ADVANCE_LOC2:
		return advance(run, bytes_u16(b));
	case CFA_ADVANCE_LOC4:
		return advance(run, bytes_u32(b));
	case CFA_DEF_CFA:
		reg = bytes_uleb(b);
		set_cfa(rows, reg, (int64_t)bytes_uleb(b));
		return GO_ON;
	case CFA_DEF_CFA_SF:
		reg = bytes_uleb(b);
		set_cfa(rows, reg, read_factored(rows, b));
		return GO_ON;
	case CFA_DEF_CFA_REGISTER:
		set_cfa_register(rows, bytes_uleb(b));
		return GO_ON;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(rows, read_factored(rows, b));
		return GO_ON;
	case CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(rows, b);
		return GO_ON;
	case CFA_AARCH64_NEGATE_RA_STATE:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return toggle_mangled(run);
	case CFA_GNU_ARGS_SIZE:
		bytes_uleb(b); /* for exceptions only */
		return GO_ON;
	default:
		return run_register(run, b, op);
	}
}

/*
 * Most programs consist of these instructions, here with a cursor and a run in registers.  The
 * caller checks at the end whether the cursor ran out.
 */
static BOBBIN_ALWAYS_INLINE enum outcome run_one(struct run *run, struct bytes *b)
{
	struct bobbin_cfi_rows *rows = run->rows;
	struct run other;
	struct bytes known;
	enum outcome outcome;
	uint64_t operand;
	uint8_t op;

	run->insn = b->pos;
	op = bytes_u8(b);
	if ((op & 0xc0) == CFA_ADVANCE_LOC)
		return advance(run, op & 0x3f);
	if ((op & 0xc0) == CFA_OFFSET) {
		operand = bytes_uleb(b);
		if (is_followed(rows, op & 0x3f))
			set_offset(rows, op & 0x3f, (int64_t)operand, BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	}
	if (op == CFA_DEF_CFA_OFFSET) {
		set_cfa_offset(rows, (int64_t)bytes_uleb(b));
		return GO_ON;
	}
	if (op == CFA_ADVANCE_LOC1)
		return advance(run, bytes_u8(b));
	if (op == CFA_NOP)
		return GO_ON;
	known = *b;
	other = *run;
	outcome = run_extended(&other, &known, op);
	*b = known;
	run->advance = other.advance;
	return outcome;
}

/* Run up to the end or an advance.  An instruction that was cut by the end has no effect. */
static BOBBIN_ALWAYS_INLINE enum outcome run_on(struct run *run, struct bytes *b)
{
	enum outcome outcome;

	while (bytes_left(b)) {
		outcome = run_one(run, b);
		if (outcome != GO_ON)
			return outcome;
	}
	return b->bad ? refuse_program(run, BOBBIN_REASON_TRUNCATED) : GO_ON;
}

static BOBBIN_ALWAYS_INLINE struct bytes program_bytes(const struct bobbin_cfi_rows *rows,
						       uint64_t pos, uint64_t end)
{
	struct bytes b = bytes_of(rows->view->frame, end, rows->view->arch->big_endian);

	bytes_seek(&b, pos);
	return b;
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
	if (is_expression(&s->sp))
		return BOBBIN_REASON_CFI_EXPRESSION;
	return sp_is_cfa(arch, s) ? BOBBIN_REASON_NONE : BOBBIN_REASON_CFI_SP_RULE;
}

static uint8_t rule_flags(const struct bobbin_cfi_rows *rows)
{
	uint8_t flags = rows->fde.signal ? BOBBIN_RULE_SIGNAL : 0;

	if (rows->now.mangled)
		flags |= BOBBIN_RULE_MANGLED | (rows->fde.key_b ? BOBBIN_RULE_KEY_B : 0);
	return flags;
}

BOBBIN_API void bobbin_cfi_rows_rule(const struct bobbin_cfi_rows *rows, struct bobbin_rule *ret)
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

static bool is_usual(const struct bobbin_arch *arch, const struct bobbin_cfi_state *s)
{
	return s->base.how == BOBBIN_HOW_AT_REG && s->cfa.how == BOBBIN_HOW_AT_REG &&
	       s->cfa.reg == s->base.reg && s->cfa.off == s->base.off && !s->plt &&
	       s->sp.how == BOBBIN_HOW_SAME && !why_no_rule(arch, s);
}

/* Pack the rule of a row.  Only usual states keep it for the next instructions. */
static __attribute__((__noinline__)) uint64_t pack(struct bobbin_cfi_rows *rows)
{
	struct bobbin_cfi_state *now = &rows->now;
	struct bobbin_rule rule;
	uint64_t word = 0;

	bobbin_cfi_rows_rule(rows, &rule);
	if (bobbin_rule_pack(&rule, &word))
		word = 0;
	rows->plt = rule_word_has_rule(word) || !word ? now->plt : 0;
	if (is_usual(rows->view->arch, now))
		now->word = word;
	return word;
}

/* What holds before any instruction. */
static void clear_state(const struct bobbin_arch *arch, struct bobbin_cfi_state *ret)
{
	*ret = (struct bobbin_cfi_state){
		.cfa = at(BOBBIN_HOW_NO_RULE, 0, 0),
		.ra = at(arch->default_ra_off ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME, 0,
			 arch->default_ra_off),
		.fp = at(BOBBIN_HOW_SAME, 0, 0),
		.sp = at(BOBBIN_HOW_SAME, 0, 0),
		.index = BOBBIN_NO_INDEX,
		.reason = BOBBIN_REASON_CFI_NO_CFA,
	};
}

static int run_cie(struct bobbin_cfi_rows *rows, struct bobbin_error *err)
{
	struct bytes b = program_bytes(rows, rows->fde.init, rows->fde.init_end);
	struct run run = {.rows = rows, .err = err, .initial = true};

	clear_state(rows->view->arch, &rows->initial);
	rows->now = rows->initial;
	if (run_on(&run, &b) == FAILED)
		return -BOBBIN_EBADMSG;
	rows->cie = rows->fde.cie;
	rows->initial = rows->now;
	rows->depth = 0;
	return 0;
}

static void start_rows(const struct bobbin_cfi_fde *fde, struct bobbin_cfi_rows *rows)
{
	if (fde != &rows->fde)
		rows->fde = *fde;
	rows->pos = fde->insn;
	rows->start = rows->end = fde->start;
	rows->depth = 0;
	rows->plt = 0;
}

BOBBIN_API int bobbin_cfi_rows_init(const struct bobbin_cfi_view *view,
				    const struct bobbin_cfi_fde *fde, struct bobbin_error *err,
				    struct bobbin_cfi_rows *ret)
{
	/* the addresses of its code are known nevertheless */
	if (fde->ra_column != view->arch->ra)
		return refuse(err, fde->cie, BOBBIN_REASON_CFI_RA_COLUMN);
	ret->view = view;
	start_rows(fde, ret);
	return run_cie(ret, err);
}

BOBBIN_API int bobbin_cfi_rows_again(const struct bobbin_cfi_fde *fde, struct bobbin_error *err,
				     struct bobbin_cfi_rows *rows)
{
	if (fde->cie != rows->cie)
		return bobbin_cfi_rows_init(rows->view, fde, err, rows);
	start_rows(fde, rows);
	rows->now = rows->initial;
	if (!rows->initial.word) {
		pack(rows);
		rows->initial.word = rows->now.word;
	}
	return 0;
}

static BOBBIN_ALWAYS_INLINE void start_run(struct bobbin_cfi_rows *rows, struct bobbin_error *err,
					   struct bytes *b, struct run *ret)
{
	*b = program_bytes(rows, rows->pos, rows->fde.insn_end);
	*ret = (struct run){.rows = rows, .err = err, .pc = rows->end};
}

/* Run to the next row, which starts at @run->pc and may be empty; *end: of it. */
static BOBBIN_ALWAYS_INLINE bool run_to_row(struct run *run, struct bytes *b, uint64_t *end)
{
	enum outcome outcome = run_on(run, b);

	if (outcome == FAILED)
		return false;
	*end = run->rows->fde.end;
	if (outcome == ADVANCED && run->advance < *end)
		*end = run->advance;
	return true;
}

BOBBIN_API int bobbin_cfi_rows_fill(struct bobbin_cfi_rows *rows, struct bobbin_error *err,
				    struct bobbin_cfi_word *ret, unsigned int max)
{
	struct bobbin_cfi_word *row = ret;
	bool failed = false;
	struct bytes b;
	struct run run;
	uint64_t end;

	start_run(rows, err, &b, &run);
	rows->plt = 0;
	for (end = run.pc; row < ret + max && end < rows->fde.end;) {
		failed = !run_to_row(&run, &b, &end);
		if (failed)
			break;
		if (end == run.pc)
			continue;
		*row++ = (struct bobbin_cfi_word){run.pc, rows->now.word};
		run.pc = end;
		if (rows->now.word)
			continue;
		row[-1].word = pack(rows);
		if (!row[-1].word || rows->plt)
			break;
	}
	/* a failed instruction fails again */
	rows->pos = failed ? run.insn : b.pos;
	rows->end = run.pc;
	if (row == ret)
		return failed ? -BOBBIN_EBADMSG : 0;
	rows->start = row[-1].start;
	return (int)(row - ret);
}

/* Run to the row for a PC that is not before the next row. */
static int run_to_pc(struct bobbin_cfi_rows *rows, uint64_t pc, struct bobbin_error *err,
		     struct bobbin_row *ret)
{
	struct bytes b;
	struct run run;
	uint64_t end;

	start_run(rows, err, &b, &run);
	/* each turn consumes program bytes or is the last */
	for (;; run.pc = end) {
		if (!run_to_row(&run, &b, &end))
			return -BOBBIN_EBADMSG;
		if (pc < end)
			break;
	}
	ret->start = rows->start = run.pc;
	ret->end = rows->end = end;
	ret->function = rows->fde.start;
	bobbin_cfi_rows_rule(rows, &ret->rule);
	rows->plt = ret->rule.cfa.how == BOBBIN_HOW_NO_RULE ? 0 : rows->now.plt;
	rows->pos = b.pos;
	return 0;
}

BOBBIN_API int bobbin_cfi_rows_next(struct bobbin_cfi_rows *rows, struct bobbin_error *err,
				    struct bobbin_row *ret)
{
	int r;

	if (rows->end >= rows->fde.end)
		return 0;
	r = run_to_pc(rows, rows->end, err, ret);
	return r ? r : 1;
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

BOBBIN_API int bobbin_cfi_rows_find(struct bobbin_cfi_rows *rows, uint64_t pc,
				    struct bobbin_error *err, struct bobbin_row *ret)
{
	int r;

	if (pc < rows->end || pc >= rows->fde.end)
		return refuse_as(-BOBBIN_ENOENT, err, rows->fde.offset, BOBBIN_REASON_NO_ROW);
	r = run_to_pc(rows, pc, err, ret);
	if (!r && rows->plt)
		pick_stub_part(ret, rows->plt, pc);
	return r;
}

BOBBIN_API int bobbin_cfi_lookup(const struct bobbin_cfi_view *view, uint64_t pc,
				 struct bobbin_cfi_rows *rows, struct bobbin_error *err,
				 struct bobbin_row *ret)
{
	int r = bobbin_cfi_find(view, pc, err, &rows->fde);

	if (!r)
		r = bobbin_cfi_rows_init(view, &rows->fde, err, rows);
	return r ? r : bobbin_cfi_rows_find(rows, pc, err, ret);
}
