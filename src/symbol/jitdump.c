/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/jitdump.h"

#include "base/clock.h"
#include "base/hash_index.h"
#include "base/vector.h"
#include "symbol/interval.h"
#include "symbol/jitdump_reader.h"
#include "symbol/trusted_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define MAX_CODES (1u << 20)
#define MAX_LINES (1u << 22)
#define MAX_TEXT (64u << 20)
/* Pieces of code that have been at one address and are looked through. */
#define MAX_REPLACED 65536
/*
 * perf makes ELF files of jitdump files, and forgot for years that their code
 * begins after a header of this size.  V8 and LLVM add it to the addresses of
 * lines, others do not.
 */
#define ELF_HEADER_SIZE 0x40

/* The range is the interval with the same number. */
struct code {
	uint64_t from, until; /* of CLOCK_MONOTONIC */
	uint64_t start, size;
	uint64_t name; /* in the list's names */
	uint32_t first_line, line_count;
};

struct line {
	uint64_t address;
	uint64_t file; /* in the list's names */
	uint32_t line;
};

/* What is at an address now. */
struct place {
	uint64_t address;
	uint32_t code;
};

struct jitdump {
	struct process_reader *processes; /* who opens the file; or NULL */
	struct jitdump_file file;
	bool with_lines;
	int fd;
	struct jitdump_reader reader;
	struct bobbin_error damage;
	struct symlist list; /* values are numbers of codes */
	struct code *codes;
	size_t code_count, code_capacity;
	struct line *lines;
	size_t line_count, line_capacity;
	/* of the lines that wait for their code */
	uint64_t lines_of;
	size_t lines_start;
	uint64_t line_file;
	size_t line_file_at;
	struct place *places;
	size_t place_count, place_capacity;
	struct hash_index place_index;
	uint64_t seed;
	time_t read_at;
};

static void forget(struct jitdump *d)
{
	symlist_fini(&d->list);
	free(d->codes);
	free(d->lines);
	free(d->places);
	hash_index_fini(&d->place_index);
	d->codes = NULL;
	d->lines = NULL;
	d->places = NULL;
	d->code_count = d->code_capacity = 0;
	d->line_count = d->line_capacity = 0;
	d->place_count = d->place_capacity = 0;
	d->lines_of = d->lines_start = 0;
	d->damage = (struct bobbin_error){0};
	d->reader = (struct jitdump_reader){0};
}

int jitdump_open(struct process_reader *processes, const struct jitdump_file *file, bool lines,
		 struct jitdump **ret)
{
	struct jitdump *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->file = *file;
	d->file.path = strdup(file->path);
	d->file.open_path = file->open_path ? strdup(file->open_path) : NULL;
	d->processes = processes;
	d->with_lines = lines;
	d->fd = -1;
	d->read_at = -1;
	d->seed = hash_seed();
	if (!d->file.path || (file->open_path && !d->file.open_path)) {
		jitdump_close(d);
		return -ENOMEM;
	}
	*ret = d;
	return 0;
}

void jitdump_close(struct jitdump *d)
{
	if (!d)
		return;
	forget(d);
	if (d->fd >= 0)
		close(d->fd);
	free((char *)d->file.path);
	free((char *)d->file.open_path);
	free(d);
}

static bool is_mapped(const struct jitdump_file *file, const struct stat *st)
{
	return file->ino && file->ino == st->st_ino && file->major == major(st->st_dev) &&
	       file->minor == minor(st->st_dev);
}

/* As trusted_file_open(), but the file that was mapped may be anybody's. */
static int open_mapped(const struct jitdump *d, const char *path, const struct file_teller *teller)
{
	const struct remote_process process = {d->processes, d->file.pid};
	struct stat st;
	int fd = process_file_open(&process, path, O_NOFOLLOW, &st);

	if (fd < 0 || is_mapped(&d->file, &st) || file_teller_owns(teller, &st))
		return fd;
	close(fd);
	return -1;
}

static int open_file(const struct jitdump *d)
{
	const struct remote_process process = {d->processes, d->file.pid};
	struct file_teller teller = file_teller_of(d->file.pid);
	char path[PATH_MAX + 64];
	struct stat st;
	int fd = -1;

	if (d->file.open_path)
		fd = process_file_open(&process, d->file.open_path, 0, &st);
	if (fd < 0 && teller.alive) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)d->file.pid, d->file.path);
		fd = open_mapped(d, path, &teller);
	}
	return fd < 0 ? open_mapped(d, d->file.path, &teller) : fd;
}

