/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/table_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_range.h"
#include "base/hash_index.h"
#include "base/vector.h"
#include "core/bytes.h"
#include "core/refusal.h"

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

/* How the names of tables end, and those of files that are still being written. */
#define TABLE_SUFFIX ".table"
#define TABLE_NEW_SUFFIX ".new"

/* Seconds after which nobody is still writing a file. */
#define WRITING_TIME 3600

struct table_cache {
	int folder;
	uint64_t limit;
	uint64_t kept; /* bytes, since the limit was looked at */
};

/* Of what makes tables: another number whenever equal sections give other rows. */
#define MAKER_VERSION 4

static void add_section(struct content_digest *d, const uint8_t *data, uint64_t size, uint64_t addr)
{
	content_digest_u64(d, addr);
	content_digest_u64(d, data ? size : 0);
	content_digest_add(d, data, data ? size : 0);
}

/* What is live depends on where code is. */
static void add_cfi(struct content_digest *d, const struct bobbin_cfi_view *view)
{
	content_digest_u64(d, view->debug_frame);
	add_section(d, view->frame, view->frame_size, view->frame_addr);
	add_section(d, view->hdr, view->hdr_size, view->hdr_addr);
	content_digest_u64(d, view->code ? view->code_count + 1 : 0);
	for (size_t i = 0; view->code && i < view->code_count; i++) {
		content_digest_u64(d, view->code[i].start);
		content_digest_u64(d, view->code[i].end);
	}
}

void table_key_of(const struct table_sources *sources, const uint8_t *build_id, uint8_t length,
		  struct table_key *ret)
{
	struct content_digest d;

	content_digest_init(&d);
	content_digest_u64(&d, TABLE_VERSION);
	content_digest_u64(&d, MAKER_VERSION);
	content_digest_u64(&d, sources->arch->elf_machine);
	content_digest_u64(&d, sources->arch->big_endian);
	content_digest_u64(&d, length);
	content_digest_add(&d, build_id, length);
	content_digest_u64(&d, sources->sframe_count);
	for (unsigned int i = 0; i < sources->sframe_count; i++)
		add_section(&d, sources->sframe[i].data, sources->sframe[i].size,
			    sources->sframe[i].addr);
	content_digest_u64(&d, sources->cfi_count);
	for (unsigned int i = 0; i < sources->cfi_count; i++)
		add_cfi(&d, &sources->cfi[i]);
	content_digest_get(&d, ret->digest);
}

struct used_file {
	char name[NAME_SIZE];
	struct timespec used;
	uint64_t size;
};

struct usage {
	struct used_file *files;
	size_t count, capacity;
	uint64_t bytes;
};

static bool ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length < NAME_SIZE && length > end && !strcmp(name + length - end, suffix);
}

/* In seconds.  time() lags the clock of a file system by some milliseconds. */
static time_t now(void)
{
	return (time_t)(clock_ns(CLOCK_REALTIME) / NS_PER_SECOND);
}

static int add_file(struct usage *u, const char *name, const struct stat *st)
{
	struct used_file *file;

	if (vector_reserve(&u->files, &u->capacity, u->count + 1, sizeof(*u->files)))
		return -ENOMEM;
	file = &u->files[u->count++];
	strcpy(file->name, name);
	/* a time in the future would keep the file for ever */
	file->used = st->st_mtim.tv_sec > now() ? (struct timespec){0} : st->st_mtim;
	/* holes do not count, nor does a file system's slack */
	file->size = (uint64_t)st->st_size;
	u->bytes += file->size;
	return 0;
}

static int look_at(struct usage *u, int fd, const char *name)
{
	bool table = ends_with(name, TABLE_SUFFIX), new = ends_with(name, TABLE_NEW_SUFFIX);
	struct stat st;

	if ((!table && !new) || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (table)
		return S_ISREG(st.st_mode) ? add_file(u, name, &st) : 0;
	if (now() - st.st_mtim.tv_sec > WRITING_TIME)
		unlinkat(fd, name, 0);
	return 0;
}

static int list_files(struct usage *u, int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!dir) {
		r = -errno;
		if (copy >= 0)
			close(copy);
		return r;
	}
	while (!r && (entry = readdir(dir)))
		r = look_at(u, fd, entry->d_name);
	closedir(dir);
	return r;
}

static int by_use(const void *a, const void *b)
{
	const struct used_file *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

/*
 * If the tables in the folder @fd have more than @limit bytes, remove those that were not used
 * for longest, until three quarters of it are left; and what somebody who died had begun to
 * write.  0; -ENOMEM; the errno of reading the folder.
 */
static int table_usage_limit(int fd, uint64_t limit)
{
	struct usage u = {0};
	int r = list_files(&u, fd);

	if (!r && u.bytes > limit) {
		qsort(u.files, u.count, sizeof(*u.files), by_use);
		for (size_t i = 0; i < u.count && u.bytes > limit / 4 * 3; i++) {
			if (!unlinkat(fd, u.files[i].name, 0) || errno == ENOENT)
				u.bytes -= u.files[i].size;
		}
	}
	free(u.files);
	return r;
}

static bool step_is_ours(const char *path)
{
	mode_t others = geteuid() ? S_IWOTH : S_IWGRP | S_IWOTH;
	struct stat st;

	if (lstat(path, &st) || (st.st_uid && st.st_uid != geteuid()))
		return false;
	return S_ISLNK(st.st_mode) || !(st.st_mode & others) || st.st_mode & S_ISVTX;
}

/* From the outermost folder on, so that nothing is looked at in one that others may change. */
static bool is_ours_down_to(const char *path)
{
	char part[PATH_MAX];
	size_t length = strlen(path);

	if (length >= sizeof(part) || !step_is_ours("/"))
		return false;
	for (size_t end = 1; end <= length; end++) {
		if (path[end] && path[end] != '/')
			continue;
		memcpy(part, path, end);
		part[end] = '\0';
		if (!step_is_ours(part))
			return false;
	}
	return true;
}

/*
 * Whether only this user and root can: each folder and link on the way is theirs, and others may
 * not write there, unless it is a folder like /tmp in which they cannot touch what is not theirs.
 * For root the group of a folder is others, too.  False for a path that is not there.
 */
static bool path_is_ours(const char *path)
{
	char *real = realpath(path, NULL);
	bool good = real && is_ours_down_to(real) && (*path != '/' || is_ours_down_to(path));

	free(real);
	return good;
}

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

int kept_table_take(uint8_t *made, uint64_t size, struct kept_table *ret)
{
	int r = compiled_table_init(made, size, NULL, &ret->table);

	if (r) {
		free(made);
		return r;
	}
	ret->data = ret->made = made;
	ret->size = size;
	return 0;
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
	free(table->made);
	*table = (struct kept_table){0};
}
