/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cfi/cfi_step.h"

#include "cfi/cfi_state.h"
#include "cfi/dwarf.h"
#include "cfi/encoding.h"
#include "core/bytes.h"
#include "core/rule_step.h"

/* What GCC's runtime has, too. */
#define EVALUATION_DEPTH 64

/**
 * struct evaluation - an expression and what it is about
 * @step: the frame, and the work that is left
 * @mem: reader for the target's memory
 * @section: address of the section
 * @block: the bytes of the expression, from @block.pos to @block.size
 * @cfa: what the stack starts with, if @has_cfa
 */
struct evaluation {
	struct table_step *step;
	const struct bobbin_mem *mem;
	uint64_t section;
	struct bytes block;
	uint64_t cfa;
	bool has_cfa;
};

/* A read of another process is a system call. */
#define COST_OF_LOAD 16

struct stack_machine {
	const struct evaluation *e;
	struct bytes b;
	uint64_t begin; /* of the block */
	uint64_t stack[EVALUATION_DEPTH];
	unsigned int depth;
	enum bobbin_reason reason; /* why it cannot go on */
};

static void fail(struct stack_machine *m, enum bobbin_reason reason)
{
	if (!m->reason)
		m->reason = reason;
}

static void push(struct stack_machine *m, uint64_t value)
{
	if (m->depth == EVALUATION_DEPTH)
		fail(m, BOBBIN_REASON_CFI_EXPRESSION);
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct stack_machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	fail(m, BOBBIN_REASON_CFI_EXPRESSION);
	return 0;
}

/* The value @n below the top. */
static uint64_t peek(struct stack_machine *m, unsigned int n)
{
	if (n < m->depth)
		return m->stack[m->depth - 1 - n];
	fail(m, BOBBIN_REASON_CFI_EXPRESSION);
	return 0;
}

static void spend(struct stack_machine *m, uint32_t operations)
{
	uint32_t *left = m->e->step->operations;

	if (*left < operations)
		fail(m, BOBBIN_REASON_CFI_EXPRESSION);
	else
		*left -= operations;
}

/* @n <= 8 bytes of the target's memory as a number. */
static enum bobbin_reason evaluation_load(const struct evaluation *e, uint64_t addr, unsigned int n,
					  uint64_t *ret)
{
	uint8_t raw[8];
	enum bobbin_reason reason = e->mem->read(e->mem->ctx, addr, raw, n);
	struct bytes b = bytes_of(raw, n, e->step->arch->big_endian);

	if (!reason)
		*ret = bytes_get(&b, n);
	return reason;
}

static void load(struct stack_machine *m, unsigned int n)
{
	uint64_t addr = pop(m), value = 0;

	if (!n || n > 8)
		fail(m, BOBBIN_REASON_CFI_EXPRESSION);
	spend(m, COST_OF_LOAD);
	if (!m->reason)
		fail(m, evaluation_load(m->e, addr, n, &value));
	push(m, value);
}

static uint64_t register_value(struct stack_machine *m, uint64_t reg)
{
	struct table_step *step = m->e->step;
	const struct bobbin_regs *regs = &step->regs;

	if (reg == step->arch->sp)
		return regs->sp;
	if (reg == step->arch->fp)
		return regs->fp;
	if (reg == step->arch->pc)
		return regs->pc;
	if (reg == step->arch->ra && regs->ra_known)
		return regs->ra;
	if (reg >= BOBBIN_REG_COUNT) {
		fail(m, BOBBIN_REASON_CFI_REGISTER);
		return 0;
	}
	if (regs->gpr && regs->gpr_known >> reg & 1)
		return regs->gpr[reg];
	step->missing |= 1u << reg;
	fail(m, BOBBIN_REASON_NO_REGISTER);
	return 0;
}

static uint64_t encoded(struct stack_machine *m, struct bytes *b)
{
	uint8_t encoding = bytes_u8(b);
	uint64_t value = 0;

	if (!encoded_pointer(b, encoding, m->e->section, 0, &value))
		fail(m, BOBBIN_REASON_CFI_EXPRESSION);
	return value + m->e->step->bias;
}

