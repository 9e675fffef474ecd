/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/elf_headers.h"

#include <errno.h>
#include <libelf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file_range.h"
#include "core/refusal.h"

/* A range of the file, without overflow. */
static bool inside(const struct elf_headers *headers, uint64_t offset, uint64_t size)
{
	return offset <= headers->file_size && size <= headers->file_size - offset;
}

/* Read headers of one kind; at most the file's size is allocated for them. */
static int read_table(int fd, uint64_t offset, Elf_Type type, size_t size, unsigned int encoding,
		      void *ret)
{
	Elf_Data from = {.d_type = type, .d_version = EV_CURRENT, .d_size = size};
	Elf_Data to = {.d_type = type, .d_version = EV_CURRENT, .d_size = size, .d_buf = ret};
	int r;

	if (!size)
		return 0;
	from.d_buf = malloc(size);
	if (!from.d_buf)
		return -ENOMEM;
	r = file_range_read(fd, offset, from.d_buf, size);
	if (!r && !elf64_xlatetom(&to, &from, encoding))
		r = -EBADMSG;
	free(from.d_buf);
	return r;
}

static int write_table(int fd, uint64_t offset, Elf_Type type, const void *table, size_t size,
		       unsigned int encoding)
{
	Elf_Data from = {.d_type = type, .d_version = EV_CURRENT, .d_size = size};
	Elf_Data to = {.d_type = type, .d_version = EV_CURRENT, .d_size = size};
	int r = 0;

	if (!size)
		return 0;
	from.d_buf = (void *)table;
	to.d_buf = malloc(size);
	if (!to.d_buf)
		return -ENOMEM;
	/* it fails only for arguments that no file can cause */
	if (!elf64_xlatetof(&to, &from, encoding))
		r = -EINVAL;
	if (!r)
		r = file_range_write(fd, offset, to.d_buf, size);
	free(to.d_buf);
	return r;
}

static unsigned int encoding_of(const struct elf_headers *headers)
{
	return headers->file.e_ident[EI_DATA];
}

static int read_identity(int fd, struct bobbin_error *err, struct elf_headers *headers)
{
	unsigned char ident[EI_NIDENT];
	int r;

	if (headers->file_size < sizeof(headers->file))
		return refuse(err, 0, BOBBIN_REASON_NOT_ELF);
	r = file_range_read(fd, 0, ident, sizeof(ident));
	if (r)
		return r;
	if (memcmp(ident, ELFMAG, SELFMAG))
		return refuse(err, 0, BOBBIN_REASON_NOT_ELF);
	if (ident[EI_CLASS] != ELFCLASS64)
		return refuse(err, EI_CLASS, BOBBIN_REASON_ELF_CLASS);
	if (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB)
		return refuse(err, EI_DATA, BOBBIN_REASON_ELF_BROKEN);
	if (ident[EI_VERSION] != EV_CURRENT)
		return refuse(err, EI_VERSION, BOBBIN_REASON_ELF_BROKEN);
	return read_table(fd, 0, ELF_T_EHDR, sizeof(headers->file), ident[EI_DATA], &headers->file);
}

static bool is_wanted(const Elf64_Ehdr *file, bool relocatable)
{
	return relocatable ? file->e_type == ET_REL
			   : file->e_type == ET_EXEC || file->e_type == ET_DYN;
}

static int check_file_header(bool relocatable, struct bobbin_error *err,
			     struct elf_headers *headers)
{
	const Elf64_Ehdr *file = &headers->file;

	headers->arch = bobbin_arch_of_elf(file->e_machine, encoding_of(headers) == ELFDATA2MSB);
	if (!headers->arch)
		return refuse(err, offsetof(Elf64_Ehdr, e_machine), BOBBIN_REASON_ELF_MACHINE);
	if (!is_wanted(file, relocatable))
		return refuse_as(-ENOTSUP, err, offsetof(Elf64_Ehdr, e_type),
				 BOBBIN_REASON_ELF_TYPE);
	if (file->e_version != EV_CURRENT)
		return refuse(err, offsetof(Elf64_Ehdr, e_version), BOBBIN_REASON_ELF_BROKEN);
	if (file->e_ehsize != sizeof(*file))
		return refuse(err, offsetof(Elf64_Ehdr, e_ehsize), BOBBIN_REASON_ELF_BROKEN);
	return 0;
}

