/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What instructions of x86-64 do to the stack pointer and the frame pointer.  Any that may
 * change one of them in a way that is not listed makes it unknown.
 */
#include "core/code_path.h"
#include "core/x86_bytes.h"

#define REG_SP 4
#define REG_BP 5

/* A whole 64-bit register, not a part of one. */
static bool is_full(const struct x86_bytes *b)
{
	return b->wide && !b->operand16 && !b->address32;
}

static void lose(struct code_path *p, uint8_t reg)
{
	if (reg == REG_SP)
		p->sp = code_unknown();
	if (reg == REG_BP)
		p->fp = code_unknown();
}

static void give(struct code_path *p, uint8_t reg, struct code_value v)
{
	if (reg == REG_SP)
		p->sp = code_is_address(&v) ? v : code_unknown();
	if (reg == REG_BP)
		p->fp = v;
}

static struct code_value value_of(const struct code_path *p, uint8_t reg)
{
	return reg == REG_SP ? p->sp : reg == REG_BP ? p->fp : code_unknown();
}

static bool is_same_place(const struct code_value *a, const struct code_value *b)
{
	return code_is_address(a) && a->base == b->base && !b->loaded && a->off == b->off;
}

static enum code_turn push(struct code_path *p, const struct x86_bytes *b, bool is_bp)
{
	if (b->operand16)
		return CODE_TURN_STUCK;
	p->sp = code_plus(&p->sp, -8);
	if (is_bp) {
		p->saved_at = p->sp;
		p->saved = p->fp;
	} else if (is_same_place(&p->saved_at, &p->sp)) {
		p->saved = code_unknown();
	}
	return CODE_TURN_ON;
}

static enum code_turn pop(struct code_path *p, const struct x86_bytes *b, uint8_t reg)
{
	struct code_value v = code_load(p, &p->sp);

	if (b->operand16)
		return CODE_TURN_STUCK;
	p->sp = code_plus(&p->sp, 8);
	give(p, reg, reg == REG_BP ? v : code_unknown());
	return CODE_TURN_ON;
}

static enum code_turn leave(struct code_path *p)
{
	const struct code_value at = p->fp;

	if (!code_is_address(&at))
		return CODE_TURN_STUCK;
	p->sp = code_plus(&at, 8);
	p->fp = code_load(p, &at);
	return CODE_TURN_ON;
}

static enum code_turn jump(struct code_path *p, const struct x86_bytes *b)
{
	p->pc += (uint64_t)(int64_t)b->imm;
	return CODE_TURN_ON;
}

/*
 * A jump with a distance of four bytes, beyond a call that may not come back, may be that of another
 * function's cold part, which is next to this one's.
 */
static enum code_turn jump_far(struct code_path *p, const struct x86_bytes *b)
{
	if (code_is_address(&p->called))
		p->jumped = p->sp;
	return jump(p, b);
}

static enum code_turn branch(struct code_path *p, const struct x86_bytes *b)
{
	if (!p->taken)
		return CODE_TURN_ON;
	return b->map == X86_MAP_0F ? jump_far(p, b) : jump(p, b);
}

static bool is_above(const struct code_value *sp, const struct code_value *other)
{
	return sp->base == other->base && sp->off > other->off;
}

/*
 * A return whose address would be where a call that was crossed has put its own, or below, is the
 * next function's: that call does not come back.  Nor may it where a far jump after it leads to code
 * that takes down a frame; one to a function, or to a return thunk, is made without.
 */
static enum code_turn turn_return(struct code_path *p)
{
	if (code_is_address(&p->called) && p->called.base == p->sp.base &&
	    !is_above(&p->sp, &p->called))
		return CODE_TURN_STUCK;
	p->doubtful = code_is_address(&p->jumped) && is_above(&p->sp, &p->jumped);
	return CODE_TURN_RETURN;
}