static bool is_full(const struct jitdump *d)
{
	return d->code_count == MAX_CODES || d->list.names_size > MAX_TEXT;
}

/* The place with this address, or NULL. */
static struct place *find_place(struct jitdump *d, uint64_t address)
{
	uint64_t hash = hash_words(address, 0, d->seed);
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&d->place_index, hash, &at, &i))
		if (d->places[i].address == address)
			return &d->places[i];
	return NULL;
}

static int settle(struct jitdump *d, uint64_t address, uint32_t code)
{
	struct place *place = find_place(d, address);

	if (place) {
		place->code = code;
		return 0;
	}
	return hash_index_push(&d->place_index, hash_words(address, 0, d->seed), d->places,
			       d->place_count, d->place_capacity, (struct place){address, code});
}

static int add_code(struct jitdump *d, const struct code *code)
{
	uint32_t number = (uint32_t)d->code_count;
	int err = vector_reserve(&d->codes, &d->code_capacity, number + 1u, sizeof(*code));

	err = err ? err : settle(d, code->start, number);
	err = err ? err : interval_map_add(&d->list.map, code->start, code->size, number);
	if (!err)
		d->codes[d->code_count++] = *code;
	return err;
}

static int add_load(struct jitdump *d, const struct jitdump_record *record)
{
	struct code code = {
		.from = record->time,
		.until = UINT64_MAX,
		.start = record->address,
		.size = record->code_size,
	};
	int err;

	if (!record->code_size || is_full(d))
		return 0;
	if (d->lines_of == record->address) {
		code.first_line = (uint32_t)d->lines_start;
		code.line_count = (uint32_t)(d->line_count - d->lines_start);
	}
	d->lines_of = 0;
	err = symlist_add_text(&d->list, record->name, record->name_len, &code.name);
	return err ? err : add_code(d, &code);
}

static int add_move(struct jitdump *d, const struct jitdump_record *record)
{
	struct place *place = find_place(d, record->old_address);
	struct code code;

	if (!place || !record->code_size || is_full(d) ||
	    d->codes[place->code].until != UINT64_MAX || record->old_address == record->address)
		return 0;
	code = d->codes[place->code];
	d->codes[place->code].until = record->time;
	code.from = record->time;
	code.start = record->address;
	code.size = record->code_size;
	/* the lines' addresses stay those of the first place */
	code.line_count = 0;
	return add_code(d, &code);
}

/* Whether a line is of the file that was named last. */
static bool is_last_file(const struct jitdump *d, const struct jitdump_line *line)
{
	const char *last;

	if (!d->line_file_at || d->line_file_at != d->list.names_size)
		return false;
	last = d->list.names + d->line_file;
	return strlen(last) == line->file_len && !memcmp(last, line->file, line->file_len);
}

static int file_name(struct jitdump *d, const struct jitdump_line *line, uint64_t *ret)
{
	int err;

	/* most are the same as the one before */
	if (is_last_file(d, line)) {
		*ret = d->line_file;
		return 0;
	}
	err = symlist_add_text(&d->list, line->file, line->file_len, &d->line_file);
	d->line_file_at = d->list.names_size;
	*ret = d->line_file;
	return err;
}

/* Whether the addresses of lines count the header of an ELF file. */
static bool counts_header(const struct jitdump *d, uint64_t address)
{
	for (size_t i = d->lines_start; i < d->line_count; i++)
		if (d->lines[i].address - address < ELF_HEADER_SIZE)
			return false;
	return true;
}

static int add_lines(struct jitdump *d, const struct jitdump_record *record)
{
	struct jitdump_line line;
	struct line kept;
	int r, err = 0;

	d->line_count = d->lines_of ? d->lines_start : d->line_count;
	d->lines_start = d->line_count;
	if (!d->with_lines)
		return 0;
	while (!err && (r = jitdump_reader_line(&d->reader, d->fd, &d->damage, &line)) > 0) {
		if (d->line_count == MAX_LINES || is_full(d))
			return 0;
		kept = (struct line){.address = line.address, .line = line.line};
		err = file_name(d, &line, &kept.file);
		err = err ? err : vector_push(d->lines, d->line_count, d->line_capacity, kept);
	}
	d->lines_of = record->address;
	if (!err && r < 0)
		return r;
	if (counts_header(d, record->address))
		for (size_t i = d->lines_start; i < d->line_count; i++)
			d->lines[i].address -= ELF_HEADER_SIZE;
	return err;
}