static uint64_t segment_place(const struct elf_headers *headers, size_t i)
{
	return headers->file.e_phoff + i * sizeof(*headers->segments);
}

static uint64_t section_place(const struct elf_headers *headers, size_t i)
{
	return headers->file.e_shoff + i * sizeof(*headers->sections);
}

static int check_segment(const struct elf_headers *headers, size_t i, uint64_t *end,
			 struct bobbin_error *err)
{
	const Elf64_Phdr *p = &headers->segments[i];
	uint64_t place = segment_place(headers, i);

	if (p->p_type == PT_NULL)
		return 0;
	if (p->p_filesz && !inside(headers, p->p_offset, p->p_filesz))
		return refuse(err, place, BOBBIN_REASON_TRUNCATED);
	if (p->p_type != PT_LOAD)
		return 0;
	if (p->p_filesz > p->p_memsz || p->p_vaddr + p->p_memsz < p->p_vaddr || p->p_vaddr < *end)
		return refuse(err, place, BOBBIN_REASON_ELF_BROKEN);
	*end = p->p_vaddr + p->p_memsz;
	return 0;
}

static int check_segments(const struct elf_headers *headers, struct bobbin_error *err)
{
	uint64_t end = 0;
	bool loads = false;
	int r = 0;

	for (size_t i = 0; i < headers->segment_count && !r; i++) {
		r = check_segment(headers, i, &end, err);
		loads |= headers->segments[i].p_type == PT_LOAD;
	}
	if (!r && !loads)
		r = refuse_as(-ENOTSUP, err, offsetof(Elf64_Ehdr, e_phnum),
			      BOBBIN_REASON_ELF_UNLOADED);
	return r;
}

static int read_segments(int fd, struct bobbin_error *err, struct elf_headers *headers)
{
	const Elf64_Ehdr *file = &headers->file;
	uint64_t size = (uint64_t)file->e_phnum * sizeof(*headers->segments);
	int r;

	if (!file->e_phnum || !file->e_phoff)
		return refuse_as(-ENOTSUP, err, offsetof(Elf64_Ehdr, e_phnum),
				 BOBBIN_REASON_ELF_UNLOADED);
	if (file->e_phentsize != sizeof(*headers->segments))
		return refuse(err, offsetof(Elf64_Ehdr, e_phentsize), BOBBIN_REASON_ELF_BROKEN);
	/* PN_XNUM is among them */
	if (file->e_phnum > ELF_HEADERS_MAX_SEGMENTS)
		return refuse_as(-ENOTSUP, err, offsetof(Elf64_Ehdr, e_phnum),
				 BOBBIN_REASON_ELF_FULL);
	if (file->e_phoff < sizeof(*file) || !inside(headers, file->e_phoff, size))
		return refuse(err, offsetof(Elf64_Ehdr, e_phoff), BOBBIN_REASON_ELF_BROKEN);
	headers->segment_count = file->e_phnum;
	headers->segments = calloc(headers->segment_count + 2, sizeof(*headers->segments));
	if (!headers->segments)
		return -ENOMEM;
	r = read_table(fd, file->e_phoff, ELF_T_PHDR, size, encoding_of(headers),
		       headers->segments);
	return r ? r : check_segments(headers, err);
}

/* How many sections there are, and which one names them. */
static int count_sections(int fd, struct bobbin_error *err, struct elf_headers *headers)
{
	const Elf64_Ehdr *file = &headers->file;
	Elf64_Shdr first;
	int r;

	if (!file->e_shoff)
		return 0;
	if (file->e_shnum && file->e_shentsize != sizeof(first))
		return refuse(err, offsetof(Elf64_Ehdr, e_shentsize), BOBBIN_REASON_ELF_BROKEN);
	if (file->e_shoff < sizeof(*file) || !inside(headers, file->e_shoff, sizeof(first)))
		return refuse(err, offsetof(Elf64_Ehdr, e_shoff), BOBBIN_REASON_ELF_BROKEN);
	r = read_table(fd, file->e_shoff, ELF_T_SHDR, sizeof(first), encoding_of(headers), &first);
	if (r)
		return r;
	/* numbers that do not fit stand in the first section header */
	headers->section_count = file->e_shnum ? file->e_shnum : first.sh_size;
	headers->names_index = file->e_shstrndx == SHN_XINDEX ? first.sh_link : file->e_shstrndx;
	if (headers->section_count > (headers->file_size - file->e_shoff) / sizeof(first))
		return refuse(err, offsetof(Elf64_Ehdr, e_shnum), BOBBIN_REASON_ELF_BROKEN);
	if (headers->names_index && headers->names_index >= headers->section_count)
		return refuse(err, offsetof(Elf64_Ehdr, e_shstrndx), BOBBIN_REASON_ELF_BROKEN);
	return 0;
}

