/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/code_ranges.h"

#include <errno.h>

#include "base/elf_walk.h"
#include "base/vector.h"

static int add_sections(Elf *elf, struct coverage *code)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int r = 0;

	while (!r && (section = elf_next_section(elf, section, &header)))
		if (header.sh_flags & SHF_ALLOC && header.sh_flags & SHF_EXECINSTR)
			r = coverage_add(code, header.sh_addr, header.sh_addr + header.sh_size);
	return r;
}

static int add_segments(Elf *elf, struct coverage *code)
{
	size_t count;
	GElf_Phdr p;
	int r = 0;

	/* a file with segments, none of which is executable, is known to have no code */
	if (elf_getphdrnum(elf, &count) || !count)
		return 0;
	if (vector_reserve(&code->ranges, &code->capacity, count, sizeof(*code->ranges)))
		return -ENOMEM;
	for (size_t i = 0; !r && elf_next_segment(elf, &i, &p);)
		if (p.p_type == PT_LOAD && p.p_flags & PF_X)
			r = coverage_add(code, p.p_vaddr, p.p_vaddr + p.p_memsz);
	return r;
}

int code_ranges_init(Elf *elf, struct coverage *ret)
{
	struct coverage code = {0};
	int r = add_sections(elf, &code);

	if (!r && !code.count)
		r = add_segments(elf, &code);
	coverage_settle(&code);
	if (r)
		coverage_fini(&code);
	else
		*ret = code;
	return r;
}
