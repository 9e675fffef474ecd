/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call-frame programs to rows.  DWARF 5 section 6.4.2 and 6.4.3.
 *
 * Registers other than FP, RA and SP are parsed and dropped.  A state has its rule
 * packed, too: most instructions change no more than the CFA's register or offset,
 * which are fields of the word.  After others, the rule is put together and packed
 * when a row needs it.
 */
#include <bobbin/cfi.h>

#include "cfi/dwarf.h"
#include "cfi/encoding.h"
#include "cfi/expression.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "core/rule_word.h"

/* What an instruction asks of the caller. */
enum outcome {
	GO_ON,
	ADVANCED,
	FAILED
};

struct run {
	struct bobbin_cfi_rows *rows;
	const struct bobbin_arch *arch;
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

/* An offset that is given as a multiple of the data alignment. */
static bool scale(const struct run *run, int64_t factored, int32_t *ret)
{
	int64_t align = run->rows->fde.data_align;
	int32_t small;

	if (!factored || !align) {
		*ret = 0;
		return true;
	}
	return narrow(factored, &small) && narrow(align, &small) && narrow(factored * align, ret);
}

static BOBBIN_ALWAYS_INLINE bool is_followed(const struct run *run, uint64_t reg)
{
	return reg == run->arch->fp || reg == run->arch->ra || reg == run->arch->sp;
}

static void set_place(struct run *run, uint64_t reg, struct bobbin_place place,
		      enum bobbin_reason why)
{
	struct bobbin_cfi_state *now = &run->rows->now;

	if (reg == run->arch->ra) {
		now->ra = place;
		now->ra_reason = (uint8_t)why;
	} else if (reg == run->arch->fp) {
		now->fp = place;
		now->fp_reason = (uint8_t)why;
	} else if (reg == run->arch->sp) {
		now->sp = place;
		if (why)
			now->sp.how = BOBBIN_HOW_NO_RULE;
	} else {
		return;
	}
	now->word = 0;
}

static void set_lost(struct run *run, uint64_t reg, enum bobbin_reason why)
{
	set_place(run, reg, at(BOBBIN_HOW_SAME, 0, 0), why);
}

static void set_offset(struct run *run, uint64_t reg, int64_t factored, enum bobbin_how how)
{
	int32_t off;

	if (scale(run, factored, &off))
		set_place(run, reg, at(how, 0, off), BOBBIN_REASON_NONE);
	else
		set_lost(run, reg, BOBBIN_REASON_CFI_RANGE);
}

static void set_register(struct run *run, uint64_t reg, uint64_t base)
{
	if (base >= BOBBIN_REG_COUNT)
		set_lost(run, reg, BOBBIN_REASON_CFI_REGISTER);
	else
		set_place(run, reg, at(BOBBIN_HOW_AT_REG, (uint8_t)base, 0), BOBBIN_REASON_NONE);
}

static void set_undefined(struct run *run, uint64_t reg)
{
	/* an undefined FP is lost; later frames that need it will say so by failing */
	enum bobbin_how how = reg == run->arch->ra ? BOBBIN_HOW_UNDEFINED : BOBBIN_HOW_SAME;

	set_place(run, reg, at(how, 0, 0), BOBBIN_REASON_NONE);
}

static void restore(struct run *run, uint64_t reg)
{
	const struct bobbin_cfi_state *initial = &run->rows->initial;

	if (reg == run->arch->ra)
		set_place(run, reg, initial->ra, (enum bobbin_reason)initial->ra_reason);
	else if (reg == run->arch->fp)
		set_place(run, reg, initial->fp, (enum bobbin_reason)initial->fp_reason);
	else if (reg == run->arch->sp)
		set_place(run, reg, initial->sp, BOBBIN_REASON_NONE);
}

static void no_cfa(struct run *run, enum bobbin_reason reason)
{
	struct bobbin_cfi_state *now = &run->rows->now;

	now->cfa = at(BOBBIN_HOW_NO_RULE, 0, 0);
	now->plt = 0;
	now->reason = (uint8_t)reason;
	now->word = 0;
}

static BOBBIN_ALWAYS_INLINE void set_cfa(struct run *run, uint64_t reg, int64_t off)
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
	now->word = rule_word_with_cfa(now->word, (uint8_t)reg, fits);
}

