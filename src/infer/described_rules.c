/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of code whose run time describes it.
 *
 * Compilers of run times lay out a method in the order of its addresses: prologue, body, and slow
 * paths to which the body branches.  So the code is read in that order.  What an instruction finds is
 * known from the one before it, else from a branch that leads to it, else from the description.  Where
 * a loop begins above its entry, that takes another pass.
 */
#include "infer/described_rules.h"

#include <bobbin/arch.h>
#include <bobbin/rule.h>
#include <errno.h>
#include <string.h>

#include "base/native_arch.h"
#include "base/vector.h"
#include "core/frame_rules.h"
#include "infer/x86_decode.h"

#define WORD 8
#define FRAME_MAX (1 << 20)
#define UNKNOWN INT32_MIN
#define PASSES_MAX 4
/* DWARF numbers: the caller's stack pointer at an entry into the interpreter, see below. */
#define DWARF_AX 0
#define DWARF_R13 13
#define X86_R13 13
/* where the caller's frame pointer is: */
#define IN_REGISTER 0

/* What is known before an instruction. */
struct frame_depth {
	int32_t depth;  /* CFA less stack pointer, or UNKNOWN */
	int32_t saved;  /* IN_REGISTER, or the slot, from the CFA on; UNKNOWN */
	int32_t record; /* likewise, where the frame pointer is that is the record's; 0: nowhere */
	bool by_fp;     /* the frame pointer is the record's */
	bool in_interpreter;
	/* at a method's entry into the interpreter: @depth is that of the return address and a word */
	bool entering, ra_in_ax, pushed_fp;
};

/* What is known of an offset. */
struct offset {
	struct frame_depth told;  /* by branches to it, once @is_told */
	struct frame_depth found; /* when it was read, once @is_read */
	/* starts of code that is taken to be reached, see struct pass: by whom it was told; where it is */
	uint32_t teller, taken;
	bool is_target, is_told, is_read;
	bool unreached; /* nothing was told when it was read */
	bool refuted;   /* the description does not hold from here on */
};

struct pass {
	const struct described_code *code;
	const struct insn_decoder *decoder;
	struct offset *at;
	struct described_rows *ret;
	size_t part; /* the first row of the function that is being read */
	/*
	 * Nothing leads to the code that is being read, which is taken to be reached by a table, as the
	 * description says: its start, one more; 0: something does.
	 */
	uint32_t taken;
	bool built; /* the interpreter's frame */
	bool news;  /* a branch has told of what was read before */
	bool conflict;
};

static const struct frame_depth entered = {.depth = WORD};
static const struct frame_depth entering = {.depth = WORD, .entering = true};
static const struct frame_depth nothing = {.depth = UNKNOWN, .saved = UNKNOWN};
static const struct frame_depth interpreter = {
	.depth = UNKNOWN, .saved = UNKNOWN, .in_interpreter = true};

static struct frame_depth body_of(const struct described_code *code)
{
	if (!code->frame)
		return nothing;
	return (struct frame_depth){.depth = (int32_t)code->frame, .saved = -2 * WORD};
}

/* Whether frames are the same; the stack pointer need not be where the frame pointer has the record. */
static bool is_same(const struct frame_depth *a, const struct frame_depth *b)
{
	return (a->depth == b->depth || a->by_fp) && a->saved == b->saved && a->by_fp == b->by_fp &&
	       a->in_interpreter == b->in_interpreter && a->entering == b->entering &&
	       a->ra_in_ax == b->ra_in_ax && a->pushed_fp == b->pushed_fp;
}

/* What is known of two that are the same. */
static struct frame_depth common(const struct frame_depth *a, const struct frame_depth *b)
{
	struct frame_depth both = *a;

	if (a->depth != b->depth)
		both.depth = UNKNOWN;
	if (a->record != b->record)
		both.record = 0;
	return both;
}

/* What the description says of an offset that no instruction leads to. */
static struct frame_depth described(const struct pass *p, uint32_t at)
{
	const struct described_code *code = p->code;

