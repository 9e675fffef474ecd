// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* x86_decode.c - instructions by Zydis; what most of them do is read off their opcode. */
#include <Zydis/Zydis.h>
#include <stdlib.h>

#include "infer/x86_decode.h"

struct x86_decoder {
	struct insn_decoder base;
	ZydisDecoder zydis;
};

static const ZydisDecoder *zydis_of(const struct insn_decoder *decoder)
{
	return &((const struct x86_decoder *)decoder)->zydis;
}

/* An instruction that is being looked at. */
struct look {
	const struct insn_decoder *decoder;
	ZydisDecoderContext context;
	ZydisDecodedInstruction insn;
	uint64_t pc;
	struct insn *ret;
};

bool x86_decoder_exists(void)
{
	return true;
}

struct insn_decoder *x86_decoder_open(void)
{
	struct x86_decoder *d = malloc(sizeof(*d));

	if (!d)
		return NULL;
	if (ZYAN_FAILED(ZydisDecoderInit(&d->zydis, ZYDIS_MACHINE_MODE_LONG_64,
					 ZYDIS_STACK_WIDTH_64))) {
		free(d);
		return NULL;
	}
	d->base.machine = &machine_amd64;
	return &d->base;
}

void x86_decoder_close(struct insn_decoder *decoder)
{
	free(decoder);
}

static uint16_t bit(unsigned int reg)
{
	return (uint16_t)(reg < X86_REGS ? 1u << reg : 0);
}

static bool is_legacy(const struct look *l)
{
	return l->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

static unsigned int rex(const struct look *l, unsigned int w, unsigned int shift)
{
	return is_legacy(l) && (l->insn.attributes & ZYDIS_ATTRIB_HAS_REX) && w ? 1u << shift : 0;
}

static unsigned int reg_field(const struct look *l)
{
	return l->insn.raw.modrm.reg | rex(l, l->insn.raw.rex.R, 3);
}

static unsigned int rm_field(const struct look *l)
{
	return l->insn.raw.modrm.rm | rex(l, l->insn.raw.rex.B, 3);
}

static bool in_memory(const struct look *l)
{
	return l->insn.raw.modrm.mod != 3;
}

static bool is_wide(const struct look *l)
{
	return l->insn.operand_width == 64;
}

/* Registers of one byte are the second ones of four registers if there is no REX prefix. */
static unsigned int byte_reg(const struct look *l, unsigned int reg)
{
	return reg >= 4 && reg < 8 && !(l->insn.attributes & ZYDIS_ATTRIB_HAS_REX) ? reg - 4 : reg;
}

/* Addresses that are not followed have an index of which nothing is known. */
static void unknown_address(struct insn *ret)
{
	ret->base = NO_REG;
	ret->index = X86_AX;
	ret->scale = 1;
	ret->value = 0;
}

/* The address of a memory operand of an instruction without VEX. */
static void address(struct look *l, unsigned int size)
{
	struct insn *ret = l->ret;
	const unsigned int mod = l->insn.raw.modrm.mod, rm = l->insn.raw.modrm.rm;
	unsigned int index;

	ret->size = (uint8_t)size;
	ret->value = l->insn.raw.disp.value;
	if (l->insn.address_width != 64 ||
	    (l->insn.attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS))) {
		unknown_address(ret);
	} else if (rm == 5 && !mod) {
		ret->value += (int64_t)(l->pc + l->insn.length);
	} else if (rm != 4) {
		ret->base = (uint8_t)rm_field(l);
	} else {
		index = l->insn.raw.sib.index | rex(l, l->insn.raw.rex.X, 3);
		if (index != 4) {
			ret->index = (uint8_t)index;
			ret->scale = (uint8_t)(1u << l->insn.raw.sib.scale);
		}
		if (l->insn.raw.sib.base != 5 || mod)
			ret->base = (uint8_t)(l->insn.raw.sib.base | rex(l, l->insn.raw.rex.B, 3));
	}
}

static unsigned int width(const struct look *l)
{
	return l->insn.operand_width / 8u;
}

