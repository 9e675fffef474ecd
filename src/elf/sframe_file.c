/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/sframe_file.h"

#include <bobbin/elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf_walk.h"
#include "base/file_range.h"
#include "base/vector.h"
#include "core/bisect.h"
#include "core/deps.h"
#include "core/refusal.h"
#include "elf/code_ranges.h"
#include "elf/gnu_sframe.h"

static void free_section(struct sframe_section *section)
{
	free(section->name);
	free(section->image);
	free(section->data);
	free(section->targets);
}

int sframe_file_add(struct sframe_file *file, const char *name, const char *image,
		    struct sframe_section section)
{
	section.name = strdup(name);
	section.image = image ? strdup(image) : NULL;
	if (!section.name || (image && !section.image) ||
	    vector_push(file->sections, file->section_count, file->section_capacity, section)) {
		free_section(&section);
		return -ENOMEM;
	}
	return 0;
}

int sframe_file_miss(struct sframe_file *file, const char *image, uint64_t addr)
{
	char *copy = strdup(image);

	if (!copy || vector_push(file->absences, file->absence_count, file->absence_capacity,
				 (struct sframe_absence){copy, addr})) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

int sframe_section_next(const struct sframe_section *section, uint64_t *pos,
			struct bobbin_error *err, struct bobbin_sframe_view *ret)
{
	int r = bobbin_sframe_next(section->data, section->size, section->addr, pos, err, ret);

	if (r > 0 && section->relocated)
		ret->flags |= BOBBIN_SFRAME_PCREL;
	return r;
}

const struct sframe_target *sframe_section_target(const struct sframe_section *section,
						  uint64_t field)
{
	const struct sframe_target *all = section->targets;
	size_t at = bisect(i, 0, section->target_count, all[i].field >= field);

	return at < section->target_count && all[at].field == field ? &all[at] : NULL;
}

void sframe_file_fini(struct sframe_file *file)
{
	for (size_t i = 0; i < file->section_count; i++)
		free_section(&file->sections[i]);
	for (size_t i = 0; i < file->absence_count; i++)
		free(file->absences[i].image);
	free(file->sections);
	coverage_fini(&file->code);
	free(file->absences);
	elf_end(file->elf);
	*file = (struct sframe_file){0};
}

int sframe_reader_spend(struct sframe_reader *reader, uint64_t offset, uint64_t size)
{
	if (size > reader->budget)
		return refuse(reader->err, offset, BOBBIN_REASON_ELF_BROKEN);
	reader->budget -= size;
	return 0;
}

int sframe_reader_bytes(struct sframe_reader *reader, uint64_t offset, uint64_t size, uint8_t **ret)
{
	int r = sframe_reader_spend(reader, offset, size);
	uint8_t *data;
	ssize_t n;

	if (r)
		return r;
	if (size > SFRAME_FILE_MAX_RAW)
		return -EFBIG;
	if (offset > INT64_MAX - SFRAME_FILE_MAX_RAW)
		return refuse(reader->err, offset, BOBBIN_REASON_TRUNCATED);
	data = malloc(size ? size : 1);
	if (!data)
		return -ENOMEM;
	n = file_range_start(reader->fd, offset, data, size);
	if (n < 0 || (uint64_t)n < size) {
		free(data);
		return n < 0 ? (int)n : refuse(reader->err, offset, BOBBIN_REASON_TRUNCATED);
	}
	*ret = data;
	return 0;
}

static int add_chunk(struct sframe_reader *reader, const char *name, struct sframe_section section)
{
	int r;

	if (!section.size)
		return 0;
	r = sframe_reader_bytes(reader, section.offset, section.size, &section.data);
	return r ? r : sframe_file_add(reader->file, name, NULL, section);
}

/* GNU ld's default script also gathers sections whose name only begins so. */
static bool is_sframe(const GElf_Shdr *header, const char *name)
{
	if (header->sh_type == SHT_GNU_SFRAME)
		return true;
	return header->sh_type == SHT_PROGBITS &&
	       (!strcmp(name, ".sframe") || !strncmp(name, ".sframe.", 8));
}

static int take_sections(struct sframe_reader *reader)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int r = 0;

	while (!r && (section = elf_next_section(reader->elf, section, &header))) {
		const char *name = elf_section_name(reader->elf, &header);

		if (*name && header.sh_type != SHT_NOBITS && is_sframe(&header, name))
			r = add_chunk(reader, name,
				      (struct sframe_section){.size = header.sh_size,
							      .addr = header.sh_addr,
							      .offset = header.sh_offset,
							      .index = elf_ndxscn(section)});
	}
	return r;
}

/* Without section headers. */
static int take_segments(struct sframe_reader *reader)
{
	GElf_Phdr p;
	int r = 0;

	for (size_t i = 0; !r && elf_next_segment(reader->elf, &i, &p);)
		if (p.p_type == PT_GNU_SFRAME)
			r = add_chunk(reader, "PT_GNU_SFRAME",
				      (struct sframe_section){.size = p.p_filesz,
							      .addr = p.p_vaddr,
							      .offset = p.p_offset});
	return r;
}

int image_sections_read(struct sframe_reader *reader)
{
	int r = take_sections(reader);

	if (!r && reader->header.e_type == ET_REL)
		return sframe_relocate(reader);
	return r || reader->file->section_count ? r : take_segments(reader);
}

static int read_elf(Elf *elf, int fd, uint64_t size, struct bobbin_error *err,
		    struct sframe_file *file)
{
	struct sframe_reader reader = {.elf = elf, .fd = fd, .err = err, .file = file};
	const GElf_Ehdr *header = gelf_getehdr(elf, &reader.header);
	int r;

