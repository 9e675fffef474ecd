/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jitdump files of any bytes, that grow while they are read.
 *
 * Contract: records lie one after the other inside the file; names and lines
 * are bounded; a refusal has a reason and an offset that is not after the end of
 * the file; what was read half and then on is the same as what was read at once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/jitdump.h"
#include "symbol/jitdump_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void promise(bool kept)
{
	if (!kept)
		abort();
}

/* What was found, in a number. */
struct findings {
	uint64_t records, lines, end;
	uint64_t sum;
	int result;
	struct bobbin_error error;
};

static void add(struct findings *f, uint64_t value)
{
	f->sum = (f->sum ^ value) * 0x9e3779b97f4a7c15;
}

static void add_bytes(struct findings *f, const char *bytes, size_t size)
{
	promise(size <= JITDUMP_MAX_NAME);
	for (size_t i = 0; i < size; i++)
		add(f, (uint8_t)bytes[i]);
}

static void read_lines(struct jitdump_reader *reader, int fd, uint64_t count, uint64_t size,
		       struct findings *f)
{
	struct bobbin_error error = {0};
	struct jitdump_line line;
	int r;

	while ((r = jitdump_reader_line(reader, fd, &error, &line)) > 0) {
		promise(count-- > 0);
		add(f, line.address);
		add(f, line.line);
		add_bytes(f, line.file, line.file_len);
		f->lines++;
	}
	promise(!r ? !count : r == -EBADMSG && error.reason && error.offset <= size);
}

static void read_on(struct jitdump_reader *reader, int fd, uint64_t size, struct findings *f)
{
	struct jitdump_record record;

	promise(!jitdump_reader_sweep(reader, fd));
	f->error = (struct bobbin_error){0};
	while ((f->result = jitdump_reader_next(reader, fd, &f->error, &record)) > 0) {
		promise(record.size >= 16 && record.offset >= f->end);
		promise(record.offset <= size && record.size <= size - record.offset);
		promise(!f->records || record.offset == f->end);
		f->end = record.offset + record.size;
		f->records++;
		add(f, record.kind);
		add(f, record.time);
		promise(record.address + record.code_size >= record.address);
		if (record.kind == JITDUMP_LOAD) {
			add(f, record.address);
			add_bytes(f, record.name, record.name_len);
			promise(record.code_size <= record.size);
		} else if (record.kind == JITDUMP_LINES) {
			read_lines(reader, fd, record.line_count, size, f);
		}
	}
	promise(!f->result ||
		(f->result == -EBADMSG && f->error.reason && f->error.offset <= size));
}

static int memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("jitdump", MFD_CLOEXEC);

	promise(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

static void read_records(const uint8_t *data, size_t size)
{
	static struct jitdump_reader whole, halves;
	struct findings once = {0}, twice = {0};
	int fd = memory_file(data, size);
	size_t half = size / 2;

	whole = halves = (struct jitdump_reader){0};
	read_on(&whole, fd, size, &once);
	promise(!ftruncate(fd, (off_t)half));
	read_on(&halves, fd, half, &twice);
	promise(pwrite(fd, data + half, size - half, (off_t)half) == (ssize_t)(size - half));
	if (!twice.result)
		read_on(&halves, fd, size, &twice);
	promise(once.result == twice.result && once.error.reason == twice.error.reason &&
		once.error.offset == twice.error.offset);
	promise(once.records == twice.records && once.lines == twice.lines &&
		once.sum == twice.sum);
	close(fd);
}

static void find_names(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = {0, 0x1000, 0x7fff00001000, UINT64_MAX};
	struct jitdump_file file = {.pid = getpid(), .path = "jit-1.dump"};
	struct jitdump_code code;
	struct jitdump *d;
	char path[64];
	int fd = memory_file(data, size);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file.open_path = path;
	promise(!jitdump_open(NULL, &file, true, &d));
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
		for (uint64_t offset = 0; offset < 256; offset += 16) {
			uint64_t address = addresses[i] + offset;
			int n = jitdump_find(d, address, UINT64_MAX - offset, &code);

			promise(n == 0 || n == 1);
			promise(!n || (address - code.start < code.size &&
				       strlen(code.name) <= JITDUMP_MAX_NAME));
		}
	jitdump_close(d);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_records(data, size);
	find_names(data, size);
	return 0;
}
