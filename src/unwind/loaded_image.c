/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/loaded_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/vector.h"
#include "core/deps.h"
#include "elf/elf_image.h"
#include "unwind/startup_objects.h"

/* e_type to e_shstrndx: entry, places and numbers of headers */
#define HEADER_PROOF 16
#define HEADER_PROOF_SIZE 40

void loaded_image_fini(struct loaded_image *image)
{
	free(image->name);
	free(image->soname);
	free(image->text);
	*image = (struct loaded_image){0};
}

void image_list_fini(struct image_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		loaded_image_fini(&list->images[i]);
	free(list->images);
	*list = (struct image_list){0};
}

bool loaded_image_same(const struct loaded_image *a, const struct loaded_image *b)
{
	return a->bias == b->bias && a->base == b->base && a->proof == b->proof &&
	       a->proof_len == b->proof_len &&
	       !memcmp(a->proof_bytes, b->proof_bytes, a->proof_len) && !strcmp(a->name, b->name);
}

static bool is_loaded(const struct dl_phdr_info *info, uint64_t vaddr, uint64_t size)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_R && vaddr >= p->p_vaddr &&
		    vaddr - p->p_vaddr <= p->p_filesz && size <= p->p_filesz - (vaddr - p->p_vaddr))
			return true;
	}
	return false;
}

static void take_proof(struct loaded_image *image, uint64_t addr, uint8_t size)
{
	image->proof = addr;
	image->proof_len = size;
	memcpy(image->proof_bytes, (const void *)addr, size);
}

static void find_build_id(const struct dl_phdr_info *info, struct loaded_image *image)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t notes = image->bias + p->p_vaddr, offset;
		uint8_t size;

		if (p->p_type != PT_NOTE || !is_loaded(info, p->p_vaddr, p->p_filesz) ||
		    !elf_find_build_id((const uint8_t *)notes, p->p_filesz, BOBBIN_HOST_BIG_ENDIAN,
				       &offset, &size))
			continue;
		take_proof(image, notes + offset, size);
		image->has_build_id = true;
		return;
	}
}

/* The first segment has the ELF header, if any has. */
static void find_header(const struct dl_phdr_info *info, struct loaded_image *image)
{
	uint64_t header = image->base + HEADER_PROOF;

	if (!image->has_build_id &&
	    is_loaded(info, image->base - image->bias, sizeof(ElfW(Ehdr))) &&
	    !memcmp((const void *)image->base, ELFMAG, SELFMAG))
		take_proof(image, header, HEADER_PROOF_SIZE);
}

static int take_segments(const struct dl_phdr_info *info, struct loaded_image *image)
{
	image->base = UINT64_MAX;
	image->text = calloc(info->dlpi_phnum ? info->dlpi_phnum : 1, sizeof(*image->text));
	if (!image->text)
		return -ENOMEM;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = image->bias + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			image->dynamic = (const void *)start;
		if (p->p_type != PT_LOAD)
			continue;
		if (start < image->base)
			image->base = start;
		if (p->p_flags & PF_X && p->p_memsz)
			image->text[image->text_count++] = (struct image_text){start,
									       start + p->p_memsz};
	}
	return 0;
}

static int take_soname(struct loaded_image *image)
{
	const char *soname = dynamic_soname(image->dynamic, image->bias, image->base);

	if (!soname)
		return 0;
	image->soname = strdup(soname);
	return image->soname ? 0 : -ENOMEM;
}

static int take_image(const struct dl_phdr_info *info, struct loaded_image *ret)
{
	struct loaded_image image = {.bias = info->dlpi_addr};

	image.name = strdup(info->dlpi_name ? info->dlpi_name : "");
	if (!image.name || take_segments(info, &image) || take_soname(&image)) {
		loaded_image_fini(&image);
		return -ENOMEM;
	}
	find_build_id(info, &image);
	find_header(info, &image);
	*ret = image;
	return 0;
}

/* What dl_iterate_phdr() calls for each. */
static int add_image(struct dl_phdr_info *info, size_t size, void *to)
{
	struct image_list *list = to;

	if (vector_reserve(&list->images, &list->room, list->count + 1, sizeof(*list->images)) ||
	    take_image(info, &list->images[list->count]))
		return -ENOMEM;
	list->count++;
	return 0;
}

static struct loaded_image *image_at(struct image_list *list, uint64_t base)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->images[i].base == base)
			return &list->images[i];
	return NULL;
}

/* Not all loaders tell of the kernel's code. */
static int add_vdso(struct image_list *list)
{
	const ElfW(Ehdr) *header = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct dl_phdr_info info = {.dlpi_name = "[vdso]"};
	struct loaded_image *image;
	int r = 0;

	if (!header)
		return 0;
	info.dlpi_phdr = (const void *)((const uint8_t *)header + header->e_phoff);
	info.dlpi_phnum = header->e_phnum;
	for (unsigned int i = info.dlpi_phnum; i-- > 0;)
		if (info.dlpi_phdr[i].p_type == PT_LOAD)
			info.dlpi_addr = (uint64_t)header - info.dlpi_phdr[i].p_vaddr;
	image = image_at(list, (uint64_t)header);
	if (!image)
		r = add_image(&info, sizeof(info), list);
	image = image_at(list, (uint64_t)header);
	if (image)
		image->stays = true;
	return r;
}

/* Whatever stays.  -ENOMEM. */
static int mark_staying(struct image_list *list)
{
	struct startup_object *objects = calloc(list->count ? list->count : 1, sizeof(*objects));

	if (!objects)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		objects[i] = (struct startup_object){
			.name = list->images[i].name,
			.soname = list->images[i].soname,
			.dynamic = list->images[i].dynamic,
			.bias = list->images[i].bias,
			.base = list->images[i].base,
			.stays = list->images[i].stays,
		};
	startup_objects_mark(objects, list->count, getauxval(AT_BASE));
	for (size_t i = 0; i < list->count; i++)
		list->images[i].stays = objects[i].stays;
	free(objects);
	return 0;
}

int image_list_init(struct image_list *ret)
{
	struct image_list list = {0};

	if (dl_iterate_phdr(add_image, &list) || add_vdso(&list) || mark_staying(&list)) {
		image_list_fini(&list);
		return -ENOMEM;
	}
	*ret = list;
	return 0;
}
