// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * a64_decode.c - instructions of AArch64.
 *
 * Encodings are regular: groups and fields say what an instruction changes (Arm ARM, C4.1).  Whether
 * one exists at all is what Capstone knows.
 */
#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/bytes.h"
#include "infer/a64_decode.h"

struct a64_decoder {
	struct insn_decoder base;
	csh capstone;
	cs_insn *insn;
};

bool a64_decoder_exists(void)
{
	return true;
}

struct insn_decoder *a64_decoder_open(void)
{
	struct a64_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->base.machine = &machine_aarch64;
	if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &d->capstone) != CS_ERR_OK) {
		free(d);
		return NULL;
	}
	d->insn = cs_malloc(d->capstone);
	if (d->insn)
		return &d->base;
	a64_decoder_close(&d->base);
	return NULL;
}

void a64_decoder_close(struct insn_decoder *decoder)
{
	struct a64_decoder *d = (struct a64_decoder *)decoder;

	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->capstone);
	free(d);
}

static bool is_known(const struct insn_decoder *decoder, const uint8_t *code, uint64_t pc)
{
	const struct a64_decoder *d = (const struct a64_decoder *)decoder;
	size_t size = A64_INSN;

	return cs_disasm_iter(d->capstone, &code, &size, &pc, d->insn);
}

static uint32_t field(uint32_t word, unsigned int at, unsigned int bits)
{
	return word >> at & ((1u << bits) - 1);
}

static int64_t signed_field(uint32_t word, unsigned int at, unsigned int bits)
{
	return (int32_t)(word << (32 - at - bits)) >> (32 - bits);
}

static unsigned int rd_of(uint32_t word)
{
	return field(word, 0, 5);
}

static unsigned int rn_of(uint32_t word)
{
	return field(word, 5, 5);
}

static unsigned int rm_of(uint32_t word)
{
	return field(word, 16, 5);
}

/* A register in a field in which 31 is zero. */
static uint8_t or_zero(unsigned int reg)
{
	return (uint8_t)(reg == 31 ? NO_REG : reg);
}

/* Something that is not followed is written to such a register. */
static void write_reg(struct insn *ret, unsigned int reg)
{
	if (reg != 31)
		ret->mask |= 1u << reg;
}

/* Data processing with numbers. */

static void add_number(uint32_t word, struct insn *ret)
{
	const bool subtracts = field(word, 30, 1), flags = field(word, 29, 1);
	const int64_t number = (int64_t)field(word, 10, 12) << (field(word, 22, 1) ? 12 : 0);
	const unsigned int rd = rd_of(word);

	if (flags && rd == 31 && subtracts) {
		ret->op = OP_COMPARE;
		ret->reg = (uint8_t)rn_of(word);
		ret->value = number;
	} else if (flags) {
		write_reg(ret, rd);
	} else if (!field(word, 31, 1)) {
		ret->mask = 1u << rd;
	} else {
		ret->op = OP_LEA;
		ret->reg = (uint8_t)rd;
		ret->base = (uint8_t)rn_of(word);
		ret->value = subtracts ? -number : number;
	}
}

static void move_wide(uint32_t word, struct insn *ret)
{
	const unsigned int shift = field(word, 21, 2) * 16, kind = field(word, 29, 2);
	uint64_t value = (uint64_t)field(word, 5, 16) << shift;

	ret->reg = or_zero(rd_of(word));
	if (kind == 0)
		value = ~value;
	if (!field(word, 31, 1))
		value = (uint32_t)value;
	ret->value = (int64_t)value;
	ret->op = kind == 3 ? OP_INSERT : kind == 1 ? OP_BAD : OP_CONSTANT;
	ret->scale = (uint8_t)shift;
}

/* adr and adrp */
static void address(uint32_t word, uint64_t pc, struct insn *ret)
{
	const int64_t distance = signed_field(word, 5, 19) * 4 + field(word, 29, 2);

	ret->reg = or_zero(rd_of(word));
	if (field(word, 31, 1)) {
		ret->op = OP_CONSTANT;
		ret->value = (int64_t)(pc & ~(uint64_t)4095) + distance * 4096;
	} else {
		ret->op = OP_LEA;
		ret->value = (int64_t)pc + distance;
	}
}

