/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arch.h - what differs between architectures, as data.
 *
 * All architectures are compiled in, so that a recording or a core file from
 * another machine can be unwound.  Registers carry their DWARF numbers.
 */
#ifndef BOBBIN_ARCH_H
#define BOBBIN_ARCH_H

#include <bobbin/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* DWARF registers that a rule may name as a base: 0..BOBBIN_REG_COUNT-1. */
#define BOBBIN_REG_COUNT 32

/**
 * struct bobbin_arch - one architecture
 * @name: "x86_64", "aarch64", "s390x", as in uname(2)
 * @elf_machine: EM_… of its ELF files
 * @sp: DWARF number of the stack pointer
 * @fp: DWARF number of the frame pointer
 * @ra: DWARF number of the return-address column
 * @pc: DWARF number of the program counter, in rules that are relative to it
 * @default_ra_off: bytes from the CFA to the slot in which a call leaves the
 *	return address; 0: calls leave it in the register @ra
 * @cfa_bias: bytes from the caller's stack pointer to the CFA (s390x: 160)
 * @sp_align: alignment of the caller's stack pointer, a power of two
 * @big_endian: byte order of memory
 * @pac_mask: address bits that a pointer-authentication code may occupy; 0:
 *	return addresses are never signed
 */
struct bobbin_arch {
	char name[8];
	uint16_t elf_machine;
	uint8_t sp, fp, ra, pc;
	int8_t default_ra_off;
	uint8_t cfa_bias;
	uint8_t sp_align;
	bool big_endian;
	uint64_t pac_mask;
};

/**
 * bobbin_arch_amd64() - x86-64, LP64
 *
 * Return: constant data.  Safe in every context.
 */
const struct bobbin_arch *bobbin_arch_amd64(void);

/**
 * bobbin_arch_aarch64() - 64-bit ARM, little-endian
 *
 * Return: constant data.  Safe in every context.
 */
const struct bobbin_arch *bobbin_arch_aarch64(void);

/**
 * bobbin_arch_aarch64_be() - 64-bit ARM, big-endian
 *
 * Return: constant data.  Safe in every context.
 */
const struct bobbin_arch *bobbin_arch_aarch64_be(void);

/**
 * bobbin_arch_s390x() - z/Architecture, 64-bit
 *
 * Return: constant data.  Safe in every context.
 */
const struct bobbin_arch *bobbin_arch_s390x(void);

/**
 * bobbin_arch_of_elf() - the architecture of an ELF file
 * @elf_machine: e_machine
 * @big_endian: whether e_ident[EI_DATA] is ELFDATA2MSB
 *
 * Return: constant data, or NULL if there is no support.  Safe in every
 * context.
 */
const struct bobbin_arch *bobbin_arch_of_elf(uint16_t elf_machine, bool big_endian);

#ifdef __cplusplus
}
#endif

#endif
