/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crash/code_mappings.h"

#include <string.h>

#include "base/proc_map.h"
#include "core/bisect.h"
#include "crash/raw_file.h"

/* A line has a path, in which each byte may be written as four. */
#define LINE_SIZE (4 * 4096 + 256)

static bool is_code_of_file(const struct proc_map *map)
{
	return map->exec && (map->path[0] == '/' || !strcmp(map->path, "[vdso]"));
}

/* The path of the last mapping is often that of the next one, too.  NULL: there is no room. */
static const char *keep_path(struct code_mappings *m, const char *path)
{
	const char *last = m->count ? m->mappings[m->count - 1].path : "";
	const size_t size = strlen(path) + 1;
	char *kept = m->paths + m->used;

	if (!strcmp(last, path))
		return last;
	if (size > sizeof(m->paths) - m->used)
		return NULL;
	m->used += size;
	return memcpy(kept, path, size);
}

static void add_line(struct code_mappings *m, const char *line)
{
	struct proc_map map;
	const char *path;

	if (m->count == CODE_MAPPINGS_MAX || !proc_map_parse(line, &map) || !is_code_of_file(&map))
		return;
	path = keep_path(m, map.path);
	if (!path)
		return;
	m->mappings[m->count++] = (struct code_mapping){
		.start = map.start,
		.end = map.end,
		.offset = map.offset,
		.ino = map.ino,
		.major = map.major,
		.minor = map.minor,
		.path = path,
	};
}

/* Take whole lines off the first @size bytes; how many are left, at the start. */
static size_t take_lines(struct code_mappings *m, char *text, size_t size)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', size - (size_t)(line - text)))) {
		*end = 0;
		add_line(m, line);
		line = end + 1;
	}
	size -= (size_t)(line - text);
	memmove(text, line, size);
	return size;
}

void code_mappings_read(struct code_mappings *ret)
{
	static char text[LINE_SIZE];
	size_t used = 0, n;
	/* that of the process cannot be read once its first thread has ended */
	int fd = raw_file_open("/proc/thread-self/maps", 0);

	ret->count = 0;
	ret->used = 0;
	if (fd < 0)
		return;
	while ((n = raw_file_read(fd, text + used, sizeof(text) - used))) {
		used = take_lines(ret, text, used + n);
		if (used == sizeof(text))
			break;
	}
	raw_file_close(fd);
}

const struct code_mapping *code_mappings_find(const struct code_mappings *mappings, uint64_t addr)
{
	const uint32_t i = bisect(at, 0, mappings->count, mappings->mappings[at].end > addr);

	return i < mappings->count && addr >= mappings->mappings[i].start ? &mappings->mappings[i]
									  : NULL;
}
