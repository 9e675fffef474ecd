/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/x86_bytes.h"

#include "core/deps.h"

#define CODE_SIZE 16
/* More than compilers and assemblers put before an opcode. */
#define MOST_PREFIXES 4

/* Where a REX, VEX or EVEX prefix has the fourth bit of registers. */
#define REX_B 1
#define REX_X 2
#define REX_R 4
#define REX_W 8

/* What follows the opcode. */
#define MODRM 0x01
#define IMM8 0x02
#define IMM32 0x04 /* 16 bits with prefix 66 */
#define IMM16 0x08
#define WIDE 0x10   /* the immediate has 64 bits with REX.W */
#define GROUP3 0x20 /* an immediate for /0 and /1 alone */
#define NONE 0x80   /* no instruction in 64-bit mode, or none that programs use */

/* Bytes of an instruction that are taken one after the other; past the end they are 0. */
struct taker {
	const uint8_t *code;
	struct x86_bytes *to; /* its size is how many were taken */
};

static BOBBIN_ALWAYS_INLINE uint8_t byte_at(const struct taker *t, unsigned int ahead)
{
	unsigned int at = t->to->size + ahead;

	return at < CODE_SIZE ? t->code[at & (CODE_SIZE - 1)] : 0;
}

static BOBBIN_ALWAYS_INLINE void skip(struct taker *t, unsigned int count)
{
	t->to->size = (uint8_t)(t->to->size + count);
}

static BOBBIN_ALWAYS_INLINE uint8_t take(struct taker *t)
{
	uint8_t byte = byte_at(t, 0);

	skip(t, 1);
	return byte;
}

static BOBBIN_ALWAYS_INLINE int32_t take_s8(struct taker *t)
{
	return (int8_t)take(t);
}

static BOBBIN_ALWAYS_INLINE int32_t take_s32(struct taker *t)
{
	uint32_t v = byte_at(t, 0) | (uint32_t)byte_at(t, 1) << 8 | (uint32_t)byte_at(t, 2) << 16 |
		     (uint32_t)byte_at(t, 3) << 24;

	skip(t, 4);
	return (int32_t)v;
}

static BOBBIN_ALWAYS_INLINE int32_t take_u16(struct taker *t)
{
	int32_t v = byte_at(t, 0) | byte_at(t, 1) << 8;

	skip(t, 2);
	return v;
}

/* The rows of eight opcodes in the table without an escape that are alike. */
static uint8_t one_byte_parts(uint8_t op)
{
	if (op < 0x40) {
		const uint8_t low = op & 7;

		return low < 4 ? MODRM : low == 4 ? IMM8 : low == 5 ? IMM32 : NONE;
	}
	if (op < 0x60)
		return op < 0x50 ? NONE : 0;
	if (op >= 0x70 && op < 0x80)
		return IMM8;
	if (op >= 0x84 && op < 0x90)
		return MODRM;
	if (op >= 0xb0 && op < 0xc0)
		return op < 0xb8 ? IMM8 : IMM32 | WIDE;
	if (op >= 0xd8 && op < 0xe0)
		return MODRM;
	if (op >= 0xe0 && op < 0xe8)
		return IMM8;
	return 0;
}

static uint8_t parts_without_escape(uint8_t op)
{
	switch (op) {
	case 0x60 ... 0x62:
	case 0x82:
	case 0x9a:
	case 0xa0 ... 0xa3:
	case 0xce:
	case 0xd4 ... 0xd6:
	case 0xea:
		return NONE;
	case 0x63:
	case 0xd0 ... 0xd3:
	case 0xfe:
	case 0xff:
		return MODRM;
	case 0x68:
	case 0xa9:
	case 0xe8:
	case 0xe9:
		return IMM32;
	case 0x69:
	case 0x81:
	case 0xc7:
		return MODRM | IMM32;
	case 0x6a:
	case 0xa8:
	case 0xcd:
	case 0xeb:
		return IMM8;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return MODRM | IMM8;
	case 0xc2:
	case 0xca:
		return IMM16;
	case 0xc8:
		return IMM16 | IMM8;
	case 0xf6:
		return MODRM | IMM8 | GROUP3;
	case 0xf7:
		return MODRM | IMM32 | GROUP3;
	default:
		return one_byte_parts(op);
	}
}

static uint8_t parts_after_0f(uint8_t op)
{
	switch (op) {
	case 0x04:
	case 0x0a:
	case 0x0c:
	case 0x0f:
	case 0x20 ... 0x27:
	case 0x36:
	case 0x38 ... 0x3f:
		return NONE;
	case 0x05 ... 0x09:
	case 0x0b:
	case 0x0e:
	case 0x30 ... 0x35:
	case 0x37:
	case 0x77:
	case 0xa0 ... 0xa2:
	case 0xa8 ... 0xaa:
	case 0xc8 ... 0xcf:
		return 0;
	case 0x80 ... 0x8f:
		return IMM32;
	case 0x70 ... 0x73:
	case 0xa4:
	case 0xac:
	case 0xba:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return MODRM | IMM8;
	default:
		return MODRM;
	}
}

static uint8_t parts_of(const struct x86_bytes *b)
{
	switch (b->map) {
	case X86_MAP_ONE:
		return parts_without_escape(b->opcode);
	case X86_MAP_0F:
		return parts_after_0f(b->opcode);
	case X86_MAP_0F3A:
		return MODRM | IMM8;
	default:
		return MODRM;
	}
}