/*
 * The two below continue where the last register and offset were, be there an
 * expression in between: not in the standard, but GCC's runtime does so, and
 * hand-written code (libgcrypt) counts on it.
 */
static BOBBIN_ALWAYS_INLINE void set_cfa_offset(struct run *run, int64_t off)
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

/* The value of an expression operand. */
static void read_expression(struct run *run, struct bytes *b, bool with_cfa, struct symbolic *ret)
{
	uint64_t size = bytes_uleb(b);
	struct bytes block = *b;

	bytes_skip(b, size);
	block.bad = b->bad;
	block.size = b->bad ? block.pos : b->pos;
	expression_value(run->arch, &block, with_cfa, ret);
}

static void set_cfa_expression(struct run *run, struct bytes *b)
{
	struct bobbin_cfi_state *now = &run->rows->now;
	struct symbolic v;
	int32_t off;

	read_expression(run, b, false, &v);
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
	now->word = 0;
}

/* A register whose address (@value: whose value) an expression gives. */
static void set_expression(struct run *run, struct bytes *b, uint64_t reg, bool value)
{
	enum bobbin_how how = BOBBIN_HOW_NO_RULE;
	struct symbolic v;
	int32_t off;

	read_expression(run, b, true, &v);
	if (v.kind == SYM_CFA)
		how = value ? BOBBIN_HOW_AT_CFA : BOBBIN_HOW_IN_CFA_MEM;
	else if (v.kind == SYM_REG)
		how = value ? BOBBIN_HOW_AT_REG : BOBBIN_HOW_IN_REG_MEM;
	else if (v.kind == SYM_MEM && value)
		how = BOBBIN_HOW_IN_REG_MEM;

	if (how && v.index == BOBBIN_NO_INDEX && !v.plt && !v.plus && narrow(v.off, &off))
		set_place(run, reg, at(how, v.kind == SYM_CFA ? 0 : v.reg, off),
			  BOBBIN_REASON_NONE);
	else
		set_lost(run, reg, BOBBIN_REASON_CFI_EXPRESSION);
}

/* Both below 2^64, @delta even below 2^32; false: the product is not. */
static BOBBIN_ALWAYS_INLINE bool multiply(uint64_t align, uint64_t delta, uint64_t *ret)
{
	uint64_t high = (align >> 32) * delta, low = (align & UINT32_MAX) * delta;

	*ret = (high << 32) + low;
	return high <= UINT32_MAX && *ret >= low;
}

static BOBBIN_ALWAYS_INLINE enum outcome advance(struct run *run, uint64_t delta)
{
	uint64_t bytes;

	if (run->initial)
		return fail(run, BOBBIN_REASON_CFI_OPCODE);
	if (!multiply(run->rows->fde.code_align, delta, &bytes) ||
	    __builtin_add_overflow(run->rows->end, bytes, &run->advance))
		return fail(run, BOBBIN_REASON_CFI_RANGE);
	return bytes ? ADVANCED : GO_ON;
}

static enum outcome set_loc(struct run *run, struct bytes *b)
{
	const struct bobbin_cfi_rows *rows = run->rows;

	if (run->initial ||
	    !encoded_pointer(b, rows->fde.fde_enc, rows->view->frame_addr, 0, &run->advance))
		return fail(run, BOBBIN_REASON_CFI_OPCODE);
	if (run->advance < rows->end)
		return fail(run, b->bad ? BOBBIN_REASON_TRUNCATED : BOBBIN_REASON_CFI_RANGE);
	return run->advance > rows->end ? ADVANCED : GO_ON;
}

static enum outcome remember(struct run *run)
{
	struct bobbin_cfi_rows *rows = run->rows;

	if (rows->depth >= BOBBIN_CFI_STATES)
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

static int64_t read_factored(const struct run *run, struct bytes *b)
{
	int32_t off;

	/* what does not fit is refused as out of range by whoever uses it */
	return scale(run, bytes_sleb(b), &off) ? off : INT64_MAX;
}

static enum outcome toggle_mangled(struct run *run)
{
	struct bobbin_cfi_state *now = &run->rows->now;

