/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/core_image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "elf/gnu_sframe.h"

/* Bytes of an image's start that must hold its program headers and build ID. */
#define HEAD_SIZE 65536

static int read_headers(const struct core_file *core, struct core_image *image)
{
	int r = elf_image_init_memory(image->head, image->head_size, NULL, &image->elf);
	const struct elf_segment *first = image->elf.segments;

	if (r)
		return r == -EBADMSG ? -ENOENT : r;
	if (image->elf.arch != core->arch || !image->elf.segment_count)
		return -ENOENT;
	image->bias = image->start - (first->vaddr - first->offset);
	return 0;
}

int core_image_init(const struct core_file *core, uint64_t start, struct core_image *ret)
{
	struct core_image image = {.start = start};
	ssize_t n;
	int r;

	image.head = malloc(HEAD_SIZE);
	if (!image.head)
		return -ENOMEM;
	n = core_file_read(core, start, image.head, HEAD_SIZE);
	if (n < (ssize_t)sizeof(Elf64_Ehdr) || memcmp(image.head, ELFMAG, SELFMAG)) {
		r = n < 0 ? (int)n : n < (ssize_t)sizeof(Elf64_Ehdr) ? -ENODATA : -ENOENT;
	} else {
		image.head_size = (size_t)n;
		r = read_headers(core, &image);
	}
	if (r)
		core_image_fini(&image);
	else
		*ret = image;
	return r;
}

void core_image_fini(struct core_image *image)
{
	elf_image_fini(&image->elf);
	free(image->head);
	*image = (struct core_image){0};
}

bool core_image_is_code(const struct core_file *core, const struct core_image *image,
			const struct core_mapping *mapping)
{
	const struct core_memory *memory = core_file_memory(core, mapping->start);

	if (memory)
		return memory->exec;
	for (size_t i = 0; i < image->elf.segment_count; i++) {
		const struct elf_segment *s = &image->elf.segments[i];
		uint64_t start = image->bias + s->vaddr;

		if (s->exec && start < mapping->end && start + s->filesz > mapping->start)
			return true;
	}
	return false;
}

/* Several ranges of memory may follow each other, as where a part of a segment was protected. */
static bool is_dumped(const struct core_file *core, uint64_t addr, uint64_t size)
{
	uint64_t offset, there = 1;

	while (size && (there = core_file_dumped(core, addr, &offset)) && there < size) {
		addr += there;
		size -= there;
	}
	return there;
}

/* The end, in the file, of all segments that the core has some of. */
static uint64_t end_of(const struct core_file *core, const struct core_image *image)
{
	uint64_t end = image->head_size, last;

	for (size_t i = 0; i < image->elf.segment_count; i++) {
		const struct elf_segment *s = &image->elf.segments[i];

		if (is_dumped(core, image->bias + s->vaddr, 1) &&
		    !__builtin_add_overflow(s->offset, s->filesz, &last) && last > end)
			end = last;
	}
	return end;
}

/* A table of which a part would be zeros is worse than none. */
static bool is_whole(const struct core_file *core, const struct core_image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->elf.segment_count; i++) {
		const struct elf_segment *s = &image->elf.segments[i];

		if (vaddr - s->vaddr < s->filesz)
			return is_dumped(core, image->bias + s->vaddr, s->filesz);
	}
	return false;
}

/* A segment that is not there becomes one of no kind. */
static void forget_tables(const struct core_file *core, const struct core_image *image,
			  uint8_t *bytes)
{
	struct bytes b = bytes_of(image->head, image->head_size, core->arch->big_endian);
	uint64_t at;
	uint16_t count;

	bytes_seek(&b, offsetof(Elf64_Ehdr, e_phoff));
	at = bytes_u64(&b);
	bytes_seek(&b, offsetof(Elf64_Ehdr, e_phnum));
	count = bytes_u16(&b);
	for (uint16_t i = 0; i < count && !b.bad; i++, at += sizeof(Elf64_Phdr)) {
		uint32_t type;
		uint64_t vaddr;

		bytes_seek(&b, at);
		type = bytes_u32(&b);
		bytes_skip(&b, offsetof(Elf64_Phdr, p_vaddr) - sizeof(type));
		vaddr = bytes_u64(&b);
		if (!b.bad && (type == PT_GNU_EH_FRAME || type == PT_GNU_SFRAME) &&
		    !is_whole(core, image, vaddr))
			memset(bytes + at, 0, sizeof(type));
	}
}

/* Those that overlap are read once for each. */
static int copy_segments(const struct core_file *core, const struct core_image *image,
			 uint8_t *bytes, uint64_t size)
{
	uint64_t budget = 2 * size;
	ssize_t n = 0;

	for (size_t i = 0; n >= 0 && i < image->elf.segment_count; i++) {
		const struct elf_segment *s = &image->elf.segments[i];

		if (s->offset >= size || s->filesz > size - s->offset || s->filesz > budget)
			continue;
		budget -= s->filesz;
		n = core_file_read(core, image->bias + s->vaddr, bytes + s->offset, s->filesz);
	}
	return n < 0 ? (int)n : 0;
}

int core_image_bytes(const struct core_file *core, const struct core_image *image, uint64_t room,
		     uint8_t **ret, size_t *size)
{
	uint64_t end = end_of(core, image);
	uint8_t *bytes;
	int r;

	if (end > room)
		return -ENOBUFS;
	bytes = calloc(1, end);
	if (!bytes)
		return -ENOMEM;
	r = copy_segments(core, image, bytes, end);
	if (r) {
		free(bytes);
		return r;
	}
	memcpy(bytes, image->head, image->head_size);
	forget_tables(core, image, bytes);
	*ret = bytes;
	*size = end;
	return 0;
}
