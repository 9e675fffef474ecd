/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/core_space.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base_name.h"
#include "base/file_range.h"
#include "base/proc_maps.h"
#include "elf/core_image.h"
#include "elf/core_loader.h"
#include "unwind/space.h"

/* Bytes of images that are copied out of a core, of one and of all. */
#define IMAGE_MAX ((uint64_t)64 << 20)
#define IMAGES_MAX ((uint64_t)256 << 20)
/* Bytes of files without a build ID that are compared. */
#define COMPARED 4096
/* What a page of x86-64 is called that is the kernel's. */
#define VSYSCALL 0xffffffffff600000ull

/* A core whose code is being mapped. */
struct loading {
	struct bobbin_space *space;
	struct core_file *core;
	const struct core_places *places;
	struct elf_image program; /* of the file that the user named */
	uint64_t room;
	size_t image_count;
};

/* A file that was mapped, from its first byte on. */
struct object {
	const char *told;        /* its path, as the core has it */
	struct core_image image; /* @head NULL: the core lacks its headers */
	bool sought;
	char path[PATH_MAX]; /* of the file that is here; "": none */
	uint8_t *bytes;      /* else what the core has */
	size_t size;
};

static bool begins_alike(const struct core_image *image, int fd)
{
	size_t size = image->head_size < COMPARED ? image->head_size : COMPARED;
	uint8_t begin[COMPARED];

	return size && !file_range_read(fd, 0, begin, size) && !memcmp(begin, image->head, size);
}

static bool is_same(const struct core_image *image, int fd)
{
	uint8_t id[ELF_BUILD_ID_MAX], len = 0;

	if (!image->elf.build_id_len)
		return begins_alike(image, fd);
	return !elf_build_id(fd, id, &len) && len == image->elf.build_id_len &&
	       !memcmp(id, image->elf.build_id, len);
}

/* Whatever the core says: wait for no pipe, wake no device.  0, or why it is not the file. */
static int try_file(const struct loading *l, const struct object *object, const char *path)
{
	const struct remote_process nobody = {l->places->reader, 0};
	int fd = process_file_open(&nobody, path, 0, NULL), r;

	if (fd < 0)
		return fd;
	r = is_same(&object->image, fd) ? 0 : -ESTALE;
	close(fd);
	return r;
}

/* FOLDER/NAME, if that is the file.  @error: why none was, so far. */
static bool try_below(const struct loading *l, struct object *object, const char *folder,
		      const char *name, size_t length, int *error)
{
	int r = -ENOENT;

	if (!folder || snprintf(object->path, PATH_MAX, "%s%s%.*s", folder,
				*name == '/' || !*folder ? "" : "/", (int)length, name) >= PATH_MAX)
		return false;
	r = try_file(l, object, object->path);
	if (r == -ESTALE)
		*error = r;
	return !r;
}

/* What follows the name of a file that is unlinked is no part of it. */
static int find_file(const struct loading *l, struct object *object)
{
	const size_t length = map_path_length(object->told);
	const char *name = base_name(object->told);
	const size_t named = length - (size_t)(name - object->told);
	int error = object->image.head ? -ENOENT : -ENODATA;

	if (object->image.head && *object->told == '/' &&
	    (try_below(l, object, l->places->sysroot, object->told, length, &error) ||
	     try_below(l, object, "", object->told, length, &error)))
		return 0;
	if (object->image.head && (try_below(l, object, l->places->sysroot, name, named, &error) ||
				   try_below(l, object, l->places->beside, name, named, &error)))
		return 0;
	*object->path = 0;
	return error;
}

/* Whether the program starts in it. */
static bool is_program(const struct core_file *core, const struct object *object)
{
	const struct core_mapping *mapping = core_file_mapping(core, core->auxv.entry);

	return mapping && mapping->path == object->told;
}

static int take_program(const struct loading *l, struct object *object)
{
	int r = object->image.head ? try_file(l, object, l->places->program) : 0;

	if (!r)
		snprintf(object->path, PATH_MAX, "%s", l->places->program);
	return r;
}

static int copy_image(struct loading *l, struct object *object)
{
	const uint64_t room = l->room < IMAGE_MAX ? l->room : IMAGE_MAX;
	int r = core_image_bytes(l->core, &object->image, room, &object->bytes, &object->size);

	l->room -= object->size;
	return r == -ENOBUFS ? 0 : r;
}

/* Once for each object, where its code is met. */
static int seek_file(struct loading *l, struct object *object)
{
	int r;

	if (object->sought)
		return 0;
	object->sought = true;
	if (l->places->program && is_program(l->core, object))
		return take_program(l, object);
	r = find_file(l, object);
	if (!r)
		return 0;
	if (l->places->on_absence)
		l->places->on_absence(l->places->ctx, object->told, r);
	return object->image.head ? copy_image(l, object) : 0;
}

