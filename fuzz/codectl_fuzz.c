/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments of codectl(), sframe_register(), sframe_unregister() and the prctl pair.
 *
 * The input is a list of calls: which, and what is to be different from arguments
 * that are right.  Whatever they say, the result is a documented errno, nothing is
 * written on failure, and map and page agree with each other and with the result.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bobbin/sframe_builder.h>

#include "base/native_arch.h"
#include "codemap/registry.h"

#define PAGE 4096u
#define MAX_CALLS 64
#define ARENA 0x7e0000000000
#define MAX_SECTION 1024u

/* Pages of the arena, in which all but the wild addresses are. */
enum place {
	INPUT,
	SECTION = 2,
	DAMAGED,
	HOLE,
	TEXT,
	DATA = 9,
	FAR_TEXT,
	FAR_HOLE,
	ARGUMENTS,
	PLACES
};

struct arena {
	uint8_t *base;
	uint64_t section_size;
	int fd; /* of a file with the section */
};

struct source {
	const uint8_t *at, *end;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
	if (!kept)
		abort();
}

static uint64_t number(struct source *s, unsigned int n)
{
	uint64_t v = 0;

	while (n-- && s->at < s->end)
		v = v << 8 | *s->at++;
	return v;
}

static uint64_t at(const struct arena *a, enum place place)
{
	return (uintptr_t)a->base + (uint64_t)place * PAGE;
}

static uint64_t make_section(const struct arena *a)
{
	struct bobbin_sframe_builder builder;
	struct bobbin_sframe_built fdes[4];
	uint8_t rows[256];

	promise(!bobbin_sframe_builder_init(native_arch(), at(a, SECTION), 3, &builder));
	builder.fdes = fdes;
	builder.fde_max = 4;
	builder.fres = rows;
	builder.fre_max = sizeof(rows);
	for (unsigned int i = 0; i < 4; i++)
		promise(!bobbin_sframe_builder_add(
			&builder, &(struct bobbin_sframe_function){.start = at(a, TEXT) + i * PAGE,
								   .size = PAGE}));
	promise(!bobbin_sframe_builder_finish(&builder, (void *)(uintptr_t)at(a, SECTION),
					      MAX_SECTION));
	return bobbin_sframe_builder_size(&builder);
}

static void protect(const struct arena *a, enum place place, unsigned int pages, int prot)
{
	promise(!mprotect((void *)(uintptr_t)at(a, place), pages * PAGE, prot));
}