/* What takes nothing from the stack; false: @op is something else. */
static bool run_value(struct stack_machine *m, uint8_t op, struct bytes *b)
{
	uint64_t reg;

	if (op >= DW_OP_LIT0 && op <= DW_OP_LIT31) {
		push(m, op - DW_OP_LIT0);
	} else if (op >= DW_OP_REG0 && op <= DW_OP_REG31) {
		push(m, register_value(m, op - DW_OP_REG0));
	} else if (op >= DW_OP_BREG0 && op <= DW_OP_BREG31) {
		reg = register_value(m, op - DW_OP_BREG0);
		push(m, reg + (uint64_t)bytes_sleb(b));
	} else if (op == DW_OP_REGX) {
		push(m, register_value(m, bytes_uleb(b)));
	} else if (op == DW_OP_BREGX) {
		reg = register_value(m, bytes_uleb(b));
		push(m, reg + (uint64_t)bytes_sleb(b));
	} else if (op >= DW_OP_CONST1U && op <= DW_OP_CONST8S && op & 1) {
		push(m, (uint64_t)bytes_signed(b, 1u << (op - DW_OP_CONST1U) / 2));
	} else if (op >= DW_OP_CONST1U && op <= DW_OP_CONST8S) {
		push(m, bytes_get(b, 1u << (op - DW_OP_CONST1U) / 2));
	} else if (op == DW_OP_CONSTU) {
		push(m, bytes_uleb(b));
	} else if (op == DW_OP_CONSTS) {
		push(m, (uint64_t)bytes_sleb(b));
	} else if (op == DW_OP_ADDR) {
		push(m, bytes_u64(b) + m->e->step->bias);
	} else if (op == DW_OP_GNU_ENCODED_ADDR) {
		push(m, encoded(m, b));
	} else if (op == DW_OP_CALL_FRAME_CFA && m->e->has_cfa) {
		push(m, m->e->cfa);
	} else {
		return false;
	}
	return true;
}

/* What moves the values on the stack. */
static bool run_stack(struct stack_machine *m, uint8_t op, struct bytes *b)
{
	uint64_t first, second, third;

	switch (op) {
	case DW_OP_DUP:
		push(m, peek(m, 0));
		return true;
	case DW_OP_DROP:
		pop(m);
		return true;
	case DW_OP_OVER:
		push(m, peek(m, 1));
		return true;
	case DW_OP_PICK:
		push(m, peek(m, bytes_u8(b)));
		return true;
	case DW_OP_SWAP:
		first = pop(m);
		second = pop(m);
		push(m, first);
		push(m, second);
		return true;
	case DW_OP_ROT:
		first = pop(m);
		second = pop(m);
		third = pop(m);
		push(m, first);
		push(m, third);
		push(m, second);
		return true;
	default:
		return op == DW_OP_NOP;
	}
}

/* What changes the value on top. */
static bool run_unary(struct stack_machine *m, uint8_t op, struct bytes *b)
{
	uint64_t value;

	switch (op) {
	case DW_OP_DEREF:
		load(m, 8);
		return true;
	case DW_OP_DEREF_SIZE:
		load(m, bytes_u8(b));
		return true;
	case DW_OP_ABS:
		value = pop(m);
		push(m, value >> 63 ? -value : value);
		return true;
	case DW_OP_NEG:
		push(m, -pop(m));
		return true;
	case DW_OP_NOT:
		push(m, ~pop(m));
		return true;
	case DW_OP_PLUS_UCONST:
		push(m, pop(m) + bytes_uleb(b));
		return true;
	default:
		return false;
	}
}

/* Signed, towards zero; what overflows wraps. */
static uint64_t divide(struct stack_machine *m, uint64_t a, uint64_t b)
{
	uint64_t size_a = a >> 63 ? -a : a, size_b = b >> 63 ? -b : b, size;

	if (!b) {
		fail(m, BOBBIN_REASON_CFI_EXPRESSION);
		return 0;
	}
	size = size_a / size_b;
	return (a ^ b) >> 63 ? -size : size;
}

