/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * expression.h - DWARF expressions as far as a rule can hold their value.
 *
 * An expression is evaluated symbolically.  A value is one of
 *
 *	constant		off
 *	CFA + off		at the start of a register's expression
 *	reg + off + 8 * index	what rules call AT_REG
 *	*(reg + ...) + plus	what rules call IN_REG_MEM
 *	8 * index		on the way to the above
 *	pc + off		what rules call AT_PC
 *	pc & 15, (pc & 15) >= N, 8 * ((pc & 15) >= N)
 *				the linkers' lazy-binding stubs
 *
 * All others are no values.
 */
#ifndef BOBBIN_CFI_EXPRESSION_H
#define BOBBIN_CFI_EXPRESSION_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#include "core/bytes.h"

enum symbol_kind {
	SYM_NONE,
	SYM_CONST,
	SYM_CFA,
	SYM_REG,
	SYM_MEM,
	SYM_INDEX,
	SYM_PC,
	SYM_PC_LOW,
	SYM_PC_GE,
	SYM_PC_STEP,
};

struct symbolic {
	int64_t off;
	int64_t plus; /* MEM: added to what was loaded */
	uint8_t kind; /* enum symbol_kind */
	uint8_t reg;
	uint8_t index; /* BOBBIN_NO_INDEX, or a register: + 8 * it */
	uint8_t plt;   /* REG: + 8 where (pc & 15) >= plt; 0: not */
};

/*
 * Whether a rule may count from a register.  x86-64 has the vector registers behind the PC,
 * which no walker knows.
 */
static inline bool may_be_base(const struct bobbin_arch *arch, uint64_t reg)
{
	return reg < BOBBIN_REG_COUNT && reg <= arch->pc;
}

/*
 * Evaluate the expression in @b, up to its end.  @with_cfa: the CFA is on the
 * stack, as for registers' rules.  SYM_NONE: no rule can hold the value.
 */
void expression_value(const struct bobbin_arch *arch, struct bytes *b, bool with_cfa,
		      struct symbolic *ret);

#endif
