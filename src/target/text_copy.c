/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/text_copy.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_range.h"
#include "base/memory_origin.h"
#include "base/proc_maps.h"
#include "base/vector.h"
#include "elf/elf_headers.h"
#include "elf/elf_image.h"
#include "target/backing_file.h"

#define PAGE ((uint64_t)4096) /* or larger: pages are compared in these pieces */
#define AT_ONCE ((uint64_t)65536)

/* A line of /proc/PID/maps that counts. */
struct line {
	struct proc_map map;
	char *path;
};

/* A file that is mapped, and where. */
struct object {
	const struct line *line; /* which says so; NULL: none is open */
	int fd;                  /* -1: it cannot be read */
	struct elf_headers headers;
	uint64_t bias; /* from its addresses to the process's */
	uint8_t build_id[ELF_BUILD_ID_MAX], build_id_len;
};

struct search {
	const struct remote_process *process;
	const struct mapping_list *known; /* or NULL */
	text_copy_sink sink;
	void *ctx;
	struct line *lines;
	size_t count, room;
	struct object object;
	uint64_t compared;
	uint8_t memory[AT_ONCE], file[AT_ONCE];
};

/* Where the kernel's page begins that has @addr. */
static uint64_t page_start(uint64_t addr)
{
	return addr & -(uint64_t)sysconf(_SC_PAGESIZE);
}

static bool may_be_copy(const struct line *line)
{
	return line->map.exec && memory_may_be_made(line->path);
}

/* Also what was deleted, or loaded from memory. */
static bool is_file(const struct line *line)
{
	return line->map.ino && memory_origin(line->path) != MEMORY_BARE && !may_be_copy(line);
}

static bool is_same_file(const struct line *a, const struct line *b)
{
	return a->map.ino == b->map.ino && a->map.major == b->map.major &&
	       a->map.minor == b->map.minor;
}

static int take_line(void *ctx, const struct proc_map *map)
{
	struct search *s = ctx;
	struct line line = {.map = *map, .path = (char *)map->path};

	if (!may_be_copy(&line) && !is_file(&line))
		return 0;
	line.path = strdup(map->path);
	if (!line.path || vector_reserve(&s->lines, &s->room, s->count + 1, sizeof(line))) {
		free(line.path);
		return -ENOMEM;
	}
	line.map.path = NULL;
	s->lines[s->count++] = line;
	return 0;
}

static void close_object(struct object *o)
{
	if (o->fd >= 0) {
		elf_headers_fini(&o->headers);
		close(o->fd);
	}
	*o = (struct object){.fd = -1};
}

/* Where the segment that @line shows is in the process. */
static bool find_bias(struct object *o)
{
	const struct proc_map *map = &o->line->map;

	for (size_t i = 0; i < o->headers.segment_count; i++) {
		const Elf64_Phdr *p = &o->headers.segments[i];
		uint64_t offset = page_start(p->p_offset);

		if (p->p_type != PT_LOAD || map->offset < offset ||
		    map->offset >= p->p_offset + p->p_filesz)
			continue;
		o->bias = map->start - (page_start(p->p_vaddr) + (map->offset - offset));
		return true;
	}
	return false;
}

/* Most programs have one file below all the memory that they made. */
static void open_object(struct search *s, const struct line *line)
{
	struct object *o = &s->object;
	struct mapped_file file = {
		.kind = FILE_REGULAR,
		.path = line->path,
		.ino = line->map.ino,
		.major = line->map.major,
		.minor = line->map.minor,
		.pid = s->process->pid,
		.start = line->map.start,
		.end = line->map.end,
	};
	struct bobbin_error error;

	if (o->line == line)
		return;
	close_object(o);
	o->line = line;
	o->fd = backing_file_open(s->process->reader, &file, NULL);
	if (o->fd < 0)
		return;
	if (elf_headers_init(o->fd, false, &error, &o->headers)) {
		close(o->fd);
		o->fd = -1;
		return;
	}
	if (!find_bias(o)) {
		close_object(o);
		o->line = line;
		return;
	}
	elf_build_id(o->fd, o->build_id, &o->build_id_len);
}

/* The segment of code that has @addr, or NULL. */
static const Elf64_Phdr *segment_at(const struct object *o, uint64_t addr)
{
	uint64_t vaddr = addr - o->bias;

	for (size_t i = 0; o->fd >= 0 && i < o->headers.segment_count; i++) {
		const Elf64_Phdr *p = &o->headers.segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && vaddr >= page_start(p->p_vaddr) &&
		    vaddr < p->p_vaddr + p->p_filesz)
			return p;
	}
	return NULL;
}

/* Whether both ends are the object's: a page that differs between them was found to differ. */
static bool is_known(const struct search *s, uint64_t start, uint64_t end)
{
	const uint64_t ends[] = {start, end - 1};

	for (int i = 0; i < 2; i++) {
		const struct mapping *m = s->known ? mapping_list_at(s->known, ends[i]) : NULL;

		if (!m || !m->path || strcmp(m->path, s->object.line->path) != 0)
			return false;
	}
	return true;
}

