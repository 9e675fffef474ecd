/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/object.h"

#include "symbol/inflate.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each lookup may pass over all of them. */
#define MAX_SEGMENTS 256
#define MAX_NOTE_SECTIONS 64
#define MAX_SECTIONS (1 << 17)
#define MAX_SECTION_NAMES (4 << 20)
#define MAX_NOTES (64 << 10)
#define STRING_STEP 256

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* Positions in the ELF header. */
struct header {
	uint64_t segments, sections;
	uint32_t segment_count, section_count, names;
	uint16_t segment_size, section_size;
};

int object_open_regular(const char *path)
{
	char again[32];
	struct stat st;
	int probe, fd;

	/* Opening a device can act on it, so look before: O_PATH opens nothing. */
	probe = open(path, O_PATH | O_CLOEXEC);
	if (probe < 0)
		return -errno;
	fd = -EINVAL;
	if (!fstat(probe, &st) && S_ISREG(st.st_mode)) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", probe);
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			fd = -errno;
	}
	close(probe);
	return fd;
}

int object_read(const struct object *o, uint64_t offset, void *dst, size_t size)
{
	uint8_t *at = dst;

	if (offset > o->size || size > o->size - offset)
		return -BOBBIN_ERANGE;
	if (o->data) {
		memcpy(dst, o->data + offset, size);
		return 0;
	}
	while (size) {
		ssize_t n = pread(o->fd, at, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		at += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* [offset, offset + size) in memory of its own. */
static int read_block(const struct object *o, uint64_t offset, uint64_t size, uint8_t **ret)
{
	uint8_t *block;
	int err;

	if (offset > o->size || size > o->size - offset)
		return -BOBBIN_EBADMSG;
	block = malloc(size ? size : 1);
	if (!block)
		return -ENOMEM;
	err = object_read(o, offset, block, size);
	if (err) {
		free(block);
		return err;
	}
	*ret = block;
	return 0;
}

/* A word of the object's class. */
static uint64_t word(const struct object *o, struct bytes *b)
{
	return bytes_get(b, o->is_64 ? 8 : 4);
}

static struct object_section parse_section(const struct object *o, const uint8_t *raw, size_t size)
{
	struct bytes b = bytes_of(raw, size, o->big_endian);
	struct object_section s;
	uint32_t name = bytes_u32(&b);

	s.type = bytes_u32(&b);
	s.flags = word(o, &b);
	s.address = word(o, &b);
	s.offset = word(o, &b);
	s.size = word(o, &b);
	s.link = bytes_u32(&b);
	s.info = bytes_u32(&b);
	word(o, &b); /* alignment */
	s.entry_size = word(o, &b);
	s.name = name < o->names_size ? o->names + name : "";
	return s;
}

static int read_header(struct object *o, struct header *h)
{
	uint8_t raw[sizeof(Elf64_Ehdr)];
	size_t size = o->size < sizeof(raw) ? o->size : sizeof(raw);
	struct bytes b;

	if (object_read(o, 0, raw, size) || size < EI_NIDENT || memcmp(raw, ELFMAG, SELFMAG) ||
	    (raw[EI_CLASS] != ELFCLASS32 && raw[EI_CLASS] != ELFCLASS64) ||
	    (raw[EI_DATA] != ELFDATA2LSB && raw[EI_DATA] != ELFDATA2MSB))
		return -BOBBIN_EBADMSG;
	o->is_64 = raw[EI_CLASS] == ELFCLASS64;
	o->big_endian = raw[EI_DATA] == ELFDATA2MSB;
	b = bytes_of(raw, size, o->big_endian);
	bytes_skip(&b, EI_NIDENT);
	o->type = bytes_u16(&b);
	o->machine = bytes_u16(&b);
	bytes_skip(&b, 4);
	word(o, &b); /* entry */
	h->segments = word(o, &b);
	h->sections = word(o, &b);
	bytes_skip(&b, 6); /* flags, size of this header */
	h->segment_size = bytes_u16(&b);
	h->segment_count = bytes_u16(&b);
	h->section_size = bytes_u16(&b);
	h->section_count = bytes_u16(&b);
	h->names = bytes_u16(&b);
	return b.bad ? -BOBBIN_EBADMSG : 0;
}

/* Counts that do not fit into the header stand in section 0. */
static int read_extended_counts(struct object *o, struct header *h)
{
	uint8_t raw[sizeof(Elf64_Shdr)];
	struct object_section zero;
	size_t size = o->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);

	if (!h->sections || h->section_size != size || object_read(o, h->sections, raw, size)) {
		h->section_count = 0;
		return h->segment_count == PN_XNUM ? -BOBBIN_EBADMSG : 0;
	}
	zero = parse_section(o, raw, size);
	if (!h->section_count)
		h->section_count = zero.size > UINT32_MAX ? UINT32_MAX : (uint32_t)zero.size;
	if (h->names == SHN_XINDEX)
		h->names = zero.link;
	if (h->segment_count == PN_XNUM)
		h->segment_count = zero.info;
	return 0;
}

static void add_segment(struct object *o, const uint8_t *raw, size_t size)
{
	struct bytes b = bytes_of(raw, size, o->big_endian);
	struct object_segment s;
	uint32_t type = bytes_u32(&b), flags = 0;

	if (o->is_64)
		flags = bytes_u32(&b);
	s.offset = word(o, &b);
	s.address = word(o, &b);
	word(o, &b); /* physical address */
	s.file_size = word(o, &b);
	s.memory_size = word(o, &b);
	if (!o->is_64)
		flags = bytes_u32(&b);
	s.executable = flags & PF_X;
	if (type == PT_LOAD)
		o->segments[o->segment_count++] = s;
}

static int read_segments(struct object *o, const struct header *h)
{
	size_t size = o->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint8_t *table;
	int err;

	if (!h->segment_count)
		return 0;
	if (h->segment_size != size || h->segment_count > MAX_SEGMENTS)
		return -BOBBIN_EBADMSG;
	err = read_block(o, h->segments, h->segment_count * size, &table);
	if (err)
		return err;
	o->segments = calloc(h->segment_count, sizeof(*o->segments));
	for (unsigned int i = 0; o->segments && i < h->segment_count; i++)
		add_segment(o, table + i * size, size);
	free(table);
	return o->segments ? 0 : -ENOMEM;
}

static int read_section_names(struct object *o, const uint8_t *table, size_t size,
			      const struct header *h)
{
	struct object_section s;
	uint8_t *names;
	int err;

	if (h->names >= h->section_count)
		return 0;
	s = parse_section(o, table + h->names * size, size);
	if (s.type != SHT_STRTAB || !s.size || s.size > MAX_SECTION_NAMES)
		return 0;
	err = read_block(o, s.offset, s.size, &names);
	if (err)
		return err == -ENOMEM ? err : 0;
	names[s.size - 1] = '\0';
	o->names = (char *)names;
	o->names_size = s.size;
	return 0;
}

static int parse_sections(struct object *o, const uint8_t *table, size_t size,
			  const struct header *h)
{
	int err = read_section_names(o, table, size, h);

	if (err)
		return err;
	o->sections = calloc(h->section_count, sizeof(*o->sections));
	if (!o->sections)
		return -ENOMEM;
	o->section_count = h->section_count;
	for (unsigned int i = 0; i < h->section_count; i++)
		o->sections[i] = parse_section(o, table + i * size, size);
	return 0;
}

/* A file without usable section headers still has segments and so addresses. */
static int read_sections(struct object *o, const struct header *h)
{
	size_t size = o->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint8_t *table;
	int err;

	if (!h->section_count || h->section_size != size || h->section_count > MAX_SECTIONS)
		return 0;
	err = read_block(o, h->sections, h->section_count * size, &table);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = parse_sections(o, table, size, h);
	free(table);
	return err;
}

static bool take_build_id(struct object *o, struct bytes *b)
{
	uint32_t name_size = bytes_u32(b), size = bytes_u32(b), type = bytes_u32(b);
	uint64_t name = b->pos, desc;

	bytes_skip(b, ((uint64_t)name_size + 3) & ~3ull);
	desc = b->pos;
	bytes_skip(b, ((uint64_t)size + 3) & ~3ull);
	if (b->bad || type != NT_GNU_BUILD_ID || name_size != sizeof(ELF_NOTE_GNU) ||
	    memcmp(b->data + name, ELF_NOTE_GNU, name_size) || !size || size > OBJECT_BUILD_ID_MAX)
		return false;
	memcpy(o->build_id, b->data + desc, size);
	o->build_id_len = size;
	return true;
}

/* 4-byte alignment: the only one that linkers use for this note. */
static bool scan_notes(struct object *o, uint64_t offset, uint64_t size)
{
	struct bytes b;
	uint8_t *notes;
	bool found = false;

	if (size > MAX_NOTES || read_block(o, offset, size, &notes))
		return false;
	b = bytes_of(notes, size, o->big_endian);
	while (!found && bytes_left(&b) >= sizeof(Elf64_Nhdr))
		found = take_build_id(o, &b);
	free(notes);
	return found;
}

static bool scan_note_segment(struct object *o, const uint8_t *raw, size_t size)
{
	struct bytes b = bytes_of(raw, size, o->big_endian);
	uint64_t offset, file_size;

	if (bytes_u32(&b) != PT_NOTE)
		return false;
	if (o->is_64)
		bytes_skip(&b, 4); /* flags */
	offset = word(o, &b);
	word(o, &b);
	word(o, &b);
	file_size = word(o, &b);
	return scan_notes(o, offset, file_size);
}

/* Sections first: in a debug file the segments' offsets mean nothing. */
static void read_build_id(struct object *o, const struct header *h)
{
	size_t size = o->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint8_t raw[sizeof(Elf64_Phdr)];
	unsigned int notes = 0;

	for (unsigned int i = 0; i < o->section_count && notes < MAX_NOTE_SECTIONS; i++) {
		const struct object_section *s = &o->sections[i];

		if (s->type != SHT_NOTE)
			continue;
		if (scan_notes(o, s->offset, s->size))
			return;
		notes++;
	}
	for (unsigned int i = 0; i < h->segment_count && h->segment_size == size; i++)
		if (object_read(o, h->segments + i * size, raw, size) ||
		    scan_note_segment(o, raw, size))
			return;
}

static int object_read_tables(struct object *o)
{
	struct header h = {0};
	int err = read_header(o, &h);

	err = err ? err : read_extended_counts(o, &h);
	err = err ? err : read_segments(o, &h);
	err = err ? err : read_sections(o, &h);
	if (!err)
		read_build_id(o, &h);
	return err;
}

/* Takes @fd and @data over. */
static int object_new(int fd, uint8_t *data, uint64_t size, struct object **ret)
{
	struct object *o = calloc(1, sizeof(*o));
	int err;

	if (!o) {
		if (fd >= 0)
			close(fd);
		free(data);
		return -ENOMEM;
	}
	o->fd = fd;
	o->data = data;
	o->size = size;
	err = object_read_tables(o);
	if (err) {
		object_close(o);
		return err;
	}
	*ret = o;
	return 0;
}

int object_open_fd(int fd, struct object **ret)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return object_new(fd, NULL, (uint64_t)st.st_size, ret);
}

int object_open(const char *path, struct object **ret)
{
	int fd = object_open_regular(path);

	return fd < 0 ? fd : object_open_fd(fd, ret);
}

int object_open_image(uint8_t *image, size_t size, struct object **ret)
{
	return object_new(-1, image, size, ret);
}

void object_close(struct object *o)
{
	if (!o)
		return;
	if (o->fd >= 0)
		close(o->fd);
	free(o->data);
	free(o->segments);
	free(o->sections);
	free(o->names);
	free(o);
}

const struct object_section *object_section(const struct object *o, const char *name)
{
	for (unsigned int i = 0; i < o->section_count; i++)
		if (!strcmp(o->sections[i].name, name))
			return &o->sections[i];
	return NULL;
}

const struct object_section *object_section_of_type(const struct object *o, uint32_t type)
{
	for (unsigned int i = 0; i < o->section_count; i++)
		if (o->sections[i].type == type)
			return &o->sections[i];
	return NULL;
}

const struct object_section *object_section_at(const struct object *o, uint32_t index)
{
	return index < o->section_count ? &o->sections[index] : NULL;
}

bool object_is_compressed(const struct object *o, const struct object_section *s)
{
	return (s->flags & SHF_COMPRESSED) || !strncmp(s->name, ".zdebug_", 8);
}

/* What stands before the compressed bytes: a header of ELF or of old GNU tools. */
static int compressed_size(const struct object *o, const struct object_section *s, struct bytes *b,
			   uint64_t *size, enum inflate_format *format)
{
	uint32_t type = ELFCOMPRESS_ZLIB;

	if (s->flags & SHF_COMPRESSED) {
		type = bytes_u32(b);
		bytes_skip(b, o->is_64 ? 4 : 0);
		*size = word(o, b);
		word(o, b); /* alignment */
	} else {
		if (bytes_left(b) < 4 || memcmp(b->data, "ZLIB", 4))
			return -BOBBIN_EBADMSG;
		bytes_skip(b, 4);
		b->big_endian = true;
		*size = bytes_u64(b);
	}
	*format = type == ELFCOMPRESS_ZSTD ? INFLATE_ZSTD : INFLATE_ZLIB;
	if (b->bad || (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD))
		return -BOBBIN_EBADMSG;
	return 0;
}

static int decompress(const struct object *o, const struct object_section *s, const uint8_t *raw,
		      uint64_t limit, uint8_t **ret, uint64_t *ret_size)
{
	struct bytes b = bytes_of(raw, s->size, o->big_endian);
	enum inflate_format format;
	uint64_t size;
	int err = compressed_size(o, s, &b, &size, &format);

	if (!err && size > limit)
		err = -E2BIG;
	if (!err)
		err = inflate_exact(format, raw + b.pos, bytes_left(&b), size, ret);
	if (!err)
		*ret_size = size;
	return err;
}

int object_load(const struct object *o, const struct object_section *s, uint64_t limit,
		uint8_t **ret, uint64_t *ret_size)
{
	uint8_t *raw;
	int err;

	if (s->type == SHT_NOBITS)
		return -ENODATA;
	if (s->size > limit)
		return -E2BIG;
	err = read_block(o, s->offset, s->size, &raw);
	if (err)
		return err;
	if (!object_is_compressed(o, s)) {
		*ret = raw;
		*ret_size = s->size;
		return 0;
	}
	err = decompress(o, s, raw, limit, ret, ret_size);
	free(raw);
	return err;
}

int object_string(const struct object *o, const struct object_section *s, uint64_t offset,
		  char *dst, size_t size)
{
	size_t len = 0;

	if (s->type == SHT_NOBITS || offset >= s->size || s->offset > UINT64_MAX - s->size)
		return -BOBBIN_ERANGE;
	while (len < size - 1) {
		uint64_t left = s->size - offset - len;
		size_t step = size - 1 - len < STRING_STEP ? size - 1 - len : STRING_STEP;
		const char *end;

		step = left < step ? left : step;
		if (!step)
			return -BOBBIN_EBADMSG;
		if (object_read(o, s->offset + offset + len, dst + len, step))
			return -EIO;
		end = memchr(dst + len, '\0', step);
		if (end)
			return (int)(end - dst);
		len += step;
	}
	dst[len] = '\0';
	return (int)len;
}

static bool segment_maps(const struct object_segment *s, uint64_t offset)
{
	return offset >= s->offset && offset - s->offset < s->file_size;
}

int object_address(const struct object *o, uint64_t offset, uint64_t *ret)
{
	const struct object_segment *best = NULL;

	for (unsigned int i = 0; i < o->segment_count; i++) {
		const struct object_segment *s = &o->segments[i];

		if (segment_maps(s, offset) && (!best || (s->executable && !best->executable)))
			best = s;
	}
	if (!best)
		return -BOBBIN_ENOENT;
	*ret = best->address + (offset - best->offset);
	return 0;
}

static bool is_page_aligned(uint64_t address)
{
	return !(address & 0xfff);
}

/*
 * objcopy --only-keep-debug empties the segments and moves them, so offsets
 * have to be guessed.  GNU ld places the text of a file at the same distance
 * from the first segment as in memory if it starts a page of its own or is
 * part of that segment; lld's text, which breaks the rule, starts in mid-page.
 */
static int guess_address(const struct object *o, uint64_t offset, uint64_t *ret)
{
	for (unsigned int i = 0; i < o->segment_count; i++) {
		const struct object_segment *s = &o->segments[i];
		uint64_t distance = s->address - (o->segments[0].address & ~0xfffull);

		if (!s->executable || s->file_size || (i && !is_page_aligned(s->address)))
			continue;
		if (offset >= distance && offset - distance < s->memory_size) {
			*ret = s->address + (offset - distance);
			return 0;
		}
	}
	return -BOBBIN_ENOENT;
}

int object_debug_address(const struct object *o, uint64_t offset, uint64_t *ret)
{
	for (unsigned int i = 0; i < o->segment_count; i++)
		if (o->segments[i].executable && o->segments[i].file_size)
			return object_address(o, offset, ret);
	return guess_address(o, offset, ret);
}

bool object_is_text(const struct object *o, uint64_t start, uint64_t size)
{
	for (unsigned int i = 0; i < o->segment_count; i++) {
		const struct object_segment *s = &o->segments[i];

		if (s->executable && start >= s->address && start - s->address < s->memory_size &&
		    size <= s->memory_size - (start - s->address))
			return true;
	}
	return false;
}

bool object_has_build_id(const struct object *o, const uint8_t *id, size_t len)
{
	return len && o->build_id_len == len && !memcmp(o->build_id, id, len);
}

size_t object_memory(const struct object *o)
{
	return sizeof(*o) + (o->data ? o->size : 0) + o->names_size +
	       o->segment_count * sizeof(*o->segments) + o->section_count * sizeof(*o->sections);
}