static enum code_turn end(struct code_path *p, uint16_t popped)
{
	/*
	 * A return through a slot that code has filled is a jump, of a retpoline.  If the slot was there
	 * before, it may have the function's own return address until then.
	 */
	if (is_same_place(&p->filled, &p->sp)) {
		p->crossed |= p->sp.base != CODE_SP || p->sp.off >= 0;
		p->sp = code_plus(&p->sp, 8);
	}
	p->popped = popped;
	return turn_return(p);
}

/*
 * What follows a call that only speculation returns from: pause, lfence, int3.  Return thunks
 * and retpolines take its return address off, or replace it.
 */
static bool is_thunk_call(const uint8_t *after)
{
	return (after[0] == 0xf3 && after[1] == 0x90) || after[0] == 0xcc ||
	       (after[0] == 0x0f && after[1] == 0xae && after[2] == 0xe8);
}

static enum code_turn cross(struct code_path *p)
{
	if (p->called.base != p->sp.base || p->called.off < p->sp.off)
		p->called = p->sp;
	p->crossed = true;
	return CODE_TURN_ON;
}

static enum code_turn call(struct code_path *p, const struct x86_bytes *b, const uint8_t *after)
{
	/* call to the next instruction: it wants its address */
	if (!b->imm || is_thunk_call(after)) {
		p->sp = code_plus(&p->sp, -8);
		return jump(p, b);
	}
	return cross(p);
}

/* ff: inc, dec, call, jmp, push */
static enum code_turn group5(struct code_path *p, const struct x86_bytes *b, bool after_push)
{
	switch (b->reg & 7) {
	case 2:
		return cross(p);
	case 4:
		/* through a slot of its own: into another function, as the PLT does */
		if (!b->rip)
			return b->index ? CODE_TURN_STUCK : CODE_TURN_JUMP;
		if (after_push)
			p->sp = code_plus(&p->sp, 16);
		/* compilers use it for goto, too */
		p->crossed = true;
		return end(p, 0);
	case 6:
		p->resolver = b->rip;
		return push(p, b, b->mod == 3 && b->rm == REG_BP);
	case 3:
	case 5:
	case 7:
		return CODE_TURN_STUCK;
	default:
		if (b->mod == 3)
			lose(p, b->rm);
		return CODE_TURN_ON;
	}
}

/* add or sub, of a number */
static enum code_turn add(struct code_path *p, const struct x86_bytes *b)
{
	const uint8_t how = b->reg & 7;
	const struct code_value v = value_of(p, b->rm);

	if (b->mod != 3 || how == 7)
		return CODE_TURN_ON;
	if ((how == 0 || how == 5) && is_full(b) && b->opcode != 0x80)
		give(p, b->rm, code_plus(&v, how ? (int32_t) - (uint32_t)b->imm : b->imm));
	else
		lose(p, b->rm);
	return CODE_TURN_ON;
}

static enum code_turn lea(struct code_path *p, const struct x86_bytes *b)
{
	const struct code_value v = value_of(p, b->base);

	if (b->mod != 3 && is_full(b) && !b->index)
		give(p, b->reg, code_plus(&v, b->disp));
	else
		lose(p, b->reg);
	return CODE_TURN_ON;
}

/*
 * push %rbp; mov %rsp,%rbp: a frame record is made, next to the return address.  By custom only:
 * nothing forbids it elsewhere.
 */
static enum code_turn make_record(struct code_path *p)
{
	p->sp = code_plus(&p->sp, 8);
	p->fp = p->saved;
	p->crossed = true;
	return turn_return(p);
}

/* 89: to a register or to memory */
static enum code_turn store(struct code_path *p, const struct x86_bytes *b)
{
	const struct code_value base = value_of(p, b->base);
	const struct code_value at = code_plus(&base, b->disp);

