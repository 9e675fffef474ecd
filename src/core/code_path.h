/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_path.h - where the code at a PC will return to.
 *
 *	pc ─► add $24, %rsp ─► pop %rbx ─► pop %rbp ─► ret	CFA = SP + 48, FP at CFA - 16
 *	pc ─► mov %rax, -8(%rbp) ─► … ─► leave ─► ret		CFA = FP + 16, FP at CFA - 16
 *	pc ─► mov %rsp, %rbp ─► … ─► leave ─► ret		CFA = SP + 16, FP at CFA - 16
 *	pc ─► … ─► mov -24(%rbp), %rax				the frame pointer points to a frame record
 *
 * Code that no table covers says itself where its return address is: whatever way it takes,
 * it takes the stack pointer there and returns.  A path is followed from the PC to a return,
 * with what the stack pointer and the frame pointer are relative to those at the PC.
 *
 * A path is not a proof where it crosses calls: a callee may never return, and then what
 * follows is another function's code.  code_path_is_certain() judges that.  Most of those are
 * seen: the next function's return address is where the stack pointer was at the call, and
 * a function's own is above that.
 */
#ifndef BOBBIN_CORE_CODE_PATH_H
#define BOBBIN_CORE_CODE_PATH_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

#include "core/frame_rules.h"

/* Instructions of a path that are looked at. */
#define PATH_INSNS 48
/* Bytes of code that one turn looks at, at most, from the PC on. */
#define CODE_PATH_BYTES 16

/* What a value is relative to. */
enum code_base {
	CODE_UNKNOWN,
	CODE_SP, /* the stack pointer at the PC where the path begins */
	CODE_FP, /* the frame pointer there */
	CODE_RA, /* the link register there */
};

/**
 * struct code_value - what is known of a register
 * @off: bytes from the base
 * @base: enum code_base
 * @loaded: it is what memory holds there
 */
struct code_value {
	int32_t off;
	uint8_t base;
	bool loaded;
};

/**
 * struct code_path - where a path has come to
 * @pc: of the next instruction
 * @sp, @fp, @ra: the registers; @ra on architectures with a link register
 * @saved_at, @saved: where the frame pointer was stored on the way, and what it was
 * @filled: where something else was stored last; a return from there is a jump
 * @called: the stack pointer at a call that was crossed, the highest one
 * @jumped: the stack pointer at the last far jump after such a call
 * @popped: bytes that the return takes off above the return address
 * @crossed: a call was, or a jump that may lead anywhere, or what looks like a local variable may
 *	be another
 * @doubtful: the return that it came to may be another function's
 * @taken: conditional jumps are taken, not passed
 * @resolver: the last instruction pushed what a PLT's resolver takes off
 */
struct code_path {
	uint64_t pc;
	struct code_value sp, fp, ra, saved_at, saved, filled, called, jumped;
	uint16_t popped;
	bool crossed, doubtful, taken, resolver;
};

enum code_turn {
	CODE_TURN_ON,     /* there is a next instruction */
	CODE_TURN_RETURN, /* the function returns here, see code_path_rule() */
	CODE_TURN_FRAME, /* a local variable is found by the frame pointer that was there at the PC */
	CODE_TURN_JUMP,  /* a jump through a register, or through memory that one points to */
	CODE_TURN_STUCK, /* nothing is known of what follows */
};

/*
 * A path from @pc on; @exact: it is the next instruction to run, not a return address;
 * @resolver: the instruction before it was as that member says.
 */
void code_path_begin(uint64_t pc, bool exact, bool taken, bool resolver, struct code_path *ret);

/* The rule at the PC where a path that returns began; false: it says none. */
bool code_path_rule(const struct bobbin_arch *arch, const struct code_path *path,
		    struct bobbin_rule *ret);

struct x86_bytes;

/* The same over an instruction that is split already. */
enum code_turn x86_path_go(struct code_path *path, const struct x86_bytes *b,
			   const uint8_t code[CODE_PATH_BYTES]);

/* The same, and a local variable is as good as any memory. */
enum code_turn x86_path_step(struct code_path *path, const struct x86_bytes *b,
			     const uint8_t code[CODE_PATH_BYTES]);

/* Of one architecture. */
enum code_turn x86_path_turn(struct code_path *path, const uint8_t code[CODE_PATH_BYTES]);
enum code_turn aarch64_path_turn(struct code_path *path, const uint8_t code[CODE_PATH_BYTES]);

/* Over the instruction at @path->pc, whose bytes are @code. */
static inline enum code_turn code_path_turn(const struct bobbin_arch *arch, struct code_path *path,
					    const uint8_t code[CODE_PATH_BYTES])
{
	if (arch->default_ra_off)
		return x86_path_turn(path, code);
	return arch->cfa_bias ? CODE_TURN_STUCK : aarch64_path_turn(path, code);
}

/* What the end of a path says of the PC where it began; false: nothing. */
static BOBBIN_ALWAYS_INLINE bool code_path_end(const struct bobbin_arch *arch,
					       const struct code_path *path, enum code_turn turn,
					       struct bobbin_rule *ret)
{
	if (turn == CODE_TURN_FRAME) {
		*ret = frame_record_rule(arch);
		return true;
	}
	return turn == CODE_TURN_RETURN && code_path_rule(arch, path, ret);
}

/* Whether its rule needs no other proof; @exact: the PC is the next instruction to run. */
static BOBBIN_ALWAYS_INLINE bool code_path_is_certain(const struct code_path *path, bool exact)
{
	return exact && !path->crossed;
}

static inline struct code_value code_unknown(void)
{
	return (struct code_value){0, CODE_UNKNOWN, false};
}

/* Whether it is an address relative to a register, and not what memory holds. */
static inline bool code_is_address(const struct code_value *v)
{
	return v->base != CODE_UNKNOWN && !v->loaded;
}

static inline struct code_value code_plus(const struct code_value *v, int32_t off)
{
	if (!code_is_address(v))
		return code_unknown();
	return (struct code_value){(int32_t)((uint32_t)v->off + (uint32_t)off), v->base, false};
}

/* The frame pointer as memory at @at has it. */
static inline struct code_value code_load(const struct code_path *path, const struct code_value *at)
{
	if (!code_is_address(at))
		return code_unknown();
	if (code_is_address(&path->saved_at) && path->saved_at.base == at->base &&
	    path->saved_at.off == at->off)
		return path->saved;
	/* what is below the stack pointer was not stored by this frame */
	if (at->base == CODE_SP && at->off < 0)
		return code_unknown();
	return (struct code_value){at->off, at->base, true};
}

#endif
