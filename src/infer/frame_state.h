/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_state.h - what is known of registers and stack before an instruction.
 *
 *	frame_state_entry(&state, machine);
 *	frame_state_step(&state, insn, number);		for each instruction, in the order of control
 *	frame_state_join(&at_label, &state, &changed);	where control comes from several places
 *	frame_state_rule(&state, &rule);
 *
 * Stores through pointers of which nothing is known are taken not to hit what a function saved.
 */
#ifndef BOBBIN_INFER_FRAME_STATE_H
#define BOBBIN_INFER_FRAME_STATE_H

#include <bobbin/rule.h>
#include <bobbin/types.h>

#include "infer/machine.h"

/*
 * What is known of a register or of a word of the stack.
 *
 * A value is one word, so that values compare with ==.
 *
 *	bits 0 to 3	its kind
 *	bits 4 to 63	of CONSTANT and the kinds after it: a signed number
 *	bits 4 to 27	of BASE: which base
 *	bits 28 to 63	of BASE: a signed offset from it
 *	bits 4 to 38	of CASE_FROM: the address of the table
 *	bits 39 to 63	of CASE_FROM: a signed distance from it to the address
 *	bits 4 to 6	of ENTRY and CASE_NARROW: the form of what is in the table
 *	bits 7 to 63	of ENTRY: the address of the table
 *	bit 7		of CASE_NARROW: entries count instructions, not bytes
 *	bits 8 to 39	of CASE_NARROW: the address of the table
 *	bits 40 to 63	of CASE_NARROW: a signed distance from it to the address, in instructions
 *
 * Base 0 is the CFA.  Others are what the stack pointer was after an instruction that moved
 * it by an unknown distance; such a base has the instruction's number.
 */

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
	VALUE_ENTRY,        /* loaded from a table of distances of any size at this address */
	VALUE_CASE_NARROW,  /* the sum of such a distance, maybe times four, and of an address */
	VALUE_SLOT,         /* the word at this address */
};

/* Bits of the form of an entry: the logarithm of its bytes, and whether it has a sign. */
#define VALUE_ENTRY_SIZE 3u
#define VALUE_ENTRY_SIGNED 4u

#define VALUE_KIND_BITS 4
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
/* The return address, signed by key A or B. */
#define VALUE_SIGNED_RETURN(key) VALUE_NAME(2 + (key))

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

#define VALUE_TABLE_BITS 35
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

/* An entry of a table of distances, of a form as above. */
static inline value value_entry(int64_t table, unsigned int form)
{
	if (table < 0 || table >> VALUE_TABLE_BITS)
		return VALUE_NONE;
	return (value)table << (VALUE_KIND_BITS + 3) | (value)form << VALUE_KIND_BITS | VALUE_ENTRY;
}

/* The form of ENTRY and CASE_NARROW. */
static inline unsigned int value_form(value v)
{
	return (unsigned int)(v >> VALUE_KIND_BITS & 7);
}

static inline int64_t value_entry_table(value v)
{
	return (int64_t)v >> (VALUE_KIND_BITS + 3);
}

/* An entry of a table, times four if it is @scaled, added to the address of an instruction. */
static inline value value_case_narrow(value entry, int64_t from, bool scaled)
{
	const int64_t table = value_entry_table(entry), distance = from / 4 - table / 4;

	if (from & 3 || from < 0 || table >> 32 || distance >= 1 << 23 || distance < -(1 << 23))
		return VALUE_NONE;
	return (value)distance << 40 | (value)table << 8 | (value)scaled << 7 |
	       (value)value_form(entry) << VALUE_KIND_BITS | VALUE_CASE_NARROW;
}

static inline int64_t value_narrow_table(value v)
{
	return (int64_t)(v >> 8 & UINT32_MAX);
}

static inline int64_t value_narrow_from(value v)
{
	return (value_narrow_table(v) / 4 + ((int64_t)v >> 40)) * 4;
}

