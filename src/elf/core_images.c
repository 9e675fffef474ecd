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
#include "base/vector.h"
#include "core/bisect.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "elf/elf_image.h"
#include "elf/gnu_sframe.h"
#include "elf/sframe_file.h"

/* Images that are looked at; what is mapped beyond them is reported as absent. */
#define MAX_IMAGES 4096
/* Bytes of an image's start that must hold its program headers and build ID. */
#define HEAD_SIZE 65536
/* Milliseconds that a file may take: a core can name one of a file system that does not answer. */
#define FILE_DEADLINE 1000

/* A range of the process's memory; @dumped bytes of it are at @offset in the core. */
struct memory {
	uint64_t start, size, dumped, offset;
	bool exec;
};

/* A range that a file backs. */
struct mapping {
	uint64_t start, page;
	const char *path;
};

struct core {
	struct sframe_reader *reader;
	struct remote_process files; /* nobody's, by their paths */
	struct memory *memory;
	size_t memory_count;
	uint8_t *notes; /* that hold the paths of the mappings */
	struct mapping *mappings;
	size_t mapping_count, image_count;
};

/* The start of a mapped ELF file, as the process saw it. */
struct image {
	struct core *core;
	uint64_t start;
	const char *path;
	uint8_t *head;
	size_t head_size;
	bool exec;
};

static int read_memory(struct core *core)
{
	size_t count;
	GElf_Phdr p;

	if (elf_getphdrnum(core->reader->elf, &count))
		return refuse(core->reader->err, 0, BOBBIN_REASON_ELF_BROKEN);
	core->memory = calloc(count ? count : 1, sizeof(*core->memory));
	if (!core->memory)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(core->reader->elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		core->memory[core->memory_count++] = (struct memory){
			.start = p.p_vaddr,
			.size = p.p_memsz,
			.dumped = p.p_filesz,
			.offset = p.p_offset,
			.exec = p.p_flags & PF_X,
		};
	}
	qsort(core->memory, core->memory_count, sizeof(*core->memory), vector_by_start);
	return 0;
}

/* The memory that holds an address, or NULL. */
static const struct memory *memory_at(const struct core *core, uint64_t addr)
{
	size_t after = bisect(i, 0, core->memory_count, core->memory[i].start > addr);
	const struct memory *last = after ? &core->memory[after - 1] : NULL;

	return last && addr - last->start < last->size ? last : NULL;
}

/* Bytes from an address on that the core has, and where. */
static uint64_t dumped_at(const struct core *core, uint64_t addr, uint64_t *offset)
{
	const struct memory *memory = memory_at(core, addr);
	uint64_t skip = memory ? addr - memory->start : 0;

	if (!memory || skip >= memory->dumped)
		return 0;
	*offset = memory->offset + skip;
	return memory->dumped - skip;
}

/* "NT_FILE": a count, the page size, triples of words, then the paths. */
static int read_mappings(struct core *core, const uint8_t *note, size_t size)
{
	struct bytes b = bytes_of(note, size, core->reader->file->arch->big_endian);
	uint64_t count = bytes_u64(&b), path;

	bytes_skip(&b, 8);
	if (b.bad || core->mappings || count > bytes_left(&b) / 24)
		return 0;
	core->mappings = calloc(count ? count : 1, sizeof(*core->mappings));
	if (!core->mappings)
		return -ENOMEM;
	path = b.pos + count * 24;
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *end = path < size ? memchr(note + path, 0, size - path) : NULL;
		struct mapping *mapping = &core->mappings[core->mapping_count];

		if (!end)
			break;
		mapping->start = bytes_u64(&b);
		bytes_skip(&b, 8);
		mapping->page = bytes_u64(&b);
		mapping->path = (const char *)note + path;
		core->mapping_count++;
		path = (uint64_t)(end - note) + 1;
	}
	return 0;
}

static int read_notes(struct core *core, const uint8_t *notes, uint64_t size)
{
	struct bytes b = bytes_of(notes, size, core->reader->file->arch->big_endian);
	uint64_t desc;
	uint32_t desc_size;
	int r = 0;

	while (!r && !core->mappings && elf_next_note(&b, NT_FILE, "CORE", &desc, &desc_size))
		r = read_mappings(core, notes + desc, desc_size);
	return r;
}

/* Up to the note that lists the mappings. */
static int read_all_notes(struct core *core)
{
	GElf_Phdr p;
	int r = 0;

	for (size_t i = 0; !r && !core->mappings && elf_next_segment(core->reader->elf, &i, &p);) {
		if (p.p_type != PT_NOTE)
			continue;
		free(core->notes);
		core->notes = NULL;
		r = sframe_reader_bytes(core->reader, p.p_offset, p.p_filesz, &core->notes);
		if (!r)
			r = read_notes(core, core->notes, p.p_filesz);
	}
	return r;
}

/* Only code is missed: any file may be mapped, and most are no ELF files. */
static int miss(const struct image *image)
{
	return image->exec ? sframe_file_miss(image->core->reader->file, image->path, image->start)
			   : 0;
}

