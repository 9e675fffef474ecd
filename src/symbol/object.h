/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object.h - an ELF object of either class and byte order, read piecewise.
 *
 * The object is a file, read with pread and never mapped (a mapped file that
 * somebody truncates raises SIGBUS), or an image in memory.  Opening reads the
 * header, the program headers, the section headers with their names, and the
 * build ID; everything else is read when asked for and bounded by the size of
 * the file.
 */
#ifndef BOBBIN_SYMBOL_OBJECT_H
#define BOBBIN_SYMBOL_OBJECT_H

#include "core/bytes.h"

#include <stddef.h>
#include <sys/types.h>

#define OBJECT_BUILD_ID_MAX 64

struct object_segment {
	uint64_t offset, file_size, address, memory_size;
	bool executable;
};

struct object_section {
	const char *name;
	uint64_t address, offset, size, entry_size, flags;
	uint32_t type, link, info;
};

struct object {
	int fd;        /* -1 for an image */
	uint8_t *data; /* NULL for a file */
	uint64_t size;
	bool is_64, big_endian;
	uint16_t type, machine;
	struct object_segment *segments; /* PT_LOAD only, as in the file */
	unsigned int segment_count;
	struct object_section *sections;
	unsigned int section_count;
	char *names;
	size_t names_size;
	uint8_t build_id[OBJECT_BUILD_ID_MAX];
	size_t build_id_len;
};

/*
 * Open the regular file at @path; anything else (device, FIFO) is not touched.
 * Returns 0, -EBADMSG if it is no ELF object, -EINVAL if it is no regular file,
 * other negative errno of open(2), -ENOMEM.
 */
int object_open(const char *path, struct object **ret);

/* The same for a descriptor, which becomes the object's own, even on failure. */
int object_open_fd(int fd, struct object **ret);

/* The same for bytes that become the object's own, even on failure; from malloc. */
int object_open_image(uint8_t *image, size_t size, struct object **ret);

void object_close(struct object *o);

/* A descriptor of the regular file at @path, or a negative errno. */
int object_open_regular(const char *path);

/* Copy exactly @size bytes at @offset.  Returns 0, -ERANGE, -EIO. */
int object_read(const struct object *o, uint64_t offset, void *dst, size_t size);

/* A section by name, or of a type, or by index; NULL if there is none. */
const struct object_section *object_section(const struct object *o, const char *name);
const struct object_section *object_section_of_type(const struct object *o, uint32_t type);
const struct object_section *object_section_at(const struct object *o, uint32_t index);

/*
 * The contents of a section, decompressed, in memory of the caller's own.
 * Returns 0, -E2BIG if it is larger than @limit, -ENODATA if it has no bytes in
 * this file, -EBADMSG, -EIO, -ENOMEM.
 */
int object_load(const struct object *o, const struct object_section *s, uint64_t limit,
		uint8_t **ret, uint64_t *ret_size);

/* Whether object_load() has to decompress. */
bool object_is_compressed(const struct object *o, const struct object_section *s);

/*
 * Copy the string at @offset of a string section; it is cut to @size - 1 bytes.
 * Returns its length there, -ERANGE, -EBADMSG if it does not end, -EIO.
 */
int object_string(const struct object *o, const struct object_section *s, uint64_t offset,
		  char *dst, size_t size);

/* The address of the byte at @offset of the file.  Returns 0, -ENOENT. */
int object_address(const struct object *o, uint64_t offset, uint64_t *ret);

/*
 * The same for the lone debug file of a stripped file: the address at @offset of
 * the file that it was made from.  Returns 0, -ENOENT also if that is unknown.
 */
int object_debug_address(const struct object *o, uint64_t offset, uint64_t *ret);

/* Whether [start, start + size) lies in one executable segment. */
bool object_is_text(const struct object *o, uint64_t start, uint64_t size);

/* Whether a build ID is known and is this one. */
bool object_has_build_id(const struct object *o, const uint8_t *id, size_t len);

/* Bytes of memory held. */
size_t object_memory(const struct object *o);

#endif
