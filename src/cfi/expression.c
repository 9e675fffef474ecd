/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cfi/expression.h"

#include "cfi/dwarf.h"

#define MAX_DEPTH 8

struct machine {
	const struct bobbin_arch *arch;
	struct symbolic stack[MAX_DEPTH];
	unsigned int depth;
	bool failed;
};

static const struct symbolic nothing = {.index = BOBBIN_NO_INDEX};

static void push(struct machine *m, struct symbolic v)
{
	if (m->depth == MAX_DEPTH || v.kind == SYM_NONE) {
		m->failed = true;
		return;
	}
	m->stack[m->depth++] = v;
}

static struct symbolic pop(struct machine *m)
{
	if (!m->depth) {
		m->failed = true;
		return nothing;
	}
	return m->stack[--m->depth];
}

static struct symbolic constant(int64_t value)
{
	struct symbolic v = nothing;

	v.kind = SYM_CONST;
	v.off = value;
	return v;
}

static struct symbolic reg_plus(const struct machine *m, uint64_t reg, int64_t off)
{
	struct symbolic v = nothing;

	/* x86-64 calls the PC's column 16: only the lazy-binding stubs look at it */
	if (m->arch->default_ra_off && reg == m->arch->ra && !off)
		v.kind = SYM_PC;
	else if (reg < BOBBIN_REG_COUNT)
		v.kind = SYM_REG;
	v.reg = (uint8_t)reg;
	v.off = off;
	return v;
}

static struct symbolic add_constant(struct symbolic v, int64_t n)
{
	bool overflow;

	switch (v.kind) {
	case SYM_CONST:
	case SYM_CFA:
	case SYM_REG:
		overflow = __builtin_add_overflow(v.off, n, &v.off);
		break;
	case SYM_MEM:
		overflow = __builtin_add_overflow(v.plus, n, &v.plus);
		break;
	default:
		return nothing;
	}
	return overflow ? nothing : v;
}

static struct symbolic add(struct symbolic a, struct symbolic b)
{
	if (b.kind == SYM_CONST)
		return add_constant(a, b.off);
	if (a.kind == SYM_CONST)
		return add_constant(b, a.off);
	if (b.kind == SYM_REG) {
		struct symbolic swap = a;

		a = b;
		b = swap;
	}
	if (a.kind != SYM_REG || a.index != BOBBIN_NO_INDEX || a.plt)
		return nothing;
	if (b.kind == SYM_INDEX)
		a.index = b.reg;
	else if (b.kind == SYM_PC_STEP)
		a.plt = b.plt;
	else
		return nothing;
	return a;
}

static struct symbolic multiply(struct symbolic a, int64_t n)
{
	struct symbolic v = a;

	if (a.kind == SYM_PC_GE && n == 8)
		v.kind = SYM_PC_STEP;
	else if (a.kind == SYM_REG && n == 8 && !a.off && !a.plt && a.index == BOBBIN_NO_INDEX)
		v.kind = SYM_INDEX;
	else if (a.kind != SYM_CONST || __builtin_mul_overflow(a.off, n, &v.off))
		return nothing;
	return v;
}

static struct symbolic deref(struct symbolic v)
{
	/* one load, and no address that depends on the PC */
	if (v.kind != SYM_REG || v.plt)
		return nothing;
	v.kind = SYM_MEM;
	return v;
}

static struct symbolic binary(uint8_t op, struct symbolic a, struct symbolic b)
{
	if (op == OP_PLUS)
		return add(a, b);
	if (b.kind != SYM_CONST)
		return op == OP_MUL && a.kind == SYM_CONST ? multiply(b, a.off) : nothing;

	switch (op) {
	case OP_MINUS:
		return b.off == INT64_MIN ? nothing : add_constant(a, -b.off);
	case OP_MUL:
		return multiply(a, b.off);
	case OP_SHL:
		return b.off >= 0 && b.off < 62 ? multiply(a, (int64_t)1 << b.off) : nothing;
	case OP_AND:
		if (a.kind != SYM_PC || b.off != 15)
			return nothing;
		a.kind = SYM_PC_LOW;
		return a;
	case OP_GE:
		if (a.kind != SYM_PC_LOW || b.off < 1 || b.off > 15)
			return nothing;
		a.kind = SYM_PC_GE;
		a.plt = (uint8_t)b.off;
		return a;
	default:
		return nothing;
	}
}

static void run_binary(struct machine *m, uint8_t op)
{
	struct symbolic b = pop(m), a = pop(m);

	push(m, binary(op, a, b));
}

static bool run_constant(struct machine *m, uint8_t op, struct bytes *b)
{
	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(m, constant(op - OP_LIT0));
	else if (op >= OP_CONST1U && op <= OP_CONST8S && (op & 1))
		push(m, constant(bytes_signed(b, 1u << (op - OP_CONST1U) / 2)));
	else if (op >= OP_CONST1U && op <= OP_CONST8S)
		push(m, constant((int64_t)bytes_get(b, 1u << (op - OP_CONST1U) / 2)));
	else if (op == OP_CONSTU)
		push(m, constant((int64_t)bytes_uleb(b)));
	else if (op == OP_CONSTS)
		push(m, constant(bytes_sleb(b)));
	else
		return false;
	return true;
}

static void run_operator(struct machine *m, struct bytes *b)
{
	uint8_t op = bytes_u8(b);
	uint64_t reg;

	if (run_constant(m, op, b))
		return;
	if (op >= OP_BREG0 && op <= OP_BREG31) {
		push(m, reg_plus(m, op - OP_BREG0, bytes_sleb(b)));
		return;
	}
	switch (op) {
	case OP_BREGX:
		reg = bytes_uleb(b);
		push(m, reg_plus(m, reg, bytes_sleb(b)));
		return;
	case OP_PLUS_UCONST:
		push(m, add_constant(pop(m), (int64_t)bytes_uleb(b)));
		return;
	case OP_DEREF:
		push(m, deref(pop(m)));
		return;
	case OP_NOP:
		return;
	default:
		run_binary(m, op);
	}
}

struct symbolic expression_value(const struct bobbin_arch *arch, struct bytes b, bool with_cfa)
{
	struct machine m = {.arch = arch};
	struct symbolic v = nothing;

	if (with_cfa) {
		v.kind = SYM_CFA;
		push(&m, v);
	}
	while (bytes_left(&b) && !m.failed)
		run_operator(&m, &b);
	if (m.failed || b.bad || !m.depth)
		return nothing;
	return pop(&m);
}
