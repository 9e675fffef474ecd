// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "infer/machine.h"

#include <elf.h>

const struct machine *machine_of(unsigned int elf_machine, unsigned int byte_order)
{
	if (byte_order != ELFDATA2LSB)
		return NULL;
	switch (elf_machine) {
	case EM_X86_64:
		return &machine_amd64;
	case EM_AARCH64:
		return &machine_aarch64;
	default:
		return NULL;
	}
}

const struct machine *machine_read_here(const struct bobbin_arch *arch)
{
	const struct machine *machine =
		arch ? machine_of(arch->elf_machine, arch->big_endian ? ELFDATA2MSB : ELFDATA2LSB)
		     : NULL;

	return machine && machine->exists() ? machine : NULL;
}

bool machine_any_is_read(void)
{
	return machine_amd64.exists() || machine_aarch64.exists();
}
