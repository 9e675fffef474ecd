/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/core_stream.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/elf_walk.h"
#include "base/file_range.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "elf/core_file.h"

#define CHUNK 65536
/* Bytes of the stack of the first thread, and of others, of mapped files and of code without one. */
#define FIRST_STACK ((uint64_t)64 << 20)
#define OTHER_STACK ((uint64_t)1 << 20)
#define BELOW_STACK 256
#define HEAD ((uint64_t)64 << 10)
#define BARE_CODE ((uint64_t)16 << 20)

struct stream {
	int in, out;
	uint64_t pos; /* in the core */
	bool ended;   /* before it should */
	bool big_endian;
	uint64_t segments, segment_count, sections;
	uint64_t notes_end, end; /* of all segments */
	bool has_memory;         /* among the segments so far */
	struct coverage *kept;
	struct bobbin_error *err;
};

/* Go to an offset, and keep what comes before it or not.  At the end it stops. */
static int advance(struct stream *s, uint64_t to, bool keep)
{
	char *chunk = malloc(CHUNK);
	const uint64_t from = s->pos;
	int r = chunk ? 0 : -ENOMEM;

	while (!r && s->pos < to && !s->ended) {
		size_t step = to - s->pos < CHUNK ? (size_t)(to - s->pos) : CHUNK;
		ssize_t n = read(s->in, chunk, step);

		if (n < 0 && errno != EINTR)
			r = -errno;
		else if (!n)
			s->ended = true;
		if (n <= 0)
			continue;
		if (keep)
			r = file_range_write(s->out, s->pos, chunk, (size_t)n);
		s->pos += (uint64_t)n;
	}
	free(chunk);
	if (!r && keep)
		r = coverage_add(s->kept, from, s->pos);
	return r;
}

/* All of it must be there. */
static int take(struct stream *s, uint64_t to)
{
	int r = advance(s, to, true);

	return !r && s->ended ? refuse(s->err, s->pos, BOBBIN_REASON_TRUNCATED) : r;
}

static int read_header(struct stream *s)
{
	uint8_t head[sizeof(Elf64_Ehdr)];
	struct bytes b;
	int r = advance(s, sizeof(head), true);

	if (r)
		return r;
	if (s->ended || file_range_read(s->out, 0, head, sizeof(head)) ||
	    memcmp(head, ELFMAG, SELFMAG))
		return refuse(s->err, 0, BOBBIN_REASON_NOT_ELF);
	if (head[EI_CLASS] != ELFCLASS64)
		return refuse(s->err, EI_CLASS, BOBBIN_REASON_ELF_CLASS);
	s->big_endian = head[EI_DATA] == ELFDATA2MSB;
	b = bytes_of(head, sizeof(head), s->big_endian);
	bytes_seek(&b, offsetof(Elf64_Ehdr, e_type));
	if (bytes_u16(&b) != ET_CORE)
		return refuse(s->err, offsetof(Elf64_Ehdr, e_type), BOBBIN_REASON_NOT_CORE);
	bytes_seek(&b, offsetof(Elf64_Ehdr, e_phoff));
	s->segments = bytes_u64(&b);
	s->sections = bytes_u64(&b);
	bytes_seek(&b, offsetof(Elf64_Ehdr, e_phnum));
	s->segment_count = bytes_u16(&b);
	if (s->segments < sizeof(head) || s->segments > CHUNK)
		return refuse(s->err, offsetof(Elf64_Ehdr, e_phoff), BOBBIN_REASON_ELF_BROKEN);
	return take(s, s->segments + sizeof(Elf64_Phdr));
}

/*
 * More than PN_XNUM segments are counted in a section header, which Linux writes at the very end.
 * The first of them, the notes, begins where their headers end.
 */
static int count_segments(struct stream *s)
{
	uint8_t first[sizeof(Elf64_Phdr)], section[sizeof(Elf64_Shdr)] = {0};
	struct bytes b = bytes_of(first, sizeof(first), s->big_endian);
	uint64_t count;
	int r;

	if (s->segment_count != PN_XNUM)
		return 0;
	r = file_range_read(s->out, s->segments, first, sizeof(first));
	if (r)
		return r;
	bytes_seek(&b, offsetof(Elf64_Phdr, p_offset));
	count = (bytes_u64(&b) - s->segments) / sizeof(Elf64_Phdr);
	if (count < PN_XNUM || count > ELF_COUNT_MAX || s->sections > INT64_MAX / 2)
		return refuse(s->err, offsetof(Elf64_Ehdr, e_phnum), BOBBIN_REASON_ELF_BROKEN);
	s->segment_count = count;
	for (unsigned int i = 0; i < sizeof(Elf64_Word); i++) {
		unsigned int shift = 8 * (s->big_endian ? 3 - i : i);

		section[offsetof(Elf64_Shdr, sh_info) + i] = (uint8_t)(count >> shift);
	}
	if (s->sections + sizeof(section) > s->end)
		s->end = s->sections + sizeof(section);
	return file_range_write(s->out, s->sections, section, sizeof(section));
}

