/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call_code.h - whether an instruction is a call, by the bytes at its end.
 */
#ifndef BOBBIN_CORE_CALL_CODE_H
#define BOBBIN_CORE_CALL_CODE_H

#include <bobbin/arch.h>

#include "core/deps.h"

/* Bytes of a call instruction, without prefixes that say nothing. */
#define CALL_CODE_SIZE 7

/* Bytes of ff /2 with a ModRM and a SIB byte, or 0: it is no call. */
static BOBBIN_ALWAYS_INLINE unsigned int call_code_indirect(uint8_t modrm, uint8_t sib)
{
	const uint8_t mod = modrm >> 6, rm = modrm & 7;
	const unsigned int size = rm == 4 ? 3 : 2;

	if ((modrm >> 3 & 7) != 2)
		return 0;
	switch (mod) {
	case 0:
		return rm == 5 || (rm == 4 && (sib & 7) == 5) ? size + 4 : size;
	case 1:
		return size + 1;
	case 2:
		return size + 4;
	default:
		return 2;
	}
}

/* x86-64: all calls end like this, and some other code. */
static BOBBIN_ALWAYS_INLINE bool call_code_of_amd64(const uint8_t bytes[CALL_CODE_SIZE])
{
	if (bytes[CALL_CODE_SIZE - 5] == 0xe8)
		return true;
	for (unsigned int i = 0; i + 1 < CALL_CODE_SIZE; i++)
		if (bytes[i] == 0xff &&
		    call_code_indirect(bytes[i + 1], i + 2 < CALL_CODE_SIZE ? bytes[i + 2] : 0) ==
			    CALL_CODE_SIZE - i)
			return true;
	return false;
}

/* bl, blr, and blr with pointer authentication */
static BOBBIN_ALWAYS_INLINE bool call_code_of_aarch64(const uint8_t bytes[CALL_CODE_SIZE])
{
	const uint8_t *b = bytes + CALL_CODE_SIZE - 4;
	const uint32_t insn = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
			      (uint32_t)b[3] << 24;

	return insn >> 26 == 0x25 || (insn & 0xfefff000) == 0xd63f0000;
}

/* Whether a call may end with @bytes; not for s390x, which has no frame records. */
static BOBBIN_ALWAYS_INLINE bool call_code_ends(const struct bobbin_arch *arch,
						const uint8_t bytes[CALL_CODE_SIZE])
{
	return arch->default_ra_off ? call_code_of_amd64(bytes) : call_code_of_aarch64(bytes);
}

#endif
