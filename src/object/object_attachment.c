/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "object/object_attachment.h"

#include <bobbin/sframe.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_range.h"
#include "core/refusal.h"
#include "elf/gnu_sframe.h"
#include "elf/relocation_kind.h"
#include "elf/sframe_file.h"

/* Offset of the flags in the header, in all versions. */
#define FLAGS 3

/* Bytes of a start: 4 up to V2. */
static uint8_t start_size(const struct bobbin_sframe_view *view)
{
	return view->version < 3 ? 4 : 8;
}

static int relate(const struct object_code *code, const struct bobbin_sframe_view *view,
		  uint32_t index, struct bobbin_error *err, Elf64_Rela *ret)
{
	uint64_t field = view->fde_off + (uint64_t)index * view->fde_size;
	const struct object_text *text;
	struct bobbin_sframe_fde fde;
	int r = bobbin_sframe_fde(view, index, err, &fde);

	if (r)
		return r;
	text = object_code_text(code, fde.start);
	if (!text)
		return refuse(err, field, BOBBIN_REASON_ELF_RELOCATION);
	if (!text->symbol)
		return refuse_as(-ENOTSUP, err, text->place, BOBBIN_REASON_ELF_SYMBOL);
	*ret = (Elf64_Rela){
		.r_offset = field,
		.r_info = ELF64_R_INFO(
			(uint64_t)text->symbol,
			relocation_to_field(code->arch->elf_machine, start_size(view))),
		.r_addend = (int64_t)(fde.start - text->start - text->value),
	};
	return 0;
}

int start_relocations_init(const struct object_code *code, uint8_t *section, uint64_t size,
			   struct bobbin_error *err, struct start_relocations *ret)
{
	struct bobbin_sframe_view view;
	Elf64_Rela *entries;
	int r = bobbin_sframe_view(section, size, 0, err, &view);

	if (r)
		return r;
	entries = calloc((size_t)view.num_fdes + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < view.num_fdes && !r; i++)
		r = relate(code, &view, i, err, &entries[i]);
	if (r) {
		free(entries);
		return r;
	}
	for (uint32_t i = 0; i < view.num_fdes; i++)
		memset(section + entries[i].r_offset, 0, start_size(&view));
	section[FLAGS] &= (uint8_t)~BOBBIN_SFRAME_SORTED;
	*ret = (struct start_relocations){entries, view.num_fdes};
	return 0;
}

void start_relocations_fini(struct start_relocations *relocations)
{
	free(relocations->entries);
	*relocations = (struct start_relocations){0};
}

/* Whether a function that was read starts where the relocation says. */
static bool agrees(const struct object_code *code, const Elf64_Rela *rela,
		   const struct sframe_target *target)
{
	const struct object_text *text = object_code_section(code, target->section_index);

	return text && target->field == rela->r_offset &&
	       text->symbol == ELF64_R_SYM(rela->r_info) &&
	       target->start == text->value + (uint64_t)rela->r_addend;
}

static bool has_all(const struct start_relocations *relocations, const struct object_code *code,
		    const uint8_t *section, struct sframe_section *read)
{
	uint64_t width = section[2] < 3 ? 4 : 8;

	for (size_t i = 0; i < relocations->count; i++) {
		if (!agrees(code, &relocations->entries[i], &read->targets[i]))
			return false;
		memset(read->data + read->targets[i].field, 0, width);
	}
	return !memcmp(read->data, section, read->size);
}

int start_relocations_check(const struct start_relocations *relocations,
			    const struct object_code *code, const uint8_t *section, uint64_t size,
			    int fd)
{
	struct sframe_file file;
	bool good;
	int r = sframe_file_init(fd, NULL, &file);

	if (r)
		return r;
	good = file.arch == code->arch && file.section_count == 1 &&
	       file.sections[0].size == size &&
	       file.sections[0].target_count == relocations->count &&
	       has_all(relocations, code, section, &file.sections[0]);
	sframe_file_fini(&file);
	return good ? 0 : -EBADMSG;
}

#define ALIGNMENT 8
#define NONE SIZE_MAX

/* Both names, one within the other. */
static const char names[] = ".rela.sframe";
#define NAME_AT 5

/* A part of the file that is written anew. */
struct part {
	uint64_t offset, size;
};

