/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/inner_file.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_range.h"
#include "core/bytes.h"

#define PAGE 4096ull
#define SEGMENTS_MAX 512
#define CHUNK 65536

/* What its headers say of a file. */
struct inner {
	bool big_endian;
	uint64_t segments, sections; /* where their headers are */
	uint16_t segment_count, section_count;
	uint64_t end; /* of all that they tell of */
	bool holds;   /* a segment of code holds what is looked for */
};

static bool read_header(int fd, uint64_t base, struct inner *ret)
{
	uint8_t head[sizeof(Elf64_Ehdr)];
	struct bytes b;
	uint16_t type;

	if (file_range_read(fd, base, head, sizeof(head)) || memcmp(head, ELFMAG, SELFMAG) ||
	    head[EI_CLASS] != ELFCLASS64)
		return false;
	*ret = (struct inner){.big_endian = head[EI_DATA] == ELFDATA2MSB};
	b = bytes_of(head, sizeof(head), ret->big_endian);
	bytes_seek(&b, offsetof(Elf64_Ehdr, e_type));
	type = bytes_u16(&b);
	bytes_seek(&b, offsetof(Elf64_Ehdr, e_phoff));
	ret->segments = bytes_u64(&b);
	ret->sections = bytes_u64(&b);
	bytes_seek(&b, offsetof(Elf64_Ehdr, e_phentsize));
	if (bytes_u16(&b) != sizeof(Elf64_Phdr) || (type != ET_DYN && type != ET_EXEC))
		return false;
	ret->segment_count = bytes_u16(&b);
	bytes_skip(&b, sizeof(uint16_t));
	ret->section_count = bytes_u16(&b);
	return ret->segment_count <= SEGMENTS_MAX;
}

static void reach(struct inner *inner, uint64_t offset, uint64_t size)
{
	uint64_t end;

	if (!__builtin_add_overflow(offset, size, &end) && end > inner->end &&
	    end <= INNER_FILE_MOST)
		inner->end = end;
}

static void read_segment(struct inner *inner, struct bytes *b, uint64_t offset)
{
	uint32_t type = bytes_u32(b), flags = bytes_u32(b);
	uint64_t start = bytes_u64(b), size;

	bytes_skip(b, 2 * sizeof(uint64_t));
	size = bytes_u64(b);
	bytes_skip(b, 2 * sizeof(uint64_t));
	if (type != PT_LOAD || start > INNER_FILE_MOST || size > INNER_FILE_MOST)
		return;
	reach(inner, start, size);
	/* what is mapped begins with its page */
	inner->holds |= flags & PF_X && offset >= (start & -PAGE) && offset < start + size;
}

/* @offset: from the start of the file */
static bool read_segments(int fd, uint64_t base, uint64_t offset, struct inner *inner)
{
	uint64_t size = inner->segment_count * sizeof(Elf64_Phdr), at;
	uint8_t headers[SEGMENTS_MAX * sizeof(Elf64_Phdr)];
	struct bytes b = bytes_of(headers, size, inner->big_endian);

	if (__builtin_add_overflow(base, inner->segments, &at) ||
	    file_range_read(fd, at, headers, size))
		return false;
	for (uint16_t i = 0; i < inner->segment_count; i++)
		read_segment(inner, &b, offset);
	return inner->holds;
}

/* Symbols are behind the segments, and the headers of sections behind them. */
static bool is_there(int fd, uint64_t base, uint64_t offset, uint64_t *size)
{
	struct inner inner;

	if (!read_header(fd, base, &inner) || !read_segments(fd, base, offset - base, &inner))
		return false;
	reach(&inner, inner.sections, inner.section_count * sizeof(Elf64_Shdr));
	*size = inner.end;
	return true;
}

/* The container may end before the file does. */
static int copy(int from, uint64_t base, uint64_t size, int to)
{
	uint8_t *chunk = malloc(CHUNK);
	int r = chunk ? 0 : -ENOMEM;

	for (uint64_t at = 0; !r && at < size; at += CHUNK) {
		size_t wanted = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		ssize_t n = file_range_start(from, base + at, chunk, wanted);

		r = n < 0 ? (int)n : file_append(to, chunk, (size_t)n);
	}
	free(chunk);
	return r;
}

int inner_file_open(int fd, uint64_t offset, uint64_t room, uint64_t *base)
{
	uint64_t at = offset & -PAGE, size = 0;
	int ret, r;

	while (at && offset - at < INNER_FILE_MOST && !is_there(fd, at, offset, &size))
		at -= PAGE;
	if (!at || offset - at >= INNER_FILE_MOST)
		return -ENOENT;
	if (size > room)
		return -ENOBUFS;
	ret = memfd_create("inner", MFD_CLOEXEC);
	if (ret < 0)
		return -errno;
	r = copy(fd, at, size, ret);
	if (r) {
		close(ret);
		return r;
	}
	*base = at;
	return ret;
}
