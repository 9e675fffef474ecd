/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/jitdump_reader.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/refusal.h"

#define HEADER_SIZE sizeof(struct jitdump_header)
#define PREFIX_SIZE sizeof(struct jitdump_prefix)
#define LOAD_SIZE sizeof(struct jitdump_load) /* without the name */
#define MOVE_SIZE 64                          /* with the prefix */
#define LINES_SIZE 32                         /* with the prefix, without lines */
#define LINE_SIZE 16                          /* without the name */
#define LEAST_LINE 17u                        /* with an empty name */
/* struct jitheader.flags */
#define FLAG_ARCH_TIMESTAMP 1

int jitdump_reader_sweep(struct jitdump_reader *reader, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	reader->file_size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	/* the end of what was read may have been filled in since */
	reader->window_size = 0;
	return 0;
}

/* A cursor over @size bytes at @offset, or over those of them that there are. */
static struct bytes bytes_at(struct jitdump_reader *r, int fd, uint64_t offset, uint64_t size)
{
	uint64_t start = r->window_start, end = start + r->window_size;

	if (size > JITDUMP_WINDOW)
		size = JITDUMP_WINDOW;
	if (offset < start || offset > end || end - offset < size) {
		ssize_t n = offset > INT64_MAX
				    ? 0
				    : pread(fd, r->window, JITDUMP_WINDOW, (off_t)offset);

		r->window_start = offset;
		r->window_size = n > 0 ? (uint64_t)n : 0;
		end = offset + r->window_size;
	}
	if (size > end - offset)
		size = end - offset;
	return bytes_of(r->window + (offset - r->window_start), size, r->big_endian);
}

static int refuse_header(struct bobbin_error *err, uint64_t offset)
{
	return refuse(err, offset, BOBBIN_REASON_JITDUMP_HEADER);
}

/* 1: it is good; 0: it is not complete yet. */
static int read_header(struct jitdump_reader *r, int fd, struct bobbin_error *err)
{
	struct bytes b = bytes_at(r, fd, 0, HEADER_SIZE);
	uint64_t flags;
	uint32_t magic, size;

	if (b.size < 4)
		return 0;
	magic = bytes_u32(&b);
	if (magic != JITDUMP_MAGIC && magic != __builtin_bswap32(JITDUMP_MAGIC))
		return refuse_header(err, 0);
	if (b.size < HEADER_SIZE)
		return 0;
	b.big_endian = magic != JITDUMP_MAGIC;
	if (bytes_u32(&b) != JITDUMP_VERSION)
		return refuse_header(err, 4);
	size = bytes_u32(&b);
	if (size < HEADER_SIZE)
		return refuse_header(err, 8);
	bytes_seek(&b, 24);
	r->created = bytes_u64(&b);
	flags = bytes_u64(&b);
	if (flags & ~(uint64_t)FLAG_ARCH_TIMESTAMP)
		return refuse_header(err, 32);
	if (size > r->file_size)
		return 0;
	r->big_endian = b.big_endian;
	r->other_clock = flags & FLAG_ARCH_TIMESTAMP;
	r->next = size;
	r->started = true;
	return 1;
}

static int refuse_record(struct bobbin_error *err, uint64_t offset)
{
	return refuse(err, offset, BOBBIN_REASON_JITDUMP_RECORD);
}

static bool is_range(uint64_t start, uint64_t size)
{
	return start + size >= start;
}

/* Process, thread and virtual address are of no use: the code is where it says it is. */
static int read_load(struct bytes *b, struct bobbin_error *err, struct jitdump_record *record)
{
	const char *end;
	uint64_t room;

	bytes_skip(b, 16);
	record->address = bytes_u64(b);
	record->code_size = bytes_u64(b);
	bytes_skip(b, 8);
	if (b->bad || !is_range(record->address, record->code_size))
		return refuse_record(err, record->offset);
	record->name = (const char *)b->data + b->pos;
	room = b->size - b->pos;
	if (room > JITDUMP_MAX_NAME)
		room = JITDUMP_MAX_NAME;
	end = memchr(record->name, '\0', room);
	/* a longer one is cut, one without an end is none */
	if (!end && room < JITDUMP_MAX_NAME)
		return refuse_record(err, record->offset + LOAD_SIZE);
	record->name_len = end ? (size_t)(end - record->name) : room;
	if (record->code_size >= record->size - LOAD_SIZE - record->name_len)
		return refuse_record(err, record->offset + 40);
	return 1;
}

