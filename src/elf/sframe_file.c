/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/sframe_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/refusal.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554 /* binutils include/elf/common.h */
#endif
#ifndef SHT_GNU_SFRAME
#define SHT_GNU_SFRAME 0x6ffffff4
#endif

static int add_section(struct sframe_file *file, const char *name, const void *data,
		       struct sframe_section section)
{
	struct sframe_section *sections;

	section.name = strdup(name);
	section.data = malloc(section.size ? section.size : 1);
	sections = reallocarray(file->sections, file->section_count + 1, sizeof(*sections));
	if (sections)
		file->sections = sections;
	if (!section.name || !section.data || !sections) {
		free(section.name);
		free(section.data);
		return -ENOMEM;
	}
	if (section.size)
		memcpy(section.data, data, section.size);
	file->sections[file->section_count++] = section;
	return 0;
}

static int add_text(struct sframe_file *file, uint64_t start, uint64_t size)
{
	struct sframe_text *texts;

	if (!size || start + size < start)
		return 0;
	texts = reallocarray(file->texts, file->text_count + 1, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	texts[file->text_count++] = (struct sframe_text){start, start + size};
	file->texts = texts;
	return 0;
}

/* Bytes of the file; libelf checks the range against the file's size. */
static int add_chunk(Elf *elf, struct bobbin_error *err, const char *name, uint64_t offset,
		     uint64_t size, uint64_t addr, struct sframe_file *file)
{
	struct sframe_section section = {.size = size, .addr = addr, .offset = offset};
	Elf_Data *data;

	if (!size)
		return 0;
	data = elf_getdata_rawchunk(elf, (int64_t)offset, size, ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size != size)
		return refuse(err, offset, BOBBIN_TRUNCATED);
	return add_section(file, name, data->d_buf, section);
}

static int take_section(Elf *elf, Elf_Scn *scn, size_t names, struct bobbin_error *err,
			struct sframe_file *file)
{
	GElf_Shdr header;
	const char *name;

	if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
		return 0;
	name = elf_strptr(elf, names, header.sh_name);
	if (!name || (header.sh_type != SHT_GNU_SFRAME && strcmp(name, ".sframe")))
		return 0;
	return add_chunk(elf, err, name, header.sh_offset, header.sh_size, header.sh_addr, file);
}

static int take_sections(Elf *elf, struct bobbin_error *err, struct sframe_file *file)
{
	Elf_Scn *scn = NULL;
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while (!r && (scn = elf_nextscn(elf, scn)))
		r = take_section(elf, scn, names, err, file);
	return r;
}

static int take_segments(Elf *elf, struct bobbin_error *err, struct sframe_file *file)
{
	bool have_sections = file->section_count;
	size_t count;
	GElf_Phdr p;
	int r = 0;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count && !r; i++) {
		if (!gelf_getphdr(elf, (int)i, &p))
			continue;
		if (p.p_type == PT_LOAD && p.p_flags & PF_X)
			r = add_text(file, p.p_vaddr, p.p_memsz);
		else if (p.p_type == PT_GNU_SFRAME && !have_sections)
			r = add_chunk(elf, err, "PT_GNU_SFRAME", p.p_offset, p.p_filesz, p.p_vaddr,
				      file);
	}
	return r;
}

static int read_elf(Elf *elf, struct bobbin_error *err, struct sframe_file *file)
{
	GElf_Ehdr header;
	int r;

	if (!gelf_getehdr(elf, &header))
		return refuse(err, 0, BOBBIN_ELF_BROKEN);
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(err, EI_CLASS, BOBBIN_ELF_CLASS);
	file->arch = bobbin_arch_of_elf(header.e_machine, header.e_ident[EI_DATA] == ELFDATA2MSB);
	if (!file->arch)
		return refuse(err, offsetof(Elf64_Ehdr, e_machine), BOBBIN_ELF_MACHINE);
	r = take_sections(elf, err, file);
	return r ? r : take_segments(elf, err, file);
}

static int read_raw(int fd, uint64_t size, struct sframe_file *file)
{
	struct sframe_section section = {.size = size};
	uint64_t done = 0;
	uint8_t *data;
	int r;

	if (size > SFRAME_FILE_MAX_RAW)
		return -EFBIG;
	data = malloc(size ? size : 1);
	if (!data)
		return -ENOMEM;
	while (done < size) {
		ssize_t n = pread(fd, data + done, size - done, (off_t)done);

		if (n <= 0) {
			r = n ? -errno : -EIO;
			free(data);
			return r;
		}
		done += (uint64_t)n;
	}
	r = add_section(file, "bytes", data, section);
	free(data);
	return r;
}

static int read_regular(int fd, uint64_t size, struct bobbin_error *err, struct sframe_file *file)
{
	Elf *elf;
	int r;

	elf_version(EV_CURRENT);
	/* not by mmap: a file that shrinks meanwhile must not kill us */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		r = read_elf(elf, err, file);
	else
		r = read_raw(fd, size, file);
	elf_end(elf);
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
	for (size_t i = 0; i < file->section_count; i++) {
		free(file->sections[i].name);
		free(file->sections[i].data);
	}
	free(file->sections);
	free(file->texts);
	*file = (struct sframe_file){0};
}