	switch (code->kind) {
	case DESCRIBED_METHOD:
		if (code->stubs && at >= code->stubs && at < code->handlers)
			return entered;
		return at < code->entry ? entered : body_of(code);
	case DESCRIBED_INTERPRETER:
		return interpreter;
	case DESCRIBED_ENTRY:
		return p->built ? interpreter : nothing;
	default:
		return nothing;
	}
}

static bool is_entry(const struct described_code *code, uint32_t at)
{
	switch (code->kind) {
	case DESCRIBED_METHOD:
		return at == code->entry || (code->second && at == code->second);
	case DESCRIBED_ROUTINE:
	case DESCRIBED_ENTRY:
		return !at;
	default:
		return false;
	}
}

/* rules */

static void rule_in_interpreter(const struct bobbin_arch *arch, struct bobbin_rule *ret)
{
	/* the caller's stack pointer is below the saved frame pointer: arguments may be locals */
	ret->cfa = place_of(BOBBIN_HOW_IN_REG_MEM, arch->fp, -WORD);
	ret->ra = place_of(BOBBIN_HOW_IN_REG_MEM, arch->fp, WORD);
	ret->fp = place_of(BOBBIN_HOW_IN_REG_MEM, arch->fp, 0);
}

/*
 * HotSpot: who enters the interpreter has its stack pointer in %r13, since an adapter may have
 * put arguments below it.  The return address is taken off the stack while locals are put there.
 */
static void rule_at_entry(const struct bobbin_arch *arch, const struct frame_depth *now,
			  struct bobbin_rule *ret)
{
	const uint8_t base = now->by_fp ? arch->fp : arch->sp;

	ret->cfa = place_of(BOBBIN_HOW_AT_REG, DWARF_R13, 0);
	ret->ra = now->ra_in_ax ? place_of(BOBBIN_HOW_AT_REG, DWARF_AX, 0)
				: place_of(BOBBIN_HOW_IN_REG_MEM, base, now->depth - WORD);
	ret->fp = now->pushed_fp ? place_of(BOBBIN_HOW_IN_REG_MEM, base, 0)
				 : place_of(BOBBIN_HOW_SAME, 0, 0);
}

static bool rule_of(const struct frame_depth *now, struct bobbin_rule *ret)
{
	const struct bobbin_arch *arch = bobbin_arch_amd64();

	*ret = (struct bobbin_rule){.index = BOBBIN_NO_INDEX};
	if (now->in_interpreter) {
		rule_in_interpreter(arch, ret);
		return true;
	}
	if (now->entering) {
		rule_at_entry(arch, now, ret);
		return true;
	}
	ret->ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -WORD);
	if (now->by_fp) {
		ret->cfa = place_of(BOBBIN_HOW_AT_REG, arch->fp, 2 * WORD);
		ret->fp = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -2 * WORD);
		return true;
	}
	if (now->depth == UNKNOWN || now->saved == UNKNOWN || now->depth < WORD)
		return false;
	ret->cfa = place_of(BOBBIN_HOW_AT_REG, arch->sp, now->depth);
	ret->fp = now->saved == IN_REGISTER ? place_of(BOBBIN_HOW_SAME, 0, 0)
					    : place_of(BOBBIN_HOW_IN_CFA_MEM, 0, now->saved);
	return true;
}

static int put(struct pass *p, uint32_t at, const struct frame_depth *now)
{
	struct described_rows *rows = p->ret;
	struct described_row row = {.start = at};
	struct bobbin_rule rule;

	if (rule_of(now, &rule) && bobbin_rule_pack(&rule, &row.word))
		row.word = 0;
	if (rows->count > p->part && rows->rows[rows->count - 1].word == row.word)
		return 0;
	return vector_push(rows->rows, rows->count, rows->room, row);
}

/*
 * The function ends, and if something has contradicted its rules, they are not proved, but for the
 * body's: the run time itself goes by it.
 */
