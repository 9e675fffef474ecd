/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/entry_code.h"

#include "core/x86_bytes.h"

unsigned int entry_code_size(const struct bobbin_arch *arch, const uint8_t code[ENTRY_CODE_READ])
{
	unsigned int size = ENTRY_CODE_SIZE;
	struct x86_bytes b;

	if (!arch->default_ra_off)
		return size;
	for (unsigned int at = 0; at < size; at += b.size) {
		int64_t target;

		if (!x86_bytes_split(code + at, &b))
			break;
		/* call or jmp, with a distance */
		if (b.vector || b.map != X86_MAP_ONE || (b.opcode != 0xe8 && b.opcode != 0xe9))
			continue;
		target = (int64_t)at + b.size + b.imm;
		if (target > at && target < size)
			size = (unsigned int)target;
	}
	return size;
}
