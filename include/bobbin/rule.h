/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule.h - how to get from one frame to its caller.
 *
 *	.sframe ┐
 *	.eh_frame ├─ decode ─► struct bobbin_rule ── step ─► caller's registers
 *	JIT table ┘
 *
 * A rule answers three questions for one PC: what is the CFA, where is the
 * return address, where is the caller's frame pointer.  The caller's stack
 * pointer is the CFA (less the architecture's bias).  A rule is a value; it
 * names registers and offsets only, so it holds for every process that maps
 * the same code.
 *
 *	cfa = reg + off			BOBBIN_HOW_AT_REG
 *	cfa = *(reg + off) + plus	BOBBIN_HOW_IN_REG_MEM (DRAP; hand-written crypto)
 *	cfa = *(reg + off + 8 * index) + plus
 *	ra  = *(cfa + off)		BOBBIN_HOW_IN_CFA_MEM
 *	ra  = pc + off			BOBBIN_HOW_AT_PC (code that was jumped to)
 *	fp  = unchanged			BOBBIN_HOW_SAME
 *
 * Caches and compiled tables keep rules packed in one 64-bit word, see
 * bobbin_rule_pack().
 */
#ifndef BOBBIN_RULE_H
#define BOBBIN_RULE_H

#include <bobbin/reason.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum bobbin_how - where a value is found
 * @BOBBIN_HOW_NO_RULE: (CFA only) there is no rule; the reason says why
 * @BOBBIN_HOW_SAME: still in its register (RA: in the link register)
 * @BOBBIN_HOW_UNDEFINED: (RA only) there is no caller: outermost frame
 * @BOBBIN_HOW_IN_CFA_MEM: in memory at CFA + off
 * @BOBBIN_HOW_AT_CFA: it is CFA + off
 * @BOBBIN_HOW_AT_REG: it is register + off
 * @BOBBIN_HOW_IN_REG_MEM: in memory at register + off
 * @BOBBIN_HOW_AT_PC: (RA only) it is this frame's PC + off
 */
enum bobbin_how {
	BOBBIN_HOW_NO_RULE,
	BOBBIN_HOW_SAME,
	BOBBIN_HOW_UNDEFINED,
	BOBBIN_HOW_IN_CFA_MEM,
	BOBBIN_HOW_AT_CFA,
	BOBBIN_HOW_AT_REG,
	BOBBIN_HOW_IN_REG_MEM,
	BOBBIN_HOW_AT_PC,
};

/**
 * struct bobbin_place - where one value is found
 * @off: bytes, from the CFA, the register or the PC
 * @how: enum bobbin_how
 * @reg: DWARF number of the base register, < BOBBIN_REG_COUNT; 0 if unused
 */
struct bobbin_place {
	int32_t off;
	uint8_t how;
	uint8_t reg;
};

/* flags of struct bobbin_rule */
#define BOBBIN_RULE_SIGNAL 0x01 /* signal trampoline: the caller was interrupted, its PC is exact */
#define BOBBIN_RULE_MANGLED 0x02 /* AArch64: the return address is signed */
#define BOBBIN_RULE_KEY_B 0x04   /* AArch64: it is signed with key B */
#define BOBBIN_RULE_SWITCH 0x08  /* the CFA may be on another stack, at any address */
#define BOBBIN_RULE_LEAF 0x10    /* likely, but not proved: for frames whose PC is exact */

/* no index register */
#define BOBBIN_NO_INDEX 0xff

/**
 * struct bobbin_rule - the three answers
 * @cfa: NO_RULE, AT_REG or IN_REG_MEM
 * @ra: SAME, UNDEFINED, IN_CFA_MEM, AT_REG, IN_REG_MEM or AT_PC
 * @fp: SAME, IN_CFA_MEM, AT_CFA, AT_REG or IN_REG_MEM
 * @plus: added to a CFA that was loaded from memory
 * @index: with an IN_REG_MEM CFA: register whose value times eight is added to
 *	the address, or BOBBIN_NO_INDEX
 * @flags: BOBBIN_RULE_…
 * @reason: why there is no rule, if @cfa says NO_RULE
 *
 * Rules compare with bobbin_rule_equal(), not with memcmp(): there is padding.
 */
struct bobbin_rule {
	struct bobbin_place cfa, ra, fp;
	int16_t plus;
	uint8_t index;
	uint8_t flags;
	uint8_t reason;
};

/**
 * struct bobbin_row - a rule and the PCs for which it holds
 * @start: first PC
 * @end: first PC after the row, > @start
 * @function: first PC of the function
 * @rule: the rule
 */
struct bobbin_row {
	uint64_t start, end;
	uint64_t function;
	struct bobbin_rule rule;
};

/**
 * bobbin_rule_none() - a rule that only says why there is none
 * @reason: not BOBBIN_REASON_NONE
 *
 * Return: the rule.  Safe in every context.
 */
static inline struct bobbin_rule bobbin_rule_none(enum bobbin_reason reason)
{
	struct bobbin_rule rule = {{0, 0, 0},       {0, 0, 0}, {0, 0, 0},      0,
				   BOBBIN_NO_INDEX, 0,         (uint8_t)reason};

	return rule;
}

/**
 * bobbin_rule_equal() - whether two rules say the same
 * @a: one
 * @b: the other
 *
 * Return: true if they do.  Safe in every context.
 */
bool bobbin_rule_equal(const struct bobbin_rule *a, const struct bobbin_rule *b);

/**
 * bobbin_rule_pack() - a rule in one word
 * @rule: the rule
 * @ret: the word, never 0; untouched on failure
 *
 * Offsets must be multiples of 8 within 4 MiB (CFA), 256 KiB (FP) and
 * 16 KiB (RA, unless it lies next to the FP).  RA may be within 128 MiB of the PC if FP is
 * unchanged.  What switches stacks does not fit.
 * Safe in every context.
 *
 * Return: 0, or -ERANGE for a rule that does not fit.
 */
int bobbin_rule_pack(const struct bobbin_rule *rule, uint64_t *ret);

/**
 * bobbin_rule_unpack() - the rule in a word
 * @word: from bobbin_rule_pack(); any other value gives some rule, too
 * @ret: the rule
 *
 * Safe in every context.
 */
void bobbin_rule_unpack(uint64_t word, struct bobbin_rule *ret);

struct bobbin_arch;

/* Room for each rule in words, with the terminating 0. */
#define BOBBIN_RULE_STR_MAX 160

/**
 * bobbin_rule_str() - a rule in words
 * @arch: its registers are called sp and fp, the others by their DWARF numbers
 * @rule: the rule; any values
 * @ret: a string, "CFA=sp+16 RA=c-8 FP=u", or "none (…)" with the reason
 *
 *	sp+16		the value of a register and an offset
 *	(fp-8)		the value in memory there
 *	(sp+8+8*r9)+8	likewise, with an index, and an offset added to the value
 *	c-16		the value in memory at this offset from the CFA
 *	=c-16		the CFA and this offset, not loaded
 *	pc-23		the PC and this offset
 *	u		unchanged
 *	end		there is no caller
 *
 * " key A" or " key B" follows if the return address is signed, " signal" in signal frames.
 * Safe in every context.
 */
void bobbin_rule_str(const struct bobbin_arch *arch, const struct bobbin_rule *rule,
		     char ret[BOBBIN_RULE_STR_MAX]);

#ifdef __cplusplus
}
#endif

#endif