/* Something that is not followed is written to the operand that is a register or memory. */
static void write_rm(struct look *l, unsigned int size)
{
	if (!in_memory(l)) {
		l->ret->mask |= bit(size == 1 ? byte_reg(l, rm_field(l)) : rm_field(l));
		return;
	}
	l->ret->op = OP_STORE;
	address(l, size);
}

static unsigned int gpr_of(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		       ? (unsigned int)(whole - ZYDIS_REGISTER_RAX)
		       : NO_REG;
}

static void store_of(struct look *l, const ZydisDecodedOperand *o)
{
	struct insn *ret = l->ret;

	ret->op = OP_STORE;
	ret->size = (uint8_t)(o->size / 8 > 64 ? 64 : o->size / 8);
	ret->base = (uint8_t)gpr_of(o->mem.base);
	ret->index = (uint8_t)gpr_of(o->mem.index);
	ret->scale = o->mem.scale ? o->mem.scale : 1;
	ret->value = o->mem.disp.value;
	if (o->mem.base == ZYDIS_REGISTER_RIP)
		ret->value += (int64_t)(l->pc + l->insn.length);
	else if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS ||
		 l->insn.address_width != 64 ||
		 (o->mem.index != ZYDIS_REGISTER_NONE && ret->index == NO_REG))
		unknown_address(ret);
}

/* What Zydis says of the operands of the rest. */
static void by_operands(struct look *l)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const unsigned int count = l->insn.operand_count;

	if (ZYAN_FAILED(ZydisDecoderDecodeOperands(zydis_of(l->decoder), &l->context, &l->insn,
						   operands, (ZyanU8)count))) {
		l->ret->op = OP_BAD;
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		const ZydisDecodedOperand *o = &operands[i];

		if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
			l->ret->mask |= bit(gpr_of(o->reg.value));
		else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			 o->mem.type == ZYDIS_MEMOP_TYPE_MEM)
			store_of(l, o);
	}
}

static int64_t target(const struct look *l)
{
	return (int64_t)(l->pc + l->insn.length + l->insn.raw.imm[0].value.u);
}

/* reg += value, where the register is one that can be followed. */
static void add_constant(struct look *l, unsigned int reg, int64_t value)
{
	if (!is_wide(l)) {
		l->ret->mask |= bit(reg);
		return;
	}
	l->ret->op = OP_ADD;
	l->ret->reg = (uint8_t)reg;
	l->ret->value = value;
}

static void compare(struct look *l, unsigned int form)
{
	const unsigned int reg = reg_field(l), rm = rm_field(l);

	if (form == 5) {
		l->ret->op = OP_COMPARE;
		l->ret->reg = X86_AX;
		l->ret->value = l->insn.raw.imm[0].value.s;
	} else if ((form == 1 || form == 3) && is_wide(l) && !in_memory(l) &&
		   (reg == X86_SP || rm == X86_SP)) {
		l->ret->op = OP_COMPARE_SP;
		l->ret->base = (uint8_t)(reg == X86_SP ? rm : reg);
	}
}

/* The eight operations of opcodes 0x00 to 0x3f, between registers, or register and memory. */
static void arithmetic(struct look *l, unsigned int opcode)
{
	static const uint8_t operations[8] = {OP_ADD_REG, 0, 0, 0, 0, OP_SUB_REG, 0, 0};
	const unsigned int operation = opcode >> 3, form = opcode & 7;
	const unsigned int reg = reg_field(l), rm = rm_field(l);
	const bool to_reg = form & 2;

	if (operation == 7) {
		compare(l, form);
		return;
	}
	if (form >= 4) {
		if (form == 5 && (operation == 0 || operation == 5))
			add_constant(l, X86_AX,
				     operation ? -l->insn.raw.imm[0].value.s
					       : l->insn.raw.imm[0].value.s);
		else
			l->ret->mask |= bit(X86_AX);
		return;
	}
	if (in_memory(l)) {
		if (to_reg)
			l->ret->mask |= bit(form & 1 ? reg : byte_reg(l, reg));
		else
			write_rm(l, form & 1 ? width(l) : 1);
		return;
	}
	if (!(form & 1)) {
		l->ret->mask |= bit(byte_reg(l, to_reg ? reg : rm));
		return;
	}
	l->ret->reg = (uint8_t)(to_reg ? reg : rm);
	l->ret->base = (uint8_t)(to_reg ? rm : reg);
	if ((operation == 6 || operation == 5) && reg == rm)
		l->ret->op = OP_CONSTANT;
	else if (operations[operation] && is_wide(l))
		l->ret->op = operations[operation];
	else
		l->ret->mask |= bit(l->ret->reg);
}

