/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* x86_decode.h - instructions of x86-64; registers have their hardware numbers. */
#ifndef BOBBIN_INFER_X86_DECODE_H
#define BOBBIN_INFER_X86_DECODE_H

#include "infer/machine.h"

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
	X86_R9,
	X86_R11 = 11,
	X86_REGS = 16,
};

/* Registers that calls may change: RAX, RCX, RDX, RSI, RDI, R8 to R11. */
#define X86_CALL_CLOBBERS 0x0fc7u

/* Whether instructions can be decoded here: false without the library that does it. */
bool x86_decoder_exists(void);

/* NULL: out of memory, or there is none. */
struct insn_decoder *x86_decoder_open(void);
void x86_decoder_close(struct insn_decoder *decoder);

/*
 * Decode one instruction of at most @size bytes at address @pc.  What is none becomes OP_BAD of
 * one byte.  @ret->at is left alone.
 */
void x86_decode(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
		struct insn *ret);

/* An instruction as assemblers write it, "push %rbx"; "" for what is none. */
void x86_text(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
	      char ret[INSN_TEXT_MAX]);

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
