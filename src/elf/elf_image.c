/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/elf_image.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/elf_walk.h"
#include "base/file_range.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "elf/code_ranges.h"
#include "elf/gnu_sframe.h"
#include "elf/packed_section.h"
#include "golang/pclntab.h"

/*
 * Where the functions of a Go program start.
 *
 * Offsets in .gopclntab are from there.  Up to Go 1.25 its header says where that is; a
 * position-independent program has a relocation for it.  From Go 1.26 on only the data of the
 * run time's module, .go.module, does.  Layout: moduledata of Go's src/runtime/symtab.go.
 */

/* In the header of the table. */
#define AT_TEXT 24
/* In the module's data: the header's address, and, after seven slices and three words, the text's. */
#define MODULE_TEXT (22 * 8)
#define MODULE_SIZE (MODULE_TEXT + 8)
/* Larger sections are not looked at. */
#define MOST ((uint64_t)64 << 20)

/* What a relocation will put at an address of a position-independent file, or 0. */
static uint64_t relocated(Elf *elf, uint64_t addr)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_next_section(elf, section, &header))) {
		Elf_Data *data;
		GElf_Rela r;

		if (header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC) ||
		    header.sh_size > MOST || !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; gelf_getrela(data, i, &r); i++)
			if (r.r_offset == addr && GELF_R_TYPE(r.r_info) == R_X86_64_RELATIVE)
				return (uint64_t)r.r_addend;
	}
	return 0;
}

static bool find_module(Elf *elf, GElf_Shdr *ret, Elf_Data **data)
{
	Elf_Scn *section = NULL;

	while ((section = elf_next_section(elf, section, ret))) {
		if (strcmp(elf_section_name(elf, ret), ".go.module") || ret->sh_size > MOST)
			continue;
		*data = elf_rawdata(section, NULL);
		return *data && (*data)->d_buf && (*data)->d_size >= MODULE_SIZE;
	}
	return false;
}

static uint64_t module_word(Elf *elf, const GElf_Shdr *module, const Elf_Data *data, uint64_t at)
{
	struct bytes b = bytes_of(data->d_buf, data->d_size, false);
	uint64_t word;

	bytes_seek(&b, at);
	word = bytes_u64(&b);
	return word ? word : relocated(elf, module->sh_addr + at);
}

/* @table: the address of the header.  In the file's own space; 0: it is not known. */
static uint64_t go_text_start(Elf *elf, uint64_t table)
{
	uint64_t text = relocated(elf, table + AT_TEXT);
	GElf_Shdr module;
	Elf_Data *data;

	if (text || !find_module(elf, &module, &data) ||
	    module_word(elf, &module, data, 0) != table)
		return text;
	return module_word(elf, &module, data, MODULE_TEXT);
}

/* Bytes of notes that are read at most: the build ID is among the first. */
#define MAX_NOTES (1u << 20)
/* Bytes of a section, which may be a hole in a file of any size, or compressed. */
#define MAX_COPIED ((uint64_t)256 << 20)

static int read_header(Elf *elf, struct bobbin_error *err, struct elf_image *image)
{
	GElf_Ehdr header;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return refuse(err, 0, BOBBIN_REASON_NOT_ELF);
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(err, EI_CLASS, BOBBIN_REASON_ELF_CLASS);
	image->arch = bobbin_arch_of_elf(header.e_machine, header.e_ident[EI_DATA] == ELFDATA2MSB);
	if (!image->arch)
		return refuse(err, offsetof(Elf64_Ehdr, e_machine), BOBBIN_REASON_ELF_MACHINE);
	image->entry = header.e_entry;
	image->program = header.e_type == ET_EXEC;
	image->linked = header.e_type == ET_EXEC || header.e_type == ET_DYN;
	return 0;
}

/**
 * struct source - where an image comes from
 * @elf: what libelf knows of it
 * @bytes: all of it, or NULL: it is in @fd
 * @size: bytes
 * @room: how many of them may still be copied
 */
struct source {
	Elf *elf;
	const char *bytes;
	int fd;
	uint64_t size, room;
};

/* Not by mmap: a file that shrinks meanwhile must not kill us. */
static struct source source_of(int fd)
{
	struct source from = {.fd = fd, .room = UINT64_MAX};
	struct stat st;

	elf_version(EV_CURRENT);
	from.elf = elf_begin(fd, ELF_C_READ, NULL);
	from.size = from.elf && !fstat(fd, &st) ? (uint64_t)st.st_size : 0;
	return from;
}

/* Copies that are too large in sum are refused for good, whatever else the file has. */
static int take_room(struct source *from, uint64_t size)
{
	if (size > from->room)
		return -ENOBUFS;
	from->room -= size;
	return 0;
}

