/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/restorer.h"

#include "core/x86_bytes.h"

/* Instructions from the start of a restorer to its system call, at most. */
#define MOST_INSNS 6
/* What a decoder may read. */
#define INSN_BYTES 16
/* __NR_rt_sigreturn */
#define AMD64_RETURN 15
#define AARCH64_RETURN 139
#define S390X_RETURN 173

/* What is known of the system call's number: -1 nothing. */
struct number {
	int32_t value, pushed;
	bool called;
};

/* mov, xor, push and pop that make the number, in any form; the bytes of one, or 0. */
static unsigned int x86_insn(const uint8_t *code, struct number *n)
{
	struct x86_bytes b;

	if (!x86_bytes_split(code, &b) || b.vector)
		return 0;
	if (b.map == X86_MAP_0F) {
		n->called = b.opcode == 0x05 && n->value == AMD64_RETURN && n->pushed < 0;
		/* endbr64 and long forms of nop */
		return n->called || b.opcode == 0x1e || b.opcode == 0x1f ? b.size : 0;
	}
	switch (b.map == X86_MAP_ONE && !b.rm ? b.opcode : 0) {
	case 0xb8:
		n->value = b.wide ? -1 : b.imm;
		return b.size;
	case 0xc7:
		n->value = b.mod == 3 && !(b.reg & 7) ? b.imm : -1;
		return b.size;
	case 0x31:
	case 0x33:
		n->value = b.mod == 3 && !b.reg ? 0 : -1;
		return b.size;
	case 0xb0:
		n->value = n->value ? -1 : b.imm;
		return b.size;
	case 0x58:
		n->value = n->pushed;
		n->pushed = -1;
		return n->value < 0 ? 0 : b.size;
	case 0x90:
		return b.size;
	default:
		if (b.map || b.opcode != 0x6a)
			return 0;
		n->pushed = b.imm;
		return b.size;
	}
}

static unsigned int aarch64_insn(const uint8_t *code, struct number *n)
{
	const uint32_t insn = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
			      (uint32_t)code[3] << 24;

	/* movz x8 or w8; svc 0; hints, such as bti and nop */
	if ((insn & 0x7fe0001f) == 0x52800008)
		n->value = (int32_t)(insn >> 5 & 0xffff);
	else if (insn == 0xd4000001 && n->value == AARCH64_RETURN)
		n->called = true;
	else if ((insn & 0xfffff01f) != 0xd503201f)
		return 0;
	return 4;
}

static unsigned int s390x_insn(const uint8_t *code, struct number *n)
{
	/* svc with a number, or with that of r1 */
	if (code[0] == 0x0a) {
		n->called = code[1] == S390X_RETURN || (!code[1] && n->value == S390X_RETURN);
		return n->called ? 2 : 0;
	}
	if (code[0] != 0xa7 || (code[1] != 0x19 && code[1] != 0x18))
		return 0;
	n->value = code[2] << 8 | code[3];
	return 4;
}

static unsigned int insn(const struct bobbin_arch *arch, const uint8_t *code, struct number *n)
{
	if (arch->cfa_bias)
		return s390x_insn(code, n);
	return arch->default_ra_off ? x86_insn(code, n) : aarch64_insn(code, n);
}

static bool is_padding(const struct bobbin_arch *arch, const uint8_t *code)
{
	if (arch->cfa_bias)
		return code[0] == 0x07;
	if (!arch->default_ra_off)
		return code[0] == 0x1f && code[1] == 0x20 && code[2] == 0x03 && code[3] == 0xd5;
	return code[0] == 0x90 || code[0] == 0x66 || (code[0] == 0x0f && code[1] == 0x1f);
}

/* Whether a restorer begins at @start, and an instruction of it, or its end, is at @at. */
static bool is_restorer(const struct bobbin_arch *arch, const uint8_t *code, unsigned int start,
			unsigned int at)
{
	struct number n = {-1, -1, false};
	bool met = false;

	/* what pads the code before it */
	if (is_padding(arch, code + start))
		return false;

	for (unsigned int i = 0; i < MOST_INSNS && !n.called; i++) {
		unsigned int size;

		if (start > RESTORER_SIZE - INSN_BYTES)
			return false;
		met |= start == at;
		size = insn(arch, code + start, &n);
		if (!size)
			return false;
		start += size;
	}
	return n.called && (met || start == at);
}

int restorer_find(const struct bobbin_arch *arch, const uint8_t code[RESTORER_SIZE])
{
	if (is_restorer(arch, code, RESTORER_BEFORE, RESTORER_BEFORE))
		return 0;
	/* a handler returns to the first instruction, and is looked up before it */
	if (is_restorer(arch, code, RESTORER_BEFORE + 1, RESTORER_BEFORE + 1))
		return 1;
	for (int before = 1; before <= RESTORER_BEFORE; before++)
		if (is_restorer(arch, code, RESTORER_BEFORE - (unsigned int)before,
				RESTORER_BEFORE))
			return -before;
	return RESTORER_NONE;
}
