/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbobbin-audit.so: tells the kernel which SFrame sections the dynamic loader maps.
 *
 *	LD_AUDIT=libbobbin-audit.so program
 *
 *	loader ── la_objopen(),  object mapped ──► sframe_register(2)
 *	       ── la_objclose(), before munmap ──► sframe_unregister(2)
 *
 * A kernel that walks by SFrame finds the program and its interpreter at exec, and must be told
 * of all other objects; no loader does so yet.  On a kernel without the calls nothing happens:
 * bobbin's own walks read the sections of mapped files anyway.
 *
 * The loader holds its lock during all calls here.  The library has no memory of its own: what it
 * registered for an object is the object's cookie.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "codemap/linux_calls.h"
#include "core/deps.h"
#include "elf/gnu_sframe.h"

static struct linux_calls calls;

struct object {
	const ElfW(Phdr) * section, *text;
	uint64_t bias;
};

/* All functions of a section must lie in the text: an object with several pieces has no one. */
static bool find_parts(const struct link_map *map, struct object *ret)
{
	struct object object = {.bias = map->l_addr};
	const ElfW(Phdr) * phdrs;
	int count = dlinfo((void *)map, RTLD_DI_PHDR, &phdrs);

	for (int i = 0; i < count; i++) {
		const ElfW(Phdr) *p = &phdrs[i];

		if (p->p_type == PT_GNU_SFRAME && !object.section)
			object.section = p;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (object.text)
			return false;
		object.text = p;
	}
	if (!object.section || !object.section->p_memsz || !object.text)
		return false;
	*ret = object;
	return true;
}

/* Where the section is that the kernel has now, or 0: it had it already, or does not want it. */
static uint64_t register_object(const struct object *object)
{
	const struct sframe_setup setup = {
		.sframe_start = object->bias + object->section->p_vaddr,
		.sframe_size = object->section->p_memsz,
		.text_start = object->bias + object->text->p_vaddr,
		.text_size = object->text->p_memsz,
	};

	return linux_calls_register(&calls, &setup) ? 0 : setup.sframe_start;
}

BOBBIN_API unsigned int la_version(unsigned int version)
{
	calls.call = linux_calls_native();
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

BOBBIN_API unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	struct object object;
	int saved = errno;

	(void)lmid;
	*cookie = find_parts(map, &object) ? register_object(&object) : 0;
	errno = saved;
	return 0;
}

BOBBIN_API unsigned int la_objclose(uintptr_t *cookie)
{
	if (*cookie)
		linux_calls_unregister(&calls, *cookie);
	return 0;
}
