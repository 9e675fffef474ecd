/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "golang/stack_switch.h"

#include "core/x86_bytes.h"

/* Larger than any of the structures. */
#define MOST 8192

#define SP 4
#define NO_REG 0xff

#define PUSH_FP 0x55
#define SEGMENT_FS 0x64
#define OP_CMP_STORED 0x39
#define OP_CMP 0x3b
#define OP_MOV_STORED 0x89
#define OP_MOV 0x8b
#define OP_MOV_IMM 0xc7
#define OP_CALL 0xe8
#define OP_GROUP_5 0xff
#define GROUP_5_CALL 2

/* What is known of registers after the code so far. */
struct reading {
	struct stack_switch found;
	uint8_t g, m;                 /* registers with these */
	uint8_t imm_reg, loaded;      /* that got a constant, or a word of memory, last */
	int32_t imm, disp;            /* which */
	bool has_m, has_g0, has_curg; /* where they are */
};

static bool in_memory(const struct x86_bytes *i)
{
	return i->has_modrm && i->mod != 3 && !i->index && !i->rip;
}

/* Of %fs:imm32, or %fs:(reg) after a constant to it. */
static void read_tls(struct reading *r, const struct x86_bytes *i)
{
	if (r->g != NO_REG || i->opcode != OP_MOV || !in_memory(i))
		return;
	if (i->base == X86_NO_BASE)
		r->found.tls = i->disp;
	else if (i->base == r->imm_reg)
		r->found.tls = r->imm + i->disp;
	else
		return;
	r->g = i->reg;
}

static void read_load(struct reading *r, const struct x86_bytes *i)
{
	if (r->g != NO_REG && i->base == r->g && !r->has_m) {
		r->found.m = i->disp;
		r->m = i->reg;
		r->has_m = true;
	} else if (i->base == r->m && r->has_m && !r->has_g0) {
		r->found.g0 = i->disp;
		r->has_g0 = true;
	}
	r->loaded = i->reg;
	r->disp = i->disp;
}

/* The last comparison is with the goroutine that the thread runs. */
static void read_comparison(struct reading *r, const struct x86_bytes *i)
{
	if (!r->has_m || i->base != r->m || i->reg != r->g)
		return;
	r->found.curg = i->disp;
	r->has_curg = true;
}

/* Whether the stack pointer is loaded from memory; @ret: from where. */
static bool loads_sp(const struct reading *r, const struct x86_bytes *i, int32_t *ret)
{
	if (i->opcode == OP_MOV && in_memory(i) && i->reg == SP) {
		*ret = i->disp;
		return true;
	}
	*ret = r->disp;
	return i->opcode == OP_MOV_STORED && i->mod == 3 && i->rm == SP && i->reg == r->loaded;
}

static void read_other(struct reading *r, const struct x86_bytes *i)
{
	if (i->opcode == OP_MOV_IMM && i->has_modrm && i->mod == 3) {
		r->imm_reg = i->rm;
		r->imm = i->imm;
	} else if (i->opcode == OP_MOV && in_memory(i)) {
		read_load(r, i);
	} else if ((i->opcode == OP_CMP || i->opcode == OP_CMP_STORED) && in_memory(i)) {
		read_comparison(r, i);
	}
}

static bool is_place(int32_t offset)
{
	return offset >= 0 && offset < MOST && offset % 8 == 0;
}

static bool is_plausible(const struct reading *r)
{
	const struct stack_switch *f = &r->found;

	return r->has_curg && r->has_g0 && is_place(f->m) && is_place(f->g0) && is_place(f->curg) &&
	       is_place(f->sp) && f->tls % 8 == 0;
}

bool stack_switch_find(const uint8_t code[STACK_SWITCH_CODE], struct stack_switch *ret)
{
	struct reading r = {.found.pushed = code[0] == PUSH_FP,
			    .g = NO_REG,
			    .m = NO_REG,
			    .imm_reg = NO_REG,
			    .loaded = NO_REG};
	struct x86_bytes i;
	int32_t sp;

	for (uint32_t at = 0; at + 16 <= STACK_SWITCH_CODE; at += i.size) {
		if (!x86_bytes_split(code + at, &i))
			return false;
		if (i.map != X86_MAP_ONE || !i.wide)
			continue;
		if (code[at] == SEGMENT_FS) {
			read_tls(&r, &i);
		} else if (!loads_sp(&r, &i, &sp)) {
			read_other(&r, &i);
		} else if (!r.found.start) {
			r.found.start = at + i.size;
			r.found.sp = sp;
		} else {
			/* back to the goroutine */
			r.found.end = at;
			*ret = r.found;
			return sp == r.found.sp && is_plausible(&r);
		}
	}
	return false;
}

static bool is_call(const struct x86_bytes *i)
{
	return i->opcode == OP_CALL ||
	       (i->opcode == OP_GROUP_5 && i->has_modrm && (i->reg & 7) == GROUP_5_CALL);
}

uint32_t stack_switch_call(const uint8_t code[STACK_SWITCH_CODE])
{
	bool loaded = false;
	struct x86_bytes i;

	for (uint32_t at = 0; at + 16 <= STACK_SWITCH_CODE; at += i.size) {
		if (!x86_bytes_split(code + at, &i))
			return 0;
		if (i.map != X86_MAP_ONE)
			continue;
		if (loaded && is_call(&i))
			return at + i.size;
		loaded |= i.opcode == OP_MOV && i.wide && in_memory(&i) && i.reg == SP;
	}
	return 0;
}
