/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapped_core FILE NAME ADDRESS all|page|none - a core file of a process that had
 * FILE mapped at ADDRESS, and took it for NAME; to stdout.
 *
 * It holds all of the mapping, its first page, as kernels choose, or nothing.
 */
#include <elf.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096ull
#define SEGMENTS 16

static unsigned char *image;
static size_t image_size;

struct mapping {
	uint64_t start, end, offset;
	uint32_t flags;
};

static void read_image(const char *path)
{
	FILE *in = fopen(path, "rb");

	if (!in || fseek(in, 0, SEEK_END))
		err(1, "%s", path);
	image_size = (size_t)ftell(in);
	rewind(in);
	image = calloc(1, image_size + PAGE);
	if (!image || fread(image, 1, image_size, in) != image_size)
		err(1, "%s", path);
	fclose(in);
}

static size_t map_segments(uint64_t address, struct mapping *mappings)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(image + header->e_phoff);
	size_t count = 0;

	for (int i = 0; i < header->e_phnum && count < SEGMENTS; i++) {
		if (p[i].p_type != PT_LOAD)
			continue;
		mappings[count++] = (struct mapping){
			.start = address + (p[i].p_vaddr & -PAGE),
			.end = address + ((p[i].p_vaddr + p[i].p_filesz + PAGE - 1) & -PAGE),
			.offset = p[i].p_offset & -PAGE,
			.flags = p[i].p_flags,
		};
	}
	return count;
}

/* "NT_FILE", with its header; returns its size. */
static size_t make_note(const struct mapping *mappings, size_t count, const char *name,
			unsigned char *note)
{
	Elf64_Nhdr header = {.n_namesz = 5, .n_type = NT_FILE};
	uint64_t words[2 + 3 * SEGMENTS] = {count, PAGE};
	size_t at = sizeof(header) + 8, words_size = (2 + 3 * count) * 8;

	for (size_t i = 0; i < count; i++) {
		words[2 + 3 * i] = mappings[i].start;
		words[3 + 3 * i] = mappings[i].end;
		words[4 + 3 * i] = mappings[i].offset / PAGE;
	}
	memcpy(note + at, words, words_size);
	at += words_size;
	for (size_t i = 0; i < count; i++) {
		strcpy((char *)note + at, name);
		at += strlen(name) + 1;
	}
	header.n_descsz = (Elf64_Word)(at - sizeof(header) - 8);
	memcpy(note, &header, sizeof(header));
	memcpy(note + sizeof(header), "CORE", 5);
	return (at + 3) & ~(size_t)3;
}

static uint64_t dumped_size(const struct mapping *mapping, size_t i, const char *what)
{
	if (!strcmp(what, "all"))
		return mapping->end - mapping->start;
	return !strcmp(what, "page") && !i ? PAGE : 0;
}

static void write_bytes(const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, stdout) != size)
		err(1, "standard output");
}

static void write_headers(const struct mapping *mappings, size_t count, size_t note_size,
			  const char *what)
{
	Elf64_Ehdr header = *(const Elf64_Ehdr *)image;
	uint64_t at = sizeof(header) + (count + 1) * sizeof(Elf64_Phdr);
	Elf64_Phdr p = {.p_type = PT_NOTE, .p_offset = at, .p_filesz = note_size, .p_align = 4};

	header.e_type = ET_CORE;
	header.e_phoff = sizeof(header);
	header.e_phnum = (Elf64_Half)(count + 1);
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	write_bytes(&header, sizeof(header));
	write_bytes(&p, sizeof(p));
	at += note_size;
	for (size_t i = 0; i < count; i++) {
		p = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = mappings[i].flags,
			.p_offset = at,
			.p_vaddr = mappings[i].start,
			.p_filesz = dumped_size(&mappings[i], i, what),
			.p_memsz = mappings[i].end - mappings[i].start,
			.p_align = PAGE,
		};
		write_bytes(&p, sizeof(p));
		at += p.p_filesz;
	}
}

int main(int argc, char **argv)
{
	static unsigned char note[1 << 20];
	struct mapping mappings[SEGMENTS];
	size_t count, note_size;

	if (argc != 5 || strlen(argv[2]) > 4096)
		errx(2, "usage: mapped_core FILE NAME ADDRESS all|page|none");
	read_image(argv[1]);
	count = map_segments(strtoull(argv[3], NULL, 0), mappings);
	note_size = make_note(mappings, count, argv[2], note);
	write_headers(mappings, count, note_size, argv[4]);
	write_bytes(note, note_size);
	for (size_t i = 0; i < count; i++) {
		uint64_t size = dumped_size(&mappings[i], i, argv[4]);
		uint64_t have = image_size - mappings[i].offset;
		static const unsigned char zeroes[PAGE];

		write_bytes(image + mappings[i].offset, size < have ? size : have);
		for (uint64_t left = size > have ? size - have : 0; left;) {
			uint64_t step = left < PAGE ? left : PAGE;

			write_bytes(zeroes, step);
			left -= step;
		}
	}
	return fflush(stdout) ? 1 : 0;
}
