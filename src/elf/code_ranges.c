/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/code_ranges.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

/* There is room for all headers of a kind. */
static void add(struct code_ranges *code, uint64_t start, uint64_t size)
{
	if (size && start + size >= start)
		code->ranges[code->count++] = (struct bobbin_range){start, start + size};
}

static int read_sections(Elf *elf, struct code_ranges *code)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t count;

	if (elf_getshdrnum(elf, &count) || !count)
		return 0;
	code->ranges = calloc(count, sizeof(*code->ranges));
	if (!code->ranges)
		return -ENOMEM;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
		    header.sh_flags & SHF_EXECINSTR)
			add(code, header.sh_addr, header.sh_size);
	return 0;
}

static int read_segments(Elf *elf, struct code_ranges *code)
{
	size_t count;
	GElf_Phdr p;

	free(code->ranges);
	code->ranges = NULL;
	if (elf_getphdrnum(elf, &count) || !count)
		return 0;
	code->ranges = calloc(count, sizeof(*code->ranges));
	if (!code->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X)
			add(code, p.p_vaddr, p.p_memsz);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct bobbin_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Ranges that touch or overlap become one. */
static void unite(struct code_ranges *code)
{
	struct bobbin_range *ranges = code->ranges;
	size_t kept = 0;

	if (code->count)
		qsort(ranges, code->count, sizeof(*ranges), by_start);
	for (size_t i = 0; i < code->count; i++) {
		if (!kept || ranges[i].start > ranges[kept - 1].end)
			ranges[kept++] = ranges[i];
		else if (ranges[i].end > ranges[kept - 1].end)
			ranges[kept - 1].end = ranges[i].end;
	}
	code->count = kept;
}

int code_ranges_init(Elf *elf, struct code_ranges *ret)
{
	struct code_ranges code = {0};
	int r = read_sections(elf, &code);

	if (!r && !code.count)
		r = read_segments(elf, &code);
	if (r)
		return r;
	unite(&code);
	*ret = code;
	return 0;
}

void code_ranges_fini(struct code_ranges *code)
{
	free(code->ranges);
	*code = (struct code_ranges){0};
}