	if (b->mod == 3 && b->reg == REG_SP && b->rm == REG_BP && is_full(b) &&
	    is_same_place(&p->saved_at, &p->sp))
		return make_record(p);
	if (b->mod == 3) {
		give(p, b->rm, is_full(b) ? value_of(p, b->reg) : code_unknown());
		return CODE_TURN_ON;
	}
	if (b->index || !code_is_address(&at))
		return CODE_TURN_ON;
	if (b->reg == REG_BP && is_full(b)) {
		p->saved_at = at;
		p->saved = p->fp;
	} else if (is_same_place(&p->saved_at, &at)) {
		p->saved = code_unknown();
	}
	p->filled = at;
	return CODE_TURN_ON;
}

/* 8b */
static enum code_turn load(struct code_path *p, const struct x86_bytes *b)
{
	const struct code_value base = value_of(p, b->base);
	const struct code_value at = code_plus(&base, b->disp);

	if (b->mod == 3)
		give(p, b->reg, is_full(b) ? value_of(p, b->rm) : code_unknown());
	else if (b->reg == REG_BP && is_full(b) && !b->index)
		p->fp = code_load(p, &at);
	else
		lose(p, b->reg);
	return CODE_TURN_ON;
}

static enum code_turn lose_both(struct code_path *p, const struct x86_bytes *b)
{
	lose(p, b->reg);
	if (b->mod == 3 || !b->has_modrm)
		lose(p, b->rm);
	return CODE_TURN_ON;
}

/* The other field is a part of the opcode: shr and sar have the number of the frame pointer there. */
static enum code_turn lose_rm(struct code_path *p, const struct x86_bytes *b)
{
	if (b->mod == 3)
		lose(p, b->rm);
	return CODE_TURN_ON;
}

/* Arithmetic of two operands; 38 to 3d only compare. */
static enum code_turn calculate(struct code_path *p, const struct x86_bytes *b)
{
	const uint8_t low = b->opcode & 7;

	if (b->opcode >= 0x38 || low >= 4)
		return CODE_TURN_ON;
	if (low >= 2)
		lose(p, b->reg);
	else if (b->mod == 3)
		lose(p, b->rm);
	return CODE_TURN_ON;
}

static BOBBIN_ALWAYS_INLINE enum code_turn turn_rest(struct code_path *p, const struct x86_bytes *b)
{
	switch (b->opcode) {
	case 0x68:
	case 0x6a:
	case 0x9c:
		return push(p, b, false);
	case 0x9d:
		return pop(p, b, 0);
	case 0x8f:
		return b->mod == 3 ? pop(p, b, b->rm) : CODE_TURN_STUCK;
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
		lose(p, b->reg);
		return CODE_TURN_ON;
	case 0xf6:
	case 0xf7:
		if (b->mod == 3 && (b->reg & 6) == 2)
			lose(p, b->rm);
		return CODE_TURN_ON;
	case 0x80 ... 0x83:
		return add(p, b);
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0 ... 0xd3:
	case 0xfe:
		return lose_rm(p, b);
	case 0x86 ... 0x88:
	case 0x8c:
	case 0x91 ... 0x97:
	case 0xb0 ... 0xbf:
		return lose_both(p, b);
	case 0x6c ... 0x6f:
	case 0xc8:
	case 0xca ... 0xcf:
	case 0xe4 ... 0xe7:
	case 0xec ... 0xef:
	case 0xf1:
	case 0xf4:
	case 0xfa ... 0xfb:
		return CODE_TURN_STUCK;
	default:
		return b->opcode < 0x40 ? calculate(p, b) : CODE_TURN_ON;
	}
}