/* Opcodes 0x80 to 0x83: the eight operations with a constant. */
static void arithmetic_constant(struct look *l, unsigned int opcode)
{
	const unsigned int operation = l->insn.raw.modrm.reg;
	const int64_t value = l->insn.raw.imm[0].value.s;

	if (operation == 7) {
		l->ret->op = OP_COMPARE;
		l->ret->reg = (uint8_t)(in_memory(l) ? NO_REG : rm_field(l));
		l->ret->value = value;
	} else if (in_memory(l) || opcode == 0x80) {
		write_rm(l, opcode == 0x80 ? 1 : width(l));
	} else if (operation == 0 || operation == 5) {
		add_constant(l, rm_field(l), operation ? -value : value);
	} else if (operation == 4 && is_wide(l) && value < 0) {
		l->ret->op = OP_ALIGN;
		l->ret->reg = (uint8_t)rm_field(l);
		l->ret->value = value;
	} else {
		l->ret->mask |= bit(rm_field(l));
	}
}

static void move_to_rm(struct look *l, unsigned int size)
{
	if (!in_memory(l) && size == 8) {
		l->ret->op = OP_MOVE;
		l->ret->reg = (uint8_t)rm_field(l);
		l->ret->base = (uint8_t)reg_field(l);
		return;
	}
	write_rm(l, size);
	if (in_memory(l) && size == 8)
		l->ret->reg = (uint8_t)reg_field(l);
}

static void move_to_reg(struct look *l)
{
	if (width(l) == 4 && in_memory(l)) {
		l->ret->op = OP_LOAD_S32;
		l->ret->reg = (uint8_t)reg_field(l);
		address(l, 4);
		return;
	}
	if (!is_wide(l)) {
		l->ret->mask |= bit(reg_field(l));
		return;
	}
	l->ret->reg = (uint8_t)reg_field(l);
	if (in_memory(l)) {
		l->ret->op = OP_LOAD;
		address(l, 8);
	} else {
		l->ret->op = OP_MOVE;
		l->ret->base = (uint8_t)rm_field(l);
	}
}

static void load_s32(struct look *l)
{
	if (!is_wide(l)) {
		l->ret->mask |= bit(reg_field(l));
		return;
	}
	l->ret->reg = (uint8_t)reg_field(l);
	if (in_memory(l)) {
		l->ret->op = OP_LOAD_S32;
		address(l, 4);
	} else {
		l->ret->op = OP_EXTEND;
		l->ret->base = (uint8_t)rm_field(l);
	}
}

static void load_address(struct look *l)
{
	if (!is_wide(l)) {
		l->ret->mask |= bit(reg_field(l));
		return;
	}
	l->ret->op = OP_LEA;
	l->ret->reg = (uint8_t)reg_field(l);
	address(l, 0);
}

static void push(struct look *l, unsigned int reg)
{
	l->ret->op = OP_PUSH;
	l->ret->size = (uint8_t)(l->insn.operand_width == 16 ? 2 : 8);
	l->ret->reg = (uint8_t)(l->ret->size == 8 ? reg : NO_REG);
}

static void pop(struct look *l, unsigned int reg)
{
	l->ret->op = OP_POP;
	l->ret->size = (uint8_t)(l->insn.operand_width == 16 ? 2 : 8);
	l->ret->reg = (uint8_t)(l->ret->size == 8 ? reg : NO_REG);
	if (l->ret->size != 8)
		l->ret->mask |= bit(reg);
}