static int refuse_section(const struct elf_headers *headers, size_t section,
			  struct bobbin_error *err)
{
	return refuse(err, elf_headers_place(headers, section), BOBBIN_REASON_ELF_BROKEN);
}

/* Readers and linkers also take sections whose name only begins so. */
static bool is_sframe(const struct elf_headers *headers, size_t i)
{
	const Elf64_Shdr *s = &headers->sections[i];
	const char *name = elf_headers_name(headers, i);
	bool named = !strcmp(name, names + NAME_AT);

	if (s->sh_type == SHT_PROGBITS)
		return named || !strncmp(name, ".sframe.", 8);
	return s->sh_type == SHT_GNU_SFRAME ||
	       (s->sh_type != SHT_NULL && s->sh_flags & SHF_ALLOC && named);
}

/* The section that is there already, or NONE. */
static int find_section(const struct elf_headers *headers, struct bobbin_error *err, size_t *ret)
{
	size_t found = NONE;

	for (size_t i = 1; i < headers->section_count; i++) {
		if (!is_sframe(headers, i))
			continue;
		if (found != NONE || i == headers->names_index ||
		    headers->sections[i].sh_flags & (SHF_GROUP | SHF_EXECINSTR))
			return refuse_section(headers, i, err);
		found = i;
	}
	*ret = found;
	return 0;
}

/* Sections that are not there will be ours. */
static bool relocates(const struct elf_headers *headers, size_t i, size_t section)
{
	const Elf64_Shdr *s = &headers->sections[i];

	return (s->sh_type == SHT_RELA || s->sh_type == SHT_REL) &&
	       (s->sh_info == section || s->sh_info >= headers->section_count);
}

/* The relocations of that section, or NONE. */
static int find_relocations(const struct elf_headers *headers, size_t section,
			    struct bobbin_error *err, size_t *ret)
{
	size_t found = NONE;

	for (size_t i = 1; i < headers->section_count; i++) {
		const Elf64_Shdr *s = &headers->sections[i];

		if (!relocates(headers, i, section))
			continue;
		if (found != NONE || s->sh_info != section || s->sh_type == SHT_REL ||
		    s->sh_flags & SHF_GROUP)
			return refuse_section(headers, i, err);
		found = i;
	}
	*ret = found;
	return 0;
}

static int find_symbols(const struct elf_headers *headers, struct bobbin_error *err, size_t *ret)
{
	for (size_t i = 1; i < headers->section_count; i++) {
		if (headers->sections[i].sh_type != SHT_SYMTAB)
			continue;
		*ret = i;
		return 0;
	}
	return refuse(err, offsetof(Elf64_Ehdr, e_shnum), BOBBIN_REASON_ELF_BROKEN);
}

/* Whether a section has bytes in the file that must stay. */
static bool is_rest(const struct object_attachment *a, size_t i)
{
	const Elf64_Shdr *s = &a->headers.sections[i];

	return i != a->section && i != a->relocations && i != a->headers.names_index &&
	       s->sh_type != SHT_NULL && s->sh_type != SHT_NOBITS && s->sh_size;
}

/* Where everything ends that is not written anew. */
static int end_of_rest(const struct object_attachment *a, struct bobbin_error *err, uint64_t *ret)
{
	uint64_t end = sizeof(a->headers.file);

	for (size_t i = 1; i < a->headers.section_count; i++) {
		const Elf64_Shdr *s = &a->headers.sections[i];

		if (!is_rest(a, i))
			continue;
		/* the ELF header changes */
		if (s->sh_offset < sizeof(a->headers.file))
			return refuse_section(&a->headers, i, err);
		if (s->sh_offset + s->sh_size > end)
			end = s->sh_offset + s->sh_size;
	}
	*ret = end;
	return 0;
}

/* Go back over the part that ends here, if there is one; false: none does. */
static bool go_back(const struct part *parts, size_t count, uint64_t *position)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t end = parts[i].offset + parts[i].size;

		if (!parts[i].size || end > *position || *position - end >= 2 * ALIGNMENT)
			continue;
		*position = parts[i].offset;
		return true;
	}
	return false;
}

static struct part part_of(const struct elf_headers *headers, size_t section)
{
	const Elf64_Shdr *s = section == NONE ? NULL : &headers->sections[section];

	return s && s->sh_type != SHT_NOBITS ? (struct part){s->sh_offset, s->sh_size}
					     : (struct part){0};
}

