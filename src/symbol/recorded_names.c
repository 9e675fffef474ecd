/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/recorded_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "core/bisect.h"
#include "core/refusal.h"

#define ALIGN 8
#define ID_FIELD 24
#define FILE_HEAD 56
#define FUNCTION_HEAD 24
#define COUNT_AT 4 /* in a file */

struct kept_file {
	const uint8_t *build_id;
	uint32_t build_id_len, major, minor;
	uint64_t ino;
	const char *path;
	struct recorded_function *functions;
	size_t count, capacity;
};

struct recorded_names {
	const char *debug_path; /* or NULL */
	struct kept_file *files;
	size_t count, capacity;
};

static size_t padded(size_t size)
{
	return (size + ALIGN - 1) / ALIGN * ALIGN;
}

void recorded_names_head(struct byte_buffer *blob, const char *debug_path)
{
	if (debug_path && padded(strlen(debug_path) + 1) > RECORDED_NAMES_MAX_FOLDERS)
		debug_path = NULL;
	byte_buffer_native32(blob, RECORDED_NAMES_VERSION);
	byte_buffer_native32(blob, debug_path ? (uint32_t)padded(strlen(debug_path) + 1) : 0);
	if (debug_path)
		byte_buffer_string(blob, debug_path, ALIGN);
}

void recorded_names_begin(struct byte_buffer *blob, const struct mapped_file *file, size_t *at)
{
	uint8_t id[ID_FIELD] = {0};

	*at = blob->size;
	memcpy(id, file->build_id, file->build_id_len);
	byte_buffer_native64(blob, 0);
	byte_buffer_native32(blob, file->build_id_len);
	byte_buffer_native32(blob, file->major);
	byte_buffer_native32(blob, file->minor);
	byte_buffer_native32(blob, (uint32_t)padded(strlen(file->path) + 1));
	byte_buffer_native64(blob, file->ino);
	byte_buffer_put(blob, id, sizeof(id));
	byte_buffer_string(blob, file->path, ALIGN);
}

void recorded_names_add(struct byte_buffer *blob, size_t at,
			const struct recorded_function *function)
{
	size_t size = padded(strlen(function->name) + 1);
	uint32_t count;

	if (blob->failed || size > RECORDED_NAMES_MAX_BYTES ||
	    blob->size + FUNCTION_HEAD + size > RECORDED_NAMES_MAX_BYTES)
		return;
	byte_buffer_native64(blob, function->offset);
	byte_buffer_native64(blob, function->address);
	byte_buffer_native32(blob, function->reach);
	byte_buffer_native32(blob, (uint32_t)size);
	byte_buffer_string(blob, function->name, ALIGN);
	if (blob->failed)
		return;
	memcpy(&count, blob->data + at + COUNT_AT, sizeof(count));
	count++;
	memcpy(blob->data + at + COUNT_AT, &count, sizeof(count));
}

void recorded_names_end(struct byte_buffer *blob, size_t at)
{
	uint32_t size = (uint32_t)(blob->size - at);

	if (!blob->failed)
		memcpy(blob->data + at, &size, sizeof(size));
}

static int read_function(struct bytes *b, struct kept_file *file)
{
	struct recorded_function f = {.offset = bytes_u64(b), .address = bytes_u64(b)};

	f.reach = bytes_u32(b);
	f.name = bytes_string(b, bytes_u32(b));
	/* in order, so that they can be searched */
	if (file->count && f.offset < file->functions[file->count - 1].offset)
		b->bad = true;
	if (b->bad)
		return 0;
	return vector_push(file->functions, file->count, file->capacity, f);
}

