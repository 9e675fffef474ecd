/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * x86_insn.h - what an instruction of x86-64 does to what is followed.
 *
 * Followed are the 64-bit registers, the stack, and where control goes.  Everything else
 * that an instruction does is left out, so most are NOTHING or change only the registers of
 * their mask.  Registers have their hardware numbers, 4 is RSP and 5 is RBP.
 */
#ifndef BOBBIN_INFER_X86_INSN_H
#define BOBBIN_INFER_X86_INSN_H

#include <bobbin/types.h>

enum {
	X86_AX,
	X86_CX,
	X86_DX,
	X86_BX,
	X86_SP,
	X86_BP,
	X86_SI,
	X86_DI,
	X86_R8,
	X86_R11 = 11,
	X86_REGS = 16,
	X86_NO_REG = 0xff,
};

/* Registers that calls may change: RAX, RCX, RDX, RSI, RDI, R8 to R11. */
#define X86_CALL_CLOBBERS 0x0fc7u

enum x86_op {
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
	OP_EXTEND,   /* reg = base, its low 32 bits with their sign */
	OP_STORE,    /* *(base + index * scale + value) = reg, or something unknown */
	OP_PUSH,     /* reg, or something unknown */
	OP_POP,      /* likewise */
	OP_LEAVE,
	OP_ENTER,      /* value bytes */
	OP_SWAP,       /* reg, base */
	OP_COMPARE,    /* reg or memory with value */
	OP_COMPARE_SP, /* the stack pointer with base */
	OP_CALL,       /* value */
	OP_CALL_SLOT,  /* the function whose address is at value */
	OP_CALL_OTHER,
	OP_RETURN,   /* and takes value bytes off the stack */
	OP_JUMP,     /* value */
	OP_BRANCH,   /* value, or on */
	OP_JUMP_REG, /* reg */
	OP_JUMP_MEM, /* *(base + index * scale + value) */
	OP_STOP,     /* ud2, hlt; or int3, from which a handler may go on: then value is 1 */
	OP_BAD,      /* no instruction */
};

/* conditions of branches that matter, the low four bits of their opcode */
#define X86_ABOVE 0x7
#define X86_NOT_ABOVE 0x6
#define X86_EQUAL 0x4
#define X86_NOT_EQUAL 0x5

/**
 * struct x86_insn - an instruction
 * @value: immediate, displacement or target; with RIP as base, the address itself
 * @at: offset of its first byte
 * @mask: registers that it changes in a way that is not followed
 * @len: bytes
 * @op: enum x86_op
 * @reg, @base, @index: registers or X86_NO_REG
 * @scale: of the index, 1, 2, 4 or 8
 * @size: bytes of memory that it writes or reads
 * @cond: of OP_BRANCH
 */
struct x86_insn {
	int64_t value;
	uint32_t at;
	uint16_t mask;
	uint8_t len, op, reg, base, index, scale, size, cond;
};

struct x86_decoder;

/* Whether instructions can be decoded here: false without the library that does it. */
bool x86_decoder_exists(void);

/* NULL: out of memory, or there is none. */
struct x86_decoder *x86_decoder_open(void);
void x86_decoder_close(struct x86_decoder *decoder);

/*
 * Decode one instruction of at most @size bytes at address @pc.  What is none becomes OP_BAD of
 * one byte.  @ret->at is left alone.
 */
void x86_decode(const struct x86_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
		struct x86_insn *ret);

#define X86_TEXT_MAX 96

/* An instruction as assemblers write it, "push %rbx"; "" for what is none. */
void x86_text(const struct x86_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
	      char ret[X86_TEXT_MAX]);

/* Whether control may go on to the next instruction. */
static inline bool x86_goes_on(const struct x86_insn *insn)
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

static inline bool x86_is_call(const struct x86_insn *insn)
{
	return insn->op == OP_CALL || insn->op == OP_CALL_SLOT || insn->op == OP_CALL_OTHER;
}

/* Whether an instruction of @len bytes only fills up to where the next function or loop begins. */
static inline bool x86_is_padding(const uint8_t *code, unsigned int len)
{
	while (len > 1 && (*code == 0x66 || *code == 0x2e)) {
		code++;
		len--;
	}
	return *code == 0x90 || *code == 0xcc || (len > 1 && code[0] == 0x0f && code[1] == 0x1f);
}

#endif