static int read_move(struct bytes *b, struct bobbin_error *err, struct jitdump_record *record)
{
	bytes_skip(b, 16);
	record->old_address = bytes_u64(b);
	record->address = bytes_u64(b);
	record->code_size = bytes_u64(b);
	bytes_skip(b, 8);
	if (b->bad || !is_range(record->address, record->code_size))
		return refuse_record(err, record->offset);
	return 1;
}

static int read_lines(struct jitdump_reader *r, struct bytes *b, struct bobbin_error *err,
		      struct jitdump_record *record)
{
	record->address = bytes_u64(b);
	record->line_count = bytes_u64(b);
	if (b->bad || record->line_count > (record->size - LINES_SIZE) / LEAST_LINE)
		return refuse_record(err, record->offset);
	r->line = record->offset + LINES_SIZE;
	r->lines_left = record->line_count;
	r->lines_end = record->offset + record->size;
	r->file_len = 0;
	return 1;
}

static int read_record(struct jitdump_reader *r, struct bytes *b, struct bobbin_error *err,
		       struct jitdump_record *record)
{
	switch (record->kind) {
	case JITDUMP_LOAD:
		return read_load(b, err, record);
	case JITDUMP_MOVE:
		return read_move(b, err, record);
	case JITDUMP_LINES:
		return read_lines(r, b, err, record);
	default:
		return 1;
	}
}

int jitdump_reader_next(struct jitdump_reader *reader, int fd, struct bobbin_error *err,
			struct jitdump_record *ret)
{
	struct jitdump_record record = {.offset = reader->next};
	struct bytes b;
	int r;

	if (!reader->started) {
		r = read_header(reader, fd, err);
		if (r <= 0)
			return r;
		record.offset = reader->next;
	}
	reader->lines_left = 0;
	b = bytes_at(reader, fd, record.offset, PREFIX_SIZE);
	if (b.size < PREFIX_SIZE)
		return 0;
	record.kind = bytes_u32(&b);
	record.size = bytes_u32(&b);
	record.time = bytes_u64(&b);
	if (record.size < PREFIX_SIZE)
		return refuse_record(err, record.offset);
	if (record.size > reader->file_size || record.offset > reader->file_size - record.size)
		return 0;
	b = bytes_at(reader, fd, record.offset, record.size);
	bytes_skip(&b, PREFIX_SIZE);
	r = read_record(reader, &b, err, &record);
	if (r < 0)
		return r;
	reader->next = record.offset + record.size;
	*ret = record;
	return 1;
}

/* "\xff" stands for the name before. */
static void keep_file(struct jitdump_reader *r, const char *name, size_t len)
{
	if (len == 1 && (uint8_t)name[0] == 0xff)
		return;
	memcpy(r->file, name, len);
	r->file[len] = '\0';
	r->file_len = len;
}

int jitdump_reader_line(struct jitdump_reader *reader, int fd, struct bobbin_error *err,
			struct jitdump_line *ret)
{
	struct jitdump_line line = {0};
	const char *name, *end;
	struct bytes b;
	uint64_t room;

	if (!reader->lines_left)
		return 0;
	b = bytes_at(reader, fd, reader->line, reader->lines_end - reader->line);
	line.address = bytes_u64(&b);
	line.line = bytes_u32(&b);
	bytes_skip(&b, LINE_SIZE - 12);
	room = bytes_left(&b);
	if (room > JITDUMP_MAX_NAME + 1)
		room = JITDUMP_MAX_NAME + 1;
	name = b.bad ? NULL : (const char *)b.data + b.pos;
	end = name && room ? memchr(name, '\0', room) : NULL;
	/* where a name that is too long ends is not looked for */
	if (!end) {
		reader->lines_left = 0;
		return refuse_record(err, reader->line);
	}
	keep_file(reader, name, (size_t)(end - name));
	reader->line += LINE_SIZE + (uint64_t)(end - name) + 1;
	reader->lines_left--;
	line.file = reader->file;
	line.file_len = reader->file_len;
	*ret = line;
	return 1;
}