/* How much of the file stays: all but what is written anew at its end. */
static int keep(struct object_attachment *a, struct bobbin_error *err)
{
	const struct elf_headers *headers = &a->headers;
	const struct part parts[] = {
		part_of(headers, a->section),
		part_of(headers, a->relocations),
		part_of(headers, headers->names_index),
		{headers->file.e_shoff, headers->section_count * sizeof(*headers->sections)},
	};
	uint64_t end, position = headers->file_size;
	int r = end_of_rest(a, err, &end);

	if (r)
		return r;
	while (go_back(parts, sizeof(parts) / sizeof(*parts), &position))
		;
	a->kept = position > end ? position : end;
	return 0;
}

static void place_sections(struct object_attachment *a, size_t symbols)
{
	struct elf_headers *headers = &a->headers;
	uint32_t name = elf_headers_add_name(headers, names);

	if (a->section == NONE)
		a->section = headers->section_count++;
	if (a->relocations == NONE)
		a->relocations = headers->section_count++;
	headers->sections[a->section] = (Elf64_Shdr){
		.sh_name = name + NAME_AT,
		.sh_type = SHT_GNU_SFRAME,
		.sh_flags = SHF_ALLOC,
		.sh_addralign = ALIGNMENT,
	};
	headers->sections[a->relocations] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = SHT_RELA,
		.sh_flags = SHF_INFO_LINK,
		.sh_link = (uint32_t)symbols,
		.sh_info = (uint32_t)a->section,
		.sh_addralign = ALIGNMENT,
		.sh_entsize = sizeof(Elf64_Rela),
	};
}

static int plan(struct object_attachment *a, struct bobbin_error *err)
{
	const struct elf_headers *headers = &a->headers;
	size_t symbols;
	int r = 0;

	if (!headers->section_count || !headers->names_index)
		return refuse(err, offsetof(Elf64_Ehdr, e_shstrndx), BOBBIN_REASON_ELF_BROKEN);
	if (headers->section_count > UINT32_MAX - 2)
		return refuse_as(-ENOTSUP, err, offsetof(Elf64_Ehdr, e_shnum),
				 BOBBIN_REASON_ELF_FULL);
	r = find_symbols(headers, err, &symbols);
	if (!r)
		r = find_section(headers, err, &a->section);
	if (!r)
		r = find_relocations(headers, a->section, err, &a->relocations);
	if (!r)
		r = keep(a, err);
	if (!r)
		place_sections(a, symbols);
	return r;
}

int object_attachment_init(int fd, struct bobbin_error *err, struct object_attachment *ret)
{
	struct object_attachment a = {.fd = fd};
	int r = elf_headers_init(fd, true, err, &a.headers);

	if (r)
		return r;
	r = plan(&a, err);
	if (r)
		elf_headers_fini(&a.headers);
	else
		*ret = a;
	return r;
}

/* Give a section its place after @*end. */
static void put(struct elf_headers *headers, size_t section, uint64_t size, uint64_t *end)
{
	uint64_t offset = elf_round_up(*end, ALIGNMENT);

	headers->sections[section].sh_offset = offset;
	headers->sections[section].sh_size = size;
	*end = offset + size;
}

int object_attachment_write(struct object_attachment *a, const void *section, uint64_t size,
			    const struct start_relocations *relocations, int out_fd)
{
	struct elf_headers *headers = &a->headers;
	uint64_t end = a->kept, relas = relocations->count * sizeof(*relocations->entries);
	int r = file_range_copy(a->fd, out_fd, a->kept);

	put(headers, a->section, size, &end);
	put(headers, a->relocations, relas, &end);
	put(headers, headers->names_index, headers->names_size, &end);
	headers->file.e_shoff = elf_round_up(end, ALIGNMENT);
	if (!r)
		r = file_range_write(out_fd, headers->sections[a->section].sh_offset, section,
				     size);
	if (!r)
		r = elf_headers_encode(headers, out_fd, headers->sections[a->relocations].sh_offset,
				       ELF_T_RELA, relocations->entries, relas);
	if (!r)
		r = file_range_write(out_fd, headers->sections[headers->names_index].sh_offset,
				     headers->names, headers->names_size);
	return r ? r : elf_headers_write(headers, out_fd);
}

void object_attachment_fini(struct object_attachment *attachment)
{
	elf_headers_fini(&attachment->headers);
	*attachment = (struct object_attachment){.fd = -1};
}