/* The file itself, if it is still the one that was mapped; -1: no. */
static int open_backing_file(const struct image *image)
{
	uint8_t id[ELF_BUILD_ID_MAX], len = 0;
	struct elf_image mapped;
	bool same;
	int fd;

	if (elf_image_init_memory(image->head, image->head_size, NULL, &mapped))
		return -1;
	/* whatever the core says: wait for no pipe, wake no device */
	fd = process_file_open(&image->core->files, image->path, 0, NULL);
	same = fd >= 0 && mapped.build_id_len && !elf_build_id(fd, id, &len) &&
	       len == mapped.build_id_len && !memcmp(id, mapped.build_id, len);
	elf_image_fini(&mapped);
	if (same)
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

static int read_backing_file(const struct image *image, uint64_t bias)
{
	int fd = open_backing_file(image), r;

	if (fd < 0)
		return miss(image);
	r = adopt_sections(image, bias, fd);
	close(fd);
	return r;
}

static int read_segment(const struct image *image, const GElf_Phdr *segment, uint64_t bias)
{
	struct sframe_reader *reader = image->core->reader;
	struct sframe_section section = {.size = segment->p_filesz,
					 .addr = bias + segment->p_vaddr};
	int r;

	if (!section.size)
		return 0;
	if (dumped_at(image->core, section.addr, &section.offset) < section.size)
		return read_backing_file(image, bias);
	r = sframe_reader_bytes(reader, section.offset, section.size, &section.data);
	return r ? r : sframe_file_add(reader->file, "PT_GNU_SFRAME", image->path, section);
}

static int read_segments(const struct image *image, Elf *elf)
{
	bool have_load = false;
	GElf_Phdr p, sframe = {0};
	uint64_t bias = 0;
	GElf_Ehdr header;
	size_t count;

	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_machine != image->core->reader->header.e_machine)
		return 0;
	if (elf_getphdrnum(elf, &count))
		return miss(image);
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &p))
			return miss(image);
		if (p.p_type == PT_LOAD && !have_load) {
			have_load = true;
			bias = image->start - (p.p_vaddr - p.p_offset);
		} else if (p.p_type == PT_GNU_SFRAME) {
			sframe = p;
		}
	}
	return have_load && sframe.p_filesz ? read_segment(image, &sframe, bias) : 0;
}

/* The section headers of an image are not in memory, and libelf insists on them. */
static void forget_section_headers(uint8_t *head)
{
	memset(head + offsetof(Elf64_Ehdr, e_shoff), 0, sizeof(Elf64_Off));
	memset(head + offsetof(Elf64_Ehdr, e_shnum), 0, sizeof(Elf64_Half));
	memset(head + offsetof(Elf64_Ehdr, e_shstrndx), 0, sizeof(Elf64_Half));
}

static int read_head(struct image *image)
{
	Elf *elf;
	int r = 0;

	if (memcmp(image->head, ELFMAG, SELFMAG))
		return 0;
	forget_section_headers(image->head);
	elf = elf_memory((char *)image->head, image->head_size);
	if (elf)
		r = read_segments(image, elf);
	elf_end(elf);
	return r;
}

static int read_image(struct core *core, uint64_t start, const char *path, bool exec)
{
	struct image image = {.core = core, .start = start, .path = path, .exec = exec};
	uint64_t offset = 0, size = dumped_at(core, start, &offset);
	int r;

	if (size < sizeof(Elf64_Ehdr) || core->image_count == MAX_IMAGES)
		return miss(&image);
	core->image_count++;
	image.head_size = size < HEAD_SIZE ? size : HEAD_SIZE;
	r = sframe_reader_bytes(core->reader, offset, image.head_size, &image.head);
	if (r)
		return r;
	r = read_head(&image);
	free(image.head);
	return r;
}

static bool is_exec(const struct core *core, uint64_t addr)
{
	const struct memory *memory = memory_at(core, addr);

	return memory && memory->exec;
}

/* Whether code is among the mappings of one file, the first of which is @i. */
static bool holds_code(const struct core *core, size_t i)
{
	const char *path = core->mappings[i].path;

	do {
		if (is_exec(core, core->mappings[i].start))
			return true;
		i++;
	} while (i < core->mapping_count && core->mappings[i].page &&
		 !strcmp(core->mappings[i].path, path));
	return false;
}

static bool is_mapped(const struct core *core, uint64_t start)
{
	return core->mapping_count && bsearch(&start, core->mappings, core->mapping_count,
					      sizeof(*core->mappings), vector_by_start);
}

static int read_images(struct core *core)
{
	int r = 0;

	for (size_t i = 0; i < core->mapping_count && !r; i++)
		if (!core->mappings[i].page)
			r = read_image(core, core->mappings[i].start, core->mappings[i].path,
				       holds_code(core, i));
	/* images without a file, such as the vDSO */
	for (size_t i = 0; i < core->memory_count && !r; i++)
		if (core->memory[i].exec && !is_mapped(core, core->memory[i].start))
			r = read_image(core, core->memory[i].start, "[no file]", false);
	return r;
}

int core_images_read(struct sframe_reader *reader)
{
	struct core core = {.reader = reader};
	int r = process_reader_open(FILE_DEADLINE, &core.files.reader);

	if (!r)
		r = read_memory(&core);
	if (!r)
		r = read_all_notes(&core);
	if (core.mapping_count)
		qsort(core.mappings, core.mapping_count, sizeof(*core.mappings), vector_by_start);
	if (!r)
		r = read_images(&core);
	free(core.memory);
	free(core.mappings);
	free(core.notes);
	process_reader_close(core.files.reader);
	return r;
}
