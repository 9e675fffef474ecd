/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * build_id_path.h - "ab/cdef…": where files are kept by their build ID.
 */
#ifndef BOBBIN_BASE_BUILD_ID_PATH_H
#define BOBBIN_BASE_BUILD_ID_PATH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the path of an ID of so many bytes, with the zero at its end. */
#define BUILD_ID_PATH_SIZE(size) (2 * (size) + 2)

/* Write it to @to; returns where its zero is. */
static inline char *build_id_path(const uint8_t *id, size_t size, char *to)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		*to++ = digits[id[i] >> 4];
		*to++ = digits[id[i] & 15];
		if (!i)
			*to++ = '/';
	}
	*to = 0;
	return to;
}

/*
 * "FOLDER/ab/cdef…SUFFIX", from malloc(); @length: of the folder's name.  NULL: no memory, or an ID
 * of less than two bytes, which has no path.
 */
static inline char *build_id_file(const char *folder, size_t length, const uint8_t *id, size_t size,
				  const char *suffix)
{
	size_t room = length + 1 + BUILD_ID_PATH_SIZE(size) + strlen(suffix);
	char *path = size < 2 ? NULL : malloc(room);

	if (!path)
		return NULL;
	memcpy(path, folder, length);
	path[length] = '/';
	strcpy(build_id_path(id, size, path + length + 1), suffix);
	return path;
}

#endif