/* sxtb, sxth, sxtw keep what is known of an entry of a table. */
static void bit_field(uint32_t word, struct insn *ret)
{
	const unsigned int last = field(word, 10, 6);

	if (field(word, 29, 2) || field(word, 16, 6) || (last != 7 && last != 15 && last != 31)) {
		write_reg(ret, rd_of(word));
		return;
	}
	ret->op = OP_EXTEND;
	ret->reg = or_zero(rd_of(word));
	ret->base = or_zero(rn_of(word));
	if (ret->base == NO_REG)
		ret->op = OP_NOTHING;
	ret->size = (uint8_t)((last + 1) / 8);
}

static void number_group(uint32_t word, uint64_t pc, struct insn *ret)
{
	switch (field(word, 23, 3)) {
	case 0:
	case 1:
		address(word, pc, ret);
		return;
	case 2:
		add_number(word, ret);
		return;
	case 4:
		/* ands writes no stack pointer, the others do */
		if (field(word, 29, 2) == 3)
			write_reg(ret, rd_of(word));
		else
			ret->mask = 1u << rd_of(word);
		return;
	case 5:
		move_wide(word, ret);
		return;
	case 6:
		bit_field(word, ret);
		return;
	case 7:
		write_reg(ret, rd_of(word));
		return;
	default: /* with tags of memory */
		ret->mask = 1u << rd_of(word);
	}
}

/* Data processing with registers. */

/* reg = base + index * scale, or base - index * scale */
static void sum(uint32_t word, unsigned int shift, struct insn *ret)
{
	ret->op = field(word, 30, 1) ? OP_SUB : OP_LEA;
	ret->reg = (uint8_t)rd_of(word);
	ret->base = (uint8_t)rn_of(word);
	ret->index = (uint8_t)rm_of(word);
	ret->scale = (uint8_t)(1u << shift);
}

static void add_shifted(uint32_t word, struct insn *ret)
{
	const unsigned int shift = field(word, 10, 6);

	if (field(word, 29, 1) || !field(word, 31, 1) || field(word, 22, 2) || shift > 7 ||
	    rd_of(word) == 31 || rn_of(word) == 31 || rm_of(word) == 31)
		write_reg(ret, rd_of(word));
	else
		sum(word, shift, ret);
}

static void add_extended(uint32_t word, struct insn *ret)
{
	const unsigned int extend = field(word, 13, 3), shift = field(word, 10, 3);
	const bool wide = field(word, 31, 1), whole = (extend & 3) == 3;
	const bool subtracts = field(word, 30, 1);

	if (field(word, 29, 1)) {
		write_reg(ret, rd_of(word));
		if (wide && subtracts && whole && !shift && rd_of(word) == 31 &&
		    rn_of(word) == A64_SP && rm_of(word) != 31) {
			ret->op = OP_COMPARE_SP;
			ret->base = (uint8_t)rm_of(word);
		}
	} else if (!wide || rm_of(word) == 31 || shift > 4 || (subtracts && !whole)) {
		ret->mask = 1u << rd_of(word);
	} else {
		sum(word, shift, ret);
		if (whole)
			return;
		ret->op = OP_ADD_NARROW;
		ret->size = (uint8_t)(1u << (extend & 3));
		ret->cond = extend >= 4 ? INSN_SIGNED : 0;
	}
}

static void logical(uint32_t word, struct insn *ret)
{
	/* orr xd, xzr, xm */
	if ((word & 0xffe0ffe0) != 0xaa0003e0) {
		write_reg(ret, rd_of(word));
		return;
	}
	ret->reg = or_zero(rd_of(word));
	ret->base = or_zero(rm_of(word));
	ret->op = ret->base == NO_REG ? OP_CONSTANT : OP_MOVE;
}

static void register_group(uint32_t word, struct insn *ret)
{
	if (field(word, 28, 1)) {
		/* what compares under a condition changes flags alone */
		if (field(word, 21, 4) != 2)
			write_reg(ret, rd_of(word));
	} else if (!field(word, 24, 1)) {
		logical(word, ret);
	} else if (field(word, 21, 1)) {
		add_extended(word, ret);
	} else {
		add_shifted(word, ret);
	}
}

/* Where control goes, and what concerns the system. */

static uint8_t condition(unsigned int cond)
{
	static const uint8_t conditions[16] = {
		[0] = COND_EQUAL, [1] = COND_NOT_EQUAL, [2] = COND_NOT_BELOW,
		[3] = COND_BELOW, [8] = COND_ABOVE,     [9] = COND_NOT_ABOVE,
	};

	return conditions[cond];
}

