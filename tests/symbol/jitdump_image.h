/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitdump_image.h - jitdump files that a test makes, record by record.
 */
#ifndef TESTS_SYMBOL_JITDUMP_IMAGE_H
#define TESTS_SYMBOL_JITDUMP_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_MAX 65536

struct jitdump_image {
	bool big_endian;
	size_t size;
	size_t record; /* where the latest record begins */
	uint8_t bytes[IMAGE_MAX];
};

/* Start again, with a header. */
void image_header(struct jitdump_image *image, bool big_endian, uint64_t flags);

/* A number of @size bytes. */
void image_put(struct jitdump_image *image, uint64_t value, unsigned int size);
void image_text(struct jitdump_image *image, const char *text);

/* Begin a record, and end it: its size is set then. */
void image_begin(struct jitdump_image *image, uint32_t kind, uint64_t time);
void image_end(struct jitdump_image *image);

void image_load(struct jitdump_image *image, uint64_t time, uint64_t address, uint64_t size,
		const char *name);
void image_move(struct jitdump_image *image, uint64_t time, uint64_t from, uint64_t to,
		uint64_t size);

/* Lines of one source file, @count of them: address, line. */
void image_lines(struct jitdump_image *image, uint64_t address, const char *file,
		 const uint64_t (*lines)[2], size_t count);

/* Write all of it to @path, or only what follows @from. */
void image_write(const struct jitdump_image *image, const char *path);
void image_append(const struct jitdump_image *image, const char *path, size_t from);

#endif