static BOBBIN_ALWAYS_INLINE enum code_turn turn_one(struct code_path *p, const struct x86_bytes *b,
						    const uint8_t *after, bool after_push)
{
	switch (b->opcode) {
	case 0x50 ... 0x57:
		return push(p, b, b->rm == REG_BP);
	case 0x58 ... 0x5f:
		return pop(p, b, b->rm);
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return branch(p, b);
	case 0x89:
		return store(p, b);
	case 0x8b:
		return load(p, b);
	case 0x8d:
		return lea(p, b);
	case 0xc2:
		return end(p, (uint16_t)b->imm);
	case 0xc3:
		return end(p, 0);
	case 0xc9:
		return b->operand16 ? CODE_TURN_STUCK : leave(p);
	case 0xe8:
		return call(p, b, after);
	case 0xe9:
		return jump_far(p, b);
	case 0xeb:
		return jump(p, b);
	case 0xff:
		return group5(p, b, after_push);
	default:
		return turn_rest(p, b);
	}
}

/* What has general registers as destination there; the others have vectors, or none. */
static enum code_turn turn_0f(struct code_path *p, const struct x86_bytes *b)
{
	switch (b->opcode) {
	case 0x80 ... 0x8f:
		return branch(p, b);
	case 0x05:
		/* it may not come back */
		p->crossed = true;
		return CODE_TURN_ON;
	case 0x0b:
	case 0xb9:
	case 0xff:
	case 0x07:
	case 0x34:
	case 0x35:
	case 0xa0:
	case 0xa1:
	case 0xa8:
	case 0xa9:
		return CODE_TURN_STUCK;
	case 0x02:
	case 0x03:
	case 0x1e:
	case 0xae:
	case 0x2c:
	case 0x2d:
	case 0x40 ... 0x50:
	case 0x7e:
	case 0x90 ... 0x9f:
	case 0xa4:
	case 0xa5:
	case 0xab ... 0xad:
	case 0xaf ... 0xb8:
	case 0xba ... 0xc1:
	case 0xc5:
	case 0xc7 ... 0xcf:
	case 0xd7:
		return lose_both(p, b);
	default:
		return CODE_TURN_ON;
	}
}

/* Those with three registers may have the second as destination. */
static enum code_turn turn_vector(struct code_path *p, const struct x86_bytes *b)
{
	if (b->map == X86_MAP_0F && !b->vector)
		return turn_0f(p, b);
	if (b->vector)
		lose(p, b->vvvv);
	return lose_both(p, b);
}

/* Of code that has made a frame record: what is below it is the function's own. */
static bool is_local(const struct code_path *p, const struct x86_bytes *b)
{
	return b->has_modrm && b->mod != 3 && b->base == REG_BP && b->disp < 0 && !b->address32 &&
	       p->fp.base == CODE_FP && !p->fp.loaded && !p->fp.off;
}

static BOBBIN_ALWAYS_INLINE enum code_turn step(struct code_path *path, const struct x86_bytes *b,
						const uint8_t code[CODE_PATH_BYTES])
{
	const bool after_push = path->resolver;
	const uint8_t size = b->size;

	path->resolver = false;
	if (size > CODE_PATH_BYTES - 3)
		return CODE_TURN_STUCK;
	path->pc += size;
	if (b->map == X86_MAP_ONE && !b->vector)
		return turn_one(path, b, code + size, after_push);
	return turn_vector(path, b);
}

enum code_turn x86_path_go(struct code_path *path, const struct x86_bytes *b,
			   const uint8_t code[CODE_PATH_BYTES])
{
	if (b->size <= CODE_PATH_BYTES - 3 && is_local(path, b)) {
		/* or what is before the end of a buffer */
		path->resolver = false;
		path->pc += b->size;
		path->crossed = true;
		return CODE_TURN_FRAME;
	}
	return step(path, b, code);
}

enum code_turn x86_path_step(struct code_path *path, const struct x86_bytes *b,
			     const uint8_t code[CODE_PATH_BYTES])
{
	return step(path, b, code);
}

enum code_turn x86_path_turn(struct code_path *path, const uint8_t code[CODE_PATH_BYTES])
{
	struct x86_bytes b;

	return x86_bytes_split(code, &b) ? x86_path_go(path, &b, code) : CODE_TURN_STUCK;
}