static inline bool value_narrow_scaled(value v)
{
	return v >> 7 & 1;
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

/* Stack words that are tracked; further stores are ignored. */
#define FRAME_SLOTS 64

/* A stack word: its address, a BASE, and its value. */
struct frame_slot {
	value at, held;
};

/**
 * struct frame_state - what is known
 * @machine: whose registers they are
 * @regs: of the registers
 * @limit: what the last comparison has left of a value: it is less than this; 0: not known
 * @compared: the last instruction compared with this, less one; negative: it did not
 * @equal: the last instruction compared the stack pointer with this register, or NO_REG
 * @count: words of the stack
 * @lost_ra: the return address may have been overwritten where it was
 * @left: the stack pointer was loaded from where nothing is known: it is another frame's
 * @slots: the words
 */
struct frame_state {
	const struct machine *machine;
	value regs[INSN_REGS];
	int32_t limit, compared;
	uint16_t count;
	bool lost_ra, left;
	uint8_t equal;
	struct frame_slot slots[FRAME_SLOTS];
};

/* Bytes of a state that is cut after @count slots. */
#define FRAME_STATE_SIZE(count) \
	(offsetof(struct frame_state, slots) + (count) * sizeof(struct frame_slot))

/* The state before the first instruction of a function. */
void frame_state_entry(struct frame_state *ret, const struct machine *machine);

static inline value frame_state_sp(const struct frame_state *state)
{
	return state->regs[state->machine->sp];
}

/* Execute an instruction; @number: of it in the function, names new bases. */
void frame_state_step(struct frame_state *state, const struct insn *insn, uint32_t number);

/* What a branch tells about its operands where it is taken, or is not. */
void frame_state_branch(struct frame_state *state, const struct insn *branch, bool taken);

/* Execute a call that returns with the stack pointer unchanged; @keeps: see struct callee_effect. */
void frame_state_call(struct frame_state *state, unsigned int keeps);

/* How two states of one instruction agree. */
enum frame_join {
	JOIN_AGREES,
	JOIN_MOVES, /* the stack pointers differ, or one is unknown */
	JOIN_LOSES, /* the CFA was known, and no longer is */
};

/* Push a value that is in no register. */
void frame_state_push(struct frame_state *state, value held);

/* Keep in @into, which may be cut after its slots, what holds in both states. */
enum frame_join frame_state_join(struct frame_state *into, const struct frame_state *from,
				 bool *changed);

/* Whether stack and frame pointer are the caller's, but for the return address. */
bool frame_state_is_undone(const struct frame_state *state);

/* Whether a return would lead to the caller, wherever on the stack the return address is now. */
bool frame_state_may_return(const struct frame_state *state);

/*
 * Whether a state that has no rule is that of a function which has given up its frame, and not one of
 * which too little is known: the return address is on its way to the end of what was taken off the
 * stack, as arguments of a number that the function counts, or the stack pointer is another frame's.
 */
bool frame_state_is_left(const struct frame_state *state);

/*
 * Whether an instruction takes the return address for that of data.  No function does, so that what
 * looks like one's start is a part of another, with something else in that place.
 */
bool frame_state_mistakes_return(const struct frame_state *state, const struct insn *insn);

/* Whether the return address has been taken off the stack. */
bool frame_state_has_popped(const struct frame_state *state);

/* The value of a stack word; of the caller's frame only the return address is known. */
value frame_state_word(const struct frame_state *state, value at);

/* The value that a load, or a jump through memory, reads. */
value frame_state_load(const struct frame_state *state, const struct insn *insn);

/* The address of a memory operand, or VALUE_NONE. */
value frame_state_address(const struct frame_state *state, const struct insn *insn);

/* Whether an instruction takes the stack pointer from a frame pointer that gives the CFA. */
bool frame_state_leaves(const struct frame_state *state, const struct insn *insn);

/*
 * The unwind rule for a state, by the frame pointer rather than the stack pointer if @by_fp; false:
 * there is none, for example because the return address is below SP.
 */
bool frame_state_rule(const struct frame_state *state, bool by_fp, struct bobbin_rule *ret);

#endif