/* br, blr, ret, and those that authenticate the address */
static void branch_register(uint32_t word, struct insn *ret)
{
	const unsigned int kind = field(word, 21, 4), key = field(word, 10, 6);
	const bool plain = !key && !rd_of(word);

	ret->reg = or_zero(rn_of(word));
	if (rm_of(word) != 31 || (!plain && key != 2 && key != 3)) {
		ret->op = OP_BAD;
	} else if (kind == 2 && !plain) {
		/* retaa, retab */
		ret->op = OP_RETURN;
		ret->reg = A64_LR;
		ret->cond = (uint8_t)(key == 3 ? INSN_KEY_B : INSN_KEY_A);
	} else if (ret->reg == NO_REG) {
		ret->op = OP_BAD;
	} else if (kind == 2) {
		ret->op = OP_RETURN;
	} else if ((kind & 7) == 0) {
		ret->op = OP_JUMP_REG;
	} else if ((kind & 7) == 1) {
		ret->op = OP_CALL_OTHER;
	} else {
		ret->op = OP_BAD;
	}
}

/* hint instructions that sign or authenticate the link register */
static void hint(uint32_t word, struct insn *ret)
{
	switch (field(word, 5, 7)) {
	case 7: /* xpaclri */
		ret->op = OP_AUTHENTICATE;
		break;
	case 24:
	case 25:
		ret->op = OP_SIGN;
		ret->cond = INSN_KEY_A;
		break;
	case 26:
	case 27:
		ret->op = OP_SIGN;
		ret->cond = INSN_KEY_B;
		break;
	case 28:
	case 29:
		ret->op = OP_AUTHENTICATE;
		ret->cond = INSN_KEY_A;
		break;
	case 30:
	case 31:
		ret->op = OP_AUTHENTICATE;
		ret->cond = INSN_KEY_B;
		break;
	case 8: /* of x17, by x16 */
	case 10:
	case 12:
	case 14:
		ret->mask = 1u << 17;
		return;
	default:
		return;
	}
	ret->reg = A64_LR;
}

/* svc, brk, hlt and their like */
static void exception(uint32_t word, struct insn *ret)
{
	const unsigned int number = field(word, 5, 16);

	switch (word & 0xffe0001f) {
	case 0xd4000001: /* Linux changes no other register */
		ret->mask = 1;
		break;
	case 0xd4200000:
		/* a debugger goes on from these */
		ret->value = !number || number == 0xf000;
		ret->op = OP_STOP;
		break;
	case 0xd4400000:
		ret->op = OP_STOP;
		break;
	default:
		ret->op = OP_BAD;
	}
}

static void branch_group(uint32_t word, uint64_t pc, struct insn *ret)
{
	const int64_t at = (int64_t)pc;

	if ((word & 0x7c000000) == 0x14000000) {
		ret->op = field(word, 31, 1) ? OP_CALL : OP_JUMP;
		ret->value = at + signed_field(word, 0, 26) * 4;
	} else if ((word & 0xff000010) == 0x54000000) {
		/* always, and always by another name */
		ret->op = field(word, 1, 3) == 7 ? OP_JUMP : OP_BRANCH;
		ret->cond = condition(field(word, 0, 4));
		ret->value = at + signed_field(word, 5, 19) * 4;
	} else if ((word & 0x7e000000) == 0x34000000) {
		ret->op = OP_BRANCH;
		ret->value = at + signed_field(word, 5, 19) * 4;
	} else if ((word & 0x7e000000) == 0x36000000) {
		ret->op = OP_BRANCH;
		ret->value = at + signed_field(word, 5, 14) * 4;
	} else if ((word & 0xfe000000) == 0xd6000000) {
		branch_register(word, ret);
	} else if ((word & 0xff000000) == 0xd4000000) {
		exception(word, ret);
	} else if ((word & 0xfffff01f) == A64_NOP) {
		hint(word, ret);
	} else if ((word & 0xffe00000) == 0xd5200000) {
		/* mrs, sysl */
		write_reg(ret, rd_of(word));
	} else if ((word & 0xffc00000) != 0xd5000000) {
		ret->op = OP_BAD;
	}
}

/* Loads and stores. */

/* What becomes of the base, by two bits of single registers, or of pairs. */
static void set_mode(struct insn *ret, bool writes_back, bool before)
{
	ret->cond = !writes_back ? 0 : before ? INSN_BEFORE : INSN_AFTER;
}

/* A load of vectors changes the base alone, if that. */
static void load_vector(struct insn *ret)
{
	ret->op = ret->cond ? OP_LEA : OP_NOTHING;
	ret->cond = 0;
	ret->reg = ret->base;
	ret->index = NO_REG;
	ret->size = 0;
}