/* LLVM's relocatable files have one string table for sections and symbols. */
static uint64_t max_names(const struct elf_headers *headers)
{
	return headers->file.e_type == ET_REL ? ELF_HEADERS_MAX_STRINGS : ELF_HEADERS_MAX_NAMES;
}

static int read_names(int fd, struct bobbin_error *err, struct elf_headers *headers)
{
	const Elf64_Shdr *names;
	int r;

	if (!headers->names_index)
		return 0;
	names = &headers->sections[headers->names_index];
	if (names->sh_type != SHT_STRTAB || !names->sh_size || names->sh_flags & SHF_COMPRESSED)
		return refuse(err, section_place(headers, headers->names_index),
			      BOBBIN_REASON_ELF_BROKEN);
	if (!inside(headers, names->sh_offset, names->sh_size))
		return refuse(err, section_place(headers, headers->names_index),
			      BOBBIN_REASON_TRUNCATED);
	if (names->sh_size > max_names(headers))
		return refuse_as(-ENOTSUP, err, section_place(headers, headers->names_index),
				 BOBBIN_REASON_ELF_FULL);
	headers->names = calloc(1, names->sh_size + 1 + ELF_HEADERS_NAME_ROOM);
	if (!headers->names)
		return -ENOMEM;
	headers->names_size = names->sh_size;
	/* ends in NUL even if it did not */
	r = file_range_read(fd, names->sh_offset, headers->names, headers->names_size);
	if (r)
		return r;
	headers->names_size += headers->names[headers->names_size - 1] != '\0';
	return 0;
}

static int check_sections(const struct elf_headers *headers, struct bobbin_error *err)
{
	for (size_t i = 1; i < headers->section_count; i++) {
		const Elf64_Shdr *s = &headers->sections[i];

		if (s->sh_type == SHT_NULL)
			continue;
		if (s->sh_type != SHT_NOBITS && s->sh_size &&
		    !inside(headers, s->sh_offset, s->sh_size))
			return refuse(err, section_place(headers, i), BOBBIN_REASON_TRUNCATED);
		/* it would come to mean something once names are added */
		if (headers->names_size && s->sh_name >= headers->names_size)
			return refuse(err, section_place(headers, i), BOBBIN_REASON_ELF_BROKEN);
	}
	return 0;
}

static int read_sections(int fd, struct bobbin_error *err, struct elf_headers *headers)
{
	int r = count_sections(fd, err, headers);

	if (r || !headers->section_count)
		return r;
	headers->sections = calloc(headers->section_count + 2, sizeof(*headers->sections));
	if (!headers->sections)
		return -ENOMEM;
	r = read_table(fd, headers->file.e_shoff, ELF_T_SHDR,
		       headers->section_count * sizeof(*headers->sections), encoding_of(headers),
		       headers->sections);
	if (!r)
		r = read_names(fd, err, headers);
	return r ? r : check_sections(headers, err);
}

/* Nothing of a relocatable file is loaded as it is. */
static int refuse_segments(struct bobbin_error *err, const struct elf_headers *headers)
{
	return headers->file.e_phnum
		       ? refuse(err, offsetof(Elf64_Ehdr, e_phnum), BOBBIN_REASON_ELF_BROKEN)
		       : 0;
}

static int read_all(int fd, bool relocatable, struct bobbin_error *err, struct elf_headers *headers)
{
	int r = read_identity(fd, err, headers);

	if (!r)
		r = check_file_header(relocatable, err, headers);
	if (!r)
		r = relocatable ? refuse_segments(err, headers) : read_segments(fd, err, headers);
	return r ? r : read_sections(fd, err, headers);
}