static void open_arena(struct arena *a)
{
	a->base = mmap((void *)ARENA, (PLACES + 2) * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	promise(a->base == (void *)ARENA && !mprotect(a->base, PAGE, PROT_NONE));
	a->base += PAGE;
	a->section_size = make_section(a);
	a->fd = memfd_create("section", MFD_CLOEXEC);
	promise(pwrite(a->fd, (void *)(uintptr_t)at(a, SECTION), a->section_size, 0) ==
		(ssize_t)a->section_size);
	protect(a, HOLE, 1, PROT_NONE);
	protect(a, TEXT, 4, PROT_READ | PROT_EXEC);
	protect(a, DATA, 1, PROT_READ);
	protect(a, FAR_TEXT, 1, PROT_READ | PROT_EXEC);
	protect(a, FAR_HOLE, 1, PROT_NONE);
	protect(a, PLACES, 1, PROT_NONE);
}

/*
 * Of addresses and numbers that mean something here, or nothing anywhere.  A part of
 * one, as a structure that is cut has it, is no address: a sanitizer's own memory can
 * be read, but must not be.
 */
static uint64_t value(struct source *s, const struct arena *a)
{
	const uint64_t values[] = {
		0,
		at(a, TEXT),
		at(a, TEXT) + 4 * PAGE,
		at(a, SECTION),
		at(a, SECTION) + a->section_size,
		at(a, DAMAGED),
		at(a, INPUT),
		at(a, HOLE),
		at(a, FAR_TEXT),
		at(a, FAR_TEXT) + PAGE,
		UINT64_MAX,
		(uint64_t)1 << 63,
		(uint64_t)1 << 47,
		a->section_size,
		PAGE,
		(uint64_t)a->fd,
	};
	uint8_t how = (uint8_t)number(s, 1);
	uint64_t v = values[how & 15];

	if (how & 0x10)
		v = number(s, 2) * (how & 1 ? 1 : UINT64_MAX);
	if (how & 0x80)
		v += (uint64_t)(int64_t)(int8_t)number(s, 1) * (how & 0x40 ? 16 : 1);
	return v;
}

/* The second of two numbers of 4 bytes in struct code_elf_info. */
static bool is_half(size_t offset)
{
	return offset == offsetof(struct code_elf_info, debug_link_crc) ||
	       offset == offsetof(struct code_elf_info, table_flags) ||
	       offset == offsetof(struct code_elf_info, reserved);
}

static void change(struct source *s, const struct arena *a, void *bytes, size_t size)
{
	unsigned int changes = (unsigned int)number(s, 1) % 5;

	while (changes--) {
		size_t where = number(s, 1) % (size / 4) * 4;
		uint64_t v = value(s, a);
		size_t n = 8;

		if (where % 8 && is_half(where))
			n = 4;
		else
			where -= where % 8;
		memcpy((uint8_t *)bytes + where, &v, n);
	}
}

/*
 * Where a structure may be, or not.  What stands in the input and in sections are no
 * addresses, but may look like a sanitizer's own: text, which is zero, is read instead.
 */
static const void *elsewhere(struct source *s, const struct arena *a)
{
	uint64_t v = value(s, a);

	if (v >= at(a, INPUT) - PAGE && v < at(a, HOLE))
		v += (uint64_t)(TEXT - INPUT) * PAGE;
	return (const void *)(uintptr_t)v;
}

/* Somewhere: at the end of a page, cut short, or not there at all. */
static const void *put(struct source *s, const struct arena *a, const void *bytes, size_t known,
		       size_t *size)
{
	uint8_t how = (uint8_t)number(s, 1);
	uint8_t *to = (uint8_t *)(uintptr_t)(at(a, PLACES));

	*size = how & 1 ? number(s, 2) : known;
	if (how & 2)
		return elsewhere(s, a);
	if (*size > PAGE)
		return to - PAGE;
	memset(to - PAGE, how & 4 ? 0xff : 0, PAGE);
	memcpy(to - *size, bytes, *size < known ? *size : known);
	/* a part of an address is none, see value() */
	memset(to - *size % 8, 0, *size % 8);
	return to - *size;
}

static bool is_documented(int r)
{
	const int errnos[] = {0,       -EINVAL,  -EFAULT, -E2BIG, -EEXIST,
			      -ENOENT, -EBADMSG, -EBADF,  -EFBIG, -ENAMETOOLONG};

	for (size_t i = 0; i < sizeof(errnos) / sizeof(*errnos); i++)
		if (r == errnos[i])
			return true;
	return false;
}

static size_t code_count(const struct code_map *map)
{
	struct code_range range = {0};
	size_t count = 0;

	while (code_map_next(map, range.end, &range))
		count++;
	return count;
}

static size_t published(const struct registry *registry)
{
	const struct bobbin_code_page *page = registry_page(registry);
	const struct bobbin_code_entry *entries;
	size_t count = 0;

	promise(page);
	entries = (const struct bobbin_code_entry *)(uintptr_t)page->entries;
	for (uint64_t i = 0; i < page->entry_count; i++)
		count += entries[i].kind != BOBBIN_CODE_FREE;
	return count;
}

/* Ranges ascend, have text that can be executed, and all of them are published. */
static void check_map(struct registry *registry, const struct arena *a)
{
	struct code_map *map = registry_map(registry);
	uint64_t last = 0;
	struct code_range range;

	for (uint64_t addr = 0; code_map_next(map, addr, &range); addr = range.end) {
		promise(range.start >= last && range.start < range.end);
		if (range.start >= at(a, INPUT) && range.start < at(a, PLACES))
			promise(range.start >= at(a, TEXT) && range.end <= at(a, FAR_HOLE) &&
				!(range.start < at(a, FAR_TEXT) && range.end > at(a, DATA)));
		last = range.end;
	}
	promise(published(registry) == code_count(map));
}

static int call_codectl(struct registry *registry, struct source *s, const struct arena *a,
			unsigned int option, struct bobbin_code_result *result)
{
	struct code_elf_info elf = {.text_start = at(a, TEXT),
				    .text_end = at(a, DATA),
				    .sframe_start = at(a, SECTION),
				    .sframe_end = at(a, SECTION) + a->section_size};
	struct code_jit_info jit = {at(a, FAR_TEXT), at(a, FAR_HOLE), at(a, INPUT)};
	uint8_t how = (uint8_t)number(s, 1);
	bool is_jit = how & 1;
	const void *info;
	size_t size;

	if (how & 2) {
		elf.sframe_start = elf.sframe_end = 0;
		elf.table_flags = CODE_TABLE_FILE;
		elf.table_fd = a->fd;
		elf.table_size = a->section_size;
		elf.table_addr = at(a, SECTION);
	}
	if (is_jit)
		change(s, a, &jit, sizeof(jit));
	else
		change(s, a, &elf, sizeof(elf));
	info = is_jit ? put(s, a, &jit, sizeof(jit), &size) : put(s, a, &elf, sizeof(elf), &size);
	return code_calls_codectl(registry, option, info, size, how & 4 ? (unsigned int)how : 0,
				  result);
}

static int call_setup(struct registry *registry, struct source *s, const struct arena *a, bool add,
		      struct bobbin_code_result *result)
{
	struct sframe_setup setup = {at(a, SECTION), a->section_size, at(a, TEXT), 4 * PAGE, 0};
	const void *from;
	size_t size;

	if (!add)
		setup = (struct sframe_setup){.sframe_start = at(a, SECTION)};
	change(s, a, &setup, sizeof(setup));
	from = put(s, a, &setup, sizeof(setup), &size);
	return add ? code_calls_register(registry, from, size, result)
		   : code_calls_unregister(registry, from, size);
}

static int call_prctl(struct registry *registry, struct source *s, const struct arena *a, bool add)
{
	unsigned long args[4] = {at(a, SECTION)};

	if (add) {
		args[1] = args[0] + a->section_size;
		args[2] = at(a, TEXT);
		args[3] = at(a, DATA);
	}
	change(s, a, args, sizeof(args));
	return code_calls_prctl(registry, add ? BOBBIN_PR_ADD_SFRAME : BOBBIN_PR_REMOVE_SFRAME,
				args[0], args[1], args[2], args[3]);
}

static void call(struct registry *registry, struct source *s, const struct arena *a)
{
	const struct bobbin_code_result before = {.place = BOBBIN_CODE_IN_KERNEL};
	struct bobbin_code_result result = before;
	size_t count = code_count(registry_map(registry));
	unsigned int what = (unsigned int)number(s, 1) & 7;
	int r = what < 4   ? call_codectl(registry, s, a, what, &result)
		: what < 6 ? call_setup(registry, s, a, what & 1, &result)
			   : call_prctl(registry, s, a, what & 1);

	promise(is_documented(r));
	if (r == -EBADMSG)
		promise(what >= 6 || result.error.reason != BOBBIN_REASON_NONE);
	else if (r)
		promise(!memcmp(&result, &before, sizeof(result)));
	if (r)
		promise(code_count(registry_map(registry)) == count);
	else
		promise(code_count(registry_map(registry)) != count);
	check_map(registry, a);
}

/* The input's bytes are JIT tables, strings and build IDs; and damage to a section. */
static void fill(const struct arena *a, const uint8_t *data, size_t size)
{
	uint8_t *input = (uint8_t *)(uintptr_t)at(a, INPUT);
	uint8_t *damaged = (uint8_t *)(uintptr_t)at(a, DAMAGED);

	memset(input, 0, PAGE);
	memcpy(input + 24, data, size < PAGE - 24 ? size : PAGE - 24);
	input[1] = 1; /* reserved: 256 bytes, used: none */
	memcpy(damaged, (void *)(uintptr_t)at(a, SECTION), a->section_size);
	if (size >= 2)
		damaged[data[0] % a->section_size] ^= data[1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena arena;
	struct source s = {data, data + size};
	struct registry *registry;

	if (!arena.base)
		open_arena(&arena);
	fill(&arena, data, size);
	promise(!registry_open(NULL, &registry));
	for (unsigned int i = 0; i < MAX_CALLS && s.at < s.end; i++)
		call(registry, &s, &arena);
	registry_close(registry);
	return 0;
}
