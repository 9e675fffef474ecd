// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* x86_machine.c - x86-64. */
#include <string.h>

#include "core/bytes.h"
#include "infer/machine.h"
#include "infer/x86_decode.h"

/* A stub: endbr64 maybe, a bnd prefix maybe, jmp *slot(%rip). */
static bool stub_slot(const uint8_t *code, uint64_t size, uint64_t addr, uint64_t *ret)
{
	uint64_t at = 0;

	if (size < 16)
		return false;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		at = 4;
	if (code[at] == 0xf2)
		at++;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	*ret = addr + at + 6 + (uint64_t)(int32_t)load_u32(code + at + 2, false);
	return true;
}

/* Before it is a return, a jump, a call that may be the last one, or padding. */
static bool stops_before(const uint8_t *code)
{
	switch (code[MACHINE_BEFORE - 1]) {
	case 0x00: /* long nops end with it */
	case 0x90:
	case 0xc3:
	case 0xcc:
		return true;
	default:
		return code[0] == 0xe8 || code[0] == 0xe9 || code[MACHINE_BEFORE - 2] == 0xeb;
	}
}

static const uint8_t dwarf[X86_REGS] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

const struct machine machine_amd64 = {
	.arch = bobbin_arch_amd64,
	.exists = x86_decoder_exists,
	.open = x86_decoder_open,
	.close = x86_decoder_close,
	.decode = x86_decode,
	.text = x86_text,
	.is_padding = x86_is_padding,
	.stub_slot = stub_slot,
	.stops_before = stops_before,
	.dwarf = dwarf,
	.call_clobbers = X86_CALL_CLOBBERS,
	.arguments = {X86_DI, X86_SI, X86_DX, X86_CX, X86_R8, X86_R9, NO_REG, NO_REG},
	.entry_sp = -8,
	.regs = X86_REGS,
	.sp = X86_SP,
	.fp = X86_BP,
	.ra = NO_REG,
	.shortest = 1,
	.alignment = 16,
};