static int map_code(struct loading *l, struct object *object, const struct core_mapping *m)
{
	struct bobbin_mapping mapping = {
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.build_id_len = object->image.elf.build_id_len,
	};
	const struct core_image *image = &object->image;
	int r = seek_file(l, object);

	if (r)
		return r;
	memcpy(mapping.build_id, image->elf.build_id, sizeof(mapping.build_id));
	mapping.path = *object->path ? object->path : m->path;
	if (!*object->path)
		return bobbin_space_map_image(l->space, &mapping, object->bytes, object->size);
	/* the user vouches for it, or its build ID does */
	if (!image->head || image->elf.build_id_len)
		return bobbin_space_map(l->space, &mapping);
	return bobbin_space_map_image(l->space, &mapping, image->head, image->head_size);
}

static void leave_object(struct object *object)
{
	core_image_fini(&object->image);
	free(object->bytes);
	*object = (struct object){0};
}

static int enter_object(struct loading *l, const struct core_mapping *m, struct object *object)
{
	int r;

	leave_object(object);
	object->told = m->path;
	if (m->offset || l->image_count == CORE_IMAGES_MAX)
		return 0;
	l->image_count++;
	r = core_image_init(l->core, m->start, &object->image);
	return r == -ENOENT || r == -ENODATA ? 0 : r;
}

/* The parts of a file follow each other. */
static int map_files(struct loading *l)
{
	struct object *object = calloc(1, sizeof(*object));
	int r = object ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->core->mapping_count && !r; i++) {
		const struct core_mapping *m = &l->core->mappings[i];

		if (object->told != m->path || !m->offset)
			r = enter_object(l, m, object);
		if (!r && core_image_is_code(l->core, &object->image, m))
			r = map_code(l, object, m);
	}
	if (object)
		leave_object(object);
	free(object);
	return r;
}

static int map_vdso(struct loading *l, const struct core_memory *memory)
{
	struct bobbin_mapping mapping = {
		.start = memory->start, .end = memory->start + memory->size, .path = "[vdso]"};
	struct core_image image;
	uint8_t *bytes = NULL;
	size_t size = 0;
	int r = core_image_init(l->core, memory->start, &image);

	if (r)
		return r == -ENOENT || r == -ENODATA ? 0 : r;
	memcpy(mapping.build_id, image.elf.build_id, sizeof(mapping.build_id));
	mapping.build_id_len = image.elf.build_id_len;
	r = core_image_bytes(l->core, &image, IMAGE_MAX, &bytes, &size);
	if (!r)
		r = bobbin_space_map_image(l->space, &mapping, bytes, size);
	free(bytes);
	core_image_fini(&image);
	return r == -ENOBUFS ? 0 : r;
}

/* Memory without a file, in which code may have been made. */
static int map_bare(struct loading *l, const struct core_memory *memory)
{
	const struct bobbin_mapping mapping = {
		.start = memory->start,
		.end = memory->start + memory->size,
		.path = memory->start == VSYSCALL ? "[vsyscall]" : "",
	};

	return bobbin_space_map(l->space, &mapping);
}

static int map_memory(struct loading *l)
{
	const struct core_file *core = l->core;
	int r = 0;

	for (size_t i = 0; i < core->memory_count && !r; i++) {
		const struct core_memory *memory = &core->memory[i];

		if (!memory->exec || core_file_mapping(core, memory->start))
			continue;
		r = memory->start == core->auxv.vdso ? map_vdso(l, memory) : map_bare(l, memory);
	}
	return r;
}

/* Without a list of what is mapped. */
static int add_mappings(struct loading *l)
{
	const char *program = l->places->program;
	const char *path = program ? program : l->core->name;
	int fd, r = 0;

	if (program) {
		fd = process_file_open(&(struct remote_process){l->places->reader, 0}, program, 0,
				       NULL);
		r = fd < 0 ? fd : elf_image_init(fd, NULL, &l->program);
		if (fd >= 0)
			close(fd);
	}
	if (!r && !l->core->mapping_count)
		r = core_loader_map(l->core, program ? &l->program : NULL, path);
	return r;
}

int core_space_load(struct bobbin_space *space, struct core_file *core,
		    const struct core_places *places)
{
	struct loading l = {.space = space, .core = core, .places = places, .room = IMAGES_MAX};
	int r = add_mappings(&l);

	if (!r)
		r = map_memory(&l);
	if (!r)
		r = map_files(&l);
	space->whole = true;
	elf_image_fini(&l.program);
	return r;
}
