/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/functions.h"

#include "base/elf_walk.h"

#define ALIGNMENT 16
#define RET 0xc3
#define NOP 0x90
#define INT3 0xcc

/* ModRM, SIB and displacement of an operand in memory. */
static size_t operand_size(uint8_t modrm)
{
	static const size_t displacement[] = {0, 1, 4, 0};

	return 1 + ((modrm & 7) == 4) + displacement[modrm >> 6];
}

/* The length of the padding instruction at the start of @code, or 0. */
static size_t padding_size(const uint8_t *code, size_t size)
{
	size_t at = 0;

	while (at < size && (code[at] == 0x66 || code[at] == 0x2e))
		at++;
	if (at < size && (code[at] == NOP || (!at && (code[at] == INT3 || !code[at]))))
		return at + 1;
	if (size - at < 3 || code[at] != 0x0f || code[at + 1] != 0x1f)
		return 0;
	return at + 2 + operand_size(code[at + 2]);
}

static bool is_padding(const uint8_t *code, size_t size)
{
	size_t at = 0, step;

	while (at < size && (step = padding_size(code + at, size - at)))
		at += step;
	return at == size;
}

/* code_end() of @size bytes of x86-64 code. */
static size_t x86_code_end(const uint8_t *code, size_t size, uint64_t address)
{
	for (size_t i = 0; i < size; i++) {
		size_t gap = (size_t)(-(address + i + 1) % ALIGNMENT);

		if (code[i] == RET && gap < size - i && is_padding(code + i + 1, gap))
			return i + 1;
	}
	return size;
}

/* Where the code at @address is in the file; false: it has less than @size bytes of it. */
static bool find_code(Elf *elf, uint64_t address, uint64_t size, uint64_t *ret)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;

	while ((section = elf_next_section(elf, section, &h)))
		if (h.sh_type == SHT_PROGBITS && h.sh_flags & SHF_EXECINSTR &&
		    address >= h.sh_addr && address - h.sh_addr < h.sh_size &&
		    size <= h.sh_size - (address - h.sh_addr)) {
			*ret = h.sh_offset + (address - h.sh_addr);
			return true;
		}
	return false;
}

uint64_t code_end(Elf *elf, uint64_t address, uint64_t size)
{
	Elf_Data *data = NULL;
	GElf_Ehdr header;
	uint64_t offset;

	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64)
		return size;
	if (find_code(elf, address, size, &offset) && offset <= INT64_MAX)
		data = elf_getdata_rawchunk(elf, (int64_t)offset, size, ELF_T_BYTE);
	return data && data->d_buf ? x86_code_end(data->d_buf, data->d_size, address) : size;
}
