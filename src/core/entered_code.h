/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entered_code.h - the caller of code that runs in a frame which was made elsewhere.
 *
 *	caller ── call ──► push %rbp; …; sub $N, %rsp; jmp *%rsi ──► code at the PC
 *
 * Translators and virtual machines make one frame, and jump in it from one piece of code to the next.
 * Such code may have no return of its own that can be followed.  But the return address above it
 * stands after a call, and what was called says how large its frame is when it jumps to where only
 * registers tell.  Where that frame reaches from the return address exactly down to the stack
 * pointer, the code runs in it.
 *
 * That is a proof if that return address is the first one on the stack, or if the code at the PC
 * comes to a return there.  Otherwise, if there is another below, it is most likely an old one,
 * which the frame has left as it was; but if it is not, a caller would be missing, so then the
 * frame is a guess.
 *
 * The code was made at run time.  What was called was, too, or it jumps to what it was given: through
 * a pointer that a register points to, or an argument.  Any other jump through a register may be a
 * switch.  A way with a call on it says
 * nothing, nor does the whole if the frame fits two return addresses, or if the code at the PC or
 * the frame pointer says another.
 */
#ifndef BOBBIN_CORE_ENTERED_CODE_H
#define BOBBIN_CORE_ENTERED_CODE_H

#include "core/bare_code.h"
#include "core/bytes.h"
#include "core/x86_bytes.h"

/* For one frame, at most: words from the stack pointer on, and functions that are looked at. */
#define ENTERED_WORDS 256
#define ENTERED_FUNCTIONS 32
/* Words for all frames of a walk: what is searched for others must not depend on it. */
#define ENTERED_IN_ALL 65536
/* Bytes before an indirect call in which its register is loaded. */
#define ENTERED_BEFORE 32

/* lea slot(%rip), REG or mov slot(%rip), REG, and the call of @reg that follows: the word of its slot. */
static inline uint64_t slot_before(const uint8_t code[ENTERED_BEFORE], uint64_t end, uint8_t opcode,
				   unsigned int reg)
{
	const uint8_t rex = reg & 8 ? 0x4c : 0x48, modrm = (uint8_t)(0x05 | (reg & 7) << 3);

	for (int i = ENTERED_BEFORE - 7; i >= 0; i--)
		if (code[i] == rex && code[i + 1] == opcode && code[i + 2] == modrm)
			return end - ENTERED_BEFORE + (uint64_t)i + 7 +
			       (uint64_t)(int64_t)(int32_t)load_u32(code + i + 3, false);
	return 0;
}

/* The slot that an indirect call before @addr goes through; 0: it is not known. */
static inline uint64_t slot_of_call(struct frame_walk *w, uint64_t addr, const uint8_t call[6])
{
	uint8_t code[ENTERED_BEFORE];
	unsigned int size, reg;

	if (call[0] == 0xff && call[1] == 0x15)
		return addr + (uint64_t)(int64_t)(int32_t)load_u32(call + 2, false);
	if (call[4] != 0xff)
		return 0;
	size = (call[3] & 0xfe) == 0x40 ? 3 : 2;
	reg = (call[5] & 7) | (size == 3 && call[3] & 1 ? 8 : 0);
	if (!world_code(w, addr - size - sizeof(code), code, sizeof(code)))
		return 0;
	if ((call[5] & 0xf8) == 0x10 && (reg & 7) != 4 && (reg & 7) != 5)
		return slot_before(code, addr - size, 0x8d, reg);
	return (call[5] & 0xf8) == 0xd0 ? slot_before(code, addr - size, 0x8b, reg) : 0;
}

/* What the call before @addr calls; false: it is no call, or not known. */
static inline bool callee_before(struct frame_walk *w, uint64_t addr, uint64_t *ret)
{
	uint8_t call[6];
	uint64_t slot;

	if (!world_code(w, addr - sizeof(call), call, sizeof(call)))
		return false;
	if (call[1] == 0xe8) {
		*ret = addr + (uint64_t)(int64_t)(int32_t)load_u32(call + 2, false);
		return true;
	}
	slot = slot_of_call(w, addr, call);
	return slot && world_slot(w, slot, ret);
}

/* Registers that an instruction may write, other than the stack pointer; what is not known is all. */
static inline uint32_t may_write(const struct x86_bytes *b)
{
	const uint32_t rm = b->mod == 3 ? 1u << b->rm : 0, all = UINT32_MAX;

	if (b->vector)
		return all;
	if (b->map == X86_MAP_0F) /* nops, landing pads; of memory: its control word */
		return b->opcode == 0x1e || b->opcode == 0x1f || (b->opcode == 0xae && b->mod != 3)
			       ? 0
			       : all;
	if (b->map != X86_MAP_ONE)
		return all;
	switch (b->opcode) {
	case 0x50 ... 0x57: /* push */
	case 0x68:
	case 0x6a:
	case 0x90:
	case 0x9b: /* fwait */
	case 0xfc: /* cld */
		return 0;
	case 0x63:
	case 0x8b:
	case 0x8d:
		return 1u << b->reg;
	case 0x81:
	case 0x83:
	case 0x88:
	case 0x89:
		return rm;
	case 0xb8 ... 0xbf:
		return 1u << b->rm;
	case 0xd8 ... 0xde:
		return 0;
	default:
		return all;
	}
}

/* Arguments of functions: RDI, RSI, RDX, RCX, R8, R9. */
#define X86_ARGUMENTS (1u << 7 | 1u << 6 | 1u << 2 | 1u << 1 | 1u << 8 | 1u << 9)

/*
 * Whether the jump that a path came to is to what its function was given; @written: registers that
 * are not as they were.
 */
