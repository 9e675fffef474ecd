/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/source_text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_range.h"
#include "base/regular_file.h"
#include "base/vector.h"

static void forget(struct source_file *file)
{
	free(file->path);
	free(file->text);
	free(file->lines);
	*file = (struct source_file){0};
}

void source_text_fini(struct source_text *sources)
{
	for (size_t i = 0; i < SOURCE_TEXT_FILES; i++)
		forget(&sources->files[i]);
}

static void read_text(int fd, uint64_t size, struct source_file *file)
{
	file->text = size <= SOURCE_TEXT_MOST ? malloc(size + 1) : NULL;
	if (!file->text || file_range_read(fd, 0, file->text, size)) {
		free(file->text);
		file->text = NULL;
		return;
	}
	file->text[size] = '\0';
	file->size = size;
}

/* What does not fit into memory is not shown. */
static void find_lines(struct source_file *file)
{
	char *end = file->text + file->size;

	for (char *at = file->text; at < end;) {
		char *newline = memchr(at, '\n', (size_t)(end - at));

		if (vector_push(file->lines, file->count, file->room, at))
			return;
		if (!newline)
			return;
		*newline = '\0';
		at = newline + 1;
	}
}

static void open_file(const struct source_text *sources, const char *path, struct source_file *file)
{
	char below[PATH_MAX];
	struct stat st;
	int fd, length = snprintf(below, sizeof(below), "%s%s", sources->root ? sources->root : "",
				  path);

	file->path = strdup(path);
	/* a path that is relative would depend on where this runs */
	if (*path != '/' || length < 0 || length >= (int)sizeof(below))
		return;
	fd = regular_file_open(below, 0, &st);
	if (fd < 0)
		return;
	read_text(fd, (uint64_t)st.st_size, file);
	close(fd);
	if (file->text)
		find_lines(file);
}

static struct source_file *find_file(struct source_text *sources, const char *path)
{
	struct source_file *file;

	for (size_t i = 0; i < SOURCE_TEXT_FILES; i++)
		if (sources->files[i].path && !strcmp(sources->files[i].path, path))
			return &sources->files[i];
	file = &sources->files[sources->next++ % SOURCE_TEXT_FILES];
	forget(file);
	open_file(sources, path, file);
	return file;
}

const char *source_text_line(struct source_text *sources, const char *path, uint32_t line)
{
	const struct source_file *file = find_file(sources, path);

	return line && line <= file->count ? file->lines[line - 1] : NULL;
}
