/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/mapping_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc_maps.h"
#include "base/vector.h"
#include "core/bisect.h"

void mapping_list_clear(struct mapping_list *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		free(maps->list[i].path);
	maps->count = 0;
	maps->last = 0;
	maps->filtered = false;
	maps->probes = 0;
}

void mapping_list_fini(struct mapping_list *maps)
{
	mapping_list_clear(maps);
	free(maps->list);
	*maps = (struct mapping_list){0};
}

static size_t first_after(const struct mapping_list *maps, uint64_t addr)
{
	return bisect(i, 0, maps->count, maps->list[i].end > addr);
}

static bool holds(const struct mapping *m, uint64_t addr)
{
	return addr >= m->start && addr < m->end;
}

const struct mapping *mapping_list_at(const struct mapping_list *maps, uint64_t addr)
{
	size_t i = first_after(maps, addr);

	return i < maps->count && holds(&maps->list[i], addr) ? &maps->list[i] : NULL;
}

bool mapping_list_overlaps(const struct mapping_list *maps, uint64_t start, uint64_t end)
{
	size_t i = first_after(maps, start);

	return i < maps->count && maps->list[i].start < end;
}

static void filter(struct mapping_list *maps)
{
	maps->chunks = (struct code_chunks){0};
	for (size_t i = 0; i < maps->count; i++)
		code_chunks_add(&maps->chunks, maps->list[i].start, maps->list[i].end);
	maps->filtered = true;
}

const struct mapping *mapping_list_search(struct mapping_list *maps, uint64_t addr)
{
	size_t i;

	if (!maps->filtered)
		filter(maps);
	/* callers and callees mostly share a file */
	if (maps->last < maps->count && holds(&maps->list[maps->last], addr))
		return &maps->list[maps->last];
	i = first_after(maps, addr);
	if (i == maps->count || !holds(&maps->list[i], addr))
		return NULL;
	maps->last = i;
	return &maps->list[i];
}

static int make_room(struct mapping_list *maps)
{
	return vector_reserve(&maps->list, &maps->room, maps->count + 1, sizeof(*maps->list));
}

/* Open a gap for one mapping before entry @i; there is room. */
static struct mapping *insert_at(struct mapping_list *maps, size_t i)
{
	memmove(&maps->list[i + 1], &maps->list[i], (maps->count - i) * sizeof(*maps->list));
	maps->count++;
	return &maps->list[i];
}

static void remove_range(struct mapping_list *maps, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		free(maps->list[i].path);
	memmove(&maps->list[from], &maps->list[to], (maps->count - to) * sizeof(*maps->list));
	maps->count -= to - from;
}

static void cut_front(struct mapping *m, uint64_t start)
{
	m->offset += start - m->start;
	m->start = start;
}

/* A hole inside one mapping leaves two. */
static int split(struct mapping_list *maps, size_t i, uint64_t start, uint64_t end)
{
	char *path = strdup(maps->list[i].path);
	struct mapping *low, *high;

	if (!path || make_room(maps)) {
		free(path);
		return -ENOMEM;
	}
	low = insert_at(maps, i);
	high = low + 1;
	*low = *high;
	low->end = start;
	high->path = path;
	cut_front(high, end);
	return 0;
}

int mapping_list_remove(struct mapping_list *maps, uint64_t start, uint64_t end)
{
	size_t i = first_after(maps, start), after;

	maps->last = 0;
	maps->filtered = false;
	if (i == maps->count || maps->list[i].start >= end)
		return 0;
	if (maps->list[i].start < start) {
		if (maps->list[i].end > end)
			return split(maps, i, start, end);
		maps->list[i++].end = start;
	}
	for (after = i; after < maps->count && maps->list[after].end <= end;)
		after++;
	remove_range(maps, i, after);
	if (i < maps->count && maps->list[i].start < end)
		cut_front(&maps->list[i], end);
	return 0;
}

int mapping_list_add(struct mapping_list *maps, const struct bobbin_mapping *mapping,
		     const struct file_image *image)
{
	struct mapped_file *file;
	struct mapping *m;
	char *path;
	int r;

	if (mapping->start >= mapping->end)
		return -EINVAL;
	r = file_table_find(maps->files, mapping, image, &file);
	if (r)
		return r;
	path = strdup(mapping->path);
	if (!path || make_room(maps) || mapping_list_remove(maps, mapping->start, mapping->end) ||
	    make_room(maps)) {
		free(path);
		return -ENOMEM;
	}
	m = insert_at(maps, first_after(maps, mapping->start));
	*m = (struct mapping){
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.file = file,
		.path = path,
		.pid = mapping->pid,
	};
	if (!strcmp(path, "[uprobes]"))
		maps->probes = mapping->start;
	return 0;
}

static int add_code(void *ctx, const struct proc_map *map)
{
	const struct bobbin_mapping mapping = {
		.start = map->start,
		.end = map->end,
		.offset = map->offset,
		.path = map->path,
		.major = map->major,
		.minor = map->minor,
		.ino = map->ino,
		.pid = map->pid,
	};

	return map->exec ? mapping_list_add(ctx, &mapping, NULL) : 0;
}

int mapping_list_load(struct mapping_list *maps, int pid)
{
	mapping_list_clear(maps);
	return proc_maps_read(&(struct remote_process){maps->reader, pid}, add_code, maps);
}

int mapping_list_copy(const struct mapping_list *from, struct mapping_list *ret)
{
	struct mapping_list maps = {
		.files = from->files, .reader = from->reader, .probes = from->probes};

	if (vector_reserve(&maps.list, &maps.room, from->count, sizeof(*maps.list)))
		return -ENOMEM;
	for (; maps.count < from->count; maps.count++) {
		struct mapping *m = &maps.list[maps.count];

		*m = from->list[maps.count];
		m->path = strdup(m->path);
		if (!m->path) {
			mapping_list_fini(&maps);
			return -ENOMEM;
		}
	}
	*ret = maps;
	return 0;
}

bool is_jitdump_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t digits;

	if (strncmp(name, "jit-", 4))
		return false;
	digits = strspn(name + 4, "0123456789");
	name += 4 + digits;
	return digits && (!strcmp(name, ".dump") || !strcmp(name, ".dump (deleted)"));
}

bool is_kept_map_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (strncmp(name, "perf-", 5))
		return false;
	name += 5 + strspn(name + 5, "0123456789.");
	return !strcmp(name, "map") && name[-1] == '.';
}
