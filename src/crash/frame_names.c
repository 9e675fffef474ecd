/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "crash/frame_names.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "crash/raw_calls.h"
#include "crash/raw_file.h"

#define PATIENCE_NS 5000000000ull
/* Code that is compared where a file system has another number in mappings than for stat(2). */
#define COMPARED 16

void frame_names_begin(struct frame_names *names)
{
	code_mappings_read(&names->mappings);
	memset(names->kept, 0, sizeof(names->kept));
	names->used = 0;
	names->deadline = raw_clock_ns() + PATIENCE_NS;
}

static struct frame_name *kept_name(struct frame_names *n, uint64_t pc)
{
	return &n->kept[(pc ^ pc >> 10 ^ pc >> 20) & (FRAME_NAMES_KEPT - 1)];
}

static bool has_same_code(int fd, const struct code_mapping *m, uint64_t pc)
{
	uint8_t code[COMPARED];
	const uint64_t left = m->end - pc;
	const size_t size = left < COMPARED ? left : COMPARED;

	return raw_file_read_at(fd, pc - m->start + m->offset, code, size) == size &&
	       !memcmp(code, (const void *)(uintptr_t)pc, size);
}

/* Whether @fd is the mapped file. */
static bool is_mapped_file(int fd, const struct code_mapping *m)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_ino == m->ino;
}

static bool is_same_device(int fd, const struct code_mapping *m)
{
	struct stat st;

	return !fstat(fd, &st) && major(st.st_dev) == m->major && minor(st.st_dev) == m->minor;
}

/*
 * The file that is mapped at @pc, or -1.  It is looked at before it is opened: there may be a FIFO by
 * now.
 */
static int open_mapped(const struct code_mapping *m, uint64_t pc)
{
	char name[RAW_FILE_PATH];
	int fd, place = raw_file_open(m->path, O_PATH);

	if (place < 0)
		return -1;
	fd = is_mapped_file(place, m)
		     ? raw_file_open(raw_file_path(name, "/proc/self/fd/", (unsigned int)place, ""),
				     0)
		     : -1;
	raw_file_close(place);
	if (fd < 0)
		return -1;
	if (is_mapped_file(fd, m) && (is_same_device(fd, m) || has_same_code(fd, m, pc)))
		return fd;
	raw_file_close(fd);
	return -1;
}

static bool open_image(const struct code_mapping *m, uint64_t pc, struct image_source *ret)
{
	*ret = (struct image_source){.fd = -1};
	if (m->path[0] != '/') {
		ret->bytes = (const uint8_t *)(uintptr_t)m->start;
		ret->size = m->end - m->start;
		return true;
	}
	ret->fd = open_mapped(m, pc);
	return ret->fd >= 0;
}

/* A query by the order of addresses; there are few, and most come sorted. */
static void add_query(struct frame_names *n, size_t count, uint64_t address, uint32_t frame)
{
	size_t at = count;

	for (; at && n->queries[at - 1].address > address; at--) {
		n->queries[at].address = n->queries[at - 1].address;
		n->asked[at] = n->asked[at - 1];
	}
	n->queries[at].address = address;
	n->asked[at] = frame;
}

static void take_answer(struct frame_names *n, const struct image_source *image, size_t i)
{
	struct frame_name *name = &n->names[n->asked[i]];
	char *text = n->text + n->used;

	name->address = n->queries[i].address;
	if (FRAME_NAMES_TEXT - n->used < SYMBOL_NAME_SIZE ||
	    !symbol_query_name(image, &n->queries[i], &name->offset, text))
		return;
	name->name = text;
	n->used += strlen(text) + 1;
}

/* Name the frames from @first on that are in the same file as that one. */
static void name_file(struct frame_names *n, uint32_t first, uint32_t count)
{
	const uint64_t pc = n->names[first].pc;
	const struct code_mapping *m = code_mappings_find(&n->mappings, pc);
	struct image_source image;
	size_t queries = 0;

	if (raw_clock_ns() > n->deadline || !open_image(m, pc, &image))
		return;
	for (uint32_t i = first; i < count; i++) {
		const struct frame_name *name = &n->names[i];
		uint64_t address;

		if (name->path != m->path || name->kept)
			continue;
		m = code_mappings_find(&n->mappings, name->pc);
		if (image_code_address(&image, name->pc - m->start + m->offset, &address))
			add_query(n, queries++, address, i);
	}
	symbol_search(&image, n->queries, queries);
	for (size_t i = 0; i < queries; i++)
		take_answer(n, &image, i);
	if (image.fd >= 0)
		raw_file_close(image.fd);
}

/* Whether an earlier frame is of the same file, which has been read with that one. */
static bool was_read(const struct frame_names *n, uint32_t frame)
{
	for (uint32_t i = 0; i < frame; i++)
		if (n->names[i].path == n->names[frame].path && !n->names[i].kept)
			return true;
	return false;
}

static void begin_name(struct frame_names *n, uint64_t pc, struct frame_name *ret)
{
	const struct frame_name *kept = kept_name(n, pc);
	const struct code_mapping *m;

	if (kept->pc == pc && kept->path) {
		*ret = *kept;
		return;
	}
	m = code_mappings_find(&n->mappings, pc);
	*ret = (struct frame_name){.pc = pc, .path = m ? m->path : NULL};
}

void frame_names_find(struct frame_names *names, const struct bobbin_frame *frames, uint32_t count)
{
	/* of a trace all names find room, or those of all traces are forgotten */
	if (FRAME_NAMES_TEXT - names->used < FRAME_NAMES_MAX * SYMBOL_NAME_SIZE) {
		memset(names->kept, 0, sizeof(names->kept));
		names->used = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		begin_name(names, bobbin_frame_lookup_pc(&frames[i]), &names->names[i]);
	for (uint32_t i = 0; i < count; i++)
		if (names->names[i].path && !names->names[i].kept && !was_read(names, i))
			name_file(names, i, count);
	for (uint32_t i = 0; i < count; i++) {
		names->names[i].kept = true;
		if (names->names[i].path)
			*kept_name(names, names->names[i].pc) = names->names[i];
	}
}
