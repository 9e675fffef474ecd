/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/deps.h"
#include "target/backing_file.h"

int space_open(struct file_table *files, struct process_reader *reader,
	       const struct bobbin_arch *arch, struct bobbin_space **ret)
{
	struct bobbin_space *space = calloc(1, sizeof(*space));

	if (!space)
		return -ENOMEM;
	space->files = files;
	space->reader = reader;
	space->arch = arch;
	plain_forms_of(arch, &space->forms);
	*ret = space;
	return 0;
}

void space_register(struct bobbin_space *space, struct remote_code *code)
{
	remote_code_release(space->remote);
	space->remote = code;
	space->generation++;
}

BOBBIN_API void bobbin_space_clear(struct bobbin_space *space)
{
	for (size_t i = 0; i < space->count; i++)
		free(space->mappings[i].path);
	space->count = 0;
	space->last = 0;
	space_register(space, NULL);
}

BOBBIN_API void bobbin_space_close(struct bobbin_space *space)
{
	if (!space)
		return;
	bobbin_space_clear(space);
	free(space->mappings);
	free(space->memo);
	free(space);
}

/* The first mapping that ends behind @addr. */
static size_t first_behind(const struct bobbin_space *space, uint64_t addr)
{
	size_t lo = 0, hi = space->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (space->mappings[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool holds(const struct mapping *m, uint64_t addr)
{
	return addr >= m->start && addr < m->end;
}

const struct mapping *space_find(struct bobbin_space *space, uint64_t addr)
{
	size_t i = space->last;

	/* callers and callees mostly share a file */
	if (i >= space->count || !holds(&space->mappings[i], addr)) {
		i = first_behind(space, addr);
		if (i == space->count || !holds(&space->mappings[i], addr))
			return NULL;
		space->last = i;
	}
	return &space->mappings[i];
}

bool space_has(struct bobbin_space *space, uint64_t addr)
{
	return space_find(space, addr) || remote_code_find(space->remote, addr);
}

static int make_room(struct bobbin_space *space, size_t more)
{
	size_t room = space->room;
	struct mapping *mappings;

	if (space->count + more <= room)
		return 0;
	while (room < space->count + more)
		room = room ? 2 * room : 16;
	mappings = realloc(space->mappings, room * sizeof(*mappings));
	if (!mappings)
		return -ENOMEM;
	space->mappings = mappings;
	space->room = room;
	return 0;
}

/* Open a gap for one mapping before entry @i; there is room. */
static struct mapping *insert_at(struct bobbin_space *space, size_t i)
{
	memmove(&space->mappings[i + 1], &space->mappings[i],
		(space->count - i) * sizeof(*space->mappings));
	space->count++;
	return &space->mappings[i];
}

static void remove_range(struct bobbin_space *space, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		free(space->mappings[i].path);
	memmove(&space->mappings[from], &space->mappings[to],
		(space->count - to) * sizeof(*space->mappings));
	space->count -= to - from;
}

static void cut_front(struct mapping *m, uint64_t start)
{
	m->offset += start - m->start;
	m->start = start;
}

/* A hole inside one mapping leaves two. */
static int split(struct bobbin_space *space, size_t i, uint64_t start, uint64_t end)
{
	char *path = strdup(space->mappings[i].path);
	struct mapping *low, *high;

	if (!path || make_room(space, 1)) {
		free(path);
		return -ENOMEM;
	}
	low = insert_at(space, i);
	high = low + 1;
	*low = *high;
	low->end = start;
	high->path = path;
	cut_front(high, end);
	return 0;
}

BOBBIN_API int bobbin_space_unmap(struct bobbin_space *space, uint64_t start, uint64_t end)
{
	size_t i = first_behind(space, start), behind;

	space->last = 0;
	space->generation++;
	if (i == space->count || space->mappings[i].start >= end)
		return 0;
	if (space->mappings[i].start < start) {
		if (space->mappings[i].end > end)
			return split(space, i, start, end);
		space->mappings[i++].end = start;
	}
	for (behind = i; behind < space->count && space->mappings[behind].end <= end;)
		behind++;
	remove_range(space, i, behind);
	if (i < space->count && space->mappings[i].start < end)
		cut_front(&space->mappings[i], end);
	return 0;
}

BOBBIN_API int bobbin_space_map(struct bobbin_space *space, const struct bobbin_mapping *mapping)
{
	struct mapped_file *file;
	struct mapping *m;
	char *path;
	int r;

	if (mapping->start >= mapping->end)
		return -EINVAL;
	r = file_table_find(space->files, mapping, &file);
	if (r)
		return r;
	path = strdup(mapping->path);
	if (!path || make_room(space, 1) ||
	    bobbin_space_unmap(space, mapping->start, mapping->end) || make_room(space, 1)) {
		free(path);
		return -ENOMEM;
	}
	m = insert_at(space, first_behind(space, mapping->start));
	*m = (struct mapping){
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.file = file,
		.path = path,
		.pid = mapping->pid,
	};
	return 0;
}

BOBBIN_API int bobbin_space_fork(const struct bobbin_space *space, struct bobbin_space **ret)
{
	struct bobbin_space *child;

	if (space_open(space->files, space->reader, space->arch, &child))
		return -ENOMEM;
	if (make_room(child, space->count))
		goto out;
	for (size_t i = 0; i < space->count; i++) {
		child->mappings[i] = space->mappings[i];
		child->mappings[i].path = strdup(space->mappings[i].path);
		if (!child->mappings[i].path)
			goto out;
		child->count++;
	}
	child->remote = remote_code_share(space->remote);
	*ret = child;
	return 0;
out:
	bobbin_space_close(child);
	return -ENOMEM;
}

bool mapping_is_bare(const struct mapping *m)
{
	return m->file->kind == FILE_NONE || !strncmp(m->path, "/memfd:", strlen("/memfd:"));
}

static void place_in_image(const struct remote_image *image, uint64_t addr,
			   struct bobbin_place_info *ret)
{
	*ret = (struct bobbin_place_info){
		.mapping =
			{
				.start = image->start,
				.end = image->end,
				.path = image->path,
				.build_id_len = image->build_id_len,
			},
		.file_offset = addr - image->start,
	};
	memcpy(ret->mapping.build_id, image->build_id, sizeof(image->build_id));
}

static void place_in_mapping(const struct mapping *m, uint64_t addr, struct bobbin_place_info *ret)
{
	const struct mapped_file *f = m->file;

	*ret = (struct bobbin_place_info){
		.mapping =
			{
				.start = m->start,
				.end = m->end,
				.offset = m->offset,
				.path = m->path,
				.build_id_len = f->build_id_len,
				.major = f->major,
				.minor = f->minor,
				.ino = f->ino,
				.pid = m->pid,
			},
		.file_offset = m->offset + (addr - m->start),
	};
	memcpy(ret->mapping.build_id, f->build_id, sizeof(f->build_id));
	if (f->kind == FILE_VDSO)
		ret->image = own_vdso(&ret->image_size);
}

BOBBIN_API int bobbin_space_find(const struct bobbin_space *space, uint64_t addr,
				 struct bobbin_place_info *ret)
{
	const struct remote_range *range = remote_code_find(space->remote, addr);
	size_t i = first_behind(space, addr);
	bool mapped = i < space->count && holds(&space->mappings[i], addr);

	/* what the kernel says is true, whatever the process says */
	if (range && range->image && (!mapped || mapping_is_bare(&space->mappings[i])))
		place_in_image(range->image, addr, ret);
	else if (mapped)
		place_in_mapping(&space->mappings[i], addr, ret);
	else
		return -ENOENT;
	return 0;
}
