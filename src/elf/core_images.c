/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_images.c - the SFrame sections of what a core file's process had mapped.
 *
 *	NT_FILE note ─► a mapping of a file's first page
 *	its program headers, in the core's memory ─► PT_GNU_SFRAME
 *	its bytes, in the core's memory, else in the file
 *
 * Kernels dump the first page of each ELF image, but not the read-only pages
 * after it that a file backs.  Such pages are read from the file, if it is still
 * the one that was mapped: build IDs tell.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf_walk.h"
#include "base/process_reader.h"
#include "elf/core_image.h"
#include "elf/elf_image.h"
#include "elf/gnu_sframe.h"
#include "elf/sframe_file.h"

/* Milliseconds that a file may take: a core can name one of a file system that does not answer. */
#define FILE_DEADLINE 1000

struct core {
	struct sframe_reader *reader;
	struct remote_process files; /* nobody's, by their paths */
	struct core_file file;
	size_t image_count;
};

/* A mapped ELF file, as the process saw it. */
struct image {
	struct core *core;
	uint64_t start;
	const char *path;
	struct core_image in_core;
	bool exec;
};

/* Only code is missed: any file may be mapped, and most are no ELF files. */
static int miss(const struct image *image)
{
	return image->exec ? sframe_file_miss(image->core->reader->file, image->path, image->start)
			   : 0;
}

/* The file itself, if it is still the one that was mapped; -1: no. */
static int open_backing_file(const struct image *image)
{
	const struct elf_image *mapped = &image->in_core.elf;
	uint8_t id[ELF_BUILD_ID_MAX], len = 0;
	/* whatever the core says: wait for no pipe, wake no device */
	int fd = process_file_open(&image->core->files, image->path, 0, NULL);

	if (fd >= 0 && mapped->build_id_len && !elf_build_id(fd, id, &len) &&
	    len == mapped->build_id_len && !memcmp(id, mapped->build_id, len))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Its bytes change hands. */
static int adopt_section(const struct image *image, uint64_t bias, struct sframe_section *section)
{
	struct sframe_section adopted = *section;

	section->data = NULL;
	adopted.addr += bias;
	adopted.from_image = true;
	return sframe_file_add(image->core->reader->file, section->name, image->path, adopted);
}

/* The sections of a file that is mapped @bias above its own addresses. */
static int adopt_sections(const struct image *image, uint64_t bias, int fd)
{
	struct sframe_file file = {.arch = image->core->reader->file->arch};
	struct sframe_reader reader = {.file = &file, .fd = fd};
	struct stat status;
	int r = -EBADMSG;

	reader.elf = elf_counts_are_sane(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	file.elf = reader.elf;
	if (!fstat(fd, &status) && gelf_getehdr(reader.elf, &reader.header) &&
	    (reader.header.e_type == ET_DYN || reader.header.e_type == ET_EXEC)) {
		reader.budget = 2 * (uint64_t)status.st_size;
		r = image_sections_read(&reader);
	}
	if (!r && !file.section_count)
		r = -EBADMSG;
	for (size_t i = 0; i < file.section_count && !r; i++)
		r = adopt_section(image, bias, &file.sections[i]);
	sframe_file_fini(&file);
	return r == -EBADMSG ? miss(image) : r;
}

static int read_backing_file(const struct image *image)
{
	int fd = open_backing_file(image), r;

	if (fd < 0)
		return miss(image);
	r = adopt_sections(image, image->in_core.bias, fd);
	close(fd);
	return r;
}

static int read_segment(const struct image *image)
{
	struct sframe_reader *reader = image->core->reader;
	const struct bobbin_range *segment = &image->in_core.elf.sframe_segment;
	struct sframe_section section = {.size = segment->end - segment->start,
					 .addr = image->in_core.bias + segment->start};
	int r;

	if (!section.size)
		return 0;
	if (core_file_dumped(&image->core->file, section.addr, &section.offset) < section.size)
		return read_backing_file(image);
	r = sframe_reader_bytes(reader, section.offset, section.size, &section.data);
	return r ? r : sframe_file_add(reader->file, "PT_GNU_SFRAME", image->path, section);
}

/* Whether code is among the mappings of one file, the first of which is @i. */
static bool holds_code(const struct image *image, size_t i)
{
	const struct core_file *core = &image->core->file;

	do {
		if (core_image_is_code(core, &image->in_core, &core->mappings[i]))
			return true;
		i++;
	} while (i < core->mapping_count && core->mappings[i].offset &&
		 core->mappings[i].path == image->path);
	return false;
}

/* @mapping: the number of the first one of its file, or that of all for one without a file. */
static int read_image(struct core *core, uint64_t start, const char *path, size_t mapping)
{
	struct image image = {.core = core, .start = start, .path = path};
	int r = -ENODATA;

	if (core->image_count < CORE_IMAGES_MAX) {
		core->image_count++;
		r = core_image_init(&core->file, start, &image.in_core);
	}
	image.exec = mapping < core->file.mapping_count && holds_code(&image, mapping);
	if (r == -ENOENT)
		return 0;
	if (r)
		return r == -ENODATA ? miss(&image) : r;
	r = read_segment(&image);
	core_image_fini(&image.in_core);
	return r;
}

static int read_images(struct core *core)
{
	const struct core_file *file = &core->file;
	int r = 0;

	for (size_t i = 0; i < file->mapping_count && !r; i++)
		if (!file->mappings[i].offset)
			r = read_image(core, file->mappings[i].start, file->mappings[i].path, i);
	/* images without a file, such as the vDSO */
	for (size_t i = 0; i < file->memory_count && !r; i++)
		if (file->memory[i].exec && !core_file_mapping(file, file->memory[i].start))
			r = read_image(core, file->memory[i].start, "[no file]",
				       file->mapping_count);
	return r;
}

int core_images_read(struct sframe_reader *reader)
{
	struct core core = {.reader = reader};
	int r = core_file_init(reader->fd, NULL, reader->err, &core.file);

	if (r)
		return r;
	r = process_reader_open(FILE_DEADLINE, &core.files.reader);
	if (!r)
		r = read_images(&core);
	core_file_fini(&core.file);
	process_reader_close(core.files.reader);
	return r;
}
