/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/entry_code.h"

#include "core/x86_bytes.h"

/* hlt, ret, jmp, ud2: what follows is not reached from here. */
static bool x86_ends(const struct x86_bytes *b)
{
	if (b->vector)
		return false;
	if (b->map == X86_MAP_0F)
		return b->opcode == 0x0b;
	if (b->map != X86_MAP_ONE)
		return false;
	switch (b->opcode) {
	case 0xc2:
	case 0xc3:
	case 0xe9:
	case 0xeb:
	case 0xf4:
		return true;
	default:
		return b->opcode == 0xff && (b->reg & 7) == 4;
	}
}

static unsigned int x86_size(const uint8_t code[ENTRY_CODE_READ])
{
	unsigned int size = ENTRY_CODE_SIZE;
	struct x86_bytes b;

	for (unsigned int at = 0; at < size; at += b.size) {
		int64_t target;

		if (!x86_bytes_split(code + at, &b))
			break;
		if (x86_ends(&b))
			return at + b.size;
		/* call, with a distance */
		if (b.vector || b.map != X86_MAP_ONE || b.opcode != 0xe8)
			continue;
		target = (int64_t)at + b.size + b.imm;
		if (target > at && target < size)
			size = (unsigned int)target;
	}
	return size;
}

/* After b, br, ret, brk and udf; after bl, if another one is before it: glibc calls abort() then. */
static unsigned int aarch64_size(const uint8_t code[ENTRY_CODE_READ])
{
	bool called = false;

	for (unsigned int at = 0; at < ENTRY_CODE_SIZE; at += 4) {
		const uint32_t insn = (uint32_t)code[at] | (uint32_t)code[at + 1] << 8 |
				      (uint32_t)code[at + 2] << 16 | (uint32_t)code[at + 3] << 24;
		const bool calls = insn >> 26 == 0x25;

		if (insn >> 26 == 0x05 || (insn & 0xffdffc1f) == 0xd61f0000 ||
		    (insn & 0xffdffc1f) == 0xd65f0000 || insn >> 21 == 0x6a1 || !(insn >> 16) ||
		    (calls && called))
			return at + 4;
		called = calls;
	}
	return ENTRY_CODE_SIZE;
}

/* After jg, j, br and 0, which is no instruction. */
static unsigned int s390_size(const uint8_t code[ENTRY_CODE_READ])
{
	static const uint8_t sizes[] = {2, 4, 4, 6};
	unsigned int size;

	for (unsigned int at = 0; at < ENTRY_CODE_SIZE; at += size) {
		const unsigned int first = (unsigned int)code[at] << 8 | code[at + 1];

		size = sizes[code[at] >> 6];
		if (first == 0xc0f4 || first == 0xa7f4 || first >> 4 == 0x07f || !first)
			return at + size;
	}
	return ENTRY_CODE_SIZE;
}

unsigned int entry_code_size(const struct bobbin_arch *arch, const uint8_t code[ENTRY_CODE_READ])
{
	if (arch->default_ra_off)
		return x86_size(code);
	return arch->cfa_bias ? s390_size(code) : aarch64_size(code);
}
