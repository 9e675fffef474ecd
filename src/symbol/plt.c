/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plt.c - which function a PLT stub jumps to.
 *
 * Linkers lay PLTs out in many ways (lazy or not, with landing pads, .plt.sec,
 * .plt.got), so the stub itself is read: it names the GOT slot it jumps through,
 * and the relocation of that slot names the function.
 */
#include "base/vector.h"
#include "core/bytes.h"
#include "symbol/elf_file.h"
#include "symbol/functions.h"

#include <gelf.h>
#include <string.h>

#define AARCH64_BTI_C 0xd503245f

struct slot {
	uint64_t address; /* in the GOT */
	uint64_t value;   /* for the list, 0: unknown */
};

struct slots {
	struct slot *items;
	size_t count, capacity;
};

struct plt {
	struct symlist *list;
	Elf *elf;
	Elf_Data *symbols; /* .dynsym */
	uint64_t text;     /* where its names are in the list */
	size_t text_size, limit;
	bool x86;
	struct slots lazy;   /* .rela.plt in its order */
	struct slots sorted; /* all by address */
};

static int add_slot(struct slots *slots, struct slot slot)
{
	return vector_push(slots->items, slots->count, slots->capacity, slot);
}

static uint64_t slot_value(const struct plt *p, const GElf_Rela *rela)
{
	uint64_t type = GELF_R_TYPE(rela->r_info);
	const struct interval *resolver;
	GElf_Sym s;

	/* An IFUNC without a dynamic symbol goes by the name that its resolver has. */
	if (type == (p->x86 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE)) {
		resolver = interval_map_find(&p->list->map, (uint64_t)rela->r_addend);
		return resolver && resolver->start == (uint64_t)rela->r_addend
			       ? resolver->value | FUNCTION_STUB
			       : 0;
	}
	if ((type != (p->x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT) &&
	     type != (p->x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT)) ||
	    !gelf_getsym(p->symbols, (int)GELF_R_SYM(rela->r_info), &s) || !s.st_name ||
	    s.st_name >= p->text_size)
		return 0;
	return (p->text + s.st_name) | FUNCTION_STUB;
}

static int read_relocations(struct plt *p, const char *name, struct slots *in_order)
{
	Elf_Data *data = elf_file_data(elf_file_section(p->elf, name), p->limit);
	GElf_Rela rela;
	int err = 0;

	for (int i = 0; data && !err && gelf_getrela(data, i, &rela); i++) {
		struct slot slot = {.address = rela.r_offset, .value = slot_value(p, &rela)};

		if (in_order)
			err = add_slot(in_order, slot);
		if (slot.value && !err)
			err = add_slot(&p->sorted, slot);
	}
	return err;
}

static const struct slot *find_slot(const struct plt *p, uint64_t address)
{
	struct slot key = {.address = address};

	return p->sorted.count ? bsearch(&key, p->sorted.items, p->sorted.count, sizeof(key),
					 vector_by_start)
			       : NULL;
}

/*
 * An entry of x86-64: perhaps endbr64 or a bnd prefix, then jmp *slot(%rip); or
 * in a lazy PLT with landing pads, push $index.
 */
static const struct slot *read_x86(const struct plt *p, struct bytes b, uint64_t address)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = !memcmp(b.data, endbr, 4) ? 4 : 0;
	uint64_t index;

	at += b.data[at] == 0xf2;
	if (b.data[at] == 0xff && b.data[at + 1] == 0x25) {
		bytes_seek(&b, at + 2);
		address += at + 6 + (uint64_t)bytes_signed(&b, 4);
		return b.bad ? NULL : find_slot(p, address);
	}
	if (b.data[at] != 0x68)
		return NULL;
	bytes_seek(&b, at + 1);
	index = bytes_u32(&b);
	return !b.bad && index < p->lazy.count ? &p->lazy.items[index] : NULL;
}

/* adrp x16, page; ldr x17, [x16, #offset] */
static const struct slot *read_aarch64(const struct plt *p, struct bytes b, uint64_t address)
{
	uint32_t adrp = bytes_u32(&b), ldr = bytes_u32(&b);
	uint64_t pages;

	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return NULL;
	pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	pages = (pages ^ 0x100000) - 0x100000; /* 21 bits, signed */
	return find_slot(p, (address & ~0xfffull) + (pages << 12) + (ldr >> 10 & 0xfff) * 8);
}

static int read_stubs(struct plt *p, const char *name)
{
	Elf_Scn *section = elf_file_section(p->elf, name);
	Elf_Data *data = elf_file_data(section, p->limit);
	GElf_Shdr header;
	size_t entry, step;
	int err = 0;

	if (!data || !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
		return 0;
	entry = p->x86 && header.sh_entsize == 8 ? 8 : 16;
	step = p->x86 ? entry : 4;
	for (size_t at = 0; at + entry <= data->d_size && !err; at += step) {
		const uint8_t *code = (uint8_t *)data->d_buf + at;
		struct bytes b = bytes_of(code, entry, false);
		uint64_t address = header.sh_addr + at, before = 0;
		const struct slot *slot = p->x86 ? read_x86(p, b, address)
						 : read_aarch64(p, b, address);

		if (!slot || !slot->value)
			continue;
		if (!p->x86 && at) {
			b = bytes_of(code - 4, 4, false);
			before = bytes_u32(&b) == AARCH64_BTI_C ? 4 : 0;
		}
		err = interval_map_add(&p->list->map, address - before, entry + before,
				       slot->value);
	}
	return err;
}

/* The dynamic symbols and their names. */
static int open_symbols(struct plt *p)
{
	Elf_Data *strings = elf_file_symbols(p->elf, elf_file_section(p->elf, ".dynsym"), p->limit,
					     &p->symbols);

	if (!strings)
		return -ENOENT;
	p->text_size = strings->d_size;
	return symlist_add_text(p->list, strings->d_buf, strings->d_size, &p->text);
}

static int read_all(struct plt *p)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.bnd", ".plt.got"};
	int err = read_relocations(p, ".rela.plt", &p->lazy);

	err = err ? err : read_relocations(p, ".rela.dyn", NULL);
	if (p->sorted.count)
		qsort(p->sorted.items, p->sorted.count, sizeof(*p->sorted.items), vector_by_start);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !err; i++)
		err = read_stubs(p, sections[i]);
	interval_map_sort(&p->list->map);
	return err;
}

int functions_add_stubs(Elf *elf, size_t limit, struct symlist *l)
{
	struct plt p = {.list = l, .elf = elf, .limit = limit};
	GElf_Ehdr header;
	int err;

	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64))
		return 0;
	p.x86 = header.e_machine == EM_X86_64;
	err = open_symbols(&p);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = read_all(&p);
	free(p.lazy.items);
	free(p.sorted.items);
	return err;
}
