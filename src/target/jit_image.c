/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/jit_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "core/deps.h"

#define SFRAME_TYPE 0x6ffffff4 /* SHT_GNU_SFRAME */

#define HOST_DATA (BOBBIN_HOST_BIG_ENDIAN ? ELFDATA2MSB : ELFDATA2LSB)

struct headers {
	Elf64_Ehdr head;
	Elf64_Shdr *sections;
	uint64_t mark;
};

struct names {
	char *bytes; /* with a terminator after them, or NULL */
	uint64_t size;
};

static bool lies_inside(uint64_t offset, uint64_t size, uint64_t whole)
{
	return offset <= whole && size <= whole - offset;
}

static bool is_sane(const Elf64_Ehdr *head, const struct bobbin_arch *arch, uint64_t image_size)
{
	return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
	       head->e_ident[EI_DATA] == HOST_DATA && head->e_machine == arch->elf_machine &&
	       head->e_shentsize == sizeof(Elf64_Shdr) && head->e_shnum &&
	       lies_inside(head->e_shoff, head->e_shnum * sizeof(Elf64_Shdr), image_size);
}

static uint64_t mark_bytes(uint64_t mark, const void *bytes, size_t size)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < size; i++)
		mark = (mark ^ p[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
	return mark;
}

static int read_headers(const struct remote_process *process, const struct gdb_jit_entry *entry,
			const struct bobbin_arch *arch, struct headers *ret)
{
	struct headers h;
	size_t size;
	int r;

	if (entry->size < sizeof(h.head) || entry->size > UINT64_MAX - entry->address)
		return -EBADMSG;
	r = process_read(process, entry->address, &h.head, sizeof(h.head));
	if (r)
		return r;
	if (!is_sane(&h.head, arch, entry->size))
		return -EBADMSG;
	size = h.head.e_shnum * sizeof(*h.sections);
	h.sections = process_read_copy(process, entry->address + h.head.e_shoff, size, &r);
	if (!h.sections)
		return r;
	h.mark = mark_bytes(UINT64_C(0xcbf29ce484222325), &h.head, sizeof(h.head));
	h.mark = mark_bytes(h.mark, h.sections, size);
	*ret = h;
	return 0;
}

/* An image without names has no tables. */
static int read_names(const struct remote_process *process, const struct gdb_jit_entry *entry,
		      const struct headers *h, struct names *ret)
{
	const Elf64_Shdr *s;
	int r;

	if (h->head.e_shstrndx >= h->head.e_shnum)
		return 0;
	s = &h->sections[h->head.e_shstrndx];
	if (s->sh_type != SHT_STRTAB || s->sh_size > JIT_IMAGE_NAMES_MAX ||
	    !lies_inside(s->sh_offset, s->sh_size, entry->size))
		return 0;
	ret->bytes = process_read_copy(process, entry->address + s->sh_offset, s->sh_size, &r);
	ret->size = s->sh_size;
	return r;
}

static const char *name_of(const struct names *names, const Elf64_Shdr *s)
{
	return names->bytes && s->sh_name < names->size ? names->bytes + s->sh_name : "";
}

static bool is_text(const Elf64_Shdr *s)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;

	return (s->sh_flags & flags) == flags && s->sh_addr && s->sh_size &&
	       s->sh_size <= JIT_IMAGE_TEXT_MAX && s->sh_size <= UINT64_MAX - s->sh_addr;
}

static void take_part(const struct gdb_jit_entry *entry, const Elf64_Shdr *s, struct jit_part *part)
{
	/* there is one of a name at most */
	if (part->size || !(s->sh_flags & SHF_ALLOC) || (s->sh_flags & SHF_COMPRESSED) ||
	    s->sh_size > GDB_JIT_IMAGE_MAX || s->sh_size > UINT64_MAX - s->sh_addr)
		return;
	part->size = s->sh_size;
	part->loaded = s->sh_addr;
	if (s->sh_type != SHT_NOBITS && lies_inside(s->sh_offset, s->sh_size, entry->size))
		part->kept = entry->address + s->sh_offset;
}

static int take_sections(const struct gdb_jit_entry *entry, const struct headers *h,
			 const struct names *names, struct jit_image *image)
{
	size_t texts = 0;

	for (unsigned int i = 0; i < h->head.e_shnum; i++)
		texts += is_text(&h->sections[i]);
	image->texts = malloc((texts + 1) * sizeof(*image->texts));
	if (!image->texts)
		return -ENOMEM;
	for (unsigned int i = 0; i < h->head.e_shnum; i++) {
		const Elf64_Shdr *s = &h->sections[i];

		if (is_text(s))
			image->texts[image->text_count++] =
				(struct jit_text){s->sh_addr, s->sh_addr + s->sh_size};
		else if (s->sh_type == SFRAME_TYPE || !strcmp(name_of(names, s), ".sframe"))
			take_part(entry, s, &image->sframe);
		else if (!strcmp(name_of(names, s), ".eh_frame"))
			take_part(entry, s, &image->eh_frame);
	}
	qsort(image->texts, image->text_count, sizeof(*image->texts), vector_by_start);
	return 0;
}

int jit_image_read(const struct remote_process *process, const struct gdb_jit_entry *entry,
		   const struct bobbin_arch *arch, struct jit_image *ret)
{
	struct jit_image image = {0};
	struct names names = {0};
	struct headers h;
	int r = read_headers(process, entry, arch, &h);

	if (r)
		return r;
	r = read_names(process, entry, &h, &names);
	if (!r)
		r = take_sections(entry, &h, &names, &image);
	if (!r) {
		image.mark = h.mark;
		*ret = image;
	}
	free(names.bytes);
	free(h.sections);
	return r;
}

void jit_image_fini(struct jit_image *image)
{
	free(image->texts);
	*image = (struct jit_image){0};
}

bool jit_image_is_same(const struct remote_process *process, const struct gdb_jit_entry *entry,
		       const struct bobbin_arch *arch, const struct jit_image *image)
{
	struct headers h;

	if (read_headers(process, entry, arch, &h))
		return false;
	free(h.sections);
	return h.mark == image->mark;
}
