/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/sframe_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf_counts.h"
#include "core/refusal.h"
#include "elf/core_images.h"
#include "elf/sframe_relocation.h"

int sframe_reader_spend(struct sframe_reader *reader, uint64_t offset, uint64_t size)
{
	if (size > reader->budget)
		return refuse(reader->err, offset, BOBBIN_REASON_ELF_BROKEN);
	reader->budget -= size;
	return 0;
}

/* All of the bytes, or -EIO where the file ends before. */
static int read_at(int fd, uint64_t offset, uint64_t size, uint8_t *data)
{
	for (uint64_t done = 0; done < size;) {
		ssize_t n = pread(fd, data + done, size - done, (off_t)(offset + done));

		if (n <= 0)
			return n ? -errno : -EIO;
		done += (uint64_t)n;
	}
	return 0;
}

int sframe_reader_bytes(struct sframe_reader *reader, uint64_t offset, uint64_t size, uint8_t **ret)
{
	int r = sframe_reader_spend(reader, offset, size);
	uint8_t *data;

	if (r)
		return r;
	if (size > SFRAME_FILE_MAX_RAW)
		return -EFBIG;
	if (offset > INT64_MAX - SFRAME_FILE_MAX_RAW)
		return refuse(reader->err, offset, BOBBIN_REASON_TRUNCATED);
	data = malloc(size ? size : 1);
	if (!data)
		return -ENOMEM;
	r = read_at(reader->fd, offset, size, data);
	if (r) {
		free(data);
		return r == -EIO ? refuse(reader->err, offset, BOBBIN_REASON_TRUNCATED) : r;
	}
	*ret = data;
	return 0;
}

static void free_section(struct sframe_section *section)
{
	free(section->name);
	free(section->image);
	free(section->data);
	free(section->targets);
}

int sframe_reader_grow(void **array, size_t count, size_t entry_size)
{
	void *grown;

	if (count & (count - 1))
		return 0;
	grown = reallocarray(*array, count ? 2 * count : 1, entry_size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	return 0;
}

int sframe_reader_add(struct sframe_reader *reader, const char *name, const char *image,
		      struct sframe_section section)
{
	struct sframe_file *file = reader->file;

	section.name = strdup(name);
	section.image = image ? strdup(image) : NULL;
	if (!section.name || (image && !section.image) ||
	    sframe_reader_grow((void **)&file->sections, file->section_count, sizeof(section))) {
		free_section(&section);
		return -ENOMEM;
	}
	file->sections[file->section_count++] = section;
	return 0;
}

static int add_chunk(struct sframe_reader *reader, const char *name, struct sframe_section section)
{
	int r;

	if (!section.size)
		return 0;
	r = sframe_reader_bytes(reader, section.offset, section.size, &section.data);
	return r ? r : sframe_reader_add(reader, name, NULL, section);
}

/* GNU ld's default script also gathers sections whose name only begins so. */
static bool is_sframe(const GElf_Shdr *header, const char *name)
{
	if (header->sh_type == SHT_GNU_SFRAME)
		return true;
	return header->sh_type == SHT_PROGBITS &&
	       (!strcmp(name, ".sframe") || !strncmp(name, ".sframe.", 8));
}

static int take_section(struct sframe_reader *reader, Elf_Scn *scn, size_t names)
{
	struct sframe_section section;
	GElf_Shdr header;
	const char *name;

	if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
		return 0;
	name = elf_strptr(reader->elf, names, header.sh_name);
	if (!name || !is_sframe(&header, name))
		return 0;
	section = (struct sframe_section){
		.size = header.sh_size,
		.addr = header.sh_addr,
		.offset = header.sh_offset,
		.index = elf_ndxscn(scn),
	};
	return add_chunk(reader, name, section);
}

static int take_sections(struct sframe_reader *reader)
{
	Elf_Scn *scn = NULL;
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(reader->elf, &names))
		return 0;
	while (!r && (scn = elf_nextscn(reader->elf, scn)))
		r = take_section(reader, scn, names);
	return r;
}

/* Without section headers. */
static int take_segments(struct sframe_reader *reader)
{
	size_t count;
	GElf_Phdr p;
	int r = 0;

	if (elf_getphdrnum(reader->elf, &count))
		return 0;
	for (size_t i = 0; i < count && !r; i++) {
		if (!gelf_getphdr(reader->elf, (int)i, &p))
			continue;
		if (p.p_type == PT_GNU_SFRAME)
			r = add_chunk(reader, "PT_GNU_SFRAME",
				      (struct sframe_section){.size = p.p_filesz,
							      .addr = p.p_vaddr,
							      .offset = p.p_offset});
	}
	return r;
}

int sframe_reader_read(struct sframe_reader *reader)
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
	return header->e_type == ET_CORE ? core_images_read(&reader) : sframe_reader_read(&reader);
}

static int read_raw(int fd, uint64_t size, struct bobbin_error *err, struct sframe_file *file)
{
	struct sframe_reader reader = {.fd = fd, .budget = size, .err = err, .file = file};
	struct sframe_section section = {.size = size};
	int r = sframe_reader_bytes(&reader, 0, size, &section.data);

	return r ? r : sframe_reader_add(&reader, "bytes", NULL, section);
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

void sframe_file_fini(struct sframe_file *file)
{
	for (size_t i = 0; i < file->section_count; i++)
		free_section(&file->sections[i]);
	for (size_t i = 0; i < file->absence_count; i++)
		free(file->absences[i].image);
	free(file->sections);
	code_ranges_fini(&file->code);
	free(file->absences);
	elf_end(file->elf);
	*file = (struct sframe_file){0};
}