static inline bool jumps_to_given(const struct fallbacks *r, uint32_t written)
{
	struct x86_bytes jump;

	if (!x86_bytes_split(r->code, &jump))
		return false;
	return jump.mod != 3 || (X86_ARGUMENTS & ~written & 1u << jump.rm);
}

/* How large the frame is with which a function jumps to made code; 0: it does not, by this way. */
static inline uint32_t follow_entry(struct frame_walk *w, uint64_t function, bool taken)
{
	struct fallbacks *r = &w->resort;
	struct x86_bytes insn;
	uint32_t written = 0;

	code_path_begin(function, true, taken, false, &r->path);
	r->turn = CODE_TURN_ON;
	for (unsigned int i = 0; i < PATH_INSNS && r->turn == CODE_TURN_ON && !r->path.crossed;
	     i++) {
		r->turn = (uint8_t)path_turn(w);
		if (r->turn == CODE_TURN_ON)
			written |= x86_bytes_split(r->code, &insn) ? may_write(&insn) : UINT32_MAX;
	}
	if (r->turn != CODE_TURN_JUMP || r->path.crossed || r->path.sp.base != CODE_SP ||
	    r->path.sp.loaded || r->path.sp.off >= 0)
		return 0;
	return world_is_made(w, function) || jumps_to_given(r, written) ? (uint32_t)-r->path.sp.off
									: 0;
}

/* A function that was called, and the frames that it makes; recursions leave the same many times. */
struct entry_frames {
	uint64_t function;
	uint32_t sizes[2]; /* by the jumps that are passed, and taken */
};

/* Whether a function that returns to the word at @slot makes a frame from there down to the PC's. */
static inline bool makes_frame(struct frame_walk *w, const struct entry_frames *entry,
			       uint64_t slot)
{
	for (int taken = 0; taken < 2; taken++)
		if (entry->sizes[taken] && slot - entry->sizes[taken] == w->regs.sp)
			return follow_entry(w, entry->function, taken);
	return false;
}

/* The caller's registers, of the way that makes_frame() went; the frame pointer if it was saved there. */
static inline bool leave_entered(struct frame_walk *w, uint64_t slot, uint64_t word,
				 struct bobbin_regs *ret)
{
	const struct rule_step s = {.world = w, .arch = walk_arch(w)};
	const struct code_path *p = &w->resort.path;
	uint64_t fp = 0;

	if (p->saved.base == CODE_FP && !p->saved.loaded && !p->saved.off &&
	    p->saved_at.base == CODE_SP && !p->saved_at.loaded && p->saved_at.off < 0 &&
	    p->saved_at.off >= p->sp.off &&
	    step_load(&s, slot + (uint64_t)(int64_t)p->saved_at.off, &fp))
		return false;
	*ret = (struct bobbin_regs){.pc = word, .sp = slot + 8, .fp = fp};
	return true;
}

/* Whether neither the code at the PC nor the frame pointer says that the return address is elsewhere. */
static inline bool is_undisputed(const struct frame_walk *w, uint64_t slot)
{
	const struct frame_way *record = &w->resort.by_record;

	return agrees_with_code(w, slot) &&
	       (!record->exists || record->returns != CODE_YES || record->slot == slot);
}

/* Look at a word of the stack; false: no more need be looked at. */
static inline bool look_at_word(struct frame_walk *w, uint64_t slot, struct entry_frames *entry,
				unsigned int *left, struct bobbin_regs *caller)
{
	const struct rule_step s = {.world = w, .arch = walk_arch(w)};
	uint64_t word = 0, function = 0;

	if (!*left || w->entered++ >= ENTERED_IN_ALL || step_load(&s, slot, &word))
		return false;
	if (!word || !world_is_code(w, word - 1) || !callee_before(w, word, &function))
		return true;
	if (function != entry->function) {
		--*left;
		entry->function = function;
		entry->sizes[0] = follow_entry(w, function, false);
		entry->sizes[1] = follow_entry(w, function, true);
	}
	if (!makes_frame(w, entry, slot) || !is_undisputed(w, slot))
		return true;
	w->resort.entered = slot;
	if (!caller->pc && leave_entered(w, slot, word, caller))
		return true;
	caller->pc = 0;
	return false;
}

/* Where the frame pointer has a record, only that can be undisputed. */
static inline void look_at_record(struct frame_walk *w, struct entry_frames *entry,
				  struct bobbin_regs *caller)
{
	const uint64_t slot = w->resort.by_record.slot;
	unsigned int left = 1;

	if (slot - w->regs.sp < 8 * ENTERED_WORDS && slot % 8 == 0)
		look_at_word(w, slot, entry, &left, caller);
}

static inline void look_at_words(struct frame_walk *w, struct entry_frames *entry,
				 struct bobbin_regs *caller)
{
	unsigned int left = ENTERED_FUNCTIONS;

	for (unsigned int i = 0; i < ENTERED_WORDS; i++)
		if (!look_at_word(w, w->regs.sp + 8 * (uint64_t)i, entry, &left, caller))
			return;
}

/* Move to the caller of a frame that was entered so, if there is one and only one. */
static inline bool step_entered(struct frame_walk *w)
{
	const struct frame_way *record = &w->resort.by_record;
	struct entry_frames entry = {0};
	struct bobbin_regs caller = {0};

	if (!walk_arch(w)->default_ra_off || w->regs.sp % 8 ||
	    !world_is_made(w, bobbin_regs_lookup_pc(&w->regs)))
		return false;
	if (record->exists && record->returns == CODE_YES)
		look_at_record(w, &entry, &caller);
	else
		look_at_words(w, &entry, &caller);
	if (!caller.pc)
		return false;
	w->regs = caller;
	return true;
}

#endif
