/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * insn.h - what an instruction does to what is followed, whatever machine it is of.
 *
 * Followed are the 64-bit registers, the stack, and where control goes.  Everything else
 * that an instruction does is left out, so most are NOTHING or change only the registers of
 * their mask.  Registers have the numbers of their machine.
 */
#ifndef BOBBIN_INFER_INSN_H
#define BOBBIN_INFER_INSN_H

#include <bobbin/types.h>

/* Registers of any machine, and what stands for none. */
enum {
	INSN_REGS = 32,
	NO_REG = 0xff,
};

enum insn_op {
	OP_NOTHING,  /* changes the registers of the mask alone; so do all others, afterwards */
	OP_MOVE,     /* reg = base */
	OP_CONSTANT, /* reg = value */
	OP_LEA,      /* reg = base + index * scale + value */
	OP_ADD,      /* reg += value */
	OP_ADD_REG,  /* reg += base */
	OP_SUB_REG,  /* reg -= base */
	OP_ALIGN,    /* reg &= value, which clears low bits alone */
	OP_LOAD,     /* reg = *(base + index * scale + value) */
	OP_LOAD_S32, /* likewise, 32 bits with their sign, or without it and OP_EXTEND will follow */
	OP_EXTEND,   /* reg = base, its low size bytes with their sign; 32 bits if size is 0 */
	OP_INSERT,   /* reg = reg, with 16 bits of value at bit scale */
	OP_SUB,      /* reg = base - index * scale */
	OP_ADD_NARROW,   /* reg = base + index * scale, of which size bytes count */
	OP_LOAD_ENTRY,   /* reg = size bytes at base + index * scale */
	OP_LOAD_PAIR,    /* reg, index = two times size bytes at base + value */
	OP_STORE_PAIR,   /* and the reverse */
	OP_SIGN,         /* reg is a return address, which gets a signature */
	OP_AUTHENTICATE, /* and loses it */
	OP_STORE,        /* *(base + index * scale + value) = reg, or something unknown */
	OP_PUSH,         /* reg, or where it has a base from memory, or something unknown */
	OP_POP,          /* likewise; where it has a base, to memory, by the new stack pointer */
	OP_LEAVE,
	OP_ENTER,      /* value bytes */
	OP_SWAP,       /* reg, base */
	OP_COMPARE,    /* reg or memory with value */
	OP_COMPARE_SP, /* the stack pointer with base */
	OP_CALL,       /* value */
	OP_CALL_SLOT,  /* the function whose address is at value */
	OP_CALL_OTHER, /* reg, or *(base + index * scale + value) */
	OP_RETURN,     /* and takes value bytes off the stack; or to reg */
	OP_JUMP,       /* value */
	OP_BRANCH,     /* value, or on */
	OP_JUMP_REG,   /* reg */
	OP_JUMP_MEM,   /* *(base + index * scale + value) */
	OP_STOP,       /* ud2, hlt; or int3, from which a handler may go on: then value is 1 */
	OP_BAD,        /* no instruction */
};

/* conditions of branches that matter */
enum {
	COND_BELOW = 2,
	COND_NOT_BELOW,
	COND_EQUAL,
	COND_NOT_EQUAL,
	COND_NOT_ABOVE,
	COND_ABOVE,
};

/* of loads and stores: the base becomes base + value before, or after it was used */
enum {
	INSN_BEFORE = 1,
	INSN_AFTER,
};

/* of what is narrow: it has a sign */
#define INSN_SIGNED 1

/* of signatures: which key; of a return, that it authenticates the address */
enum {
	INSN_KEY_A = 1,
	INSN_KEY_B,
};

/**
 * struct insn - an instruction
 * @value: immediate, displacement or target; relative to the PC, the address itself
 * @at: offset of its first byte
 * @mask: registers that it changes in a way that is not followed
 * @len: bytes
 * @op: enum insn_op
 * @reg, @base, @index: registers or NO_REG
 * @scale: of the index, or a position
 * @size: bytes of memory that it writes or reads
 * @cond: one of those above
 */
struct insn {
	int64_t value;
	uint32_t at;
	uint32_t mask;
	uint8_t len, op, reg, base, index, scale, size, cond;
};

/* Whether control may go on to the next instruction. */
static inline bool insn_goes_on(const struct insn *insn)
{
	switch (insn->op) {
	case OP_RETURN:
	case OP_JUMP:
	case OP_JUMP_REG:
	case OP_JUMP_MEM:
	case OP_STOP:
	case OP_BAD:
		return false;
	default:
		return true;
	}
}

static inline bool insn_is_call(const struct insn *insn)
{
	return insn->op == OP_CALL || insn->op == OP_CALL_SLOT || insn->op == OP_CALL_OTHER;
}

/* Whether an instruction computes @reg; OP_SWAP, which changes two, and the mask are beside that. */
static inline bool insn_computes_reg(const struct insn *insn)
{
	switch (insn->op) {
	case OP_MOVE:
	case OP_CONSTANT:
	case OP_LEA:
	case OP_ADD:
	case OP_ADD_REG:
	case OP_SUB_REG:
	case OP_ALIGN:
	case OP_LOAD:
	case OP_LOAD_S32:
	case OP_EXTEND:
	case OP_INSERT:
	case OP_SUB:
	case OP_ADD_NARROW:
	case OP_LOAD_ENTRY:
	case OP_LOAD_PAIR:
	case OP_SIGN:
	case OP_AUTHENTICATE:
	case OP_POP:
		return insn->reg < INSN_REGS;
	default:
		return false;
	}
}

/* Whether it is a load or a store whose base changes with it. */
static inline bool insn_writes_base(const struct insn *insn)
{
	return insn->cond && (insn->op == OP_LOAD || insn->op == OP_STORE ||
			      insn->op == OP_LOAD_PAIR || insn->op == OP_STORE_PAIR);
}

/* The registers that an instruction changes, but for what calls do. */
static inline uint32_t insn_changes(const struct insn *insn)
{
	uint32_t changed = insn->mask;

	if (insn->op == OP_SWAP)
		changed |= 1u << insn->base | 1u << insn->reg;
	if (insn_computes_reg(insn))
		changed |= 1u << insn->reg;
	if (insn->op == OP_LOAD_PAIR && insn->index != NO_REG)
		changed |= 1u << insn->index;
	if (insn_writes_base(insn))
		changed |= 1u << insn->base;
	return changed;
}

#endif
