/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "elf/core_loader.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "core/bytes.h"
#include "elf/core_image.h"

#define PAGE 4096ull
/* Entries of the program's dynamic section that are looked at. */
#define DYNAMIC_MAX 512
/* In struct r_debug and struct link_map of link.h. */
#define AT_LIST 8
#define AT_LIST_NAME 8
#define AT_LIST_NEXT 24
#define LIST_ENTRY 32

/* A word of the process; false: the core does not have it. */
static bool read_word(const struct core_file *core, uint64_t addr, uint64_t *ret)
{
	uint8_t word[8];
	struct bytes b = bytes_of(word, sizeof(word), core->arch->big_endian);

	if (core_file_read(core, addr, word, sizeof(word)) != sizeof(word))
		return false;
	*ret = bytes_u64(&b);
	return true;
}

/* A path of the process; "": it is not there, or too long. */
static void read_path(const struct core_file *core, uint64_t addr, char ret[PATH_MAX])
{
	ssize_t n = addr ? core_file_read(core, addr, ret, PATH_MAX) : 0;

	if (n <= 0 || !memchr(ret, 0, (size_t)n))
		*ret = 0;
}

/* All segments of a file, @bias above its own addresses. */
static int map_segments(struct core_file *core, const struct elf_image *image, uint64_t bias,
			const char *path)
{
	int r = 0;

	for (size_t i = 0; i < image->segment_count && !r; i++) {
		const struct elf_segment *s = &image->segments[i];
		uint64_t start = (bias + s->vaddr) & -PAGE;
		uint64_t end = (bias + s->vaddr + s->filesz + PAGE - 1) & -PAGE;

		if (start < end)
			r = core_file_map(core, start, end, s->offset & -PAGE, path);
	}
	return r;
}

/* The address of the loader's first entry, by the program's dynamic section; 0: there is none. */
static uint64_t find_list(const struct core_file *core, uint64_t dynamic)
{
	uint64_t tag, value, first;

	for (uint64_t i = 0; i < DYNAMIC_MAX; i++, dynamic += 2 * sizeof(uint64_t)) {
		if (!read_word(core, dynamic, &tag) || tag == DT_NULL ||
		    !read_word(core, dynamic + sizeof(uint64_t), &value))
			return 0;
		if (tag == DT_DEBUG)
			return value && read_word(core, value + AT_LIST, &first) ? first : 0;
	}
	return 0;
}

/* What is mapped at the start of a library that the loader tells of. */
static int map_library(struct core_file *core, uint64_t start, uint64_t name)
{
	struct core_image image;
	char path[PATH_MAX];
	int r;

	read_path(core, name, path);
	/* the program itself has no name there, and the vDSO no file */
	if (!*path || start == core->auxv.vdso)
		return 0;
	r = core_image_init(core, start, &image);
	if (r)
		return r == -ENOENT || r == -ENODATA ? 0 : r;
	r = map_segments(core, &image.elf, image.bias, path);
	core_image_fini(&image);
	return r;
}

/* A list that somebody has written over may have no end. */
static int map_libraries(struct core_file *core, uint64_t entry)
{
	int r = 0;

	for (unsigned int i = 0; entry && i < CORE_IMAGES_MAX && !r; i++) {
		uint8_t words[LIST_ENTRY];
		struct bytes b = bytes_of(words, sizeof(words), core->arch->big_endian);
		uint64_t start, name;

		if (core_file_read(core, entry, words, sizeof(words)) != sizeof(words))
			return 0;
		start = bytes_u64(&b);
		bytes_seek(&b, AT_LIST_NAME);
		name = bytes_u64(&b);
		bytes_seek(&b, AT_LIST_NEXT);
		entry = bytes_u64(&b);
		r = map_library(core, start, name);
	}
	return r;
}

static int map_program(struct core_file *core, const struct elf_image *image, uint64_t bias,
		       const char *path)
{
	int r = map_segments(core, image, bias, path);

	if (r || !image->dynamic)
		return r;
	return map_libraries(core, find_list(core, bias + image->dynamic));
}

int core_loader_map(struct core_file *core, const struct elf_image *program, const char *path)
{
	char told[PATH_MAX];
	struct core_image image;
	int r;

	read_path(core, core->auxv.path, told);
	/* the headers of segments follow that of the file, in its first page */
	r = core->auxv.headers ? core_image_init(core, core->auxv.headers & -PAGE, &image)
			       : -ENODATA;
	if (!r) {
		r = map_program(core, &image.elf, image.bias, *told ? told : path);
		core_image_fini(&image);
	} else if (r == -ENODATA || r == -ENOENT) {
		r = program && core->auxv.entry
			    ? map_program(core, program, core->auxv.entry - program->entry, path)
			    : 0;
	}
	core_file_sort_mappings(core);
	return r;
}