static bool read_chunk(const struct source *from, uint64_t offset, uint64_t size, uint8_t *ret)
{
	if (!from->bytes)
		return !file_range_read(from->fd, offset, ret, size);
	memcpy(ret, from->bytes + offset, size);
	return true;
}

/* Copy part of the file, not by libelf, which keeps another copy. */
static int copy_chunk(struct source *from, uint64_t offset, uint64_t size, uint64_t addr,
		      struct elf_bytes *ret)
{
	uint8_t *data;
	int r;

	if (ret->data || !size || size > MAX_COPIED || offset > from->size ||
	    size > from->size - offset)
		return 0;
	r = take_room(from, size);
	if (r)
		return r;
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	if (!read_chunk(from, offset, size, data)) {
		free(data);
		return 0;
	}
	*ret = (struct elf_bytes){.data = data, .size = size, .addr = addr};
	return 0;
}

static void take_build_id(const struct elf_bytes *notes, struct elf_image *image)
{
	uint64_t offset;
	uint8_t len;

	if (!elf_find_build_id(notes->data, notes->size, image->arch->big_endian, &offset, &len))
		return;
	memcpy(image->build_id, notes->data + offset, len);
	image->build_id_len = len;
}

/* Segments that overlap must not be read without end. */
static int read_notes(struct source *from, const GElf_Phdr *segment, uint64_t *left,
		      struct elf_image *image)
{
	struct elf_bytes notes = {0};
	int r;

	if (image->build_id_len || segment->p_filesz > *left)
		return 0;
	*left -= segment->p_filesz;
	r = copy_chunk(from, segment->p_offset, segment->p_filesz, 0, &notes);
	if (!r && notes.data)
		take_build_id(&notes, image);
	free(notes.data);
	return r;
}

static int read_segments(struct source *from, struct elf_image *image)
{
	uint64_t notes_left = MAX_NOTES;
	size_t count;
	GElf_Phdr p;
	int r = 0;

	if (elf_getphdrnum(from->elf, &count) || !count)
		return 0;
	image->segments = calloc(count, sizeof(*image->segments));
	if (!image->segments)
		return -ENOMEM;
	for (size_t i = 0; !r && elf_next_segment(from->elf, &i, &p);) {
		if (p.p_type == PT_LOAD)
			image->segments[image->segment_count++] = (struct elf_segment){
				.offset = p.p_offset,
				.filesz = p.p_filesz,
				.vaddr = p.p_vaddr,
				.memsz = p.p_memsz,
				.exec = p.p_flags & PF_X,
			};
		else if (p.p_type == PT_INTERP)
			image->program = true;
		else if (p.p_type == PT_DYNAMIC)
			image->dynamic = p.p_vaddr;
		else if (p.p_type == PT_GNU_SFRAME)
			image->sframe_segment = (struct bobbin_range){p.p_vaddr,
								      p.p_vaddr + p.p_filesz};
		else if (p.p_type == PT_NOTE)
			r = read_notes(from, &p, &notes_left, image);
	}
	return r;
}

/* The part of the image that a section is, or NULL. */
static struct elf_bytes *part_of(struct elf_image *image, const GElf_Shdr *header, const char *name)
{
	bool loaded = header->sh_flags & SHF_ALLOC;

	if (!loaded)
		return !strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame")
			       ? &image->debug_frame
			       : NULL;
	if (!strcmp(name, ".sframe"))
		return &image->sframe;
	if (!strcmp(name, ".eh_frame"))
		return &image->eh_frame;
	if (!strcmp(name, ".eh_frame_hdr"))
		return &image->eh_frame_hdr;
	if (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab"))
		return &image->gopclntab;
	return NULL;
}

/* A section that the file does not hold is absent, and told. */
static int read_bytes(struct source *from, Elf_Scn *section, const GElf_Shdr *header,
		      const char *name, struct bobbin_error *err, struct elf_bytes *ret)
{
	int r;

	if (packed_section_is(header, name)) {
		r = packed_section_read(section, MAX_COPIED, err, &ret->data, &ret->size);
		return r ? r : take_room(from, ret->size);
	}
	r = copy_chunk(from, header->sh_offset, header->sh_size, header->sh_addr, ret);
	if (r || ret->data || !header->sh_size)
		return r;
	return refuse(err, header->sh_offset < from->size ? header->sh_offset : from->size,
		      BOBBIN_REASON_TRUNCATED);
}

static int read_section(struct source *from, Elf_Scn *section, const GElf_Shdr *header,
			struct elf_image *image)
{
	const char *name = elf_section_name(from->elf, header);
	struct elf_bytes *into = part_of(image, header, name);
	struct bobbin_error error;
	int r;

