/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/elf_walk.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "core/bytes.h"

/* Where the fields are in files of a class. */
struct places {
	bool wide;
	uint64_t shoff, phnum, shnum; /* in the file's header */
	uint64_t size, info;          /* in a section's */
};

static const struct places places_32 = {
	.shoff = offsetof(Elf32_Ehdr, e_shoff),
	.phnum = offsetof(Elf32_Ehdr, e_phnum),
	.shnum = offsetof(Elf32_Ehdr, e_shnum),
	.size = offsetof(Elf32_Shdr, sh_size),
	.info = offsetof(Elf32_Shdr, sh_info),
};

static const struct places places_64 = {
	.wide = true,
	.shoff = offsetof(Elf64_Ehdr, e_shoff),
	.phnum = offsetof(Elf64_Ehdr, e_phnum),
	.shnum = offsetof(Elf64_Ehdr, e_shnum),
	.size = offsetof(Elf64_Shdr, sh_size),
	.info = offsetof(Elf64_Shdr, sh_info),
};

/* A number of the class's size, as addresses are. */
static uint64_t word_at(struct bytes *b, const struct places *at, uint64_t offset)
{
	bytes_seek(b, offset);
	return at->wide ? bytes_u64(b) : bytes_u32(b);
}

static uint16_t half_at(struct bytes *b, uint64_t offset)
{
	bytes_seek(b, offset);
	return bytes_u16(b);
}

/* What does not fit into 16 bits is in the first section's header. */
static bool first_section_is_sane(int fd, const struct places *at, uint64_t offset, bool big_endian,
				  bool counts_segments)
{
	uint8_t header[sizeof(Elf64_Shdr)];
	struct bytes b;
	ssize_t n = offset > INT64_MAX ? 0 : pread(fd, header, sizeof(header), (off_t)offset);

	b = bytes_of(header, n > 0 ? (uint64_t)n : 0, big_endian);
	if (word_at(&b, at, at->size) > ELF_COUNT_MAX)
		return false;
	bytes_seek(&b, at->info);
	return !counts_segments || bytes_u32(&b) <= ELF_COUNT_MAX;
}

bool elf_counts_are_sane(int fd)
{
	uint8_t header[sizeof(Elf64_Ehdr)];
	ssize_t n = pread(fd, header, sizeof(header), 0);
	uint64_t shoff;
	const struct places *at;
	bool big_endian, counts_segments;
	struct bytes b;

	if (n < (ssize_t)sizeof(Elf32_Ehdr) || memcmp(header, ELFMAG, SELFMAG))
		return true;
	at = header[EI_CLASS] == ELFCLASS64 ? &places_64 : &places_32;
	big_endian = header[EI_DATA] == ELFDATA2MSB;
	b = bytes_of(header, (uint64_t)n, big_endian);
	shoff = word_at(&b, at, at->shoff);
	counts_segments = half_at(&b, at->phnum) == PN_XNUM;
	if (!shoff || (half_at(&b, at->shnum) && !counts_segments))
		return true;
	return first_section_is_sane(fd, at, shoff, big_endian, counts_segments);
}
