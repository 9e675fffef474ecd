/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/elf_image.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/refusal.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554 /* binutils include/elf/common.h */
#endif
#ifndef NT_GNU_BUILD_ID
#define NT_GNU_BUILD_ID 3
#endif

/* Bytes of notes that are read at most: the build ID is among the first. */
#define MAX_NOTES (1u << 20)
/* Bytes that a compressed section may become at most. */
#define MAX_UNPACKED (1u << 30)

static int read_header(Elf *elf, struct bobbin_error *err, struct elf_image *image)
{
	GElf_Ehdr header;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return refuse(err, 0, BOBBIN_NOT_ELF);
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(err, EI_CLASS, BOBBIN_ELF_CLASS);
	image->arch = bobbin_arch_of_elf(header.e_machine, header.e_ident[EI_DATA] == ELFDATA2MSB);
	if (!image->arch)
		return refuse(err, offsetof(Elf64_Ehdr, e_machine), BOBBIN_ELF_MACHINE);
	image->entry = header.e_entry;
	image->linked = header.e_type == ET_EXEC || header.e_type == ET_DYN;
	return 0;
}

/* Copy part of the file; libelf checks the range against the file's size. */
static int copy_chunk(Elf *elf, uint64_t offset, uint64_t size, uint64_t addr,
		      struct elf_bytes *ret)
{
	Elf_Data *data;

	if (ret->data || !size)
		return 0;
	data = elf_getdata_rawchunk(elf, (int64_t)offset, size, ELF_T_BYTE);
	if (!data || !data->d_buf || data->d_size != size)
		return 0;
	ret->data = malloc(size);
	if (!ret->data)
		return -ENOMEM;
	memcpy(ret->data, data->d_buf, size);
	ret->size = size;
	ret->addr = addr;
	return 0;
}

bool elf_find_build_id(const uint8_t *notes, uint64_t size, bool big_endian, uint64_t *offset,
		       uint8_t *len)
{
	struct bytes b = bytes_of(notes, size, big_endian);

	while (bytes_left(&b) >= 12) {
		uint32_t name_size = bytes_u32(&b), desc_size = bytes_u32(&b);
		uint32_t type = bytes_u32(&b);
		uint64_t name = b.pos, desc = name + (((uint64_t)name_size + 3) & ~3ull);

		bytes_seek(&b, desc);
		bytes_skip(&b, desc_size);
		if (b.bad)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && desc_size &&
		    desc_size <= ELF_BUILD_ID_MAX && !memcmp(notes + name, "GNU", 4)) {
			*offset = desc;
			*len = (uint8_t)desc_size;
			return true;
		}
		bytes_seek(&b, desc + (((uint64_t)desc_size + 3) & ~3ull));
	}
	return false;
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

/* libelf keeps what is read, so segments that overlap must not be read without end. */
static int read_notes(Elf *elf, const GElf_Phdr *segment, uint64_t *left, struct elf_image *image)
{
	struct elf_bytes notes = {0};
	int r;

	if (image->build_id_len || segment->p_filesz > *left)
		return 0;
	*left -= segment->p_filesz;
	r = copy_chunk(elf, segment->p_offset, segment->p_filesz, 0, &notes);
	if (!r && notes.data)
		take_build_id(&notes, image);
	free(notes.data);
	return r;
}

static int read_segments(Elf *elf, struct elf_image *image)
{
	uint64_t notes_left = MAX_NOTES;
	size_t count, i;
	GElf_Phdr p;
	int r = 0;

	if (elf_getphdrnum(elf, &count) || !count)
		return 0;
	image->segments = calloc(count, sizeof(*image->segments));
	if (!image->segments)
		return -ENOMEM;
	for (i = 0; i < count && !r; i++) {
		if (!gelf_getphdr(elf, (int)i, &p))
			continue;
		if (p.p_type == PT_LOAD)
			image->segments[image->segment_count++] = (struct elf_segment){
				.offset = p.p_offset,
				.filesz = p.p_filesz,
				.vaddr = p.p_vaddr,
				.memsz = p.p_memsz,
				.exec = p.p_flags & PF_X,
			};
		else if (p.p_type == PT_NOTE)
			r = read_notes(elf, &p, &notes_left, image);
	}
	return r;
}

static int unpack_section(Elf_Scn *section, struct elf_bytes *ret)
{
	GElf_Chdr header;
	Elf_Data *data;

	if (ret->data || !gelf_getchdr(section, &header) || header.ch_size > MAX_UNPACKED ||
	    elf_compress(section, 0, 0) < 0)
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_size)
		return 0;
	ret->data = malloc(data->d_size);
	if (!ret->data)
		return -ENOMEM;
	memcpy(ret->data, data->d_buf, data->d_size);
	ret->size = data->d_size;
	return 0;
}