/* Opcode 0xff. */
static void group5(struct look *l)
{
	const unsigned int operation = l->insn.raw.modrm.reg;

	switch (operation) {
	case 0:
	case 1:
		if (in_memory(l))
			write_rm(l, width(l));
		else
			add_constant(l, rm_field(l), operation ? -1 : 1);
		return;
	case 2:
		l->ret->op = OP_CALL_OTHER;
		l->ret->reg = (uint8_t)(in_memory(l) ? NO_REG : rm_field(l));
		if (!in_memory(l))
			return;
		address(l, 8);
		if (l->ret->base == NO_REG && l->ret->index == NO_REG)
			l->ret->op = OP_CALL_SLOT;
		return;
	case 4:
		l->ret->op = in_memory(l) ? OP_JUMP_MEM : OP_JUMP_REG;
		if (in_memory(l))
			address(l, 8);
		else
			l->ret->reg = (uint8_t)rm_field(l);
		return;
	case 6:
		push(l, in_memory(l) ? NO_REG : rm_field(l));
		if (in_memory(l))
			address(l, l->ret->size);
		return;
	default: /* far calls and jumps */
		l->ret->op = OP_BAD;
	}
}

/* Opcodes 0xf6 and 0xf7. */
static void group3(struct look *l, unsigned int size)
{
	const unsigned int operation = l->insn.raw.modrm.reg;

	if (operation >= 4)
		l->ret->mask |= bit(X86_AX) | bit(X86_DX);
	else if (operation >= 2)
		write_rm(l, size);
}

static void exchange(struct look *l, unsigned int reg, unsigned int other)
{
	if (reg == other)
		return;
	if (!is_wide(l)) {
		l->ret->mask |= bit(reg) | bit(other);
	} else {
		l->ret->op = OP_SWAP;
		l->ret->reg = (uint8_t)reg;
		l->ret->base = (uint8_t)other;
	}
}

static void constant(struct look *l, unsigned int reg, int64_t value)
{
	if (l->insn.operand_width == 16) {
		l->ret->mask |= bit(reg);
		return;
	}
	l->ret->op = OP_CONSTANT;
	l->ret->reg = (uint8_t)reg;
	l->ret->value = is_wide(l) ? value : (int64_t)(uint32_t)value;
}

/* Opcodes 0x50 to 0x8f, without those above. */
static bool low_opcode(struct look *l, unsigned int opcode)
{
	const unsigned int reg = (opcode & 7) | rex(l, l->insn.raw.rex.B, 3);

	switch (opcode) {
	case 0x50 ... 0x57:
		push(l, reg);
		return true;
	case 0x58 ... 0x5f:
		pop(l, reg);
		return true;
	case 0x63:
		load_s32(l);
		return true;
	case 0x68:
	case 0x6a:
		push(l, NO_REG);
		return true;
	case 0x69:
	case 0x6b:
		l->ret->mask |= bit(reg_field(l));
		return true;
	case 0x80 ... 0x83:
		arithmetic_constant(l, opcode);
		return true;
	case 0x84:
	case 0x85:
		return true;
	case 0x87:
		if (in_memory(l))
			return false;
		exchange(l, reg_field(l), rm_field(l));
		return true;
	case 0x88:
		move_to_rm(l, 1);
		return true;
	case 0x89:
		move_to_rm(l, width(l));
		return true;
	case 0x8a:
		l->ret->mask |= bit(byte_reg(l, reg_field(l)));
		return true;
	case 0x8b:
		move_to_reg(l);
		return true;
	case 0x8d:
		load_address(l);
		return true;
	case 0x8f:
		pop(l, in_memory(l) ? NO_REG : rm_field(l));
		if (in_memory(l))
			address(l, l->ret->size);
		return true;
	default:
		return false;
	}
}

