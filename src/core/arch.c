/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <bobbin/arch.h>

#include "core/deps.h"

/* e_machine, from the ELF gABI's registry */
#define MACHINE_S390 22
#define MACHINE_X86_64 62
#define MACHINE_AARCH64 183

/* psABI x86-64, figure 3.36: rsp 7, rbp 6, return address 16, which glibc's stubs call rip */
static const struct bobbin_arch amd64 = {
	.name = "x86_64",
	.elf_machine = MACHINE_X86_64,
	.sp = 7,
	.fp = 6,
	.ra = 16,
	.pc = 16,
	.default_ra_off = -8,
	.sp_align = 8,
};

/*
 * AADWARF64: sp 31, x29, x30, pc 32.  The stack pointer is 16-byte aligned whenever
 * it is used to access memory.  A code address carries its authentication code
 * in all bits above the 48-bit address space.
 */
#define AARCH64_DATA \
	.name = "aarch64", .elf_machine = MACHINE_AARCH64, .sp = 31, .fp = 29, .ra = 30, .pc = 32, \
	.sp_align = 16, .pac_mask = 0xffff000000000000

static const struct bobbin_arch aarch64 = {AARCH64_DATA};
static const struct bobbin_arch aarch64_be = {AARCH64_DATA, .big_endian = true};

/* s390x ELF ABI: r15, r11, r14, the PSW's address 65; the CFA lies 160 bytes above the stack pointer */
static const struct bobbin_arch s390x = {
	.name = "s390x",
	.elf_machine = MACHINE_S390,
	.sp = 15,
	.fp = 11,
	.ra = 14,
	.pc = 65,
	.cfa_bias = 160,
	.sp_align = 8,
	.big_endian = true,
};

BOBBIN_API const struct bobbin_arch *bobbin_arch_amd64(void)
{
	return &amd64;
}

BOBBIN_API const struct bobbin_arch *bobbin_arch_aarch64(void)
{
	return &aarch64;
}

BOBBIN_API const struct bobbin_arch *bobbin_arch_aarch64_be(void)
{
	return &aarch64_be;
}

BOBBIN_API const struct bobbin_arch *bobbin_arch_s390x(void)
{
	return &s390x;
}

BOBBIN_API const struct bobbin_arch *bobbin_arch_of_elf(uint16_t elf_machine, bool big_endian)
{
	if (elf_machine == MACHINE_X86_64 && !big_endian)
		return &amd64;
	if (elf_machine == MACHINE_AARCH64)
		return big_endian ? &aarch64_be : &aarch64;
	if (elf_machine == MACHINE_S390 && big_endian)
		return &s390x;
	return NULL;
}
