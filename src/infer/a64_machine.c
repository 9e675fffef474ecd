// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* a64_machine.c - AArch64. */
#include "core/bytes.h"
#include "infer/a64_decode.h"

/* nop, and the zeros that some linkers put between sections */
static bool is_padding(const uint8_t *code, unsigned int len)
{
	uint32_t word;

	/* code may end within an instruction */
	if (len < A64_INSN)
		return false;
	word = load_u32(code, false);
	return word == A64_NOP || !word;
}

static int64_t page_of(uint32_t adrp, uint64_t pc)
{
	const uint32_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

	return (int64_t)(pc & ~(uint64_t)4095) + (int64_t)(int32_t)(pages << 11) * 2;
}

/* A stub: bti c maybe, adrp x16, page; ldr x17, [x16, offset]; the jump is to x17. */
static bool stub_slot(const uint8_t *code, uint64_t size, uint64_t addr, uint64_t *ret)
{
	const bool bti = size >= 4 && load_u32(code, false) == 0xd503245f;
	const uint64_t at = bti ? 4 : 0;
	uint32_t adrp, load;

	if (size < at + 8)
		return false;
	adrp = load_u32(code + at, false);
	load = load_u32(code + at + 4, false);
	if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
		return false;
	*ret = (uint64_t)page_of(adrp, addr + at) + (load >> 10 & 0xfff) * 8u;
	return true;
}

static const uint8_t dwarf[A64_REGS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
					11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

const struct machine machine_aarch64 = {
	.arch = bobbin_arch_aarch64,
	.exists = a64_decoder_exists,
	.open = a64_decoder_open,
	.close = a64_decoder_close,
	.decode = a64_decode,
	.text = a64_text,
	.is_padding = is_padding,
	.stub_slot = stub_slot,
	.dwarf = dwarf,
	.call_clobbers = A64_CALL_CLOBBERS,
	.arguments = {0, 1, 2, 3, 4, 5, 6, 7},
	.entry_sp = 0,
	.regs = A64_REGS,
	.sp = A64_SP,
	.fp = A64_FP,
	.ra = A64_LR,
	.shortest = A64_INSN,
	.alignment = A64_INSN,
};