/* Opcodes 0x90 to 0x9f. */
static bool middle_opcode(struct look *l, unsigned int opcode)
{
	switch (opcode) {
	case 0x90 ... 0x97:
		exchange(l, X86_AX, (opcode & 7) | rex(l, l->insn.raw.rex.B, 3));
		return true;
	case 0x98:
		if (is_wide(l))
			l->ret->op = OP_EXTEND;
		else
			l->ret->mask |= bit(X86_AX);
		l->ret->reg = l->ret->base = X86_AX;
		return true;
	case 0x99:
		l->ret->mask |= bit(X86_DX);
		return true;
	case 0x9c:
		push(l, NO_REG);
		return true;
	case 0x9d:
		pop(l, NO_REG);
		return true;
	default:
		return false;
	}
}

/* Opcodes from 0xa0 on, but for control flow. */
static bool high_opcode(struct look *l, unsigned int opcode)
{
	const unsigned int reg = (opcode & 7) | rex(l, l->insn.raw.rex.B, 3);

	switch (opcode) {
	case 0xa8:
	case 0xa9:
		return true;
	case 0xb0 ... 0xb7:
		l->ret->mask |= bit(byte_reg(l, reg));
		return true;
	case 0xb8 ... 0xbf:
		constant(l, reg, l->insn.raw.imm[0].value.s);
		return true;
	case 0xc0:
	case 0xd0:
	case 0xd2:
	case 0xc6:
	case 0xfe:
		write_rm(l, 1);
		return true;
	case 0xc1:
	case 0xd1:
	case 0xd3:
		write_rm(l, width(l));
		return true;
	case 0xc7:
		if (in_memory(l))
			write_rm(l, width(l));
		else
			constant(l, rm_field(l), l->insn.raw.imm[0].value.s);
		return true;
	case 0xc8:
		l->ret->op = l->insn.raw.imm[1].value.u ? OP_BAD : OP_ENTER;
		l->ret->value = (int64_t)l->insn.raw.imm[0].value.u;
		return true;
	case 0xc9:
		l->ret->op = OP_LEAVE;
		return true;
	case 0xf6:
	case 0xf7:
		group3(l, opcode == 0xf6 ? 1 : width(l));
		return true;
	case 0xff:
		group5(l);
		return true;
	default:
		return false;
	}
}

/* Where control goes, of one-byte opcodes. */
static bool control(struct look *l, unsigned int opcode)
{
	switch (opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		l->ret->op = OP_BRANCH;
		l->ret->cond = (uint8_t)(opcode < 0x80 ? opcode & 15 : 0);
		l->ret->mask = opcode < 0xe3 && opcode >= 0xe0 ? bit(X86_CX) : 0;
		l->ret->value = target(l);
		return true;
	case 0xc2:
		l->ret->value = (int64_t)l->insn.raw.imm[0].value.u;
		l->ret->op = OP_RETURN;
		return true;
	case 0xc3:
		l->ret->op = OP_RETURN;
		return true;
	case 0xe8:
		l->ret->op = OP_CALL;
		l->ret->value = target(l);
		return true;
	case 0xe9:
	case 0xeb:
		l->ret->op = OP_JUMP;
		l->ret->value = target(l);
		return true;
	case 0xcc:
	case 0xf4:
		l->ret->value = opcode == 0xcc;
		l->ret->op = OP_STOP;
		return true;
	case 0xca:
	case 0xcb:
	case 0xcf:
		l->ret->op = OP_BAD;
		return true;
	default:
		return false;
	}
}

static void one_byte(struct look *l, unsigned int opcode)
{
	if (opcode < 0x40 && (opcode & 7) < 6)
		arithmetic(l, opcode);
	else if (!control(l, opcode) && !low_opcode(l, opcode) && !middle_opcode(l, opcode) &&
		 !high_opcode(l, opcode))
		by_operands(l);
}