static void end_part(struct pass *p)
{
	const struct frame_depth body = body_of(p->code);
	struct bobbin_rule rule;
	uint64_t word = 0;

	if (rule_of(&body, &rule) && bobbin_rule_pack(&rule, &word))
		word = 0;
	for (size_t i = p->part; p->conflict && i < p->ret->count; i++)
		p->ret->rows[i].likely = p->ret->rows[i].word && p->ret->rows[i].word != word;
	p->part = p->ret->count;
	p->conflict = false;
}

/* instructions */

static void move_sp(struct frame_depth *now, int64_t by)
{
	const int64_t depth = now->depth - by;

	if (now->depth == UNKNOWN)
		return;
	now->depth = by > FRAME_MAX || by < -FRAME_MAX || depth < 0 || depth > FRAME_MAX
			     ? UNKNOWN
			     : (int32_t)depth;
}

/* The frame pointer changes, to something that nobody follows. */
static void lose_fp(struct frame_depth *now)
{
	now->by_fp = false;
	if (now->saved == IN_REGISTER)
		now->saved = UNKNOWN;
}

static void set_sp(struct frame_depth *now, const struct insn *insn)
{
	if (insn->op == OP_MOVE && insn->base == X86_BP && now->by_fp)
		now->depth = 2 * WORD;
	else if (insn->op == OP_LEA && insn->base == X86_SP && insn->index == NO_REG)
		move_sp(now, insn->value);
	else if (insn->op == OP_LEA && insn->base == X86_BP && insn->index == NO_REG &&
		 now->by_fp && insn->value <= 2 * WORD && insn->value > -FRAME_MAX)
		now->depth = (int32_t)(2 * WORD - insn->value);
	else if (insn->op == OP_ADD)
		move_sp(now, insn->value);
	else
		now->depth = UNKNOWN;
}

static bool is_slot(const struct frame_depth *now, const struct insn *insn, int32_t *ret)
{
	if (insn->base != X86_SP || insn->index != NO_REG || now->depth == UNKNOWN ||
	    insn->value < 0 || insn->value >= now->depth)
		return false;
	*ret = (int32_t)insn->value - now->depth;
	return true;
}

static void set_fp(struct frame_depth *now, const struct insn *insn)
{
	int32_t slot;

	if (insn->op == OP_MOVE && insn->base == X86_SP && now->depth == 2 * WORD &&
	    now->saved == -2 * WORD) {
		now->by_fp = true;
		return;
	}
	lose_fp(now);
	if (insn->op != OP_LOAD || !is_slot(now, insn, &slot))
		return;
	if (slot == now->saved)
		now->saved = IN_REGISTER;
	else if (slot == now->record)
		now->by_fp = true;
}

static void pushed(struct frame_depth *now, const struct insn *insn)
{
	move_sp(now, -(int64_t)insn->size);
	if (insn->reg == X86_BP && now->saved == IN_REGISTER && now->depth != UNKNOWN)
		now->saved = -now->depth;
}

static void popped(struct frame_depth *now, const struct insn *insn)
{
	const bool restores = now->depth != UNKNOWN && now->saved == -now->depth;

	if (insn->reg == X86_BP) {
		lose_fp(now);
		if (restores)
			now->saved = IN_REGISTER;
	}
	if (insn->reg == X86_SP)
		now->depth = UNKNOWN;
	else
		move_sp(now, insn->size);
}

static void left(struct frame_depth *now)
{
	if (!now->by_fp) {
		*now = nothing;
		return;
	}
	now->depth = WORD;
	now->saved = IN_REGISTER;
	now->by_fp = false;
}

static void stored(struct frame_depth *now, const struct insn *insn)
{
	int32_t slot;

	if (insn->reg != X86_BP || insn->size != WORD || !is_slot(now, insn, &slot))
		return;
	if (now->saved == IN_REGISTER)
		now->saved = slot;
	else if (now->by_fp)
		now->record = slot;
}

