/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbobbin-audit.so: tells the kernel how to unwind what the dynamic loader maps.
 *
 *	LD_AUDIT=libbobbin-audit.so program
 *
 *	loader ── la_objopen(),  object mapped ──► sframe_register(2), of its SFrame section; or
 *	       │				   codectl(2), of the compiled table of its build ID
 *	       ── la_objclose(), before munmap ──► sframe_unregister(2), codectl(2)
 *
 * A kernel that walks by SFrame finds the sections of the program and its interpreter at exec, and
 * must be told of all other objects, and of tables; no loader does so yet.  On a kernel without the
 * calls nothing happens: bobbin's own walks read the sections of mapped files anyway.
 *
 * The loader holds its lock during all calls here.  The library has no memory of its own: an object's
 * cookie is the address of its section, or that of its link map and, as these are aligned, BY_TABLE.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "codemap/linux_calls.h"
#include "core/deps.h"
#include "elf/gnu_sframe.h"
#include "shim/build_id_table.h"

/* Of a cookie. */
#define BY_TABLE 1u

/* Executable segments of an object. */
#define MAX_TEXTS 16

static struct linux_calls calls;

/**
 * struct object - what is mapped
 * @section: its PT_GNU_SFRAME, or NULL
 * @texts, @text_count: its executable segments
 */
struct object {
	const ElfW(Phdr) * phdrs, *section;
	int count;
	uint64_t bias;
	struct code_text_range texts[MAX_TEXTS];
	unsigned int text_count;
};

/* glibc does not say where the program headers of the loader itself are, whose file begins at @bias. */
static bool find_headers(const struct link_map *map, struct object *object)
{
	const ElfW(Ehdr) *head = (const void *)map->l_addr;

	object->count = dlinfo((void *)map, RTLD_DI_PHDR, &object->phdrs);
	if (object->count > 0)
		return true;
	if (!map->l_addr || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	object->phdrs = (const void *)(map->l_addr + head->e_phoff);
	object->count = head->e_phnum;
	return true;
}

static bool find_parts(const struct link_map *map, struct object *ret)
{
	struct object object = {.bias = map->l_addr};

	if (!find_headers(map, &object))
		return false;
	for (int i = 0; i < object.count; i++) {
		const ElfW(Phdr) *p = &object.phdrs[i];
		uint64_t start = object.bias + p->p_vaddr;

		if (p->p_type == PT_GNU_SFRAME && p->p_memsz && !object.section)
			object.section = p;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !p->p_memsz)
			continue;
		if (object.text_count == MAX_TEXTS)
			return false;
		object.texts[object.text_count++] = (struct code_text_range){start,
									     start + p->p_memsz};
	}
	*ret = object;
	return object.text_count;
}

/* Where the section is that the kernel has now, or 0: it had it already, or does not want it. */
static uint64_t register_section(const struct object *object)
{
	const struct code_text_range *text = object->texts;
	const struct sframe_setup setup = {
		.sframe_start = object->bias + object->section->p_vaddr,
		.sframe_size = object->section->p_memsz,
		.text_start = text->start,
		.text_size = text->end - text->start,
	};

	/* all functions of a section must lie in the text: an object with several pieces has no one */
	if (object->text_count > 1)
		return 0;
	return linux_calls_register(&calls, &setup) ? 0 : setup.sframe_start;
}

static struct code_elf_info table_info(const struct object *object)
{
	const unsigned int more = object->text_count - 1;

	return (struct code_elf_info){
		.text_start = object->texts[0].start,
		.text_end = object->texts[0].end,
		.text_ranges = more ? (uintptr_t)&object->texts[1] : 0,
		.text_range_count = more,
	};
}

/* Whether the kernel has the object's table now. */
static bool register_table(const struct object *object)
{
	const struct build_id id = build_id_of(object->phdrs, object->count, object->bias);
	struct code_elf_info info = table_info(object);
	/* nothing is looked for where nobody asks */
	bool asked = id.size && calls.codectl != LINUX_CALLS_ABSENT;
	int fd = asked ? build_id_table_open(&id, &info.table_size) : -ENOENT, r;

	if (fd < 0)
		return false;
	info.build_id = (uintptr_t)id.bytes;
	info.build_id_len = id.size;
	info.table_flags = CODE_TABLE_FILE | CODE_TABLE_COMPILED;
	info.table_fd = fd;
	info.table_addr = object->bias;
	r = linux_calls_codectl(&calls, CODE_REGISTER_ELF, &info, sizeof(info));
	close(fd);
	return !r;
}

BOBBIN_API unsigned int la_version(unsigned int version)
{
	calls.call = linux_calls_native();
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

static uintptr_t register_object(const struct link_map *map)
{
	struct object object;

	if (!find_parts(map, &object))
		return 0;
	if (object.section)
		return register_section(&object);
	return register_table(&object) ? (uintptr_t)map | BY_TABLE : 0;
}

BOBBIN_API unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	int saved = errno;

	(void)lmid;
	*cookie = register_object(map);
	errno = saved;
	return 0;
}

static void unregister_table(const struct link_map *map)
{
	struct object object;
	struct code_elf_info info;

	if (!find_parts(map, &object))
		return;
	info = table_info(&object);
	linux_calls_codectl(&calls, CODE_UNREGISTER, &info, sizeof(info));
}

BOBBIN_API unsigned int la_objclose(uintptr_t *cookie)
{
	int saved = errno;

	if (*cookie & BY_TABLE)
		unregister_table((const struct link_map *)(*cookie & ~(uintptr_t)BY_TABLE));
	else if (*cookie)
		linux_calls_unregister(&calls, *cookie);
	errno = saved;
	return 0;
}