	if (!run->arch->pac_mask)
		return fail(run, BOBBIN_REASON_CFI_OPCODE);
	now->mangled = !now->mangled;
	now->word = 0;
	return GO_ON;
}

/* What begins with a register. */
static enum outcome run_register(struct run *run, struct bytes *b, uint8_t op)
{
	uint64_t reg = bytes_uleb(b);

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_offset(run, reg, (int64_t)bytes_uleb(b), BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	case CFA_OFFSET_EXTENDED_SF:
		set_offset(run, reg, bytes_sleb(b), BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		set_offset(run, reg, -(int64_t)(bytes_uleb(b) & INT64_MAX), BOBBIN_HOW_IN_CFA_MEM);
		return GO_ON;
	case CFA_VAL_OFFSET:
		set_offset(run, reg, (int64_t)bytes_uleb(b), BOBBIN_HOW_AT_CFA);
		return GO_ON;
	case CFA_VAL_OFFSET_SF:
		set_offset(run, reg, bytes_sleb(b), BOBBIN_HOW_AT_CFA);
		return GO_ON;
	case CFA_RESTORE_EXTENDED:
		restore(run, reg);
		return GO_ON;
	case CFA_UNDEFINED:
		set_undefined(run, reg);
		return GO_ON;
	case CFA_SAME_VALUE:
		set_lost(run, reg, BOBBIN_REASON_NONE);
		return GO_ON;
	case CFA_REGISTER:
		set_register(run, reg, bytes_uleb(b));
		return GO_ON;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		set_expression(run, b, reg, op == CFA_VAL_EXPRESSION);
		return GO_ON;
	default:
		return fail(run, BOBBIN_REASON_CFI_OPCODE);
	}
}

static enum outcome run_extended(struct run *run, struct bytes *b, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_SET_LOC:
		return set_loc(run, b);
	case CFA_ADVANCE_LOC2:
		return advance(run, bytes_u16(b));
	case CFA_ADVANCE_LOC4:
		return advance(run, bytes_u32(b));
	case CFA_DEF_CFA:
		reg = bytes_uleb(b);
		set_cfa(run, reg, (int64_t)bytes_uleb(b));
		return GO_ON;
	case CFA_DEF_CFA_SF:
		reg = bytes_uleb(b);
		set_cfa(run, reg, read_factored(run, b));
		return GO_ON;
	case CFA_DEF_CFA_REGISTER:
		set_cfa_register(run, bytes_uleb(b));
		return GO_ON;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(run, read_factored(run, b));
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
		return run_register(run, b, op);
	}
}

/* What programs are made of stands here, with a cursor of which no one else knows. */
static BOBBIN_ALWAYS_INLINE enum outcome run_one(struct run *run, struct bytes *b)
{
	enum outcome outcome = GO_ON;
	uint64_t operand;
	uint8_t op;

	run->insn = b->pos;
	op = bytes_u8(b);
	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC:
		return advance(run, op & 0x3f);
	case CFA_OFFSET:
		operand = bytes_uleb(b);
		if (is_followed(run, op & 0x3f))
			set_offset(run, op & 0x3f, (int64_t)operand, BOBBIN_HOW_IN_CFA_MEM);
		break;
	case CFA_RESTORE:
		if (is_followed(run, op & 0x3f))
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

/* Pack the rule that holds.  Only a state without exceptions keeps it for what follows. */
static __attribute__((__noinline__)) uint64_t pack(struct bobbin_cfi_rows *rows)
{
	struct bobbin_cfi_state *now = &rows->now;
	struct bobbin_rule rule;
	uint64_t word = 0;

	bobbin_cfi_rows_rule(rows, &rule);
	if (bobbin_rule_pack(&rule, &word))
		word = 0;
	if (!now->plt && now->sp.how == BOBBIN_HOW_SAME && !why_no_rule(rows->view->arch, now))
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
	struct run run = {.rows = rows, .arch = rows->view->arch, .err = err, .initial = true};

	clear_state(run.arch, &rows->initial);
	rows->now = rows->initial;
	while (bytes_left(&b))
		if (run_one(&run, &b) == FAILED)
			return -BOBBIN_EBADMSG;
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
	/* where its code lies is known all the same */
	if (fde->ra_column != view->arch->ra)
		return refuse(err, fde->cie, BOBBIN_REASON_CFI_RA_COLUMN);
	ret->view = view;
	start_rows(fde, ret);
	return run_cie(ret, err);
}

BOBBIN_API int bobbin_cfi_rows_again(const struct bobbin_cfi_fde *fde, struct bobbin_error *err,
				     struct bobbin_cfi_rows *rows)
{
	if (fde->cie != rows->fde.cie)
		return bobbin_cfi_rows_init(rows->view, fde, err, rows);
	start_rows(fde, rows);
	rows->now = rows->initial;
	if (!rows->initial.word) {
		pack(rows);
		rows->initial.word = rows->now.word;
	}
	return 0;
}

static BOBBIN_ALWAYS_INLINE bool is_done(const struct bobbin_cfi_rows *rows)
{
	return rows->end >= rows->fde.end;
}

/* Run to the next row, of which there is one.  A failed instruction fails again. */
static BOBBIN_ALWAYS_INLINE bool run_to_row(struct run *run, struct bytes *b)
{
	struct bobbin_cfi_rows *rows = run->rows;
	enum outcome outcome = GO_ON;
	uint64_t end = rows->fde.end;

	while (bytes_left(b) && outcome == GO_ON)
		outcome = run_one(run, b);
	if (outcome == FAILED) {
		rows->pos = run->insn;
		return false;
	}
	if (outcome == ADVANCED && run->advance < end)
		end = run->advance;
	rows->start = rows->end;
	rows->end = end;
	rows->pos = b->pos;
	return true;
}

BOBBIN_API int bobbin_cfi_rows_fill(struct bobbin_cfi_rows *rows, struct bobbin_error *err,
				    struct bobbin_cfi_word *ret, unsigned int max)
{
	struct bytes b = program_bytes(rows, rows->pos, rows->fde.insn_end);
	struct run run = {.rows = rows, .arch = rows->view->arch, .err = err};
	unsigned int count = 0;

	rows->plt = 0;
	while (!is_done(rows) && count < max) {
		uint64_t word;

		if (!run_to_row(&run, &b))
			return count ? (int)count : -BOBBIN_EBADMSG;
		word = rows->now.word;
		if (!word) {
			word = pack(rows);
			rows->plt = word & 3 || !word ? rows->now.plt : 0;
		}
		ret[count++] = (struct bobbin_cfi_word){rows->start, word};
		if (!word || rows->plt)
			break;
	}
	return (int)count;
}

/* The row that was run to. */
static void get_row(struct bobbin_cfi_rows *rows, struct bobbin_row *ret)
{
	ret->start = rows->start;
	ret->end = rows->end;
	ret->function = rows->fde.start;
	bobbin_cfi_rows_rule(rows, &ret->rule);
	rows->plt = ret->rule.cfa.how == BOBBIN_HOW_NO_RULE ? 0 : rows->now.plt;
}

BOBBIN_API int bobbin_cfi_rows_next(struct bobbin_cfi_rows *rows, struct bobbin_error *err,
				    struct bobbin_row *ret)
{
	struct bytes b = program_bytes(rows, rows->pos, rows->fde.insn_end);
	struct run run = {.rows = rows, .arch = rows->view->arch, .err = err};

	if (is_done(rows))
		return 0;
	if (!run_to_row(&run, &b))
		return -BOBBIN_EBADMSG;
	get_row(rows, ret);
	return 1;
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
	struct bytes b = program_bytes(rows, rows->pos, rows->fde.insn_end);
	struct run run = {.rows = rows, .arch = rows->view->arch, .err = err};

	if (pc < rows->end || pc >= rows->fde.end)
		return refuse_as(-BOBBIN_ENOENT, err, rows->fde.offset, BOBBIN_REASON_NO_ROW);
	/* each turn consumes program bytes or is the last */
	while (rows->end <= pc)
		if (!run_to_row(&run, &b))
			return -BOBBIN_EBADMSG;
	get_row(rows, ret);
	if (rows->plt)
		pick_stub_part(ret, rows->plt, pc);
	return 0;
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
