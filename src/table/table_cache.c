/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file_range.h"
#include "base/hash_index.h"
#include "base/path_owner.h"
#include "core/bytes.h"
#include "core/refusal.h"
#include "table/table_usage.h"

/* u64 magic, u32 version, u32 0, u64 size and u64 checksum of the table, its key. */
#define HEAD_MAGIC "bobbinKT"
#define HEAD_VERSION 1
#define AT_VERSION 8
#define AT_SIZE 16
#define AT_CHECKSUM 24
#define AT_KEY 32
#define HEAD_SIZE 128

/* A table that was used within that many seconds need not be marked again. */
#define MARK_TIME 3600

/* A part of the limit by which it may be exceeded before that is noticed. */
#define UNSEEN_PART 8

/* A name is the key, and one more number while the file is being written. */
#define NAME_SIZE (2 * CONTENT_DIGEST_SIZE + 32)

struct table_cache {
	int folder;
	uint64_t limit;
	uint64_t kept; /* bytes, since the limit was looked at */
};

/* Whether others than this user may have written what has this status. */
static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* The folder, and those above it, that are not there. */
static int make_folders(const char *folder)
{
	char *path = strdup(folder);
	int r = 0;

	if (!path)
		return -ENOMEM;
	for (char *at = path + 1; at[-1] && !r; at++) {
		char end = *at;

		if (end && end != '/')
			continue;
		*at = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			r = -errno;
		*at = end;
	}
	free(path);
	return r;
}

static int open_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int table_cache_open(const char *folder, uint64_t limit, struct bobbin_error *err,
		     struct table_cache **ret)
{
	struct table_cache *cache;
	int fd = open_folder(folder), r;
	struct stat st;

	if (fd == -ENOENT) {
		r = make_folders(folder);
		fd = r ? r : open_folder(folder);
	}
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !is_ours(&st) || !path_is_ours(folder)) {
		close(fd);
		return refuse_as(-EPERM, err, 0, BOBBIN_REASON_KEPT_OWNER);
	}
	cache = malloc(sizeof(*cache));
	if (!cache) {
		close(fd);
		return -ENOMEM;
	}
	*cache = (struct table_cache){fd, limit ? limit : TABLE_CACHE_LIMIT, 0};
	*ret = cache;
	return 0;
}

void table_cache_close(struct table_cache *cache)
{
	if (!cache)
		return;
	if (cache->kept)
		table_usage_limit(cache->folder, cache->limit);
	close(cache->folder);
	free(cache);
}

static char *put_key(const struct table_key *key, char *to)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned int i = 0; i < CONTENT_DIGEST_SIZE; i++) {
		*to++ = digits[key->digest[i] >> 4];
		*to++ = digits[key->digest[i] & 15];
	}
	return to;
}

/* The same everywhere: it finds damage, and who may write is another question. */
static uint64_t checksum(const uint8_t *data, uint64_t size)
{
	return hash_bytes((const char *)data, size, 0);
}

static int check_head(const uint8_t *file, uint64_t size, const struct table_key *key,
		      struct bobbin_error *err)
{
	if (size < HEAD_SIZE || memcmp(file, HEAD_MAGIC, 8) ||
	    load_u32(file + AT_VERSION, false) != HEAD_VERSION)
		return refuse(err, 0, BOBBIN_REASON_KEPT_TABLE);
	if (load_u64(file + AT_SIZE, false) != size - HEAD_SIZE ||
	    memcmp(file + AT_KEY, key->digest, CONTENT_DIGEST_SIZE))
		return refuse(err, AT_SIZE, BOBBIN_REASON_KEPT_TABLE);
	if (load_u64(file + AT_CHECKSUM, false) != checksum(file + HEAD_SIZE, size - HEAD_SIZE))
		return refuse(err, AT_CHECKSUM, BOBBIN_REASON_KEPT_TABLE);
	return 0;
}

/* Once an hour is enough, unless the clock was wrong. */
static void mark_used(int fd, const struct stat *st)
{
	int64_t age = time(NULL) - st->st_mtim.tv_sec;

	if (age < 0 || age > MARK_TIME)
		futimens(fd, NULL);
}