static int read_file(struct bytes *b, struct kept_file *file)
{
	uint64_t start = b->pos;
	uint32_t size = bytes_u32(b), count = bytes_u32(b), path;
	int r = 0;

	file->build_id_len = bytes_u32(b);
	file->major = bytes_u32(b);
	file->minor = bytes_u32(b);
	path = bytes_u32(b);
	file->ino = bytes_u64(b);
	file->build_id = b->data + b->pos;
	bytes_skip(b, ID_FIELD);
	file->path = bytes_string(b, path);
	b->bad |= file->build_id_len > ID_FIELD;
	while (!r && count-- && !b->bad)
		r = read_function(b, file);
	b->bad |= b->pos - start != size;
	return r;
}

static int read_all(struct bytes *b, struct recorded_names *names)
{
	uint32_t version = bytes_u32(b), size;
	int r = 0;

	if (!version || version > RECORDED_NAMES_VERSION)
		return 0; /* of a later bobbin */
	size = bytes_u32(b);
	if (size > RECORDED_NAMES_MAX_FOLDERS)
		b->bad = true;
	else if (size)
		names->debug_path = bytes_string(b, size);
	while (!r && !b->bad && bytes_left(b) && names->count < RECORDED_NAMES_MAX_FILES) {
		struct kept_file file = {0};

		r = vector_reserve(&names->files, &names->capacity, names->count + 1, sizeof(file));
		r = r ? r : read_file(b, &file);
		if (r || b->bad)
			free(file.functions);
		else
			names->files[names->count++] = file;
	}
	return r;
}

int recorded_names_open(struct bytes feature, uint64_t offset, struct bobbin_error *err,
			struct recorded_names **ret)
{
	struct recorded_names *names = calloc(1, sizeof(*names));
	int r = names ? 0 : -ENOMEM;

	if (!r && feature.data)
		r = read_all(&feature, names);
	if (!r && feature.bad)
		r = refuse(err, offset + feature.pos, BOBBIN_REASON_PERF_FEATURE);
	if (r)
		recorded_names_close(names);
	else
		*ret = names;
	return r;
}

void recorded_names_close(struct recorded_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++)
		free(names->files[i].functions);
	free(names->files);
	free(names);
}

const char *recorded_names_debug_path(const struct recorded_names *names)
{
	return names ? names->debug_path : NULL;
}

static bool is_file(const struct kept_file *kept, const struct bobbin_mapping *file)
{
	if (kept->build_id_len || file->build_id_len)
		return kept->build_id_len == file->build_id_len &&
		       !memcmp(kept->build_id, file->build_id, file->build_id_len);
	return kept->ino == file->ino && kept->major == file->major && kept->minor == file->minor &&
	       !strcmp(kept->path, file->path);
}

/* The function that reaches over the offset, or that starts after it, where nobody has called. */
static const struct recorded_function *find(const struct kept_file *file, uint64_t offset)
{
	size_t after = bisect(at, 0, file->count, file->functions[at].offset > offset);
	const struct recorded_function *f = &file->functions[after];

	if (after && offset - f[-1].offset < f[-1].reach)
		return f - 1;
	return after < file->count && f->offset == offset + 1 ? f : NULL;
}

bool recorded_names_find(const struct recorded_names *names, const struct bobbin_mapping *file,
			 uint64_t offset, struct recorded_function *ret)
{
	const struct recorded_function *f = NULL;

	/* what begins alike, see mapped_file.h, may go on otherwise at another path */
	for (int anywhere = 0; names && anywhere < 2 && !f; anywhere++)
		for (size_t i = 0; i < names->count && !f; i++)
			if (is_file(&names->files[i], file) &&
			    (anywhere || !strcmp(names->files[i].path, file->path)))
				f = find(&names->files[i], offset);
	if (!f)
		return false;
	*ret = *f;
	return true;
}

size_t recorded_names_functions(const struct recorded_names *names,
				const struct bobbin_mapping *file,
				const struct recorded_function **ret)
{
	for (size_t i = 0; names && i < names->count; i++)
		if (is_file(&names->files[i], file) && !strcmp(names->files[i].path, file->path)) {
			*ret = names->files[i].functions;
			return names->files[i].count;
		}
	return 0;
}
