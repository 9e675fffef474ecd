/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* program_code.h - the code of a file, and where its data say that functions start. */
#ifndef BOBBIN_INFER_PROGRAM_CODE_H
#define BOBBIN_INFER_PROGRAM_CODE_H

#include <bobbin/types.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/coverage.h"
#include "infer/machine.h"

/* A set of addresses of code: a bit for each byte. */
struct code_set {
	uint8_t *bits;
	uint64_t base, size;
};

/* For addresses from @start to before @end.  0, -ENOMEM. */
static inline int code_set_init(struct code_set *set, uint64_t start, uint64_t end)
{
	*set = (struct code_set){calloc((end - start) / 8 + 1, 1), start, end - start};
	return set->bits ? 0 : -ENOMEM;
}

static inline void code_set_fini(struct code_set *set)
{
	free(set->bits);
}

static inline bool code_set_has(const struct code_set *set, uint64_t addr)
{
	const uint64_t at = addr - set->base;

	return at < set->size && set->bits[at / 8] & 1u << at % 8;
}

static inline void code_set_add(struct code_set *set, uint64_t start, uint64_t end)
{
	for (uint64_t at = start - set->base; at < end - set->base && at < set->size; at++)
		set->bits[at / 8] |= (uint8_t)(1u << at % 8);
}

/* Loaded bytes; @exec: of code.  Those beyond the file's are zero, and are not here. */
struct program_span {
	uint64_t addr, size;
	uint8_t *bytes;
	bool exec;
};

/*
 * How it is known that something starts at an address.  A function certainly does where a symbol
 * or a call says so; other starts may be parts of functions.
 */
enum {
	START_SYMBOL = 1 << 0,
	START_CALLED = 1 << 1,
	START_ENTRY = 1 << 2,
	START_POINTER = 1 << 3,   /* its address is in data, or is computed */
	START_PART = 1 << 4,      /* the range of a table */
	START_NO_RETURN = 1 << 5, /* its name says so */
	START_LABEL = 1 << 6,     /* a symbol that may be a label inside a function */
	START_ENDS = 1 << 7,      /* found not to return, so far */
};

#define START_CERTAIN (START_SYMBOL | START_CALLED | START_ENTRY)
/* A start of another kind may be a label inside a function, and ends no function. */
#define START_BOUND (START_CERTAIN | START_PART | START_LABEL)

/* The effect of a call on the caller, beside the call-clobbered registers. */
enum callee_end {
	CALLEE_UNKNOWN,  /* assumed to return with the stack pointer unchanged, as by the ABI */
	CALLEE_RETURNS,  /* returns with the stack pointer moved by a known distance, mostly 0 */
	CALLEE_DROPS,    /* pops the return address and uses the one above it */
	CALLEE_REPLACES, /* overwrites the return address with a target */
};

/**
 * struct callee_effect - the same
 * @moves: RETURNS: the stack pointer after the call, less what it was before.  DROPS: where the
 *	return address is instead, from the caller's stack pointer
 * @keeps: registers that calls may change, and that it does not: compilers keep values there in
 *	callers of functions that they know
 * @end: enum callee_end
 * @loses_fp: the frame pointer is not the caller's any more
 * @leaves: it is left by what cannot be a switch, so that a jump to it is a tail call
 */
struct callee_effect {
	int32_t moves;
	uint32_t keeps;
	uint8_t end;
	bool loses_fp, leaves;
};

/**
 * struct flow_outcome - what has become of a function
 * @verified: each return is reached with the frame undone, and nothing contradicts
 * @no_return: it was followed to all its ends, and none of them is a return
 * @spent: its budget was spent: there is no result
 * @rejected: it is none: it contradicts itself or others; there is no result
 * @by_fp: it takes the stack pointer from the frame pointer, so the latter has to be right after
 *	calls, and the former need not
 * @exits: returns, and jumps to other functions, with the frame undone
 * @proofs: of these, those that can be nothing else: a jump that is not resolved may be a switch
 * @assumed: calls that are taken to return, and to keep the stack pointer
 * @instructions: that were reached
 * @unresolved: jumps that lead where nobody knows
 * @returns: of any kind
 * @effect: on its callers
 */
struct flow_outcome {
	bool verified, no_return, spent, rejected, by_fp;
	uint32_t exits, proofs, assumed, instructions, unresolved, returns;
	struct callee_effect effect;
};