static int map_table(int fd, const struct table_key *key, struct bobbin_error *err,
		     struct kept_table *ret)
{
	struct kept_table kept = {0};
	struct stat st;
	int r;

	if (fstat(fd, &st))
		return -errno;
	if (!is_ours(&st))
		return refuse_as(-EPERM, err, 0, BOBBIN_REASON_KEPT_OWNER);
	if (!S_ISREG(st.st_mode) || st.st_size < HEAD_SIZE)
		return refuse(err, 0, BOBBIN_REASON_KEPT_TABLE);
	kept.map_size = (size_t)st.st_size;
	kept.map = mmap(NULL, kept.map_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (kept.map == MAP_FAILED)
		return -errno;
	kept.data = (const uint8_t *)kept.map + HEAD_SIZE;
	kept.size = kept.map_size - HEAD_SIZE;
	r = check_head(kept.map, kept.map_size, key, err);
	if (!r)
		r = compiled_table_init(kept.data, kept.size, err, &kept.table);
	if (r) {
		kept_table_fini(&kept);
		return r;
	}
	mark_used(fd, &st);
	*ret = kept;
	return 0;
}

int table_cache_find(struct table_cache *cache, const struct table_key *key,
		     struct bobbin_error *err, struct kept_table *ret)
{
	char name[NAME_SIZE];
	int fd, r;

	strcpy(put_key(key, name), TABLE_SUFFIX);
	fd = openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* a symbolic link is none of ours */
	if (fd < 0)
		r = errno == ELOOP ? refuse_as(-EPERM, err, 0, BOBBIN_REASON_KEPT_OWNER) : -errno;
	else
		r = map_table(fd, key, err, ret);
	if (fd >= 0)
		close(fd);
	if (r == -EBADMSG || r == -EPERM)
		unlinkat(cache->folder, name, 0);
	return r;
}

static int write_file(int fd, const struct table_key *key, const uint8_t *data, uint64_t size)
{
	uint8_t head[HEAD_SIZE] = HEAD_MAGIC;
	int r;

	bytes_store(head + AT_VERSION, HEAD_VERSION, 4, false);
	bytes_store(head + AT_SIZE, size, 8, false);
	bytes_store(head + AT_CHECKSUM, checksum(data, size), 8, false);
	memcpy(head + AT_KEY, key->digest, CONTENT_DIGEST_SIZE);
	r = file_append(fd, head, sizeof(head));
	return r ? r : file_append(fd, data, size);
}

/* It gets its name when it is whole; a power cut may leave less, which the checksum finds. */
static int write_table(struct table_cache *cache, const struct table_key *key, const uint8_t *data,
		       uint64_t size)
{
	char name[NAME_SIZE], new[NAME_SIZE], *end = put_key(key, name);
	uint64_t number = 0;
	int fd, r;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
		number = (uint64_t)getpid();
	strcpy(end, TABLE_SUFFIX);
	memcpy(new, name, (size_t)(end - name));
	sprintf(new + (end - name), "%016llx" TABLE_NEW_SUFFIX, (unsigned long long)number);
	fd = openat(cache->folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_file(fd, key, data, size);
	close(fd);
	if (!r && renameat(cache->folder, new, cache->folder, name))
		r = -errno;
	if (r)
		unlinkat(cache->folder, new, 0);
	return r;
}

int table_cache_keep(struct table_cache *cache, const struct table_key *key, const uint8_t *data,
		     uint64_t size)
{
	int r = size > cache->limit / 2 ? -EFBIG : write_table(cache, key, data, size);

	if (r)
		return r;
	cache->kept += HEAD_SIZE + size;
	if (cache->kept < cache->limit / UNSEEN_PART)
		return 0;
	cache->kept = 0;
	return table_usage_limit(cache->folder, cache->limit);
}

void kept_table_rest(const struct kept_table *table)
{
	if (table->map_size)
		madvise(table->map, table->map_size, MADV_DONTNEED);
}

void kept_table_fini(struct kept_table *table)
{
	if (table->map_size)
		munmap(table->map, table->map_size);
	*table = (struct kept_table){0};
}
