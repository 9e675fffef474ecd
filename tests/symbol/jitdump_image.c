/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitdump_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void put_at(struct jitdump_image *image, size_t at, uint64_t value, unsigned int size)
{
	assert_true(at + size <= IMAGE_MAX);
	for (unsigned int i = 0; i < size; i++)
		image->bytes[at + i] = (uint8_t)(value >>
						 8 * (image->big_endian ? size - 1 - i : i));
}

void image_put(struct jitdump_image *image, uint64_t value, unsigned int size)
{
	put_at(image, image->size, value, size);
	image->size += size;
}

void image_text(struct jitdump_image *image, const char *text)
{
	size_t size = strlen(text) + 1;

	assert_true(image->size + size <= IMAGE_MAX);
	memcpy(image->bytes + image->size, text, size);
	image->size += size;
}

void image_header(struct jitdump_image *image, bool big_endian, uint64_t flags)
{
	image->big_endian = big_endian;
	image->size = image->record = 0;
	image_put(image, 0x4a695444, 4);
	image_put(image, 1, 4);
	image_put(image, 40, 4);
	image_put(image, 62, 4);
	image_put(image, 0, 4);
	image_put(image, 4711, 4);
	image_put(image, 1, 8);
	image_put(image, flags, 8);
}

void image_begin(struct jitdump_image *image, uint32_t kind, uint64_t time)
{
	image->record = image->size;
	image_put(image, kind, 4);
	image_put(image, 0, 4);
	image_put(image, time, 8);
}

void image_end(struct jitdump_image *image)
{
	put_at(image, image->record + 4, image->size - image->record, 4);
}

void image_load(struct jitdump_image *image, uint64_t time, uint64_t address, uint64_t size,
		const char *name)
{
	image_begin(image, 0, time);
	image_put(image, 4711, 4);
	image_put(image, 4712, 4);
	image_put(image, 0, 8);
	image_put(image, address, 8);
	image_put(image, size, 8);
	image_put(image, 1, 8);
	image_text(image, name);
	for (uint64_t i = 0; i < size; i++)
		image_put(image, 0x90, 1);
	image_end(image);
}

void image_move(struct jitdump_image *image, uint64_t time, uint64_t from, uint64_t to,
		uint64_t size)
{
	image_begin(image, 1, time);
	image_put(image, 4711, 4);
	image_put(image, 4712, 4);
	image_put(image, 0, 8);
	image_put(image, from, 8);
	image_put(image, to, 8);
	image_put(image, size, 8);
	image_put(image, 1, 8);
	image_end(image);
}

void image_lines(struct jitdump_image *image, uint64_t address, const char *file,
		 const uint64_t (*lines)[2], size_t count)
{
	image_begin(image, 2, 0);
	image_put(image, address, 8);
	image_put(image, count, 8);
	for (size_t i = 0; i < count; i++) {
		image_put(image, lines[i][0], 8);
		image_put(image, lines[i][1], 4);
		image_put(image, 0, 4);
		/* the short form of "as before" */
		image_text(image, i ? "\xff" : file);
	}
	image_end(image);
}

static void write_from(const struct jitdump_image *image, const char *path, const char *mode,
		       size_t from)
{
	FILE *f = fopen(path, mode);

	assert_non_null(f);
	assert_int_equal(fwrite(image->bytes + from, 1, image->size - from, f), image->size - from);
	assert_int_equal(fclose(f), 0);
}

void image_write(const struct jitdump_image *image, const char *path)
{
	write_from(image, path, "w", 0);
}

void image_append(const struct jitdump_image *image, const char *path, size_t from)
{
	write_from(image, path, "a", from);
}