static int read_section(Elf *elf, Elf_Scn *section, const char *name, struct elf_image *image)
{
	struct elf_bytes *into;
	GElf_Shdr header;
	bool loaded;

	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
		return 0;
	loaded = header.sh_flags & SHF_ALLOC;
	if (loaded && !strcmp(name, ".sframe"))
		into = &image->sframe;
	else if (loaded && !strcmp(name, ".eh_frame"))
		into = &image->eh_frame;
	else if (loaded && !strcmp(name, ".eh_frame_hdr"))
		into = &image->eh_frame_hdr;
	else if (!loaded && !strcmp(name, ".debug_frame"))
		into = &image->debug_frame;
	else
		return 0;

	if (header.sh_flags & SHF_COMPRESSED)
		return unpack_section(section, into);
	return copy_chunk(elf, header.sh_offset, header.sh_size, header.sh_addr, into);
}

static int read_sections(Elf *elf, struct elf_image *image)
{
	Elf_Scn *section = NULL;
	size_t names;
	int r = 0;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while (!r && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name)
			r = read_section(elf, section, name, image);
	}
	return r;
}

/* From an address to the end of what its segment has in the file. */
static int copy_to_segment_end(Elf *elf, const struct elf_image *image, uint64_t addr,
			       struct elf_bytes *ret)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *s = &image->segments[i];
		uint64_t skip = addr - s->vaddr;

		if (addr >= s->vaddr && skip < s->filesz)
			return copy_chunk(elf, s->offset + skip, s->filesz - skip, addr, ret);
	}
	return 0;
}

/* Without section headers .eh_frame is where .eh_frame_hdr points. */
static int find_eh_frame(Elf *elf, struct elf_image *image)
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
	return b.bad ? 0 : copy_to_segment_end(elf, image, field, &image->eh_frame);
}

static int read_table_segments(Elf *elf, struct elf_image *image)
{
	size_t count, i;
	GElf_Phdr p;
	int r = 0;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (i = 0; i < count && !r; i++) {
		if (!gelf_getphdr(elf, (int)i, &p))
			continue;
		if (p.p_type == PT_GNU_EH_FRAME)
			r = copy_chunk(elf, p.p_offset, p.p_filesz, p.p_vaddr,
				       &image->eh_frame_hdr);
		else if (p.p_type == PT_GNU_SFRAME)
			r = copy_chunk(elf, p.p_offset, p.p_filesz, p.p_vaddr, &image->sframe);
	}
	return r ? r : find_eh_frame(elf, image);
}

static int read_image(Elf *elf, struct bobbin_error *err, struct elf_image *ret)
{
	struct elf_image image = {0};
	int r;

	if (!elf)
		return refuse(err, 0, BOBBIN_NOT_ELF);
	r = read_header(elf, err, &image);
	if (!r)
		r = read_segments(elf, &image);
	if (!r)
		r = read_sections(elf, &image);
	if (!r)
		r = read_table_segments(elf, &image);
	elf_end(elf);
	if (r)
		elf_image_fini(&image);
	else
		*ret = image;
	return r;
}

int elf_image_init(int fd, struct bobbin_error *err, struct elf_image *ret)
{
	elf_version(EV_CURRENT);
	/* not by mmap: a file that shrinks meanwhile must not kill us */
	return read_image(elf_begin(fd, ELF_C_READ, NULL), err, ret);
}

int elf_image_init_memory(const void *bytes, size_t size, struct bobbin_error *err,
			  struct elf_image *ret)
{
	char *copy;
	int r;

	elf_version(EV_CURRENT);
	copy = malloc(size ? size : 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, size);
	r = read_image(elf_memory(copy, size), err, ret);
	free(copy);
	return r;
}

void elf_image_fini(struct elf_image *image)
{
	free(image->segments);
	free(image->sframe.data);
	free(image->eh_frame.data);
	free(image->eh_frame_hdr.data);
	free(image->debug_frame.data);
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

int elf_build_id(int fd, uint8_t id[ELF_BUILD_ID_MAX], uint8_t *len)
{
	struct elf_image image = {0};
	int r;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return -EBADMSG;
	r = read_header(elf, NULL, &image);
	if (!r)
		r = read_segments(elf, &image);
	elf_end(elf);
	if (!r) {
		memcpy(id, image.build_id, ELF_BUILD_ID_MAX);
		*len = image.build_id_len;
	}
	elf_image_fini(&image);
	return r;
}