static void step(struct frame_depth *now, const struct insn *insn, uint64_t next)
{
	switch (insn->op) {
	case OP_PUSH:
		pushed(now, insn);
		break;
	case OP_POP:
		popped(now, insn);
		break;
	case OP_LEAVE:
		left(now);
		break;
	case OP_ENTER:
		*now = nothing;
		break;
	case OP_STORE:
		stored(now, insn);
		break;
	case OP_CALL:
		/* how code learns where it is */
		if ((uint64_t)insn->value == next)
			move_sp(now, -WORD);
		break;
	case OP_SWAP:
		if (insn->reg == X86_SP || insn->base == X86_SP)
			now->depth = UNKNOWN;
		if (insn->reg == X86_BP || insn->base == X86_BP)
			lose_fp(now);
		break;
	default:
		if (insn_computes_reg(insn) && insn->reg == X86_SP)
			set_sp(now, insn);
		else if (insn_computes_reg(insn) && insn->reg == X86_BP)
			set_fp(now, insn);
	}
	if (insn->mask & 1u << X86_SP)
		now->depth = UNKNOWN;
	if (insn->mask & 1u << X86_BP)
		lose_fp(now);
}

/* Before the interpreter's frame is built. */
static void step_entry(struct frame_depth *now, const struct insn *insn)
{
	const bool has_record = now->pushed_fp && now->depth == 2 * WORD;

	if (insn->op == OP_PUSH && now->by_fp && insn->reg == X86_R13) {
		*now = interpreter;
	} else if (insn->op == OP_MOVE && insn->reg == X86_BP && insn->base == X86_SP &&
		   has_record) {
		now->by_fp = true;
	} else if (now->by_fp || now->pushed_fp) {
		*now = nothing;
	} else if (insn->op == OP_PUSH && insn->reg == X86_BP && !now->ra_in_ax &&
		   now->depth == WORD) {
		now->depth += WORD;
		now->pushed_fp = true;
	} else if (insn->op == OP_PUSH && insn->reg == X86_AX && now->ra_in_ax) {
		now->depth = WORD;
		now->ra_in_ax = false;
	} else if (insn->op == OP_POP && insn->reg == X86_AX && now->depth == WORD) {
		now->depth = 0;
		now->ra_in_ax = true;
	} else if (now->ra_in_ax) {
		/* what is pushed meanwhile are locals */
		if (insn_is_call(insn) || insn->op == OP_SWAP || insn_changes(insn) & 1u << X86_AX)
			*now = nothing;
	} else {
		step(now, insn, 0);
		if (now->depth == UNKNOWN || now->depth < WORD)
			*now = nothing;
	}
	if (insn_changes(insn) & 1u << X86_R13)
		*now = now->in_interpreter ? interpreter : nothing;
}

/* The interpreter's frame is left for good. */
static void step_interpreter(struct pass *p, struct frame_depth *now, const struct insn *insn)
{
	if (now->entering)
		step_entry(now, insn);
	else if (insn->op == OP_LEAVE)
		*now = nothing;
	p->built |= now->in_interpreter;
}

static bool is_of_interpreter(const struct described_code *code)
{
	return code->kind == DESCRIBED_INTERPRETER || code->kind == DESCRIBED_ENTRY;
}

/* Where in the code a branch leads to; false: elsewhere, or it is none. */
static bool branch_target(const struct described_code *code, const struct insn *insn, uint32_t *ret)
{
	const uint64_t to = (uint64_t)insn->value - code->addr;

	if ((insn->op != OP_JUMP && insn->op != OP_BRANCH) || to >= code->size)
		return false;
	*ret = (uint32_t)to;
	return true;
}

/*
 * What leads to code contradicts what is taken of other code, @taken or @teller: nobody comes there, as
 * to parts of HotSpot's intrinsics.
 */
static void contradict(struct pass *p, uint32_t taken, uint32_t teller)
{
	const uint32_t start = taken ? taken : teller;

	if (!start) {
		p->conflict = true;
		return;
	}
	p->at[start - 1].refuted = true;
	p->news = true;
}

/* Whether something has been told, and not by what was refuted. */
static bool is_told(const struct pass *p, const struct offset *here)
{
	return here->is_told && !(here->teller && p->at[here->teller - 1].refuted);
}

