/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/restorer.h"

#include "core/bytes.h"
#include "core/x86_bytes.h"

/* Instructions from the start of a restorer to its system call, at most. */
#define MOST_INSNS 6
/* What a decoder may read. */
#define INSN_BYTES 16
/* __NR_rt_sigreturn */
#define AMD64_RETURN 15
#define AARCH64_RETURN 139
#define S390X_RETURN 173
/* __NR_sigreturn, of handlers without SA_SIGINFO */
#define S390X_PLAIN_RETURN 119

/* What is known of the system call's number: -1 nothing. */
struct number {
	int32_t value, pushed;
	bool called, plain;
};

/* add, or, and, sub and xor of what is known, by their numbers in opcodes. */
static int32_t calculate(uint8_t how, int32_t value, int32_t with)
{
	switch (value < 0 ? 0xff : how) {
	case 0:
		return with < 0x10000 && value < 0x10000 ? value + with : -1;
	case 1:
		return value | with;
	case 4:
		return value & with;
	case 5:
		return with > -0x10000 && value < 0x10000 ? value - with : -1;
	case 6:
		return value ^ with;
	default:
		return -1;
	}
}

/* lea of a constant, or of one from what is known. */
static int32_t x86_address(const struct x86_bytes *b, int32_t value)
{
	if (b->mod == 3 || b->index || b->rip || b->address32)
		return -1;
	return b->base == X86_NO_BASE ? b->disp : b->base ? -1 : calculate(0, value, b->disp);
}

/* Instructions of a register that is neither the number's nor the stack pointer. */
static bool x86_is_other(const struct x86_bytes *b)
{
	const bool moves = (b->opcode & 0xf8) == 0xb8;
	const bool clears = (b->opcode == 0x31 || b->opcode == 0x33) && b->mod == 3 &&
			    b->reg == b->rm;

	return (moves || clears) && b->rm && b->rm != 4;
}

/* What an instruction of the first table does to the number; false: it is none of these. */
static bool x86_makes(const struct x86_bytes *b, struct number *n)
{
	const bool direct = b->mod == 3 && !b->rm;

	if (b->operand16)
		return false;
	switch (b->opcode) {
	case 0xb8:
		n->value = b->wide ? -1 : b->imm;
		return true;
	case 0xc7:
		n->value = direct && !(b->reg & 7) ? b->imm : -1;
		return true;
	case 0x29:
	case 0x2b:
	case 0x31:
	case 0x33:
		n->value = direct && !b->reg ? 0 : -1;
		return true;
	case 0xb0:
		n->value = n->value < 0 ? -1 : (n->value & ~0xff) | (b->imm & 0xff);
		return true;
	case 0x81:
	case 0x83:
		n->value = direct ? calculate(b->reg & 7, n->value, b->imm) : -1;
		return true;
	case 0x04:
	case 0x05:
	case 0x0c:
	case 0x0d:
		n->value = calculate(b->opcode >> 3, n->value, b->imm);
		return true;
	case 0x8d:
		n->value = b->reg ? -1 : x86_address(b, n->value);
		return true;
	case 0x58:
		n->value = n->pushed;
		n->pushed = -1;
		return n->value >= 0;
	case 0x68:
	case 0x6a:
		n->pushed = b->imm;
		return true;
	default:
		/* nop, cld */
		return b->opcode == 0x90 || b->opcode == 0xfc;
	}
}

/* One that makes the number, in any form, or has nothing to do with it; its bytes, or 0. */
static unsigned int x86_insn(const uint8_t *code, struct number *n)
{
	struct x86_bytes b;

	if (!x86_bytes_split(code, &b) || b.vector)
		return 0;
	if (b.map == X86_MAP_0F) {
		n->called = b.opcode == 0x05 && n->value == AMD64_RETURN && n->pushed < 0;
		/* endbr64, long forms of nop, and lfence */
		return n->called || b.opcode == 0x1e || b.opcode == 0x1f ||
				       (b.opcode == 0xae && b.mod == 3 && b.reg == 5)
			       ? b.size
			       : 0;
	}
	if (b.map != X86_MAP_ONE)
		return 0;
	if (!x86_is_other(&b) && !x86_makes(&b, n))
		return 0;
	/* movabs, whose immediate is the high half */
	if (b.opcode == 0xb8 && b.wide && !b.rm && !b.imm)
		n->value = (int32_t)load_u32(code + b.size - 8, false);
	return b.size;
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
		const int32_t number = code[1] ? code[1] : n->value;

		n->plain = number == S390X_PLAIN_RETURN;
		n->called = number == S390X_RETURN || n->plain;
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
	struct number n = {.value = -1, .pushed = -1};
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

bool restorer_is_plain(const struct bobbin_arch *arch, const uint8_t *code)
{
	struct number n = {.value = -1, .pushed = -1};
	unsigned int size = 1;

	/* no other architecture has both */
	for (unsigned int i = 0; arch->cfa_bias && i < MOST_INSNS && size && !n.called; i++) {
		size = s390x_insn(code, &n);
		code += size;
	}
	return n.plain;
}