/* Where notes end, and whether memory comes before. */
static int note_segment(struct stream *s, struct bytes b)
{
	uint32_t type = bytes_u32(&b);
	uint64_t offset, size, end;

	bytes_skip(&b, sizeof(Elf64_Word));
	offset = bytes_u64(&b);
	bytes_skip(&b, 2 * sizeof(Elf64_Addr));
	size = bytes_u64(&b);
	if (!size || (type != PT_NOTE && type != PT_LOAD))
		return 0;
	if (__builtin_add_overflow(offset, size, &end) || end > INT64_MAX / 2)
		return refuse(s->err, s->segments, BOBBIN_REASON_ELF_BROKEN);
	if (type == PT_NOTE && s->has_memory)
		return -ESPIPE;
	if (type == PT_NOTE && end > s->notes_end)
		s->notes_end = end;
	s->has_memory |= type == PT_LOAD;
	if (end > s->end)
		s->end = end;
	return 0;
}

static int read_segments(struct stream *s)
{
	const uint64_t size = s->segment_count * sizeof(Elf64_Phdr);
	int r = take(s, s->segments + size);
	uint8_t *headers = r ? NULL : malloc(size + 1);

	if (r)
		return r;
	r = headers ? file_range_read(s->out, s->segments, headers, size) : -ENOMEM;
	for (uint64_t i = 0; !r && i < s->segment_count; i++)
		r = note_segment(s, bytes_of(headers + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr),
					     s->big_endian));
	free(headers);
	if (!r && s->notes_end > s->pos + CORE_NOTES_MAX)
		r = -EFBIG;
	return r ? r : take(s, s->notes_end);
}

/* Bytes of memory from @from to @to; the core may have fewer. */
static int want(const struct core_file *core, uint64_t from, uint64_t to, uint64_t *room,
		struct coverage *wanted)
{
	uint64_t offset = 0, there = core_file_dumped(core, from, &offset);
	uint64_t size = to - from < there ? to - from : there;

	size = size < *room ? size : *room;
	*room -= size;
	return size ? coverage_add(wanted, offset, offset + size) : 0;
}

static int want_stacks(const struct core_file *core, uint64_t *room, struct coverage *wanted)
{
	int r = 0;

	for (size_t i = 0; i < core->thread_count && !r; i++) {
		uint64_t sp = core->threads[i].gpr[core->arch->sp];
		const struct core_memory *memory = core_file_memory(core, sp);
		uint64_t start = memory && sp - memory->start > BELOW_STACK ? sp - BELOW_STACK : sp;

		r = want(core, start, sp + (i ? OTHER_STACK : FIRST_STACK), room, wanted);
	}
	return r;
}

static int want_code(const struct core_file *core, uint64_t *room, struct coverage *wanted)
{
	int r = 0;

	for (size_t i = 0; i < core->mapping_count && !r; i++)
		if (!core->mappings[i].offset)
			r = want(core, core->mappings[i].start, core->mappings[i].start + HEAD,
				 room, wanted);
	for (size_t i = 0; i < core->memory_count && !r; i++)
		if (core->memory[i].exec && !core_file_mapping(core, core->memory[i].start))
			r = want(core, core->memory[i].start, core->memory[i].start + BARE_CODE,
				 room, wanted);
	return r;
}

static int want_parts(struct stream *s, struct coverage *wanted)
{
	uint64_t room = CORE_STREAM_MEMORY;
	struct core_file core;
	int r = core_file_init(s->out, NULL, s->err, &core);

	if (r)
		return r;
	r = want_stacks(&core, &room, wanted);
	if (!r)
		r = want_code(&core, &room, wanted);
	core_file_fini(&core);
	return r;
}

static int keep_memory(struct stream *s)
{
	struct coverage wanted = {0};
	/* what is between the segments comes through the pipe, too */
	bool is_small = s->end < s->pos + CORE_STREAM_MEMORY;
	int r = is_small ? coverage_add(&wanted, s->pos, s->end) : want_parts(s, &wanted);

	coverage_settle(&wanted);
	for (size_t i = 0; i < wanted.count && !r; i++) {
		r = advance(s, wanted.ranges[i].start, false);
		if (!r)
			r = advance(s, wanted.ranges[i].end, true);
	}
	coverage_fini(&wanted);
	return r;
}

static int read_stream(struct stream *s, bool notes_only)
{
	int r = read_header(s);

	if (!r)
		r = count_segments(s);
	if (!r)
		r = read_segments(s);
	/* with holes for what is not read */
	if (!r && ftruncate(s->out, (off_t)s->end))
		r = -errno;
	if (r || notes_only)
		return r;
	r = keep_memory(s);
	return !r && s->ended && ftruncate(s->out, (off_t)s->pos) ? -errno : r;
}

int core_stream_read(int in, bool notes_only, struct bobbin_error *err, int *ret,
		     struct coverage *kept)
{
	struct stream s = {.in = in, .kept = kept, .err = err};
	int r;

	if (err)
		*err = (struct bobbin_error){0};
	s.out = memfd_create("core", MFD_CLOEXEC);
	if (s.out < 0)
		return -errno;
	r = read_stream(&s, notes_only);
	if (r)
		close(s.out);
	else
		*ret = s.out;
	return r;
}
