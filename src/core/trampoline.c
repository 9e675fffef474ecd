/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/trampoline.h"

struct signal_frame {
	uint8_t count;                  /* registers below, by DWARF number */
	uint16_t gpr[BOBBIN_REG_COUNT]; /* offset from the stack pointer */
	uint16_t pc, sp;
};

/*
 * x86-64: struct ucontext at the stack pointer, the gregs 40 bytes into it in
 * the order r8..r15 di si bp bx dx ax cx sp ip (arch/x86 uapi sigcontext.h).
 */
static const struct signal_frame amd64_frame = {
	.count = 16,
	.gpr = {144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96},
	.sp = 160,
	.pc = 168,
};

/*
 * AArch64: siginfo (128 bytes), then struct ucontext with its sigcontext at
 * 176: fault_address, x0..x30, sp, pc (arch/arm64 uapi sigcontext.h).
 */
#define X(n) (312 + 8 * (n))
static const struct signal_frame aarch64_frame = {
	.count = 32,
	.gpr = {X(0),  X(1),  X(2),  X(3),  X(4),  X(5),  X(6),  X(7),  X(8),  X(9),  X(10),
		X(11), X(12), X(13), X(14), X(15), X(16), X(17), X(18), X(19), X(20), X(21),
		X(22), X(23), X(24), X(25), X(26), X(27), X(28), X(29), X(30), X(31)},
	.sp = X(31),
	.pc = X(32),
};
#undef X

/*
 * s390x: room for the handler's callees (160 bytes), what was a code word (8),
 * siginfo (128), then struct ucontext with its mcontext at 40: PSW mask and
 * address, r0..r15, access registers, f0..f15 at 552 (arch/s390 uapi ucontext.h).
 * DWARF 16 to 31 are f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15.
 * A plain frame: the same room, struct sigcontext (16), then the registers from the PSW on.
 */
#define R(n) (352 + 8 * (n))
#define F(n) (552 + 8 * (n))
static const struct signal_frame s390x_frame = {
	.count = 32,
	.gpr = {R(0),  R(1),  R(2),  R(3),  R(4),  R(5),  R(6), R(7),  R(8),  R(9), R(10),
		R(11), R(12), R(13), R(14), R(15), F(0),  F(2), F(4),  F(6),  F(1), F(3),
		F(5),  F(7),  F(8),  F(10), F(12), F(14), F(9), F(11), F(13), F(15)},
	.sp = R(15),
	.pc = 344,
};
_Static_assert(R(15) - PLAIN_FRAME_BEFORE == S390X_PLAIN_SP, "of the stack pointer");
#undef R
#undef F

static const struct signal_frame *frame_of(const struct bobbin_arch *arch)
{
	if (arch->cfa_bias)
		return &s390x_frame;
	return arch->default_ra_off ? &amd64_frame : &aarch64_frame;
}

static struct bobbin_place in_memory(uint8_t base, uint16_t off)
{
	return (struct bobbin_place){.how = BOBBIN_HOW_IN_REG_MEM, .reg = base, .off = off};
}

void signal_frame_rule(const struct bobbin_arch *arch, struct bobbin_rule *ret)
{
	const struct signal_frame *frame = frame_of(arch);

	*ret = (struct bobbin_rule){
		.cfa = in_memory(arch->sp, frame->sp),
		.ra = in_memory(arch->sp, frame->pc),
		.fp = in_memory(arch->sp, frame->gpr[arch->fp]),
		.plus = arch->cfa_bias,
		.index = BOBBIN_NO_INDEX,
		.flags = BOBBIN_RULE_SIGNAL,
	};
}

void plain_frame_rule(const struct bobbin_arch *arch, struct bobbin_rule *ret)
{
	signal_frame_rule(arch, ret);
	ret->cfa.off -= PLAIN_FRAME_BEFORE;
	ret->ra.off -= PLAIN_FRAME_BEFORE;
	ret->fp.off -= PLAIN_FRAME_BEFORE;
}

bool trampoline_slot(const struct bobbin_arch *arch, unsigned int i, uint64_t sp, uint64_t *ret)
{
	const struct signal_frame *frame = frame_of(arch);

	if (i >= frame->count)
		return false;
	*ret = sp + frame->gpr[i];
	return true;
}