int elf_headers_init(int fd, bool relocatable, struct bobbin_error *err, struct elf_headers *ret)
{
	struct elf_headers headers = {0};
	struct stat status;
	int r;

	if (err)
		*err = (struct bobbin_error){0};
	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	headers.file_size = (uint64_t)status.st_size;
	elf_version(EV_CURRENT);
	r = read_all(fd, relocatable, err, &headers);
	if (r)
		elf_headers_fini(&headers);
	else
		*ret = headers;
	return r;
}

void elf_headers_fini(struct elf_headers *headers)
{
	free(headers->segments);
	free(headers->sections);
	free(headers->names);
	*headers = (struct elf_headers){0};
}

const char *elf_headers_name(const struct elf_headers *headers, size_t section)
{
	uint32_t name = headers->sections[section].sh_name;

	return name < headers->names_size ? headers->names + name : "";
}

uint32_t elf_headers_add_name(struct elf_headers *headers, const char *name)
{
	size_t size = strlen(name) + 1, offset = headers->names_size;
	const char *found = memmem(headers->names, offset, name, size);

	if (found)
		return (uint32_t)(found - headers->names);
	memcpy(headers->names + offset, name, size);
	headers->names_size += size;
	return (uint32_t)offset;
}

uint64_t elf_headers_place(const struct elf_headers *headers, size_t section)
{
	return section_place(headers, section);
}

int elf_headers_table(const struct elf_headers *headers, int fd, size_t section, Elf_Type type,
		      size_t entry_size, struct bobbin_error *err, void **ret, size_t *count)
{
	const Elf64_Shdr *header = &headers->sections[section];
	void *table;
	int r;

	if (header->sh_type == SHT_NOBITS || header->sh_flags & SHF_COMPRESSED ||
	    header->sh_entsize != entry_size || header->sh_size % entry_size)
		return refuse(err, section_place(headers, section), BOBBIN_REASON_ELF_BROKEN);
	table = malloc(header->sh_size ? header->sh_size : 1);
	if (!table)
		return -ENOMEM;
	r = read_table(fd, header->sh_offset, type, header->sh_size, encoding_of(headers), table);
	if (r) {
		free(table);
		return r;
	}
	*ret = table;
	*count = header->sh_size / entry_size;
	return 0;
}

int elf_headers_encode(const struct elf_headers *headers, int fd, uint64_t offset, Elf_Type type,
		       const void *table, size_t size)
{
	return write_table(fd, offset, type, table, size, encoding_of(headers));
}

/* The counts, in the first section header where the ELF header has no room. */
static void put_section_counts(const struct elf_headers *headers, Elf64_Ehdr *file,
			       Elf64_Shdr *first)
{
	bool many = headers->section_count >= SHN_LORESERVE;
	bool far = headers->names_index >= SHN_LORESERVE;

	file->e_shentsize = sizeof(*first);
	file->e_shnum = many ? 0 : (uint16_t)headers->section_count;
	file->e_shstrndx = far ? SHN_XINDEX : (uint16_t)headers->names_index;
	first->sh_size = many ? headers->section_count : 0;
	first->sh_link = far ? (uint32_t)headers->names_index : 0;
}

static int write_sections(const struct elf_headers *headers, Elf64_Ehdr *file, int fd)
{
	Elf64_Shdr first = headers->sections[0];
	int r;

	put_section_counts(headers, file, &first);
	r = write_table(fd, file->e_shoff, ELF_T_SHDR, headers->sections,
			headers->section_count * sizeof(first), encoding_of(headers));
	if (!r)
		r = write_table(fd, file->e_shoff, ELF_T_SHDR, &first, sizeof(first),
				encoding_of(headers));
	return r;
}

int elf_headers_write(const struct elf_headers *headers, int fd)
{
	Elf64_Ehdr file = headers->file;
	int r = 0;

	file.e_phnum = (uint16_t)headers->segment_count;
	if (headers->section_count)
		r = write_sections(headers, &file, fd);
	if (!r)
		r = write_table(fd, file.e_phoff, ELF_T_PHDR, headers->segments,
				headers->segment_count * sizeof(*headers->segments),
				encoding_of(headers));
	return r ? r : write_table(fd, 0, ELF_T_EHDR, &file, sizeof(file), encoding_of(headers));
}
