/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sample_regs.h"

#include "core/known_regs.h"

#define NONE 0xff

/* For each DWARF register its number in the kernel's uapi asm/perf_regs.h. */
struct perf_numbering {
	uint8_t pc;
	uint8_t count;
	uint8_t gpr[BOBBIN_REG_COUNT];
};

/* AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8.. */
static const struct perf_numbering amd64 = {
	.pc = 8,
	.count = 16,
	.gpr = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23},
};

/* X0..X29 LR SP PC */
static const struct perf_numbering aarch64 = {
	.pc = 32,
	.count = 32,
	.gpr = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
};

/* R0..R15 FP0..FP15 MASK PC */
static const struct perf_numbering s390x = {
	.pc = 33,
	.count = 16,
	.gpr = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
};

static const struct perf_numbering *numbering_of(const struct bobbin_arch *arch)
{
	if (arch == bobbin_arch_amd64())
		return &amd64;
	return arch == bobbin_arch_s390x() ? &s390x : &aarch64;
}

uint64_t sample_regs_mask(const struct bobbin_arch *arch)
{
	const struct perf_numbering *n = numbering_of(arch);
	uint64_t mask = 1ull << n->pc;

	for (unsigned int i = 0; i < n->count; i++)
		mask |= 1ull << n->gpr[i];
	return mask;
}

bool sample_regs(const struct bobbin_arch *arch, const struct perf_sample *sample,
		 uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret)
{
	const struct perf_numbering *n = numbering_of(arch);
	uint32_t known = 0;
	uint64_t pc;

	if (sample->regs_abi != PERF_SAMPLE_REGS_ABI_64 || !sample->regs)
		return false;
	if (!perf_sample_reg(sample, n->pc, &pc))
		return false;
	for (unsigned int i = 0; i < n->count; i++)
		if (perf_sample_reg(sample, n->gpr[i], &gpr[i]))
			known |= 1u << i;
	if (!(known >> arch->sp & 1))
		return false;
	*ret = known_regs(arch, pc, gpr, known);
	return true;
}

bool sample_pc_32(const struct bobbin_arch *arch, const struct perf_sample *sample, uint64_t *ret)
{
	return sample->regs_abi == PERF_SAMPLE_REGS_ABI_32 && sample->regs &&
	       perf_sample_reg(sample, numbering_of(arch)->pc, ret);
}
