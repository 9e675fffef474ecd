/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/jit_files.h"

#include <string.h>

/* Move the item at @index to the front. */
static void *to_front(void **items, unsigned int index)
{
	void *item = items[index];

	memmove(&items[1], &items[0], index * sizeof(*items));
	items[0] = item;
	return item;
}

int jit_files_map(struct jit_files *files, pid_t pid, const char *path, struct perfmap **ret)
{
	const struct remote_process process = {files->reader, pid};
	struct perfmap *m;
	int err;

	for (unsigned int i = 0; i < files->map_count; i++)
		if (perfmap_is(files->maps[i], pid, path)) {
			*ret = to_front(files->maps, i);
			return 0;
		}
	err = path ? perfmap_open_file(files->reader, path, &m)
		   : perfmap_open(&process, PERFMAP_FOLDER, &m);
	if (err)
		return err;
	if (files->map_count == JIT_FILES_MAX)
		perfmap_close(files->maps[--files->map_count]);
	files->maps[files->map_count] = m;
	*ret = to_front(files->maps, files->map_count++);
	return 0;
}

int jit_files_dump(struct jit_files *files, const struct jitdump_file *file, bool lines,
		   struct jitdump **ret)
{
	struct jitdump *d;
	int err;

	for (unsigned int i = 0; i < files->dump_count; i++)
		if (jitdump_is_of(files->dumps[i], file->pid, file->path)) {
			*ret = to_front(files->dumps, i);
			return 0;
		}
	err = jitdump_open(files->reader, file, lines, &d);
	if (err)
		return err;
	if (files->dump_count == JIT_FILES_MAX)
		jitdump_close(files->dumps[--files->dump_count]);
	files->dumps[files->dump_count] = d;
	*ret = to_front(files->dumps, files->dump_count++);
	return 0;
}

size_t jit_files_memory(const struct jit_files *files)
{
	size_t memory = 0;

	for (unsigned int i = 0; i < files->map_count; i++)
		memory += perfmap_memory(files->maps[i]);
	for (unsigned int i = 0; i < files->dump_count; i++)
		memory += jitdump_memory(files->dumps[i]);
	return memory;
}

void jit_files_fini(struct jit_files *files)
{
	for (unsigned int i = 0; i < files->map_count; i++)
		perfmap_close(files->maps[i]);
	for (unsigned int i = 0; i < files->dump_count; i++)
		jitdump_close(files->dumps[i]);
	*files = (struct jit_files){0};
}