static int add_record(struct jitdump *d, const struct jitdump_record *record)
{
	switch (record->kind) {
	case JITDUMP_LOAD:
		return add_load(d, record);
	case JITDUMP_MOVE:
		return add_move(d, record);
	case JITDUMP_LINES:
		return add_lines(d, record);
	default:
		return 0;
	}
}

/* The records since the last time.  1: there were some. */
static int read_on(struct jitdump *d)
{
	struct jitdump_record record;
	int err = 0, news = 0;

	while (!err && jitdump_reader_next(&d->reader, d->fd, &d->damage, &record) > 0) {
		err = add_record(d, &record);
		news = 1;
	}
	interval_map_sort(&d->list.map);
	return err == -ENOMEM ? err : news;
}

static int update(struct jitdump *d)
{
	uint64_t size = d->reader.file_size;

	if (d->fd < 0)
		d->fd = open_file(d);
	if (d->fd < 0 || jitdump_reader_sweep(&d->reader, d->fd))
		return 0;
	if (d->reader.file_size < size) {
		forget(d);
		jitdump_reader_sweep(&d->reader, d->fd);
	} else if (d->damage.reason || d->reader.file_size == size) {
		return 0;
	}
	return read_on(d);
}

/* Of several that were there until @time, the one that came last. */
static const struct code *find_code(const struct jitdump *d, uint64_t address, uint64_t time)
{
	const struct interval *item = interval_map_find(&d->list.map, address);
	const struct code *best = NULL;

	/* code cannot run before its file is made: a time namespace has set the clock forward */
	if (d->reader.other_clock || time < d->reader.created)
		time = UINT64_MAX;
	for (unsigned int n = 0; item && n < MAX_REPLACED; n++) {
		const struct code *code = &d->codes[item->value];

		/* the end of time is after every move */
		if (code->from <= time && (time < code->until || code->until == UINT64_MAX) &&
		    (!best || code > best))
			best = code;
		item = interval_map_outer(&d->list.map, item, address);
	}
	return best;
}

static const struct line *find_line(const struct jitdump *d, const struct code *code,
				    uint64_t address)
{
	const struct line *best = NULL;

	for (uint32_t i = 0; i < code->line_count; i++) {
		const struct line *line = &d->lines[code->first_line + i];

		if (line->address <= address && (!best || line->address >= best->address))
			best = line;
	}
	return best && best->line ? best : NULL;
}

int jitdump_find(struct jitdump *d, uint64_t address, uint64_t time, struct jitdump_code *ret)
{
	const struct code *code = NULL;
	const struct line *line;
	time_t today = clock_seconds();
	int r;

	if (d->read_at == today)
		code = find_code(d, address, time);
	if (!code) {
		/* a file that cannot be opened is not tried for each address */
		r = d->fd < 0 && d->read_at == today ? 0 : update(d);
		if (r < 0)
			return r;
		d->read_at = today;
		code = find_code(d, address, time);
	}
	if (!code)
		return 0;
	line = find_line(d, code, address);
	*ret = (struct jitdump_code){
		.start = code->start,
		.size = code->size,
		.name = d->list.names + code->name,
		.src_file = line ? d->list.names + line->file : NULL,
		.line = line ? line->line : 0,
	};
	return 1;
}

bool jitdump_damage(const struct jitdump *d, struct bobbin_error *ret)
{
	if (!d->damage.reason)
		return false;
	*ret = d->damage;
	return true;
}

bool jitdump_is_of(const struct jitdump *d, pid_t pid, const char *path)
{
	return d->file.pid == pid && !strcmp(d->file.path, path);
}

const char *jitdump_path(const struct jitdump *d)
{
	return d->file.path;
}

size_t jitdump_memory(const struct jitdump *d)
{
	return sizeof(*d) + symlist_memory(&d->list) + d->code_capacity * sizeof(*d->codes) +
	       d->line_capacity * sizeof(*d->lines) + d->place_capacity * sizeof(*d->places) +
	       d->place_index.n_slots * sizeof(*d->place_index.slots);
}