/* Vector instructions of map 0x0f that change no general register, and no memory or only that. */
static bool is_vector(unsigned int opcode)
{
	return (opcode >= 0x10 && opcode <= 0x17) || opcode == 0x28 || opcode == 0x29 ||
	       opcode == 0x2a || opcode == 0x2b || opcode == 0x2e || opcode == 0x2f ||
	       (opcode >= 0x51 && opcode <= 0x77) || opcode == 0x7c || opcode == 0x7d ||
	       opcode == 0x7f || opcode == 0xc2 || opcode == 0xc6 ||
	       (opcode >= 0xd0 && opcode != 0xd7 && opcode != 0xff);
}

static bool is_vector_store(unsigned int opcode)
{
	return opcode == 0x11 || opcode == 0x13 || opcode == 0x17 || opcode == 0x29 ||
	       opcode == 0x2b || opcode == 0x7f || opcode == 0xd6 || opcode == 0xe7;
}

static bool is_harmless_vector(const struct look *l, unsigned int opcode)
{
	return is_vector(opcode) && !(in_memory(l) && is_vector_store(opcode));
}

static void two_bytes(struct look *l, unsigned int opcode)
{
	if (is_harmless_vector(l, opcode))
		return;
	switch (opcode) {
	case 0x0b:
	case 0xb9:
	case 0xff:
		l->ret->op = OP_STOP;
		return;
	case 0x05: /* the kernel's result, the address after it, the flags */
		l->ret->mask |= bit(X86_AX) | bit(X86_CX) | bit(X86_R11);
		return;
	case 0x0d:
	case 0x18 ... 0x1d:
	case 0x1f:
	case 0xa3:
		return;
	case 0x40 ... 0x4f:
	case 0xaf:
	case 0xb6 ... 0xb8:
	case 0xbc ... 0xbf:
		l->ret->mask |= bit(reg_field(l));
		return;
	case 0x80 ... 0x8f:
		l->ret->op = OP_BRANCH;
		l->ret->cond = opcode & 15;
		l->ret->value = target(l);
		return;
	case 0x90 ... 0x9f:
		write_rm(l, 1);
		return;
	default:
		by_operands(l);
	}
}

/* Instructions of the other maps, and all with a VEX or EVEX prefix. */
static void other_map(struct look *l, unsigned int opcode)
{
	bool vex = l->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;

	switch (l->insn.opcode_map) {
	case ZYDIS_OPCODE_MAP_0F:
		if (vex && is_harmless_vector(l, opcode))
			return;
		break;
	case ZYDIS_OPCODE_MAP_0F38:
		if ((vex || is_legacy(l)) && opcode < 0xf0 && opcode != 0x2e && opcode != 0x2f &&
		    opcode != 0x8e)
			return;
		break;
	case ZYDIS_OPCODE_MAP_0F3A:
		if ((vex || is_legacy(l)) && opcode < 0x14)
			return;
		break;
	default:
		break;
	}
	by_operands(l);
}

void x86_decode(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
		struct insn *ret)
{
	const uint32_t at = ret->at;
	struct look l = {.decoder = decoder, .pc = pc, .ret = ret};

	*ret = (struct insn){
		.at = at, .len = 1, .reg = NO_REG, .base = NO_REG, .index = NO_REG, .scale = 1};
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(zydis_of(decoder), &l.context, code, size,
						      &l.insn)) ||
	    !l.insn.length || l.insn.length > size) {
		ret->op = OP_BAD;
		return;
	}
	ret->len = l.insn.length;
	if (is_legacy(&l) && l.insn.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		one_byte(&l, l.insn.opcode);
	else if (is_legacy(&l) && l.insn.opcode_map == ZYDIS_OPCODE_MAP_0F)
		two_bytes(&l, l.insn.opcode);
	else
		other_map(&l, l.insn.opcode);
}

void x86_text(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
	      char ret[INSN_TEXT_MAX])
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisFormatter formatter;

	*ret = 0;
	if (ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT)) &&
	    ZYAN_SUCCESS(ZydisDecoderDecodeFull(zydis_of(decoder), code, size, &insn, operands)))
		ZydisFormatterFormatInstruction(&formatter, &insn, operands,
						insn.operand_count_visible, ret, INSN_TEXT_MAX, pc,
						NULL);
}