	if (!into || into->data || header->sh_type == SHT_NOBITS)
		return 0;
	r = read_bytes(from, section, header, name, &error, into);
	if (r != -EBADMSG)
		return r;
	if (into == &image->eh_frame || into == &image->debug_frame)
		image->unread = error;
	return 0;
}

static int read_sections(struct source *from, struct elf_image *image)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int r = 0;

	while (!r && (section = elf_next_section(from->elf, section, &header)))
		r = read_section(from, section, &header, image);
	return r;
}

/* The table among other bytes, which are left out; none if it is not there. */
static void keep_pclntab(struct elf_bytes *bytes)
{
	for (uint64_t i = 0; i + PCLNTAB_MARK_SIZE <= bytes->size; i += 8) {
		if (!pclntab_begins(bytes->data + i))
			continue;
		memmove(bytes->data, bytes->data + i, bytes->size - i);
		bytes->addr += i;
		bytes->size -= i;
		return;
	}
	free(bytes->data);
	*bytes = (struct elf_bytes){0};
}

/* The C linker puts Go's table among what else a position-independent program relocates. */
static int find_pclntab(struct source *from, struct elf_image *image)
{
	GElf_Shdr header, relocated = {0};
	Elf_Scn *section = NULL;
	bool is_go = false;
	int r;

	if (image->gopclntab.data)
		return 0;
	while ((section = elf_next_section(from->elf, section, &header))) {
		const char *name = elf_section_name(from->elf, &header);

		if (header.sh_type == SHT_NOBITS)
			continue;
		is_go |= !strcmp(name, ".go.buildinfo");
		if (!strcmp(name, ".data.rel.ro"))
			relocated = header;
	}
	if (!is_go)
		return 0;
	r = copy_chunk(from, relocated.sh_offset, relocated.sh_size, relocated.sh_addr,
		       &image->gopclntab);
	if (!r && image->gopclntab.data)
		keep_pclntab(&image->gopclntab);
	return r;
}

/* From an address to the end of what its segment has in the file. */
static int copy_to_segment_end(struct source *from, const struct elf_image *image, uint64_t addr,
			       struct elf_bytes *ret)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *s = &image->segments[i];
		uint64_t skip = addr - s->vaddr;

		if (addr >= s->vaddr && skip < s->filesz)
			return copy_chunk(from, s->offset + skip, s->filesz - skip, addr, ret);
	}
	return 0;
}

/* Without section headers .eh_frame is where .eh_frame_hdr points. */
static int find_eh_frame(struct source *from, struct elf_image *image)
{
	const struct elf_bytes *hdr = &image->eh_frame_hdr;
	struct bytes b = bytes_of(hdr->data, hdr->size, image->arch->big_endian);
	uint8_t encoding;
	uint64_t field;

	if (image->eh_frame.data || !hdr->data)
		return 0;
	bytes_seek(&b, 1);
	encoding = bytes_u8(&b);
	bytes_seek(&b, 4);
	field = hdr->addr + b.pos;
	/* DW_EH_PE_pcrel | DW_EH_PE_sdata4, the only one that linkers write */
	if (encoding != 0x1b)
		return 0;
	field += (uint64_t)bytes_signed(&b, 4);
	return b.bad ? 0 : copy_to_segment_end(from, image, field, &image->eh_frame);
}

static int read_table_segments(struct source *from, struct elf_image *image)
{
	GElf_Phdr p;
	int r = 0;

	for (size_t i = 0; !r && elf_next_segment(from->elf, &i, &p);) {
		if (p.p_type == PT_GNU_EH_FRAME)
			r = copy_chunk(from, p.p_offset, p.p_filesz, p.p_vaddr,
				       &image->eh_frame_hdr);
		else if (p.p_type == PT_GNU_SFRAME)
			r = copy_chunk(from, p.p_offset, p.p_filesz, p.p_vaddr, &image->sframe);
	}
	return r ? r : find_eh_frame(from, image);
}

static int read_image(struct source *from, struct bobbin_error *err, struct elf_image *ret)
{
	struct elf_image image = {0};
	int r;

	if (!from->elf)
		return refuse(err, 0, BOBBIN_REASON_NOT_ELF);
	r = read_header(from->elf, err, &image);
	if (!r)
		r = read_segments(from, &image);
	if (!r && image.linked)
		r = code_ranges_init(from->elf, &image.code);
	if (!r)
		r = read_sections(from, &image);
	if (!r)
		r = find_pclntab(from, &image);
	if (!r && image.gopclntab.data &&
	    !pclntab_says_text(image.gopclntab.data, image.gopclntab.size))
		image.go_text = go_text_start(from->elf, image.gopclntab.addr);
	if (!r)
		r = read_table_segments(from, &image);
	elf_end(from->elf);
	if (r)
		elf_image_fini(&image);
	else
		*ret = image;
	return r;
}

