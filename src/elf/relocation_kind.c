/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/relocation_kind.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* A type of a machine. */
struct known {
	uint16_t machine;
	uint32_t type;
	struct relocation_kind kind;
};

static const struct known known[] = {
	{EM_X86_64, R_X86_64_PC32, {4, true}},     {EM_X86_64, R_X86_64_PC64, {8, true}},
	{EM_X86_64, R_X86_64_32, {4, false}},      {EM_X86_64, R_X86_64_32S, {4, false}},
	{EM_X86_64, R_X86_64_64, {8, false}},      {EM_X86_64, R_X86_64_NONE, {0, false}},
	{EM_AARCH64, R_AARCH64_PREL32, {4, true}}, {EM_AARCH64, R_AARCH64_PREL64, {8, true}},
	{EM_AARCH64, R_AARCH64_ABS32, {4, false}}, {EM_AARCH64, R_AARCH64_ABS64, {8, false}},
	{EM_AARCH64, R_AARCH64_NONE, {0, false}},  {EM_S390, R_390_PC32, {4, true}},
	{EM_S390, R_390_PC64, {8, true}},          {EM_S390, R_390_32, {4, false}},
	{EM_S390, R_390_64, {8, false}},           {EM_S390, R_390_NONE, {0, false}},
};

bool relocation_kind(uint16_t machine, uint32_t type, struct relocation_kind *ret)
{
	for (size_t i = 0; i < COUNT(known); i++) {
		if (known[i].machine != machine || known[i].type != type)
			continue;
		*ret = known[i].kind;
		return true;
	}
	return false;
}

uint32_t relocation_to_field(uint16_t machine, uint8_t width)
{
	for (size_t i = 0; i < COUNT(known); i++)
		if (known[i].machine == machine && known[i].kind.pcrel &&
		    known[i].kind.width == width)
			return known[i].type;
	return 0;
}
