/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "object/object_attachment.h"

#include <errno.h>
#include <string.h>

#include "base/file_range.h"
#include "core/refusal.h"
#include "elf/gnu_sframe.h"

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