/* Pages [@start, @end) of @line are a copy of the segment's. */
static int tell(struct search *s, const Elf64_Phdr *p, uint64_t start, uint64_t end)
{
	const struct object *o = &s->object;
	struct bobbin_mapping mapping = {
		.start = start,
		.end = end,
		.offset = p->p_offset + (start - o->bias - p->p_vaddr),
		.path = o->line->path,
		.build_id_len = o->build_id_len,
		.major = o->line->map.major,
		.minor = o->line->map.minor,
		.ino = o->line->map.ino,
		.pid = s->process->pid,
	};

	memcpy(mapping.build_id, o->build_id, sizeof(mapping.build_id));
	return start < end && !is_known(s, start, end) ? s->sink(s->ctx, &mapping) : 0;
}

/* Whether a page's bytes are those of the segment, where it has some. */
static bool is_copied(const struct search *s, const Elf64_Phdr *p, uint64_t page, uint64_t at)
{
	uint64_t start = p->p_vaddr + s->object.bias, end = start + p->p_filesz;
	uint64_t from = start > page ? start - page : 0;
	uint64_t to = end - page < PAGE ? end - page : PAGE;

	return !memcmp(s->memory + at + from, s->file + at + from, to - from);
}

/* What the file has for @size bytes of the process from @start on, which may begin before it. */
static bool read_file(struct search *s, const Elf64_Phdr *p, uint64_t start, uint64_t size)
{
	uint64_t offset = p->p_offset + (start - s->object.bias - p->p_vaddr);

	memset(s->file, 0, size);
	return file_range_start(s->object.fd, offset, s->file, size) > 0;
}

/* Compare the pages of [@start, @end); what cannot be read is no copy. */
static int compare(struct search *s, const Elf64_Phdr *p, uint64_t start, uint64_t end)
{
	uint64_t run = start, page = start;
	int r = 0;

	while (page < end && !r) {
		uint64_t size = end - page < AT_ONCE ? end - page : AT_ONCE;
		bool known = is_known(s, page, page + size);
		bool read = !known && !process_read(s->process, page, s->memory, size) &&
			    read_file(s, p, page, size);

		if (known) {
			r = tell(s, p, run, page);
			run = page + size;
		}
		for (uint64_t at = 0; at < size && !r && !known; at += PAGE) {
			if (read && is_copied(s, p, page + at, at))
				continue;
			r = tell(s, p, run, page + at);
			run = page + at + PAGE;
		}
		page += size;
	}
	s->compared += end - start;
	return r ? r : tell(s, p, run, end);
}

/* What of @line lies in code of the object whose file @around shows.  0: nothing. */
static int compare_with(struct search *s, const struct line *line, const struct line *around)
{
	const struct proc_map *map = &line->map;
	uint64_t end, last = 0;
	int r = 0;

	if (is_same_file(line, around))
		return 0;
	open_object(s, around);
	for (uint64_t at = map->start; at < map->end && !r; at = last) {
		const Elf64_Phdr *p = segment_at(&s->object, at);

		if (!p)
			break;
		end = page_start(p->p_vaddr + p->p_filesz + s->object.bias - 1) +
		      (uint64_t)sysconf(_SC_PAGESIZE);
		last = end < map->end ? end : map->end;
		if (s->compared + (last - at) > TEXT_COPY_MAX)
			return 1;
		r = compare(s, p, at, last);
	}
	return r ? r : last != 0;
}

/* The nearest file below, or else above. */
static int try_line(struct search *s, size_t i)
{
	size_t below = i, above = i + 1;
	int r = 0;

	while (below && !is_file(&s->lines[below - 1]))
		below--;
	while (above < s->count && !is_file(&s->lines[above]))
		above++;
	if (below)
		r = compare_with(s, &s->lines[i], &s->lines[below - 1]);
	if (!r && above < s->count &&
	    (!below || !is_same_file(&s->lines[below - 1], &s->lines[above])))
		r = compare_with(s, &s->lines[i], &s->lines[above]);
	return r < 0 ? r : 0;
}

/* A file within another one, such as of hugetlbfs. */
static bool is_within_another(const struct search *s, size_t i)
{
	const struct line *line = &s->lines[i];

	return line->map.exec && i && i + 1 < s->count && !is_same_file(line, line - 1) &&
	       is_file(line - 1) && is_file(line + 1) && is_same_file(line - 1, line + 1);
}

static void search_fini(struct search *s)
{
	close_object(&s->object);
	for (size_t i = 0; i < s->count; i++)
		free(s->lines[i].path);
	free(s->lines);
	free(s);
}

int text_copies_find(const struct remote_process *process, const struct mapping_list *known,
		     text_copy_sink sink, void *ctx)
{
	struct search *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->process = process;
	s->known = known;
	s->sink = sink;
	s->ctx = ctx;
	s->object.fd = -1;
	r = proc_maps_read(process, take_line, s);
	for (size_t i = 0; i < s->count && !r; i++)
		if (may_be_copy(&s->lines[i]) || is_within_another(s, i))
			r = try_line(s, i);
	search_fini(s);
	return r;
}