static uint64_t shift_right_signed(uint64_t value, uint64_t by)
{
	const uint64_t sign = value >> 63 ? UINT64_MAX : 0;

	if (by > 63)
		return sign;
	return by ? value >> by | sign << (64 - by) : value;
}

/* Two values become one; @a was pushed first. */
static bool run_binary(struct stack_machine *m, uint8_t op, uint64_t a, uint64_t b, uint64_t *ret)
{
	const int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case DW_OP_AND:
		*ret = a & b;
		return true;
	case DW_OP_OR:
		*ret = a | b;
		return true;
	case DW_OP_XOR:
		*ret = a ^ b;
		return true;
	case DW_OP_PLUS:
		*ret = a + b;
		return true;
	case DW_OP_MINUS:
		*ret = a - b;
		return true;
	case DW_OP_MUL:
		*ret = a * b;
		return true;
	case DW_OP_DIV:
		*ret = divide(m, a, b);
		return true;
	case DW_OP_MOD:
		if (!b)
			fail(m, BOBBIN_REASON_CFI_EXPRESSION);
		*ret = b ? a % b : 0;
		return true;
	case DW_OP_SHL:
		*ret = b > 63 ? 0 : a << b;
		return true;
	case DW_OP_SHR:
		*ret = b > 63 ? 0 : a >> b;
		return true;
	case DW_OP_SHRA:
		*ret = shift_right_signed(a, b);
		return true;
	case DW_OP_EQ:
	case DW_OP_NE:
		*ret = (a == b) == (op == DW_OP_EQ);
		return true;
	case DW_OP_GE:
	case DW_OP_LT:
		*ret = (x >= y) == (op == DW_OP_GE);
		return true;
	case DW_OP_GT:
	case DW_OP_LE:
		*ret = (x > y) == (op == DW_OP_GT);
		return true;
	default:
		return false;
	}
}

/* Within the block, or to its end. */
static void jump(struct stack_machine *m, struct bytes *b, int64_t by, bool taken)
{
	uint64_t to = b->pos + (uint64_t)by;

	if (b->bad || !taken)
		return;
	if (to < m->begin || to > b->size)
		fail(m, BOBBIN_REASON_CFI_EXPRESSION);
	else
		b->pos = to;
}

static void run_one(struct stack_machine *m, struct bytes *b)
{
	uint8_t op = bytes_u8(b);
	uint64_t first, second, value = 0;
	int64_t by;

	spend(m, 1);
	if (run_value(m, op, b) || run_stack(m, op, b) || run_unary(m, op, b))
		return;
	if (op == DW_OP_SKIP || op == DW_OP_BRA) {
		by = bytes_signed(b, 2);
		jump(m, b, by, op == DW_OP_SKIP || pop(m));
		return;
	}
	second = pop(m);
	first = pop(m);
	if (!run_binary(m, op, first, second, &value))
		fail(m, BOBBIN_REASON_CFI_EXPRESSION);
	push(m, value);
}

/* The value on top in the end.  CFI_EXPRESSION: it has none; NO_REGISTER: @step->missing. */
static enum bobbin_reason evaluate(const struct evaluation *e, uint64_t *ret)
{
	struct stack_machine m;
	uint64_t value;

	m.e = e;
	m.b = e->block;
	m.begin = e->block.pos;
	m.depth = 0;
	m.reason = BOBBIN_REASON_NONE;
	if (e->has_cfa)
		push(&m, e->cfa);
	/* each turn takes one of a limited number of operations */
	while (bytes_left(&m.b) && !m.reason)
		run_one(&m, &m.b);
	value = pop(&m);
	if (m.b.bad)
		return BOBBIN_REASON_TRUNCATED;
	if (!m.reason)
		*ret = value;
	return m.reason;
}

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