/* @low: what VEX calls mmmmm and EVEX mmm. */
static bool set_vector_map(uint8_t low, struct x86_bytes *b)
{
	b->vector = true;
	/* 5 and 6: half precision, laid out like 0F and 0F38 */
	if (low == 5 || low == 6)
		low -= 4;
	b->map = low;
	return low >= X86_MAP_0F && low <= X86_MAP_0F3A;
}

/* After c5, c4 or 62; the bits that are stored inverted are turned. */
static bool take_vector(struct taker *t, uint8_t prefix, struct x86_bytes *b)
{
	uint8_t first = take(t), second = prefix == 0xc5 ? first : take(t);

	b->rex = (uint8_t)(~first >> 5 & (REX_R | REX_X | REX_B));
	if (prefix == 0xc5)
		b->rex &= REX_R;
	else if (second & 0x80)
		b->rex |= REX_W;
	b->vvvv = (uint8_t)(~second >> 3 & 15);
	if (prefix == 0x62)
		take(t);
	if (!set_vector_map(prefix == 0xc5   ? X86_MAP_0F
			    : prefix == 0xc4 ? first & 31
					     : first & 7,
			    b))
		return false;
	b->opcode = take(t);
	return true;
}

/* Of the older kind. */
static BOBBIN_ALWAYS_INLINE bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x40 ... 0x4f:
	case 0x64 ... 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

static bool take_prefix(struct taker *t, struct x86_bytes *b)
{
	const uint8_t byte = byte_at(t, 0);

	if (!is_prefix(byte) || byte >> 4 == 4)
		return false;
	b->operand16 |= byte == 0x66;
	b->address32 |= byte == 0x67;
	skip(t, 1);
	return true;
}

static BOBBIN_ALWAYS_INLINE bool take_opcode(struct taker *t, struct x86_bytes *b)
{
	uint8_t byte = take(t);

	if (byte >> 4 == 4) {
		b->rex = byte & 15;
		/* it is void before another prefix */
		if (is_prefix(byte_at(t, 0)))
			return false;
		byte = take(t);
	} else if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		return take_vector(t, byte, b);
	}
	if (byte == 0x0f) {
		b->map = X86_MAP_0F;
		byte = take(t);
		if (byte == 0x38 || byte == 0x3a) {
			b->map = byte == 0x38 ? X86_MAP_0F38 : X86_MAP_0F3A;
			byte = take(t);
		}
	}
	b->opcode = byte;
	/* where it is a part of the opcode */
	b->rm = (byte & 7) | (b->rex & REX_B ? 8 : 0);
	return true;
}

static void take_modrm(struct taker *t, struct x86_bytes *b)
{
	const uint8_t rex = b->rex;
	uint8_t modrm = take(t), rm = modrm & 7, sib;
	bool wide_disp;

	b->has_modrm = true;
	b->mod = modrm >> 6;
	b->reg = (modrm >> 3 & 7) | (rex & REX_R ? 8 : 0);
	b->rm = rm | (rex & REX_B ? 8 : 0);
	if (b->mod == 3)
		return;
	wide_disp = b->mod == 2;
	b->base = b->rm;
	if (rm == 4) {
		sib = take(t);
		b->base = (sib & 7) | (rex & REX_B ? 8 : 0);
		b->index = (sib >> 3 & 7) != 4 || rex & REX_X;
		rm = sib & 7;
	} else if (rm == 5 && !b->mod) {
		b->rip = true;
	}
	if (rm == 5 && !b->mod) {
		b->base = X86_NO_BASE;
		wide_disp = true;
	}
	if (wide_disp)
		b->disp = take_s32(t);
	else if (b->mod == 1)
		b->disp = take_s8(t);
}

static void take_immediate(struct taker *t, struct x86_bytes *b)
{
	const uint8_t parts = b->parts;

	if (parts & GROUP3 && b->reg & 6)
		return;
	if (parts & IMM16)
		b->imm = take_u16(t);
	if (parts & IMM8)
		b->imm = parts & IMM16 ? (take(t), b->imm) : take_s8(t);
	if (!(parts & IMM32))
		return;
	if (parts & WIDE && b->wide)
		skip(t, 4);
	/* near jumps and calls have 32 bits always */
	if (b->operand16 && !b->wide && (b->map == X86_MAP_ONE && b->opcode >> 1 != 0xe8 >> 1))
		b->imm = take_u16(t);
	else
		b->imm = take_s32(t);
}

bool x86_bytes_split(const uint8_t code[CODE_SIZE], struct x86_bytes *ret)
{
	struct taker t = {code, ret};

	*ret = (struct x86_bytes){.base = X86_NO_BASE};
	for (unsigned int i = 0; i < MOST_PREFIXES; i++)
		if (!take_prefix(&t, ret))
			break;
	BOBBIN_REREAD();
	if (!take_opcode(&t, ret))
		return false;
	BOBBIN_REREAD();
	ret->wide = ret->rex & REX_W;
	ret->parts = parts_of(ret);
	BOBBIN_REREAD();
	if (ret->parts & NONE)
		return false;
	if (ret->parts & MODRM && !(ret->vector && ret->map == X86_MAP_0F && ret->opcode == 0x77))
		take_modrm(&t, ret);
	BOBBIN_REREAD();
	/* XOP, which processors have no more */
	if (!ret->map && ret->opcode == 0x8f && ret->reg & 7)
		return false;
	take_immediate(&t, ret);
	return ret->size <= X86_LONGEST;
}