int elf_image_init_within(int fd, uint64_t room, struct bobbin_error *err, struct elf_image *ret)
{
	struct source from;

	if (!elf_counts_are_sane(fd))
		return refuse(err, 0, BOBBIN_REASON_ELF_BROKEN);
	from = source_of(fd);
	from.room = room;
	return read_image(&from, err, ret);
}

int elf_image_init(int fd, struct bobbin_error *err, struct elf_image *ret)
{
	return elf_image_init_within(fd, UINT64_MAX, err, ret);
}

uint64_t elf_image_cfi(const struct elf_image *image)
{
	return image->eh_frame.size + image->eh_frame_hdr.size + image->debug_frame.size;
}

uint64_t elf_image_copied(const struct elf_image *image)
{
	return image->sframe.size + elf_image_cfi(image) + image->gopclntab.size;
}

static void drop(struct elf_bytes *section)
{
	free(section->data);
	*section = (struct elf_bytes){0};
}

void elf_image_drop_cfi(struct elf_image *image)
{
	drop(&image->eh_frame);
	drop(&image->eh_frame_hdr);
	drop(&image->debug_frame);
}

/* The section headers of an image may not be in memory, and libelf insists on them. */
static void forget_section_headers(char *image, size_t size)
{
	struct bytes b = bytes_of(image, size, size > EI_DATA && image[EI_DATA] == ELFDATA2MSB);
	uint64_t start, count;

	bytes_seek(&b, offsetof(Elf64_Ehdr, e_shoff));
	start = bytes_u64(&b);
	bytes_seek(&b, offsetof(Elf64_Ehdr, e_shnum));
	count = bytes_u16(&b);
	if (b.bad || image[EI_CLASS] != ELFCLASS64 ||
	    (start <= size && count * sizeof(Elf64_Shdr) <= size - start))
		return;
	memset(image + offsetof(Elf64_Ehdr, e_shoff), 0, sizeof(Elf64_Off));
	memset(image + offsetof(Elf64_Ehdr, e_shnum), 0, sizeof(Elf64_Half));
	memset(image + offsetof(Elf64_Ehdr, e_shstrndx), 0, sizeof(Elf64_Half));
}

int elf_image_init_memory(const void *bytes, size_t size, struct bobbin_error *err,
			  struct elf_image *ret)
{
	struct source from = {.fd = -1, .size = size, .room = UINT64_MAX};
	char *copy;
	int r;

	elf_version(EV_CURRENT);
	copy = malloc(size ? size : 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, size);
	forget_section_headers(copy, size);
	from.elf = elf_memory(copy, size);
	from.bytes = copy;
	r = read_image(&from, err, ret);
	free(copy);
	return r;
}

void elf_image_fini(struct elf_image *image)
{
	free(image->segments);
	coverage_fini(&image->code);
	free(image->sframe.data);
	free(image->eh_frame.data);
	free(image->eh_frame_hdr.data);
	free(image->debug_frame.data);
	free(image->gopclntab.data);
	*image = (struct elf_image){0};
}

bool elf_image_vaddr(const struct elf_image *image, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *s = &image->segments[i];

		if (s->exec && offset >= s->offset && offset - s->offset < s->filesz) {
			*ret = s->vaddr + (offset - s->offset);
			return true;
		}
	}
	return false;
}

bool elf_image_offset(const struct elf_image *image, uint64_t vaddr, uint64_t *ret)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *s = &image->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz) {
			*ret = s->offset + (vaddr - s->vaddr);
			return true;
		}
	}
	return false;
}

int elf_build_id(int fd, uint8_t id[ELF_BUILD_ID_MAX], uint8_t *len)
{
	struct elf_image image = {0};
	struct source from;
	int r;

	if (!elf_counts_are_sane(fd))
		return -EBADMSG;
	from = source_of(fd);
	if (!from.elf)
		return -EBADMSG;
	r = read_header(from.elf, NULL, &image);
	if (!r)
		r = read_segments(&from, &image);
	elf_end(from.elf);
	if (!r) {
		memcpy(id, image.build_id, ELF_BUILD_ID_MAX);
		*len = image.build_id_len;
	}
	elf_image_fini(&image);
	return r;
}