/* A branch is taken with what is known there. */
static void tell(struct pass *p, const struct insn *insn, uint32_t at,
		 const struct frame_depth *now)
{
	struct offset *target;
	uint32_t to;

	if (!branch_target(p->code, insn, &to) || p->at[at].unreached)
		return;
	target = &p->at[to];
	if (to <= at && target->is_read && !target->unreached) {
		if (!is_same(&target->found, now))
			contradict(p, p->taken, target->taken);
	} else if (!is_told(p, target)) {
		target->told = *now;
		target->teller = p->taken;
		p->news |= to <= at;
	} else if (is_same(&target->told, now)) {
		target->told = common(&target->told, now);
		if (!p->taken)
			target->teller = 0;
	} else if (is_of_interpreter(p->code)) {
		target->told = nothing;
	} else {
		contradict(p, p->taken, target->teller);
	}
	target->is_told |= to > at || target->unreached;
}

/* A routine begins where no branch leads to, and after what fills up to there. */
static bool begins_routine(const struct pass *p, uint32_t at, const struct insn *insn)
{
	return !p->at[at].is_target && !x86_is_padding(p->code->bytes + at, insn->len);
}

static struct frame_depth find_entry(struct pass *p)
{
	p->taken = 0;
	return p->code->kind == DESCRIBED_ENTRY ? entering : entered;
}

/* What an instruction finds that comes after one that does not go on. */
static struct frame_depth find_anew(struct pass *p, uint32_t at, const struct insn *insn)
{
	struct offset *here = &p->at[at];

	p->taken = 0;
	if (is_told(p, here)) {
		p->taken = here->teller;
		return here->told;
	}
	if (p->code->kind == DESCRIBED_METHOD) {
		here->unreached = here->refuted;
		p->taken = at + 1;
		return here->refuted ? nothing : described(p, at);
	}
	if (p->code->kind != DESCRIBED_ROUTINES)
		return described(p, at);
	here->unreached = !begins_routine(p, at, insn);
	if (here->unreached)
		return nothing;
	end_part(p);
	return entered;
}

/* After an instruction that goes on, or is a call. */
static struct frame_depth find_after(struct pass *p, uint32_t at, const struct frame_depth *before,
				     bool after_call)
{
	const struct offset *here = &p->at[at];
	const uint32_t taken = p->taken;

	if (!is_told(p, here))
		return *before;
	if (!here->teller)
		p->taken = 0;
	if (is_same(before, &here->told))
		return common(before, &here->told);
	if (is_of_interpreter(p->code))
		return nothing;
	/* of calls that do not return, something else may follow */
	if (after_call && p->code->kind == DESCRIBED_METHOD)
		return here->told;
	contradict(p, taken, here->teller);
	return taken && !here->teller ? here->told : *before;
}

/* Whether a routine is left for another one, as by a tail call. */
static bool leaves(const struct described_code *code, const struct insn *insn)
{
	return insn->op == OP_JUMP_REG || insn->op == OP_JUMP_MEM ||
	       (insn->op == OP_JUMP && (uint64_t)insn->value - code->addr >= code->size);
}

/* Data between routines may have been read as code before. */
static bool contradicts(const struct pass *p, uint32_t at, const struct insn *insn,
			const struct frame_depth *now)
{
	const bool is_undone = now->depth == WORD && now->saved == IN_REGISTER;

	if (p->code->kind == DESCRIBED_METHOD && p->code->complete && p->code->complete == at)
		return now->depth != (int32_t)p->code->frame;
	if (p->code->kind == DESCRIBED_ROUTINES && leaves(p->code, insn))
		return !is_undone;
	return insn->op == OP_RETURN && !now->in_interpreter && !is_undone;
}

/*
 * HotSpot: a method that is not to be entered any more begins with a jump over its first instruction,
 * which had seven bytes: it probed the stack, or made the frame at once.
 */
#define BARRED_JUMP 5u
#define BARRED_INSN 7u
#define PUSH_BP 0x55

static bool is_barred(const struct pass *p, uint32_t at, const struct insn *insn)
{
	return p->code->kind == DESCRIBED_METHOD && at == p->code->entry && insn->op == OP_JUMP &&
	       insn->len == BARRED_JUMP && p->code->size - at > BARRED_INSN;
}

