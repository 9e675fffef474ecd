/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory_origin.h"
#include "base/vector.h"

static bool has(const struct file_roots *roots, const char *root)
{
	for (unsigned int i = 0; i < FILE_ROOTS_MAX && roots->list[i]; i++)
		if (!strcmp(roots->list[i], root))
			return true;
	return false;
}

void file_roots_add(struct file_roots *roots, const char *root)
{
	unsigned int count = file_roots_count(roots);

	if (has(roots, root))
		return;
	if (!*root) {
		memmove(roots->list + 1, roots->list, sizeof(roots->list) - sizeof(*roots->list));
		roots->list[0] = root;
	} else if (count < FILE_ROOTS_MAX) {
		roots->list[count] = root;
	}
}

unsigned int file_roots_count(const struct file_roots *roots)
{
	unsigned int count = 0;

	while (count < FILE_ROOTS_MAX && roots->list[count])
		count++;
	return count;
}

static bool is_own(const struct stat *root)
{
	struct stat own;

	return stat("/", &own) || (own.st_dev == root->st_dev && own.st_ino == root->st_ino);
}

/* @st: of the root, which a file system in user space may take its time to tell again. */
static const char *add(struct process_roots *roots, const struct remote_process *process,
		       const char *path, const struct stat *st)
{
	struct process_root root = {
		.device = st->st_dev,
		.inode = st->st_ino,
		.fd = process_file_open(process, path, O_DIRECTORY, NULL),
	};

	if (root.fd < 0)
		return NULL;
	/* the helper, which opens what is below it, is another process */
	if (asprintf(&root.path, "/proc/%d/fd/%d", getpid(), root.fd) > 0) {
		if (!vector_push(roots->list, roots->count, roots->room, root))
			return root.path;
		free(root.path);
	}
	close(root.fd);
	return NULL;
}

const char *process_roots_find(struct process_roots *roots, const struct remote_process *process)
{
	char path[32];
	struct stat st;

	if (!process->pid)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/root", process->pid);
	if (process_file_stat(process, path, &st))
		return NULL;
	if (is_own(&st))
		return OWN_ROOT;
	for (size_t i = 0; i < roots->count; i++)
		if (roots->list[i].device == st.st_dev && roots->list[i].inode == st.st_ino)
			return roots->list[i].path;
	return roots->count < PROCESS_ROOTS_MAX ? add(roots, process, path, &st) : NULL;
}

static void process_roots_fini(struct process_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		close(roots->list[i].fd);
		free(roots->list[i].path);
	}
	free(roots->list);
	*roots = (struct process_roots){0};
}

static enum file_kind kind_of(const char *path)
{
	switch (memory_origin(path)) {
	case MEMORY_BARE:
		return FILE_NONE;
	case MEMORY_KERNEL:
		return path[2] == 'd' ? FILE_VDSO : FILE_VSYSCALL;
	case MEMORY_SHARED:
	case MEMORY_DELETED:
	case MEMORY_FILE:
		return FILE_REGULAR;
	}
	return FILE_REGULAR;
}

static uint64_t hash_of(const struct bobbin_mapping *m, uint64_t seed)
{
	if (m->build_id_len)
		return hash_bytes((const char *)m->build_id, m->build_id_len, seed);
	return hash_words(hash_bytes(m->path, strlen(m->path), seed), m->ino, seed);
}

static bool same_image(const struct mapped_file *f, const struct file_image *image)
{
	if (!f->image || !image)
		return !f->image && !image;
	return f->image_size == image->size && !memcmp(f->image, image->bytes, image->size);
}

static bool same_file(const struct mapped_file *f, const struct bobbin_mapping *m,
		      const struct file_image *image)
{
	/* files that begin alike may have others behind that */
	if (f->build_id_len || m->build_id_len)
		return f->build_id_len == m->build_id_len &&
		       !memcmp(f->build_id, m->build_id, m->build_id_len) &&
		       (f->offset == m->offset || !strcmp(f->path, m->path));
	return f->ino == m->ino && f->major == m->major && f->minor == m->minor &&
	       (!f->generation || !m->generation || f->generation == m->generation) &&
	       !strcmp(f->path, m->path) && same_image(f, image);
}

/* The newest process that maps a file lives longest. */
static void note_mapping(struct mapped_file *f, const struct bobbin_mapping *m)
{
	/* which /proc/PID/maps does not tell */
	if (!f->generation)
		f->generation = m->generation;
	if (!m->pid)
		return;
	f->pid = m->pid;
	f->start = m->start;
	f->end = m->end;
}

/* Of files with a build ID any process has the same. */
static int keep_image(struct mapped_file *f, const struct file_image *image)
{
	if (!image || f->image)
		return 0;
	f->image = malloc(image->size ? image->size : 1);
	if (!f->image)
		return -ENOMEM;
	memcpy(f->image, image->bytes, image->size);
	f->image_size = image->size;
	return 0;
}

static int add_file(struct file_table *table, const struct bobbin_mapping *m, uint64_t hash,
		    struct mapped_file **ret)
{
	struct mapped_file *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->path = strdup(m->path);
	if (!f->path || hash_index_room(&table->index, hash, &table->files, &table->room,
					table->count, sizeof(*table->files))) {
		free(f->path);
		free(f);
		return -ENOMEM;
	}
	f->number = table->count;
	f->kind = kind_of(m->path);
	memcpy(f->build_id, m->build_id, sizeof(f->build_id));
	f->build_id_len = m->build_id_len;
	f->major = m->major;
	f->minor = m->minor;
	f->ino = m->ino;
	f->offset = m->offset;
	f->recorded = table->recorded;
	f->here = table->here;
	f->since = table->since;
	note_mapping(f, m);
	table->files[table->count++] = f;
	*ret = f;
	return 0;
}

int file_table_find(struct file_table *table, const struct bobbin_mapping *mapping,
		    const struct file_image *image, struct mapped_file **ret)
{
	uint32_t number;
	size_t at = 0;
	uint64_t hash;
	int r;

	if (mapping->build_id_len > sizeof(mapping->build_id))
		return -EINVAL;
	if (!table->seed)
		table->seed = hash_seed();
	hash = hash_of(mapping, table->seed);
	while (hash_index_next(&table->index, hash, &at, &number))
		if (same_file(table->files[number], mapping, image)) {
			*ret = table->files[number];
			note_mapping(*ret, mapping);
			return keep_image(*ret, image);
		}
	r = add_file(table, mapping, hash, ret);
	return r ? r : keep_image(*ret, image);
}

void file_table_since(struct file_table *table, uint64_t since, bool here)
{
	table->recorded = true;
	table->here = here;
	table->since = since;
}

void file_table_fini(struct file_table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		free(table->files[i]->path);
		free(table->files[i]->image);
		free(table->files[i]);
	}
	free(table->files);
	hash_index_fini(&table->index);
	process_roots_fini(&table->roots);
	*table = (struct file_table){0};
}
