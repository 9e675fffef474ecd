/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What instructions of AArch64 do to the stack pointer, the frame pointer x29 and the link
 * register x30.  Arm ARM, C4.1: encodings by group.
 */
#include "core/code_path.h"

#define X29 29
#define X30 30
#define SP 31

static int32_t sign_extend(uint32_t v, unsigned int bits)
{
	return (int32_t)(v << (32 - bits)) >> (32 - bits);
}

static struct code_value value_of(const struct code_path *p, uint32_t reg)
{
	return reg == SP ? p->sp : reg == X29 ? p->fp : reg == X30 ? p->ra : code_unknown();
}

/* @reg: 31 is the stack pointer */
static void give(struct code_path *p, uint32_t reg, struct code_value v)
{
	if (reg == SP)
		p->sp = code_is_address(&v) ? v : code_unknown();
	else if (reg == X29)
		p->fp = v;
	else if (reg == X30)
		p->ra = v;
}

/* A register that is loaded; only what is above the stack pointer was there before. */
static struct code_value loaded(const struct code_value *at)
{
	if (!code_is_address(at) || (at->base == CODE_SP && at->off < 0))
		return code_unknown();
	return (struct code_value){at->off, at->base, true};
}

static struct code_value load_of(const struct code_path *p, uint32_t reg,
				 const struct code_value *at)
{
	return reg == X29 ? code_load(p, at) : loaded(at);
}

static enum code_turn jump(struct code_path *p, int32_t words)
{
	/* the PC is the next instruction's already */
	p->pc += (uint64_t)((int64_t)words * 4 - 4);
	return CODE_TURN_ON;
}

/* add and sub of a number; @insn of either */
static void add(struct code_path *p, uint32_t insn)
{
	int32_t off = (int32_t)(insn >> 10 & 0xfff) << (insn >> 22 & 1 ? 12 : 0);
	const struct code_value v = value_of(p, insn >> 5 & 31);

	give(p, insn & 31, code_plus(&v, insn >> 30 & 1 ? -off : off));
}

/* A register of the frame was stored at @at. */
static void store(struct code_path *p, uint32_t reg, const struct code_value *at)
{
	if (reg != X29)
		return;
	p->saved_at = *at;
	p->saved = p->fp;
}

/* A register is loaded from @at; @whole: with 64 bits.  31 is no register here. */
static void load(struct code_path *p, uint32_t reg, const struct code_value *at, bool whole)
{
	if (reg != SP)
		give(p, reg, whole ? load_of(p, reg, at) : code_unknown());
}

/* stp, ldp and theirs of 32 bits and of vectors: without and with a change of the base */
static void pair(struct code_path *p, uint32_t insn)
{
	const uint32_t first = insn & 31, second = insn >> 10 & 31, base = insn >> 5 & 31;
	const bool vector = insn >> 26 & 1, whole = insn >> 30 == 2;
	/* stgp has the place of a store that sign-extends */
	const bool tags = insn >> 30 == 1 && !(insn >> 22 & 1);
	const int32_t size = vector ? 4 << (insn >> 30) : whole ? 8 : tags ? 16 : 4;
	const uint32_t how = insn >> 23 & 3; /* 1: post-index, 3: pre-index */
	const int32_t off = sign_extend(insn >> 15 & 127, 7) * size;
	const struct code_value v = value_of(p, base), moved = code_plus(&v, off);
	const struct code_value at = how == 1 ? v : moved, next = code_plus(&at, size);

	if (!vector && insn >> 22 & 1) {
		load(p, first, &at, whole);
		load(p, second, &next, whole);
	} else if (!vector && whole) {
		store(p, first, &at);
		store(p, second, &next);
	}
	if (how & 1)
		give(p, base, moved);
}

