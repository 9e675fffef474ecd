/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "dwarf_value.h"

#include <dwarf.h>

#define DEPTH 64

struct stack {
	uint64_t word[DEPTH];
	unsigned int depth;
	bool value; /* the top is the value itself */
	bool failed;
};

/* The finalizer of a well-known small generator: distinct inputs, distinct outputs. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

struct machine machine_of(uint64_t n)
{
	struct machine m = {.salt = mix(n + 1)};

	for (unsigned int i = 0; i < 128; i++)
		m.reg[i] = mix(m.salt + i);
	return m;
}

uint64_t machine_word(const struct machine *m, uint64_t addr)
{
	return mix(addr ^ m->salt);
}

static void push(struct stack *s, uint64_t v)
{
	if (s->depth == DEPTH)
		s->failed = true;
	else
		s->word[s->depth++] = v;
}

static uint64_t pop(struct stack *s)
{
	if (!s->depth) {
		s->failed = true;
		return 0;
	}
	return s->word[--s->depth];
}

static uint64_t binary(uint8_t op, uint64_t a, uint64_t b, bool *known)
{
	switch (op) {
	case DW_OP_plus:
		return a + b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_ge:
		return (int64_t)a >= (int64_t)b;
	case DW_OP_gt:
		return (int64_t)a > (int64_t)b;
	case DW_OP_le:
		return (int64_t)a <= (int64_t)b;
	case DW_OP_lt:
		return (int64_t)a < (int64_t)b;
	case DW_OP_eq:
		return a == b;
	case DW_OP_ne:
		return a != b;
	default:
		*known = false;
		return 0;
	}
}

static void run_binary(struct stack *s, uint8_t op)
{
	uint64_t b = pop(s), a = pop(s);
	bool known = true;

	push(s, binary(op, a, b, &known));
	if (!known)
		s->failed = true;
}

/* libdw has sign-extended the constants already. */
static void run_op(const struct machine *m, struct stack *s, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_lit0 ... DW_OP_lit31:
		push(s, op->atom - DW_OP_lit0);
		break;
	case DW_OP_const1u ... DW_OP_consts:
	case DW_OP_addr:
		push(s, op->number);
		break;
	case DW_OP_breg0 ... DW_OP_breg31:
		push(s, m->reg[op->atom - DW_OP_breg0] + op->number);
		break;
	case DW_OP_bregx:
		push(s, m->reg[op->number & 127] + op->number2);
		break;
	case DW_OP_reg0 ... DW_OP_reg31:
		push(s, m->reg[op->atom - DW_OP_reg0]);
		s->value = true;
		break;
	case DW_OP_regx:
		push(s, m->reg[op->number & 127]);
		s->value = true;
		break;
	case DW_OP_plus_uconst:
		push(s, pop(s) + op->number);
		break;
	case DW_OP_call_frame_cfa:
		push(s, m->cfa);
		break;
	case DW_OP_deref:
		push(s, machine_word(m, pop(s)));
		break;
	case DW_OP_stack_value:
		s->value = true;
		break;
	case DW_OP_nop:
		break;
	default:
		run_binary(s, op->atom);
	}
}

bool dwarf_value(const struct machine *m, const Dwarf_Op *ops, size_t count, bool location,
		 uint64_t *ret)
{
	struct stack s = {0};
	uint64_t top;

	for (size_t i = 0; i < count && !s.failed; i++)
		run_op(m, &s, &ops[i]);
	top = pop(&s);
	if (s.failed)
		return false;
	*ret = location && !s.value ? machine_word(m, top) : top;
	return true;
}
