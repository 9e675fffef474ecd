/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/mapped_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Names as /proc/PID/maps and the kernel's mmap events write them. */
static enum file_kind kind_of(const char *path)
{
	if (!strcmp(path, "[vdso]"))
		return FILE_VDSO;
	if (!strcmp(path, "[vsyscall]"))
		return FILE_VSYSCALL;
	if (path[0] != '/' || starts_with(path, "//anon") || starts_with(path, "/dev/zero") ||
	    starts_with(path, "/anon_hugepage") || starts_with(path, "/SYSV"))
		return FILE_NONE;
	return FILE_REGULAR;
}

static uint32_t hash_bytes(uint32_t h, const void *bytes, size_t size)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < size; i++)
		h = (h ^ p[i]) * 16777619u; /* FNV-1a */
	return h;
}

static uint32_t hash_of(const struct bobbin_mapping *m)
{
	uint32_t h = 2166136261u;

	if (m->build_id_len)
		return hash_bytes(h, m->build_id, m->build_id_len);
	h = hash_bytes(h, m->path, strlen(m->path));
	return hash_bytes(h, &m->ino, sizeof(m->ino));
}

static bool same_file(const struct mapped_file *f, const struct bobbin_mapping *m)
{
	if (f->build_id_len || m->build_id_len)
		return f->build_id_len == m->build_id_len &&
		       !memcmp(f->build_id, m->build_id, m->build_id_len);
	return f->ino == m->ino && f->major == m->major && f->minor == m->minor &&
	       !strcmp(f->path, m->path);
}

static void insert_bucket(struct file_table *table, uint32_t hash, uint32_t number)
{
	uint32_t i = hash & (table->bucket_count - 1);

	while (table->buckets[i])
		i = (i + 1) & (table->bucket_count - 1);
	table->buckets[i] = number + 1;
}

static uint32_t hash_of_file(const struct mapped_file *f)
{
	struct bobbin_mapping m = {.path = f->path, .ino = f->ino, .build_id_len = f->build_id_len};

	memcpy(m.build_id, f->build_id, sizeof(m.build_id));
	return hash_of(&m);
}

static int make_room(struct file_table *table)
{
	uint32_t room = table->room ? 2 * table->room : 64;
	struct mapped_file **files;
	uint32_t *buckets;

	if (table->count < table->room)
		return 0;
	files = realloc(table->files, room * sizeof(*files));
	if (!files)
		return -ENOMEM;
	table->files = files;
	buckets = calloc(2 * room, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	free(table->buckets);
	table->buckets = buckets;
	table->bucket_count = 2 * room;
	table->room = room;
	for (uint32_t i = 0; i < table->count; i++)
		insert_bucket(table, hash_of_file(files[i]), i);
	return 0;
}

/* The newest process that maps a file lives longest. */
static void note_mapping(struct mapped_file *f, const struct bobbin_mapping *m)
{
	if (!m->pid)
		return;
	f->pid = m->pid;
	f->start = m->start;
	f->end = m->end;
}

static int add_file(struct file_table *table, const struct bobbin_mapping *m,
		    struct mapped_file **ret)
{
	struct mapped_file *f;

	if (make_room(table))
		return -ENOMEM;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->path = strdup(m->path);
	if (!f->path) {
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
	note_mapping(f, m);
	table->files[table->count] = f;
	insert_bucket(table, hash_of(m), table->count++);
	*ret = f;
	return 0;
}

int file_table_find(struct file_table *table, const struct bobbin_mapping *mapping,
		    struct mapped_file **ret)
{
	uint32_t i, number;

	if (mapping->build_id_len > sizeof(mapping->build_id))
		return -EINVAL;
	for (i = hash_of(mapping); table->bucket_count; i++) {
		number = table->buckets[i & (table->bucket_count - 1)];
		if (!number)
			break;
		if (same_file(table->files[number - 1], mapping)) {
			*ret = table->files[number - 1];
			note_mapping(*ret, mapping);
			return 0;
		}
	}
	return add_file(table, mapping, ret);
}

void file_table_fini(struct file_table *table)
{
	for (uint32_t i = 0; i < table->count; i++) {
		free(table->files[i]->path);
		free(table->files[i]);
	}
	free(table->files);
	free(table->buckets);
	*table = (struct file_table){0};
}
