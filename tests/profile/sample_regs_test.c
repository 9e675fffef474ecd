/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registers of samples: which of perf's is which of DWARF's, of each architecture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bobbin/arch.h>

#include "profile/perf_event.h"
#include "profile/stack_sample.h"

/* What the kernel says of a register: its number, so that it is seen which one it was. */
#define VALUE(number) (0x1000 + 8 * (uint64_t)(number))

static void read_sample(const struct bobbin_arch *arch, uint64_t mask,
			uint64_t gpr[BOBBIN_REG_COUNT], struct bobbin_regs *ret)
{
	uint64_t values[64];
	size_t count = 0;

	for (unsigned int i = 0; i < 64; i++)
		if (mask >> i & 1)
			values[count++] = VALUE(i);
	assert_true(sample_regs(arch,
				&(struct perf_sample){.regs_abi = PERF_SAMPLE_REGS_ABI_64,
						      .regs_mask = mask,
						      .regs = values},
				gpr, ret));
}

/* PERF_REG_X86_AX 0, BX 1, CX 2, DX 3, SI 4, DI 5, BP 6, SP 7, IP 8, R8 16 */
static void registers_of_x86_64(void **state)
{
	const uint64_t mask = sample_regs_mask(bobbin_arch_amd64());
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	(void)state;
	assert_int_equal(mask, 0xff01ff);
	read_sample(bobbin_arch_amd64(), mask, gpr, &regs);
	assert_int_equal(regs.pc, VALUE(8));
	assert_int_equal(regs.sp, VALUE(7));
	assert_int_equal(regs.fp, VALUE(6));
	assert_int_equal(gpr[3], VALUE(1));
	assert_int_equal(gpr[8], VALUE(16));
	assert_int_equal(regs.gpr_known, 0xffff);
}

/* PERF_REG_ARM64_X0 0, X29 29, LR 30, SP 31, PC 32 */
static void registers_of_aarch64(void **state)
{
	const uint64_t mask = sample_regs_mask(bobbin_arch_aarch64());
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	(void)state;
	assert_int_equal(mask, 0x1ffffffff);
	read_sample(bobbin_arch_aarch64(), mask, gpr, &regs);
	assert_int_equal(regs.pc, VALUE(32));
	assert_int_equal(regs.sp, VALUE(31));
	assert_int_equal(regs.fp, VALUE(29));
	assert_true(regs.ra_known);
	assert_int_equal(regs.ra, VALUE(30));
	assert_int_equal(regs.gpr_known, 0xffffffff);
}

/*
 * PERF_REG_S390_R0 0, FP0 16, MASK 32, PC 33; DWARF 16 to 31: f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14
 * f9 f11 f13 f15
 */
static void registers_of_s390x(void **state)
{
	static const uint8_t floats[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
	const uint64_t mask = sample_regs_mask(bobbin_arch_s390x());
	uint64_t gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	(void)state;
	assert_int_equal(mask, 0x2ffffffff);
	read_sample(bobbin_arch_s390x(), mask, gpr, &regs);
	assert_int_equal(regs.pc, VALUE(33));
	assert_int_equal(regs.sp, VALUE(15));
	assert_int_equal(regs.fp, VALUE(11));
	assert_true(regs.ra_known);
	assert_int_equal(regs.ra, VALUE(14));
	for (unsigned int i = 0; i < 16; i++) {
		assert_int_equal(gpr[i], VALUE(i));
		assert_int_equal(gpr[16 + i], VALUE(16 + floats[i]));
	}
	/* recordings of others may be without these */
	read_sample(bobbin_arch_s390x(), 0x20000ffff, gpr, &regs);
	assert_int_equal(regs.gpr_known, 0xffff);
}

/* As a process that samples itself has them, and back. */
static void registers_go_both_ways(void **state)
{
	const struct bobbin_arch *const archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
						   bobbin_arch_s390x()};
	uint64_t given[BOBBIN_REG_COUNT], words[BOBBIN_REG_COUNT + 1], gpr[BOBBIN_REG_COUNT];
	struct bobbin_regs regs;

	(void)state;
	for (unsigned int i = 0; i < BOBBIN_REG_COUNT; i++)
		given[i] = 1000 + i;
	for (unsigned int a = 0; a < 3; a++) {
		const struct perf_sample sample = {.regs_abi = PERF_SAMPLE_REGS_ABI_64,
						   .regs_mask = sample_regs_mask(archs[a]),
						   .regs = words};

		sample_regs_order(archs[a], 77, given, words);
		assert_true(sample_regs(archs[a], &sample, gpr, &regs));
		assert_int_equal(regs.pc, 77);
		for (unsigned int i = 0; i < BOBBIN_REG_COUNT; i++)
			if (regs.gpr_known >> i & 1)
				assert_int_equal(gpr[i], given[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_go_both_ways),
		cmocka_unit_test(registers_of_x86_64),
		cmocka_unit_test(registers_of_aarch64),
		cmocka_unit_test(registers_of_s390x),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