static struct frame_depth after_bar(const struct described_code *code, uint32_t next)
{
	if (code->bytes[next] == PUSH_BP)
		return entered;
	return (struct frame_depth){.depth = (int32_t)code->frame};
}

/* Read an instruction; what is known after it. */
static struct frame_depth read_insn(struct pass *p, uint32_t at, struct frame_depth now,
				    struct insn *insn, bool *goes_on)
{
	const struct described_code *code = p->code;

	if (contradicts(p, at, insn, &now))
		contradict(p, p->taken, 0);
	if (is_of_interpreter(code))
		step_interpreter(p, &now, insn);
	else
		step(&now, insn, code->addr + at + insn->len);
	tell(p, insn, at, &now);
	*goes_on = insn_goes_on(insn);
	if (!is_barred(p, at, insn))
		return now;
	insn->len = BARRED_INSN;
	*goes_on = true;
	return after_bar(code, at + BARRED_INSN);
}

static int read_code(struct pass *p)
{
	const struct described_code *code = p->code;
	bool goes_on = false, after_call = false, unreached = false, after_padding = false;
	struct frame_depth now = nothing;
	struct insn insn;
	int r = 0;

	for (uint32_t at = 0; at < code->size && !r; at += insn.len) {
		struct offset *here = &p->at[at];

		x86_decode(p->decoder, code->bytes + at, code->size - at, code->addr + at, &insn);
		here->unreached = unreached && goes_on && !is_told(p, here) &&
				  !(after_padding && begins_routine(p, at, &insn));
		if (is_entry(code, at))
			now = find_entry(p);
		else if (goes_on && unreached == here->unreached)
			now = find_after(p, at, &now, after_call);
		else
			now = find_anew(p, at, &insn);
		unreached = here->unreached;
		here->found = now;
		here->taken = p->taken;
		here->is_read = true;
		r = put(p, at, &now);
		now = read_insn(p, at, now, &insn, &goes_on);
		after_call = insn_is_call(&insn);
		after_padding = x86_is_padding(code->bytes + at, insn.len);
	}
	end_part(p);
	return r;
}

static void find_targets(struct pass *p)
{
	const struct described_code *code = p->code;
	struct insn insn;
	uint32_t to;

	for (uint32_t at = 0; at < code->size; at += insn.len) {
		x86_decode(p->decoder, code->bytes + at, code->size - at, code->addr + at, &insn);
		if (branch_target(code, &insn, &to))
			p->at[to].is_target = true;
	}
}

static int read_passes(struct pass *p)
{
	int r = 0;

	if (p->code->kind == DESCRIBED_ROUTINES)
		find_targets(p);
	for (unsigned int i = 0; !r && i < PASSES_MAX && (!i || p->news); i++) {
		p->news = false;
		p->part = p->ret->count = 0;
		p->taken = 0;
		r = read_code(p);
	}
	return r;
}

/* What is no code cannot be told from what is, and need not be. */
static int read_thunks(struct pass *p)
{
	return put(p, 0, &entered);
}

int described_rules(const struct described_code *code, struct described_rows *ret)
{
	struct insn_decoder *decoder;
	struct pass p = {.code = code, .ret = ret};
	int r = -ENOMEM;

	*ret = (struct described_rows){0};
	/* the process is one of this machine */
	if (native_arch() != bobbin_arch_amd64() || !x86_decoder_exists())
		return -ENOTSUP;
	p.decoder = decoder = x86_decoder_open();
	if (code->size > DESCRIBED_CODE_MAX || code->frame > FRAME_MAX) {
		x86_decoder_close(decoder);
		return -EFBIG;
	}
	p.at = calloc((size_t)code->size + 1, sizeof(*p.at));
	if (p.at && decoder)
		r = code->kind == DESCRIBED_THUNKS ? read_thunks(&p) : read_passes(&p);
	else if (!x86_decoder_exists())
		r = -ENOTSUP;
	free(p.at);
	x86_decoder_close(decoder);
	if (r) {
		free(ret->rows);
		*ret = (struct described_rows){0};
	}
	return r;
}