	if (!header)
		return refuse(err, 0, BOBBIN_REASON_ELF_BROKEN);
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(err, EI_CLASS, BOBBIN_REASON_ELF_CLASS);
	file->arch = bobbin_arch_of_elf(header->e_machine, header->e_ident[EI_DATA] == ELFDATA2MSB);
	if (!file->arch)
		return refuse(err, offsetof(Elf64_Ehdr, e_machine), BOBBIN_REASON_ELF_MACHINE);
	reader.budget = size > UINT64_MAX / 2 ? size : size * 2;
	r = header->e_type == ET_REL ? 0 : code_ranges_init(elf, &file->code);
	if (r)
		return r;
	return header->e_type == ET_CORE ? core_images_read(&reader) : image_sections_read(&reader);
}

static int read_raw(int fd, uint64_t size, struct bobbin_error *err, struct sframe_file *file)
{
	struct sframe_reader reader = {.fd = fd, .budget = size, .err = err, .file = file};
	struct sframe_section section = {.size = size};
	int r = sframe_reader_bytes(&reader, 0, size, &section.data);

	return r ? r : sframe_file_add(file, "bytes", NULL, section);
}

static int read_regular(int fd, uint64_t size, struct bobbin_error *err, struct sframe_file *file)
{
	Elf *elf;
	int r;

	if (!elf_counts_are_sane(fd))
		return refuse(err, 0, BOBBIN_REASON_ELF_BROKEN);
	elf_version(EV_CURRENT);
	/* not by mmap: a file that shrinks meanwhile must not kill us */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		r = read_elf(elf, fd, size, err, file);
	else
		r = read_raw(fd, size, err, file);
	file->elf = elf;
	return r;
}

/* What a pipe has to say as a file of its own. */
static int copy_pipe(int fd, int *ret)
{
	static const size_t step = 1 << 16;
	int copy = memfd_create("sframe", MFD_CLOEXEC), r = 0;
	char *buffer = malloc(step);
	uint64_t total = 0;
	ssize_t n = 0;

	if (copy < 0 || !buffer)
		r = copy < 0 ? -errno : -ENOMEM;
	while (!r && (n = read(fd, buffer, step)) > 0) {
		total += (uint64_t)n;
		if (total > SFRAME_FILE_MAX_RAW)
			r = -EFBIG;
		else if (write(copy, buffer, (size_t)n) != n)
			r = -ENOSPC;
	}
	if (!r && n < 0)
		r = -errno;
	free(buffer);
	if (r && copy >= 0)
		close(copy);
	if (!r)
		*ret = copy;
	return r;
}

int sframe_file_init(int fd, struct bobbin_error *err, struct sframe_file *ret)
{
	struct sframe_file file = {0};
	struct stat status;
	int r, copy = -1;

	if (err)
		*err = (struct bobbin_error){0};
	if (fstat(fd, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode)) {
		r = copy_pipe(fd, &copy);
		if (!r && fstat(copy, &status))
			r = -errno;
	} else {
		r = 0;
	}
	if (!r)
		r = read_regular(copy < 0 ? fd : copy, (uint64_t)status.st_size, err, &file);
	if (copy >= 0)
		close(copy);
	if (r)
		sframe_file_fini(&file);
	else
		*ret = file;
	return r;
}

struct bobbin_elf {
	struct sframe_file file;
};

BOBBIN_API int bobbin_elf_open(int fd, struct bobbin_error *err, struct bobbin_elf **ret)
{
	struct bobbin_elf *elf = calloc(1, sizeof(*elf));
	struct bobbin_error error;
	int r = elf ? sframe_file_init(fd, &error, &elf->file) : -ENOMEM;

	if (!r) {
		*ret = elf;
		return 0;
	}
	if (err)
		*err = elf ? error : (struct bobbin_error){0};
	free(elf);
	return r;
}

BOBBIN_API void bobbin_elf_close(struct bobbin_elf *elf)
{
	if (!elf)
		return;
	sframe_file_fini(&elf->file);
	free(elf);
}

BOBBIN_API const struct bobbin_arch *bobbin_elf_arch(const struct bobbin_elf *elf)
{
	return elf->file.arch;
}

BOBBIN_API size_t bobbin_elf_code(const struct bobbin_elf *elf, const struct bobbin_range **ret)
{
	*ret = elf->file.code.ranges;
	return elf->file.code.count;
}

BOBBIN_API size_t bobbin_elf_count(const struct bobbin_elf *elf)
{
	return elf->file.section_count;
}

BOBBIN_API int bobbin_elf_section(const struct bobbin_elf *elf, size_t number,
				  struct bobbin_elf_section *ret)
{
	const struct sframe_section *s;

	if (number >= elf->file.section_count)
		return -ENOENT;
	s = &elf->file.sections[number];
	*ret = (struct bobbin_elf_section){
		.name = s->name,
		.image = s->image,
		.data = s->data,
		.size = s->size,
		.addr = s->addr,
		.offset = s->offset,
		.from_image = s->from_image,
		.relocatable = s->relocated,
	};
	return 0;
}

BOBBIN_API int bobbin_elf_next(const struct bobbin_elf *elf, size_t number, uint64_t *pos,
			       struct bobbin_error *err, struct bobbin_sframe_view *ret)
{
	if (number < elf->file.section_count)
		return sframe_section_next(&elf->file.sections[number], pos, err, ret);
	if (err)
		*err = (struct bobbin_error){0};
	return -ENOENT;
}