static void pair(uint32_t word, struct insn *ret)
{
	const bool vector = field(word, 26, 1), loads = field(word, 22, 1);
	const unsigned int kind = field(word, 30, 2), mode = field(word, 23, 2);

	/* of what stores tags, nothing else is looked at */
	ret->size = (uint8_t)(vector ? 4u << kind : kind == 2 ? 8 : 4);
	ret->value = signed_field(word, 15, 7) * (!vector && kind == 1 && !loads ? 16 : ret->size);
	ret->base = (uint8_t)rn_of(word);
	ret->reg = vector ? NO_REG : or_zero(rd_of(word));
	ret->index = vector ? NO_REG : or_zero(field(word, 10, 5));
	set_mode(ret, mode & 1, mode == 3);
	ret->op = loads ? OP_LOAD_PAIR : OP_STORE_PAIR;
	if (kind == 3)
		ret->op = OP_BAD;
	else if (vector && loads)
		load_vector(ret);
}

/* One register, at a base and a number. */
static void single(uint32_t word, struct insn *ret)
{
	const bool vector = field(word, 26, 1), scaled = field(word, 24, 1);
	const unsigned int kind = field(word, 22, 2), mode = scaled ? 0 : field(word, 10, 2);
	const bool loads = vector ? kind & 1 : kind != 0;
	const unsigned int size = vector && kind >= 2 ? 16 : 1u << field(word, 30, 2);

	ret->size = (uint8_t)size;
	ret->base = (uint8_t)rn_of(word);
	ret->reg = vector ? NO_REG : or_zero(rd_of(word));
	ret->value = scaled ? (int64_t)field(word, 10, 12) * size : signed_field(word, 12, 9);
	set_mode(ret, mode & 1, mode == 3);
	ret->op = loads ? OP_LOAD : OP_STORE;
	if (loads && vector)
		load_vector(ret);
	else if (field(word, 30, 2) == 3 && kind >= 2)
		*ret = (struct insn){.at = ret->at, .len = ret->len, .op = OP_NOTHING}; /* prfm */
}

/* One register, at a base and an index. */
static void indexed(uint32_t word, struct insn *ret)
{
	const unsigned int kind = field(word, 22, 2), size = field(word, 30, 2);
	const unsigned int extend = field(word, 13, 3);
	const bool scaled = field(word, 12, 1), whole = (extend & 3) == 3;

	if (field(word, 26, 1) || (size == 3 && kind >= 2))
		return;
	ret->reg = or_zero(rd_of(word));
	ret->base = (uint8_t)rn_of(word);
	ret->index = or_zero(rm_of(word));
	ret->scale = (uint8_t)(scaled ? 1u << size : 1);
	ret->size = (uint8_t)(1u << size);
	if (kind) {
		ret->op = OP_LOAD_ENTRY;
		ret->cond = kind >= 2 ? INSN_SIGNED : 0;
	} else if (whole) {
		ret->op = OP_STORE;
	}
}

static void exclusive(uint32_t word, struct insn *ret)
{
	/* a status, or what compare and swap has found */
	write_reg(ret, rm_of(word));
	if (rm_of(word) != 31 && !field(word, 31, 1) && field(word, 21, 1) && !field(word, 23, 1))
		write_reg(ret, rm_of(word) + 1);
	if (field(word, 22, 1)) {
		write_reg(ret, rd_of(word));
		if (field(word, 21, 1))
			write_reg(ret, field(word, 10, 5));
		return;
	}
	ret->op = OP_STORE;
	ret->base = (uint8_t)rn_of(word);
	ret->size = 16;
}

/* ld1 to ld4 and st1 to st4 */
static void structures(uint32_t word, struct insn *ret)
{
	static const uint8_t counts[16] = {4, 0, 4, 0, 3, 0, 3, 1, 2, 0, 2};
	const bool loads = field(word, 22, 1), one = field(word, 24, 1);
	const bool writes_back = field(word, 23, 1);
	const unsigned int size =
		one ? 32 : counts[field(word, 12, 4)] * (field(word, 30, 1) ? 16u : 8u);

	ret->base = (uint8_t)rn_of(word);
	ret->size = (uint8_t)size;
	if (writes_back && (one || rm_of(word) != 31)) {
		ret->mask = 1u << rn_of(word);
	} else {
		ret->value = writes_back ? size : 0;
		set_mode(ret, writes_back, false);
	}
	ret->op = OP_STORE;
	if (loads)
		load_vector(ret);
}

