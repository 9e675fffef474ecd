/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cfi/expression.h"

#include "cfi/dwarf.h"

#define MAX_DEPTH 8

/* Operators work on values in place.  A result of SYM_NONE ends the evaluation. */
struct machine {
	const struct bobbin_arch *arch;
	struct symbolic stack[MAX_DEPTH];
	unsigned int depth;
	bool failed;
};

static void push(struct machine *m, enum symbol_kind kind, uint64_t reg, int64_t off)
{
	if (m->depth == MAX_DEPTH || kind == SYM_NONE) {
		m->failed = true;
		return;
	}
	m->stack[m->depth++] = (struct symbolic){
		.kind = (uint8_t)kind, .reg = (uint8_t)reg, .index = BOBBIN_NO_INDEX, .off = off};
}

static void push_reg(struct machine *m, uint64_t reg, int64_t off)
{
	enum symbol_kind kind = may_be_base(m->arch, reg) ? SYM_REG : SYM_NONE;

	/* lazy-binding stubs, and code that was jumped to */
	if (reg == m->arch->pc)
		kind = SYM_PC;
	push(m, kind, reg, off);
}

static bool add_constant(struct symbolic *v, int64_t n)
{
	switch (v->kind) {
	case SYM_CONST:
	case SYM_CFA:
	case SYM_REG:
	case SYM_PC:
		return !__builtin_add_overflow(v->off, n, &v->off);
	case SYM_MEM:
		return !__builtin_add_overflow(v->plus, n, &v->plus);
	default:
		return false;
	}
}

static void swap(struct symbolic *a, struct symbolic *b)
{
	struct symbolic c = *a;

	*a = *b;
	*b = c;
}

static bool add(struct symbolic *a, struct symbolic *b)
{
	if (a->kind == SYM_CONST || b->kind == SYM_REG)
		swap(a, b);
	if (b->kind == SYM_CONST)
		return add_constant(a, b->off);
	if (a->kind != SYM_REG || a->index != BOBBIN_NO_INDEX || a->plt)
		return false;
	if (b->kind == SYM_INDEX)
		a->index = b->reg;
	else if (b->kind == SYM_PC_STEP)
		a->plt = b->plt;
	else
		return false;
	return true;
}

/* Without the wider type or the signed division that BPF lacks. */
static bool multiply_constants(int64_t a, int64_t b, int64_t *ret)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b, limit = INT64_MAX;

	*ret = (int64_t)(x * y);
	limit += (a < 0) != (b < 0);
	x = a < 0 ? -x : x;
	y = b < 0 ? -y : y;
	return !y || x <= limit / y;
}

static bool multiply(struct symbolic *v, int64_t n)
{
	if (v->kind == SYM_PC_GE && n == 8)
		v->kind = SYM_PC_STEP;
	else if (v->kind == SYM_REG && n == 8 && !v->off && !v->plt && v->index == BOBBIN_NO_INDEX)
		v->kind = SYM_INDEX;
	else
		return v->kind == SYM_CONST && multiply_constants(v->off, n, &v->off);
	return true;
}

static bool and_15(struct symbolic *v, int64_t n)
{
	if (v->kind != SYM_PC || v->off || n != 15)
		return false;
	v->kind = SYM_PC_LOW;
	return true;
}

static bool compare_low(struct symbolic *v, int64_t n)
{
	if (v->kind != SYM_PC_LOW || n < 1 || n > 15)
		return false;
	v->kind = SYM_PC_GE;
	v->plt = (uint8_t)n;
	return true;
}

/* The result replaces @a. */
static bool combine(uint8_t op, struct symbolic *a, struct symbolic *b)
{
	if (op == DW_OP_PLUS)
		return add(a, b);
	if (op == DW_OP_MUL && a->kind == SYM_CONST)
		swap(a, b);
	if (b->kind != SYM_CONST)
		return false;

	switch (op) {
	case DW_OP_MINUS:
		return b->off != INT64_MIN && add_constant(a, -b->off);
	case DW_OP_MUL:
		return multiply(a, b->off);
	case DW_OP_SHL:
		return b->off >= 0 && b->off < 62 && multiply(a, (int64_t)1 << b->off);
	case DW_OP_AND:
		return and_15(a, b->off);
	case DW_OP_GE:
		return compare_low(a, b->off);
	default:
		return false;
	}
}

/* One load, and no address that depends on the PC. */
static bool load(struct symbolic *v)
{
	if (v->kind != SYM_REG || v->plt)
		return false;
	v->kind = SYM_MEM;
	return true;
}

static bool run_constant(struct machine *m, uint8_t op, struct bytes *b)
{
	if (op >= DW_OP_LIT0 && op <= DW_OP_LIT31)
		push(m, SYM_CONST, 0, op - DW_OP_LIT0);
	else if (op >= DW_OP_CONST1U && op <= DW_OP_CONST8S && (op & 1))
		push(m, SYM_CONST, 0, bytes_signed(b, 1u << (op - DW_OP_CONST1U) / 2));
	else if (op >= DW_OP_CONST1U && op <= DW_OP_CONST8S)
		push(m, SYM_CONST, 0, (int64_t)bytes_get(b, 1u << (op - DW_OP_CONST1U) / 2));
	else if (op == DW_OP_CONSTU)
		push(m, SYM_CONST, 0, (int64_t)bytes_uleb(b));
	else if (op == DW_OP_CONSTS)
		push(m, SYM_CONST, 0, bytes_sleb(b));
	else
		return false;
	return true;
}

/* What changes the value on top, and first takes one off if there have to be two. */
static BOBBIN_OUT_OF_LINE bool run_operator(struct machine *m, uint8_t op, struct bytes *b)
{
	struct symbolic *top = m->stack + m->depth;

	if (!m->depth)
		return false;
	top--;
	if (op == DW_OP_PLUS_UCONST)
		return add_constant(top, (int64_t)bytes_uleb(b));
	if (op == DW_OP_DEREF)
		return load(top);
	if (m->depth < 2)
		return false;
	m->depth--;
	return combine(op, top - 1, top);
}

static void run_one(struct machine *m, struct bytes *b)
{
	uint8_t op = bytes_u8(b);
	uint64_t reg;

	if (run_constant(m, op, b))
		return;
	if (op >= DW_OP_BREG0 && op <= DW_OP_BREG31) {
		push_reg(m, op - DW_OP_BREG0, bytes_sleb(b));
	} else if (op == DW_OP_BREGX) {
		reg = bytes_uleb(b);
		push_reg(m, reg, bytes_sleb(b));
	} else if (op != DW_OP_NOP && !run_operator(m, op, b)) {
		m->failed = true;
	}
}

void expression_value(const struct bobbin_arch *arch, struct bytes *b, bool with_cfa,
		      struct symbolic *ret)
{
	struct machine m;

	m.arch = arch;
	m.depth = 0;
	m.failed = false;
	if (with_cfa)
		push(&m, SYM_CFA, 0, 0);
	while (bytes_left(b) && !m.failed)
		run_one(&m, b);
	if (m.failed || b->bad || !m.depth)
		*ret = (struct symbolic){.kind = SYM_NONE, .index = BOBBIN_NO_INDEX};
	else
		*ret = m.stack[m.depth - 1];
}