/**
 * struct program_start - where something starts
 * @flags: how that is known
 * @callback: of @pointed: code calls it by its address, or hands that on, see callbacks_note()
 * @effect: so far
 */
struct program_start {
	uint64_t addr;
	uint8_t flags;
	bool callback;
	struct callee_effect effect;
};

/* A word of data that holds an address once the file is loaded. */
struct program_pointer {
	uint64_t at, value;
};

/* Exceptions of the calls from @start to @end continue at @pad. */
struct program_pad {
	uint64_t start, end, pad;
};

/**
 * struct program - what is known of a file before its code is read
 * @machine: whose code it is
 * @spans, @span_count: loaded bytes, ascending
 * @code: where there is code, settled
 * @starts, @start_count: ascending after program_settle(), then all of START_BOUND
 * @pointed, @pointed_count: the other starts, ascending, after program_settle()
 * @pointers, @pointer_count: likewise
 * @imports, @import_count: words that hold addresses of functions of other files
 * @no_return, @no_return_count: words that hold addresses of functions that do not return
 * @tables, @table_count: addresses outside of code that code computes
 * @pads, @pad_count: landing pads
 * @fixed, @fixed_end: data that is written by the loader alone
 * @absolute: the file is loaded where it says, so that its code may have addresses as numbers
 * @table_entries: of tables of functions that callbacks_note() has looked at
 */
struct program {
	const struct machine *machine;
	struct program_span *spans;
	size_t span_count, span_capacity;
	struct coverage code;
	struct program_start *starts;
	size_t start_count, start_capacity;
	struct program_start *pointed;
	size_t pointed_count, pointed_capacity;
	struct program_pointer *pointers;
	size_t pointer_count, pointer_capacity;
	uint64_t *imports;
	size_t import_count, import_capacity;
	uint64_t *no_return;
	size_t no_return_count, no_return_capacity;
	uint64_t *tables;
	size_t table_count, table_capacity;
	struct program_pad *pads;
	size_t pad_count, pad_capacity;
	uint64_t fixed, fixed_end;
	bool absolute;
	uint32_t table_entries;
};

void program_fini(struct program *program);

/* 0, -ENOMEM. */
int program_add_start(struct program *program, uint64_t addr, unsigned int flags);
int program_add_pad(struct program *program, uint64_t start, uint64_t end, uint64_t pad);

/*
 * Sort all but the code; starts outside of it are left out, several at one place become one.
 * 0, -ENOMEM.
 */
int program_settle(struct program *program);

/* Sort what program_word() looks at, for use before all is settled. */
void program_sort_pointers(struct program *program);

/* The range of code that holds an address, or NULL. */
const struct bobbin_range *program_code(const struct program *program, uint64_t addr);

/* The bytes at an address, and in *@size how many there are; NULL: none are loaded. */
const uint8_t *program_bytes(const struct program *program, uint64_t addr, uint64_t *size);

/* The word of data at an address; false: there is none. */
bool program_word(const struct program *program, uint64_t addr, uint64_t *ret);

/* The last start at or before an address, or NULL.  And where the next one is, or code ends. */
struct program_start *program_start(const struct program *program, uint64_t addr);
uint64_t program_next(const struct program *program, uint64_t addr);

/* What @pointed has of an address, or NULL. */
struct program_start *program_pointed(const struct program *program, uint64_t addr);

/* The first address after @addr that code computes; UINT64_MAX: there is none. */
uint64_t program_next_table(const struct program *program, uint64_t addr);

/* Whether the function whose address is in a word does not return. */
bool program_slot_ends(const struct program *program, uint64_t at);

/* The address that a word of data always holds once the file is loaded; false: it may change. */
bool program_fixed_word(const struct program *program, uint64_t addr, uint64_t *ret);

/* Whether a word holds the address of a function that another file may have. */
bool program_is_import(const struct program *program, uint64_t at);

/* Whether the function at an address does not return, as far as is known. */
bool program_call_ends(const struct program *program, uint64_t addr);

/* The landing pad of the call before an address; false: it has none. */
bool program_pad_of(const struct program *program, uint64_t after, uint64_t *ret);

struct insn_decoder;

/*
 * What the entry hands to the C library becomes known as starts; @program is settled, and will have to
 * be again.  0, -ENOMEM.
 */
int main_start_find(struct program *program, const struct insn_decoder *decoder);

/* Read all code once, from each start that is known; settles the program.  0, -ENOMEM. */
int sweep_program(struct program *program, const struct insn_decoder *decoder);

#endif
