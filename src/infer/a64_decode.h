/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a64_decode.h - instructions of AArch64; 31 is the stack pointer, what names zero is NO_REG. */
#ifndef BOBBIN_INFER_A64_DECODE_H
#define BOBBIN_INFER_A64_DECODE_H

#include "infer/machine.h"

enum {
	A64_FP = 29,
	A64_LR = 30,
	A64_SP = 31,
	A64_REGS = 32,
};

/* Registers that calls may change: x0 to x18, and the link register. */
#define A64_CALL_CLOBBERS 0x4007ffffu

#define A64_INSN 4
#define A64_NOP 0xd503201fu

/* What the functions of struct machine say. */
bool a64_decoder_exists(void);
struct insn_decoder *a64_decoder_open(void);
void a64_decoder_close(struct insn_decoder *decoder);
void a64_decode(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
		struct insn *ret);
void a64_text(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
	      char ret[INSN_TEXT_MAX]);

#endif
