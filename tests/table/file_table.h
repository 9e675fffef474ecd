/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_table.h - the compiled table of a file's call-frame information, and numbers to damage it with.
 */
#ifndef BOBBIN_TESTS_FILE_TABLE_H
#define BOBBIN_TESTS_FILE_TABLE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "cfi_image.h"
#include "table/table_sources.h"

/* The table, from malloc(); NULL after a line that says why not. */
static inline uint8_t *file_table_make(const char *path, uint64_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct cfi_image image;
	uint8_t *data = NULL;
	uint64_t rows;

	if (fd < 0 || cfi_image_init(fd, &image)) {
		printf("%s: not read\n", path);
		return NULL;
	}
	close(fd);
	if (!image.count || compile_cfi(image.views, image.count, NULL, 0, 0, &rows, &data, size)) {
		printf("%s: not compiled\n", path);
		data = NULL;
	}
	cfi_image_fini(&image);
	return data;
}

/* The same ones in each run. */
static inline uint64_t random_number(void)
{
	static uint64_t state = 1;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

#endif
