/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/stub_code.h"

#include "core/deps.h"
#include "core/frame_rules.h"

/* An instruction, its first byte the highest; @mask: what is the same in all stubs. */
struct stub_insn {
	uint64_t bits, mask;
	uint8_t size;
	bool optional; /* not in all of them */
};

enum {
	BTI_C,
	PUSH_X16_X30,
	ADRP_X16,
	LDR_X17,
	ADD_X16,
	AUTIA1716,
	BR_X17,
	LARL_R1,
	LG_R1,
	BR_R1,
	BASR_R1,
	LGF_R1,
	JG,
	STG_R1,
	MVC,
	LG_R1_16,
};

static const struct stub_insn insns[] = {
	/* AArch64, little-endian: AAELF64, "Dynamic linking", and ld's -z pac-plt, force-bti */
	[BTI_C] = {0x5f2403d5, 0xffffffff, 4, true},
	[PUSH_X16_X30] = {0xf07bbfa9, 0xffffffff, 4, false},
	[ADRP_X16] = {0x10000090, 0x1f00009f, 4, false},
	[LDR_X17] = {0x110240f9, 0xff03c0ff, 4, false},
	[ADD_X16] = {0x10020091, 0xff03c0ff, 4, false},
	[AUTIA1716] = {0x9f2103d5, 0xffffffff, 4, true},
	[BR_X17] = {0x20021fd6, 0xffffffff, 4, false},
	/* s390x: ELF Application Binary Interface, "Procedure linkage table" */
	[LARL_R1] = {0xc01000000000, 0xffff00000000, 6, false},
	[LG_R1] = {0xe31010000004, 0xffffffffffff, 6, false},
	[BR_R1] = {0x07f1, 0xffff, 2, false},
	[BASR_R1] = {0x0d10, 0xffff, 2, false},
	[LGF_R1] = {0xe310100c0014, 0xffffffffffff, 6, false},
	[JG] = {0xc0f400000000, 0xffff00000000, 6, false},
	[STG_R1] = {0xe310f0380024, 0xffffffffffff, 6, false},
	[MVC] = {0xd207f0301008, 0xffffffffffff, 6, false},
	[LG_R1_16] = {0xe31010100004, 0xffffffffffff, 6, false},
};

/* None of them changes the link register, or the stack pointer but by a push. */
struct stub {
	uint8_t count, insns[7];
	uint8_t pushed; /* from this one on two words more are on the stack; or @count */
};

/* The first entry looks like any other one from its third instruction on, so it comes first. */
static const struct stub aarch64_stubs[] = {
	{7, {BTI_C, PUSH_X16_X30, ADRP_X16, LDR_X17, ADD_X16, AUTIA1716, BR_X17}, 2},
	{6, {BTI_C, ADRP_X16, LDR_X17, ADD_X16, AUTIA1716, BR_X17}, 6},
};

static const struct stub s390x_stubs[] = {
	{5, {STG_R1, LARL_R1, MVC, LG_R1_16, BR_R1}, 5},
	{6, {LARL_R1, LG_R1, BR_R1, BASR_R1, LGF_R1, JG}, 6},
};
#define STUBS 2

static bool is_insn(const struct stub_insn *insn, const uint8_t *code)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < insn->size; i++)
		bits = bits << 8 | code[i];
	return (bits & insn->mask) == insn->bits;
}

/* Whether a stub begins at code[at] with an instruction at STUB_CODE_BEFORE; @ret: which one. */
static bool begins(const struct stub *stub, const uint8_t code[STUB_CODE_SIZE], unsigned int at,
		   unsigned int *ret)
{
	bool found = false;

	for (unsigned int i = 0; i < stub->count; i++) {
		const struct stub_insn *insn = &insns[stub->insns[i]];
		const bool fits = at + insn->size <= STUB_CODE_SIZE && is_insn(insn, code + at);

		if (!fits && !insn->optional)
			return false;
		if (!fits)
			continue;
		if (at == STUB_CODE_BEFORE) {
			found = true;
			*ret = i;
		}
		at += insn->size;
	}
	return found;
}

bool stub_code(const struct bobbin_arch *arch, uint64_t addr, const uint8_t code[STUB_CODE_SIZE],
	       struct bobbin_rule *ret)
{
	const bool is_s390x = arch->cfa_bias;
	const struct stub *stubs = is_s390x ? s390x_stubs : aarch64_stubs;
	const unsigned int align = is_s390x ? 2 : 4;
	unsigned int insn = 0;

	if (arch->default_ra_off || addr % align)
		return false;
	for (unsigned int i = 0; i < STUBS; i++)
		for (unsigned int at = 0; at <= STUB_CODE_BEFORE; at += align) {
			if (!begins(&stubs[i], code, at, &insn))
				continue;
			*ret = (struct bobbin_rule){.index = BOBBIN_NO_INDEX};
			ret->cfa = place_of(BOBBIN_HOW_AT_REG, arch->sp, arch->cfa_bias);
			ret->ra = ret->fp = place_of(BOBBIN_HOW_SAME, 0, 0);
			if (insn < stubs[i].pushed)
				return true;
			ret->cfa.off = 16;
			ret->ra = place_of(BOBBIN_HOW_IN_CFA_MEM, 0, -8);
			return true;
		}
	return false;
}