/* ldr and str of one register with a number */
static void single(struct code_path *p, uint32_t insn)
{
	const uint32_t reg = insn & 31, base = insn >> 5 & 31;
	const bool vector = insn >> 26 & 1, scaled = insn >> 24 & 1, whole = insn >> 30 == 3;
	const uint32_t how = scaled ? 0 : insn >> 10 & 3; /* 1: post-index, 3: pre-index */
	const int32_t off = scaled ? (int32_t)(insn >> 10 & 0xfff) << (insn >> 30)
				   : sign_extend(insn >> 12 & 0x1ff, 9);
	const struct code_value v = value_of(p, base), moved = code_plus(&v, off);
	const struct code_value at = how == 1 ? v : moved;

	if (!vector && insn >> 22 & 3)
		load(p, reg, &at, whole && insn >> 22 & 1);
	else if (!vector && whole)
		store(p, reg, &at);
	if (how & 1)
		give(p, base, moved);
}

static enum code_turn branch(struct code_path *p, int32_t words)
{
	return p->taken ? jump(p, words) : CODE_TURN_ON;
}

/* br, blr, ret and theirs with pointer authentication */
static enum code_turn to_register(struct code_path *p, uint32_t insn)
{
	switch (insn >> 21 & 3) {
	case 1:
		p->ra = code_unknown();
		p->crossed = true;
		return CODE_TURN_ON;
	case 2:
		return (insn >> 5 & 31) == X30 ? CODE_TURN_RETURN : CODE_TURN_STUCK;
	default:
		/* x16 and x17 are the PLT's, and maybe a switch's */
		p->crossed = true;
		return (insn >> 5 & 30) == 16 ? CODE_TURN_RETURN : CODE_TURN_STUCK;
	}
}

static enum code_turn control(struct code_path *p, uint32_t insn)
{
	if (insn >> 26 == 0x05)
		return jump(p, sign_extend(insn & 0x3ffffff, 26));
	if (insn >> 26 == 0x25) {
		p->ra = code_unknown();
		p->crossed = true;
		return CODE_TURN_ON;
	}
	if (insn >> 25 == 0x2a || (insn >> 25 & 0x3f) == 0x1a)
		return branch(p, sign_extend(insn >> 5 & 0x7ffff, 19));
	if ((insn >> 25 & 0x3f) == 0x1b)
		return branch(p, sign_extend(insn >> 5 & 0x3fff, 14));
	if (insn >> 25 == 0x6b)
		return to_register(p, insn);
	/* mrs */
	if (insn >> 20 == 0xd53)
		give(p, insn & 31, code_unknown());
	/* svc may not come back */
	p->crossed |= insn >> 24 == 0xd4;
	/* brk, hlt and udf end the path; svc and hints do not */
	return insn >> 24 == 0xd4 && (insn & 0x1f) != 1 ? CODE_TURN_STUCK : CODE_TURN_ON;
}

/* ld1 and its like, and stg and its like, that move the stack pointer */
static bool is_written_back(uint32_t insn)
{
	if ((insn >> 5 & 31) != SP)
		return false;
	return (insn & 0xbe800000) == 0x0c800000 ||
	       ((insn & 0xff200000) == 0xd9200000 && insn >> 10 & 1);
}

/* Anything else that may write to x29, x30 or the stack pointer. */
static void other(struct code_path *p, uint32_t insn)
{
	const uint32_t to = insn & 31;

	if (is_written_back(insn))
		p->sp = code_unknown();
	if (to != SP)
		give(p, to, code_unknown());
	/* and of a number, add and sub of an extended register; elsewhere 31 is zero */
	else if ((insn & 0xff800000) == 0x92000000 || (insn & 0xbfe00000) == 0x8b200000)
		p->sp = code_unknown();
}

enum code_turn aarch64_path_turn(struct code_path *path, const uint8_t code[CODE_PATH_BYTES])
{
	const uint32_t insn = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
			      (uint32_t)code[3] << 24;

	path->pc += 4;
	if (!(insn >> 16))
		return CODE_TURN_STUCK;
	if ((insn >> 26 & 7) == 5)
		return control(path, insn);
	if ((insn & 0xbf800000) == 0x91000000)
		add(path, insn);
	else if ((insn & 0x3a000000) == 0x28000000)
		pair(path, insn);
	else if ((insn & 0x3b200000) == 0x38000000 || (insn & 0x3b000000) == 0x39000000)
		single(path, insn);
	else
		other(path, insn);
	return CODE_TURN_ON;
}
