/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plt.c - which function a PLT stub jumps to.
 *
 * Linkers lay PLTs out in many ways (lazy or not, with landing pads, .plt.sec,
 * .plt.got), so the stub itself is read: it names the GOT slot it jumps through,
 * and the relocation of that slot names the function.
 */
#include "symbol/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_RELOCATIONS 256
#define MAX_PLT_SIZE (16 << 20)

struct slot {
	uint64_t address; /* in the GOT */
	uint64_t value;   /* for the symbol table, 0: unknown */
};

struct slots {
	struct slot *items;
	size_t count, capacity;
};

struct plt {
	struct symtab *symtab;
	const struct object *object;
	const struct object_section *symbols;
	unsigned int source;
	struct slots lazy;   /* .rela.plt in its order */
	struct slots sorted; /* all by address */
};

/* A stub as it was read: a GOT slot or else an index into .rela.plt. */
struct stub {
	uint64_t start, size;
	uint64_t slot, index;
	bool has_slot, has_index;
};

static int add_slot(struct slots *slots, struct slot slot)
{
	if (slots->count == slots->capacity) {
		size_t capacity = slots->capacity ? 2 * slots->capacity : 256;
		struct slot *items = reallocarray(slots->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		slots->items = items;
		slots->capacity = capacity;
	}
	slots->items[slots->count++] = slot;
	return 0;
}

static uint32_t dynamic_name(const struct plt *p, uint64_t index)
{
	uint8_t raw[4];
	struct bytes b = bytes_of(raw, sizeof(raw), p->object->big_endian);

	if (index >= p->symbols->size / sizeof(Elf64_Sym) ||
	    object_read(p->object, p->symbols->offset + index * sizeof(Elf64_Sym), raw,
			sizeof(raw)))
		return 0;
	return bytes_u32(&b);
}

/* An IFUNC without a dynamic symbol goes by the name that its resolver has. */
static uint64_t resolver_value(const struct plt *p, uint64_t resolver)
{
	const struct interval *function = symtab_find(p->symtab, resolver);

	return function && function->start == resolver ? function->value | SYMTAB_STUB : 0;
}

static uint64_t slot_value(const struct plt *p, uint64_t info, uint64_t addend)
{
	bool x86 = p->object->machine == EM_X86_64;
	uint64_t type = ELF64_R_TYPE(info);
	uint32_t name;

	if (type == (x86 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE))
		return resolver_value(p, addend);
	if (type != (x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT) &&
	    type != (x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT))
		return 0;
	name = dynamic_name(p, ELF64_R_SYM(info));
	return name ? symtab_value(p->source, name) | SYMTAB_STUB : 0;
}

static int read_chunk(struct plt *p, struct bytes *b, bool lazy)
{
	int err = 0;

	while (bytes_left(b) && !err) {
		struct slot slot = {.address = bytes_u64(b)};
		uint64_t info = bytes_u64(b);

		slot.value = slot_value(p, info, bytes_u64(b));
		if (lazy)
			err = add_slot(&p->lazy, slot);
		if (slot.value && !err)
			err = add_slot(&p->sorted, slot);
	}
	return err;
}

static int read_relocations(struct plt *p, const char *name, bool lazy)
{
	const struct object_section *s = object_section(p->object, name);
	uint8_t raw[CHUNK_RELOCATIONS * sizeof(Elf64_Rela)];
	uint64_t left, at;
	int err = 0;

	if (!s || s->type != SHT_RELA || s->offset > UINT64_MAX - s->size)
		return 0;
	left = s->size - s->size % sizeof(Elf64_Rela);
	for (at = s->offset; left && !err;) {
		size_t n = left < sizeof(raw) ? left : sizeof(raw);
		struct bytes b = bytes_of(raw, n, p->object->big_endian);

		if (object_read(p->object, at, raw, n))
			break;
		err = read_chunk(p, &b, lazy);
		at += n;
		left -= n;
	}
	return err;
}

static int slot_compare(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/*
 * A 16-byte (or 8-byte) entry of x86-64: perhaps endbr64 or a bnd prefix, then
 * jmp *slot(%rip); or in a lazy PLT with landing pads, push $index.
 */
static void read_stub_x86(const uint8_t *code, size_t size, uint64_t address, struct stub *stub)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = size >= 16 && !memcmp(code, endbr, 4) ? 4 : 0;
	struct bytes b = bytes_of(code, size, false);

	at += code[at] == 0xf2;
	if (code[at] == 0xff && code[at + 1] == 0x25 && at + 6 <= size) {
		bytes_seek(&b, at + 2);
		stub->slot = address + at + 6 + (uint64_t)bytes_signed(&b, 4);
		stub->has_slot = true;
	} else if (code[at] == 0x68 && at + 5 <= size) {
		bytes_seek(&b, at + 1);
		stub->index = bytes_u32(&b);
		stub->has_index = true;
	}
}

/* adrp x16, page; ldr x17, [x16, #offset]; false if there is none at @at. */
static bool read_slot_aarch64(const uint8_t *code, size_t at, uint64_t address, uint64_t *slot)
{
	struct bytes b = bytes_of(code + at, 8, false);
	uint32_t adrp = bytes_u32(&b), ldr = bytes_u32(&b);
	uint64_t pages;

	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	pages = (pages ^ 0x100000) - 0x100000; /* 21 bits, signed */
	*slot = (address & ~0xfffull) + (pages << 12) + (ldr >> 10 & 0xfff) * 8;
	return true;
}

static int add_stub(struct plt *p, const struct stub *stub)
{
	struct slot key = {.address = stub->slot};
	const struct slot *found = NULL;

	if (stub->has_slot && p->sorted.count)
		found = bsearch(&key, p->sorted.items, p->sorted.count, sizeof(key), slot_compare);
	else if (stub->has_index && stub->index < p->lazy.count)
		found = &p->lazy.items[stub->index];
	if (!found || !found->value)
		return 0;
	return interval_map_add(&p->symtab->map, stub->start, stub->size, found->value);
}

static int read_stubs_x86(struct plt *p, const struct object_section *s, const uint8_t *code,
			  uint64_t size)
{
	size_t entry = s->entry_size == 8 ? 8 : 16;
	int err = 0;

	for (uint64_t at = 0; at + entry <= size && !err; at += entry) {
		struct stub stub = {.start = s->address + at, .size = entry};

		read_stub_x86(code + at, entry, stub.start, &stub);
		err = add_stub(p, &stub);
	}
	return err;
}

#define BTI_C 0xd503245f

static int read_stubs_aarch64(struct plt *p, const struct object_section *s, const uint8_t *code,
			      uint64_t size)
{
	int err = 0;

	for (uint64_t at = 0; at + 16 <= size && !err; at += 4) {
		struct stub stub = {.start = s->address + at, .size = 16};
		struct bytes before = bytes_of(code + (at ? at - 4 : 0), 4, false);

		stub.has_slot = read_slot_aarch64(code, at, s->address + at, &stub.slot);
		if (stub.has_slot && at && bytes_u32(&before) == BTI_C) {
			stub.start -= 4;
			stub.size += 4;
		}
		err = add_stub(p, &stub);
	}
	return err;
}

static int read_stubs(struct plt *p, const char *name)
{
	const struct object_section *s = object_section(p->object, name);
	uint64_t size;
	uint8_t *code;
	int err;

	if (!s || !object_is_text(p->object, s->address, s->size) ||
	    object_load(p->object, s, MAX_PLT_SIZE, &code, &size))
		return 0;
	if (p->object->machine == EM_X86_64)
		err = read_stubs_x86(p, s, code, size);
	else
		err = read_stubs_aarch64(p, s, code, size);
	free(code);
	return err;
}

static int plt_read(struct plt *p)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.bnd", ".plt.got"};
	int err = read_relocations(p, ".rela.plt", true);

	if (!err)
		err = read_relocations(p, ".rela.dyn", false);
	if (p->sorted.count)
		qsort(p->sorted.items, p->sorted.count, sizeof(*p->sorted.items), slot_compare);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !err; i++)
		err = read_stubs(p, sections[i]);
	interval_map_sort(&p->symtab->map);
	interval_map_shrink(&p->symtab->map);
	return err;
}

int symtab_add_plt(struct symtab *t, const struct object *o)
{
	struct plt p = {.symtab = t, .object = o};
	const struct object_section *strings;
	int source, err;

	p.symbols = object_section_of_type(o, SHT_DYNSYM);
	strings = p.symbols ? object_section_at(o, p.symbols->link) : NULL;
	if ((o->machine != EM_X86_64 && o->machine != EM_AARCH64) || !o->is_64 || !strings ||
	    o->big_endian || p.symbols->offset > UINT64_MAX - p.symbols->size)
		return 0;
	source = symtab_source(t, o, strings);
	if (source < 0)
		return source;
	p.source = (unsigned int)source;
	err = plt_read(&p);
	free(p.lazy.items);
	free(p.sorted.items);
	return err;
}