static void literal(uint32_t word, uint64_t pc, struct insn *ret)
{
	if (field(word, 26, 1) || field(word, 30, 2) == 3)
		return;
	ret->op = OP_LOAD;
	ret->reg = or_zero(rd_of(word));
	ret->size = field(word, 30, 2) == 1 ? 8 : 4;
	ret->value = (int64_t)pc + signed_field(word, 5, 19) * 4;
}

static void memory_group(uint32_t word, uint64_t pc, struct insn *ret)
{
	if ((word & 0x3a000000) == 0x28000000) {
		pair(word, ret);
	} else if ((word & 0x3b000000) == 0x39000000 || (word & 0x3b200000) == 0x38000000) {
		single(word, ret);
	} else if ((word & 0x3b200c00) == 0x38200800) {
		indexed(word, ret);
	} else if ((word & 0x3b200000) == 0x38200000) {
		/* atomic, or with an authenticated base that may be changed, too */
		write_reg(ret, rd_of(word));
		if (field(word, 10, 1))
			ret->mask |= 1u << rn_of(word);
	} else if ((word & 0x3b000000) == 0x18000000) {
		literal(word, pc, ret);
	} else if ((word & 0x3f000000) == 0x08000000) {
		exclusive(word, ret);
	} else if ((word & 0xbe000000) == 0x0c000000) {
		structures(word, ret);
	} else {
		/* ldapur and stlur, tags of memory, and what is newer */
		write_reg(ret, rd_of(word));
		ret->mask |= 1u << rn_of(word);
	}
}

/* Whether a scalar conversion, or a move, is to a general register. */
static bool is_to_general(uint32_t word)
{
	const unsigned int kind = field(word, 16, 3);

	/* with numbers of bits after the point, or without */
	if ((word & 0x5f200000) != 0x1e000000 && (word & 0x5f20fc00) != 0x1e200000)
		return false;
	return kind != 2 && kind != 3 && kind != 7;
}

/* Vectors: what is moved to general registers, and sizes of scalable vectors. */
static void vector_group(uint32_t word, struct insn *ret)
{
	const bool scalable = field(word, 25, 4) == 2;
	const bool moves = (word & 0xbf20fc00) == 0x0e003c00 || (word & 0xbf20fc00) == 0x0e002c00;

	if (scalable && (word & 0xffa0f800) == 0x04205000)
		ret->mask = 1u << rd_of(word); /* addvl, addpl: may be the stack pointer */
	else if (scalable || moves || is_to_general(word))
		write_reg(ret, rd_of(word));
}

/*
 * Whether fields do not tell what exists: of computations.  Atomic memory accesses and scalable
 * vectors are younger than some versions of the library.
 */
static bool is_asked(uint32_t word, const struct insn *insn)
{
	return insn->op == OP_NOTHING && (field(word, 25, 4) & 5) == 5;
}

static void by_group(uint32_t word, uint64_t pc, struct insn *ret)
{
	const unsigned int group = field(word, 25, 4);

	if ((group & 14) == 8)
		number_group(word, pc, ret);
	else if ((group & 14) == 10)
		branch_group(word, pc, ret);
	else if ((group & 5) == 4)
		memory_group(word, pc, ret);
	else if ((group & 7) == 5)
		register_group(word, ret);
	else if ((group & 7) == 7 || group == 2)
		vector_group(word, ret);
	else
		ret->op = OP_BAD;
}

void a64_decode(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
		struct insn *ret)
{
	uint32_t word;

	*ret = (struct insn){.at = ret->at,
			     .len = A64_INSN,
			     .op = OP_BAD,
			     .reg = NO_REG,
			     .base = NO_REG,
			     .index = NO_REG,
			     .scale = 1};
	if (size < A64_INSN)
		ret->len = size ? (uint8_t)size : 1;
	if (size < A64_INSN || pc % A64_INSN)
		return;
	word = load_u32(code, false);
	ret->op = OP_NOTHING;
	by_group(word, pc, ret);
	if (is_asked(word, ret) && !is_known(decoder, code, pc))
		ret->op = OP_BAD;
}

void a64_text(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
	      char ret[INSN_TEXT_MAX])
{
	const struct a64_decoder *d = (const struct a64_decoder *)decoder;

	*ret = 0;
	if (size < A64_INSN || !is_known(decoder, code, pc))
		return;
	snprintf(ret, INSN_TEXT_MAX, "%.16s%s%.72s", d->insn->mnemonic, *d->insn->op_str ? " " : "",
		 d->insn->op_str);
}
