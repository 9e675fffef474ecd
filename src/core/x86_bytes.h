/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * x86_bytes.h - the parts of an instruction of x86-64.
 *
 * Intel SDM volume 2, chapter 2 and appendix A: prefixes, opcode, ModRM, SIB, displacement,
 * immediate.  It tells lengths; what an instruction does is for others.
 */
#ifndef BOBBIN_CORE_X86_BYTES_H
#define BOBBIN_CORE_X86_BYTES_H

#include <bobbin/types.h>

/* The architecture has no longer instructions. */
#define X86_LONGEST 15

/* Tables of opcodes. */
enum x86_map {
	X86_MAP_ONE, /* no escape */
	X86_MAP_0F,
	X86_MAP_0F38,
	X86_MAP_0F3A,
};

/**
 * struct x86_bytes - an instruction
 * @size: in bytes
 * @map: enum x86_map
 * @opcode: its last byte
 * @has_modrm, @mod, @reg, @rm: the ModRM byte, with the bits of REX and VEX; without one @rm is
 *	the register in the opcode
 * @base: register of the memory operand; X86_NO_BASE: none
 * @index: whether it has an index
 * @rip: it is relative to the next instruction
 * @vector: VEX or EVEX; @vvvv: its third register
 * @wide: REX.W; @operand16: 66; @address32: 67
 * @rex: the lower bits of REX, or what VEX and EVEX have instead; @parts: what the opcode wants
 *	after it, see x86_bytes.c
 * @disp, @imm: displacement and immediate, or 0
 */
struct x86_bytes {
	uint8_t size, map, opcode;
	bool has_modrm;
	uint8_t mod, reg, rm, base;
	bool index, rip, vector;
	uint8_t vvvv;
	bool wide, operand16, address32;
	uint8_t rex, parts;
	int32_t disp, imm;
};

#define X86_NO_BASE 0xff

/* The instruction at @code, which has 16 bytes.  false: it is none, or one that no compiler emits. */
bool x86_bytes_split(const uint8_t code[16], struct x86_bytes *ret);

#endif
