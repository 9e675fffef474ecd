/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/sframe_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf_counts.h"
#include "core/refusal.h"
#include "elf/code_ranges.h"
#include "elf/sframe_reader.h"

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
