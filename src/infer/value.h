/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * value.h - what is known of a register or of a word of the stack.
 *
 * A value is one word, so that values compare with ==.
 *
 *	bits 0 to 2	its kind
 *	bits 3 to 63	of CONSTANT and the kinds after it: a signed number
 *	bits 3 to 26	of BASE: which base
 *	bits 27 to 63	of BASE: a signed offset from it
 *	bits 3 to 38	of CASE_FROM: the address of the table
 *	bits 39 to 63	of CASE_FROM: a signed distance from it to the address
 *
 * Base 0 is the CFA.  Others are what the stack pointer was after an instruction that moved
 * it by an unknown distance; such a base has the instruction's number.
 */
#ifndef BOBBIN_INFER_VALUE_H
#define BOBBIN_INFER_VALUE_H

#include <bobbin/types.h>

typedef uint64_t value;

enum value_kind {
	VALUE_UNKNOWN,
	VALUE_NAMED, /* one of those below */
	VALUE_BASE,
	VALUE_CONSTANT,
	VALUE_ENTRY_OF_S32, /* loaded from a table of 32-bit distances at this address */
	VALUE_ENTRY_OF_U64, /* loaded from a table of addresses at this address */
	VALUE_CASE,         /* the sum of the address of a table of distances, and of one of them */
	VALUE_CASE_FROM,    /* likewise, of another address than that of the table */
};

#define VALUE_KIND_BITS 3
#define VALUE_BASE_BITS 24
#define VALUE_MAX_BASES (1u << VALUE_BASE_BITS)
#define VALUE_CFA 0u

/* Offsets and numbers outside of these are not followed. */
#define VALUE_MAX_OFFSET ((int64_t)1 << 32)
#define VALUE_MAX_NUMBER ((int64_t)1 << 56)

#define VALUE_NONE ((value)VALUE_UNKNOWN)
#define VALUE_NAME(number) ((value)(number) << VALUE_KIND_BITS | VALUE_NAMED)
/* What the function found at its start. */
#define VALUE_CALLERS_FP VALUE_NAME(0)
#define VALUE_RETURN VALUE_NAME(1)
/* Something times four, which may be the place of an entry in a table. */
#define VALUE_TIMES_FOUR VALUE_NAME(2)

static inline enum value_kind value_kind(value v)
{
	return (enum value_kind)(v & ((1u << VALUE_KIND_BITS) - 1));
}

static inline value value_number(enum value_kind kind, int64_t number)
{
	if (number < -VALUE_MAX_NUMBER || number > VALUE_MAX_NUMBER)
		return VALUE_NONE;
	return (value)number << VALUE_KIND_BITS | (value)kind;
}

static inline int64_t value_of_number(value v)
{
	return (int64_t)v >> VALUE_KIND_BITS;
}

static inline value value_on_base(uint32_t base, int64_t offset)
{
	if (offset < -VALUE_MAX_OFFSET || offset > VALUE_MAX_OFFSET)
		return VALUE_NONE;
	return (value)offset << (VALUE_KIND_BITS + VALUE_BASE_BITS) |
	       (value)base << VALUE_KIND_BITS | VALUE_BASE;
}

static inline uint32_t value_base(value v)
{
	return (uint32_t)(v >> VALUE_KIND_BITS) & (VALUE_MAX_BASES - 1);
}

static inline int64_t value_offset(value v)
{
	return (int64_t)v >> (VALUE_KIND_BITS + VALUE_BASE_BITS);
}

#define VALUE_TABLE_BITS 36
#define VALUE_MAX_DISTANCE ((int64_t)1 << (64 - VALUE_KIND_BITS - VALUE_TABLE_BITS - 1))

/* An entry of a table of distances, added to an address. */
static inline value value_case(int64_t table, int64_t from)
{
	const int64_t distance = from - table;

	if (!distance)
		return value_number(VALUE_CASE, table);
	if (table < 0 || table >> VALUE_TABLE_BITS || distance >= VALUE_MAX_DISTANCE ||
	    distance < -VALUE_MAX_DISTANCE)
		return VALUE_NONE;
	return (value)distance << (VALUE_KIND_BITS + VALUE_TABLE_BITS) |
	       (value)table << VALUE_KIND_BITS | VALUE_CASE_FROM;
}

static inline int64_t value_case_table(value v)
{
	if (value_kind(v) == VALUE_CASE)
		return value_of_number(v);
	return (int64_t)(v >> VALUE_KIND_BITS & (((value)1 << VALUE_TABLE_BITS) - 1));
}

static inline int64_t value_case_from(value v)
{
	if (value_kind(v) == VALUE_CASE)
		return value_of_number(v);
	return value_case_table(v) + ((int64_t)v >> (VALUE_KIND_BITS + VALUE_TABLE_BITS));
}

/* Whether a value is a known distance from the CFA. */
static inline bool value_is_cfa(value v)
{
	return value_kind(v) == VALUE_BASE && value_base(v) == VALUE_CFA;
}

/* A value and a known number. */
static inline value value_plus(value v, int64_t number)
{
	if (number < -VALUE_MAX_NUMBER || number > VALUE_MAX_NUMBER)
		return VALUE_NONE;
	if (value_kind(v) == VALUE_BASE)
		return value_on_base(value_base(v), value_offset(v) + number);
	if (value_kind(v) == VALUE_CONSTANT)
		return value_number(VALUE_CONSTANT, value_of_number(v) + number);
	return number ? VALUE_NONE : v;
}

#endif
