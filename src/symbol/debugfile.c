/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/debugfile.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MAX_LINK_SECTION 8192
#define CHECKSUM_STEP (64 << 10)

/* .gnu_debuglink or .gnu_debugaltlink: a name and a proof. */
struct debug_link {
	char name[NAME_MAX + 1];
	uint8_t build_id[OBJECT_BUILD_ID_MAX];
	size_t build_id_len;
	uint32_t checksum;
};

/* What a candidate must prove. */
struct proof {
	const uint8_t *build_id;
	size_t build_id_len;
	const uint32_t *checksum; /* if the build ID is unknown */
};

static bool checksum_matches(const struct object *o, uint32_t expected)
{
	uint8_t step[CHECKSUM_STEP];
	uLong crc = crc32(0, NULL, 0);

	for (uint64_t at = 0; at < o->size; at += sizeof(step)) {
		size_t n = o->size - at < sizeof(step) ? o->size - at : sizeof(step);

		if (object_read(o, at, step, n))
			return false;
		crc = crc32(crc, step, (uInt)n);
	}
	return crc == expected;
}

static bool is_proved(const struct object *o, const struct proof *proof)
{
	if (proof->build_id_len)
		return object_has_build_id(o, proof->build_id, proof->build_id_len);
	return !proof->checksum || checksum_matches(o, *proof->checksum);
}

static int take(struct object *o, const struct proof *proof, struct object **ret)
{
	if (!is_proved(o, proof)) {
		object_close(o);
		return -ESTALE;
	}
	*ret = o;
	return 0;
}

static int try_path(const char *path, const struct proof *proof, struct object **ret)
{
	struct object *o;
	int err = object_open(path, &o);

	return err ? err : take(o, proof, ret);
}

__attribute__((format(printf, 3, 4))) static int try_format(const struct proof *proof,
							    struct object **ret, const char *format,
							    ...)
{
	char path[PATH_MAX];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	return try_path(path, proof, ret);
}

/* "ab/cdef...": the place of a build ID below a .build-id directory. */
static void build_id_place(const struct proof *proof, char *dst)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < proof->build_id_len; i++) {
		*dst++ = digits[proof->build_id[i] >> 4];
		*dst++ = digits[proof->build_id[i] & 15];
		if (!i)
			*dst++ = '/';
	}
	*dst = '\0';
}

#define PLACE_MAX (2 * OBJECT_BUILD_ID_MAX + 2)

/* In the cache, the file itself. */
static int try_cache(const struct debug_paths *paths, const struct proof *proof, const char *name,
		     struct object **ret)
{
	char place[PLACE_MAX];

	if (!paths->cache_path || !proof->build_id_len)
		return -BOBBIN_ENOENT;
	build_id_place(proof, place);
	return try_format(proof, ret, "%s/.build-id/%s/%s", paths->cache_path, place, name);
}

int debugfile_open_main(const struct debug_paths *paths, const struct debug_query *query,
			struct object **ret)
{
	struct proof proof = {.build_id = query->build_id, .build_id_len = query->build_id_len};
	int err = -BOBBIN_ENOENT, also;

	if (paths->symfs) {
		if (query->path)
			err = try_format(&proof, ret, "%s/%s", paths->symfs, query->path);
	} else {
		if (query->open_path)
			err = try_path(query->open_path, &proof, ret);
		if (err && err != -ENOMEM && query->path)
			err = try_path(query->path, &proof, ret);
	}
	if (!err || err == -ENOMEM)
		return err;
	also = try_cache(paths, &proof, "elf", ret);
	return also && also != -ENOMEM ? err : also;
}

typedef int (*directory_fn)(const char *directory, int len, void *ctx);

/* Call @fn for each directory of a colon list until it succeeds or runs out of memory. */
static int for_each_directory(const char *list, directory_fn fn, void *ctx)
{
	int err = -BOBBIN_ENOENT;

	while (list && *list && err && err != -ENOMEM) {
		int len = (int)strcspn(list, ":");

		if (len)
			err = fn(list, len, ctx);
		list += len;
		list += *list == ':';
	}
	return err;
}

struct search {
	const struct proof *proof;
	const char *place; /* below the directory */
	const char *root;  /* before the directory */
	int root_len;
	struct object **ret;
};

static int try_build_id_directory(const char *directory, int len, void *ctx)
{
	struct search *s = ctx;
	int err = try_format(s->proof, s->ret, "%.*s%.*s/.build-id/%s.debug", s->root_len, s->root,
			     len, directory, s->place);

	return err ? -BOBBIN_ENOENT : 0;
}

/* Of /proc/7/root/usr/bin/x, mapped as /usr/bin/x: how long "/proc/7/root" is. */
static int root_length(const struct debug_query *query)
{
	size_t open_len, len;

	if (!query->open_path || !query->path || query->path[0] != '/')
		return 0;
	open_len = strlen(query->open_path);
	len = strlen(query->path);
	if (open_len <= len || strcmp(query->open_path + open_len - len, query->path))
		return 0;
	return open_len - len < PATH_MAX ? (int)(open_len - len) : 0;
}

static int try_build_id(const struct debug_paths *paths, const struct debug_query *query,
			const struct proof *proof, struct object **ret)
{
	char place[PLACE_MAX];
	struct search s = {.proof = proof, .place = place, .root = "", .ret = ret};
	int err;

	if (!proof->build_id_len)
		return -BOBBIN_ENOENT;
	build_id_place(proof, place);
	err = for_each_directory(paths->debug_path, try_build_id_directory, &s);
	s.root_len = root_length(query);
	s.root = query->open_path;
	if (err && s.root_len)
		err = for_each_directory(paths->debug_path, try_build_id_directory, &s);
	return err ? try_cache(paths, proof, "debug", ret) : 0;
}

/* Read the link section of @o; its name must be usable as one path or file name. */
static int read_link(const struct object *o, const char *section, bool alternate,
		     struct debug_link *link)
{
	const struct object_section *s = object_section(o, section);
	struct bytes b;
	uint8_t *data;
	uint64_t size;
	int err = s ? object_load(o, s, MAX_LINK_SECTION, &data, &size) : -BOBBIN_ENOENT;
	size_t len;

	if (err)
		return err;
	b = bytes_of(data, size, o->big_endian);
	len = strnlen((char *)data, size);
	err = -BOBBIN_ENOENT;
	if (len && len < size && len < sizeof(link->name)) {
		memcpy(link->name, data, len + 1);
		bytes_seek(&b, alternate ? len + 1 : (len + 4) & ~3ull);
		if (alternate && bytes_left(&b) <= sizeof(link->build_id)) {
			link->build_id_len = bytes_left(&b);
			memcpy(link->build_id, data + len + 1, link->build_id_len);
		}
		link->checksum = alternate ? 0 : bytes_u32(&b);
		err = b.bad ? -BOBBIN_ENOENT : 0;
	}
	free(data);
	return err;
}

struct link_search {
	const struct proof *proof;
	const char *name, *file; /* of the debug file, of the mapped file */
	struct object **ret;
};

static int directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash - path < PATH_MAX ? (int)(slash - path) : 0;
}

static int try_link_directory(const char *directory, int len, void *ctx)
{
	struct link_search *s = ctx;
	int err = try_format(s->proof, s->ret, "%.*s%.*s/%s", len, directory,
			     directory_length(s->file), s->file, s->name);

	return err ? -BOBBIN_ENOENT : 0;
}

/* Beside the file, in its .debug, and below each debug directory. */
static int try_link_beside(const struct debug_paths *paths, const struct proof *proof,
			   const char *file, const char *name, struct object **ret)
{
	struct link_search s = {.proof = proof, .name = name, .file = file, .ret = ret};
	int len = directory_length(file), err;

	err = try_format(proof, ret, "%.*s/%s", len, file, name);
	if (err)
		err = try_format(proof, ret, "%.*s/.debug/%s", len, file, name);
	if (err)
		err = for_each_directory(paths->debug_path, try_link_directory, &s);
	return err;
}

static int try_link(const struct debug_paths *paths, const struct debug_query *query,
		    const struct object *main, struct object **ret)
{
	struct debug_link link = {0};
	struct proof proof = {.build_id = main->build_id,
			      .build_id_len = main->build_id_len,
			      .checksum = &link.checksum};
	int err = read_link(main, ".gnu_debuglink", false, &link);

	if (err || strchr(link.name, '/'))
		return -BOBBIN_ENOENT;
	err = -BOBBIN_ENOENT;
	if (query->open_path && !paths->symfs)
		err = try_link_beside(paths, &proof, query->open_path, link.name, ret);
	if (err && query->path && !paths->symfs)
		err = try_link_beside(paths, &proof, query->path, link.name, ret);
	return err;
}

static int try_debuginfod(const struct debug_paths *paths, const struct proof *proof,
			  struct object **ret)
{
	struct object *o;
	int fd, err;

	if (!paths->debuginfod || !proof->build_id_len)
		return -BOBBIN_ENOENT;
	fd = debuginfod_fetch(paths->debuginfod, proof->build_id, proof->build_id_len);
	err = fd < 0 ? fd : object_open_fd(fd, &o);
	return err ? err : take(o, proof, ret);
}

int debugfile_open_debug(const struct debug_paths *paths, const struct debug_query *query,
			 const struct object *main, struct object **ret)
{
	struct proof proof = {.build_id = query->build_id, .build_id_len = query->build_id_len};
	int err;

	if (main) {
		proof.build_id = main->build_id;
		proof.build_id_len = main->build_id_len;
	}
	err = try_build_id(paths, query, &proof, ret);
	if (err && main)
		err = try_link(paths, query, main, ret);
	if (err)
		err = try_debuginfod(paths, &proof, ret);
	return err && err != -ENOMEM ? -BOBBIN_ENOENT : err;
}

/* By name: absolute or relative to the directory that the debug file is in. */
static int try_alternate_name(const struct object *debug, const char *name,
			      const struct proof *proof, struct object **ret)
{
	char self[32], path[PATH_MAX];
	ssize_t len;

	if (name[0] == '/')
		return try_path(name, proof, ret);
	if (debug->fd < 0)
		return -BOBBIN_ENOENT;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", debug->fd);
	len = readlink(self, path, sizeof(path) - 1);
	if (len < 0)
		return -errno;
	path[len] = '\0';
	return try_format(proof, ret, "%.*s/%s", directory_length(path), path, name);
}

int debugfile_open_alternate(const struct debug_paths *paths, const struct object *debug,
			     struct object **ret)
{
	struct debug_link link = {0};
	struct debug_query query = {0};
	struct proof proof = {.build_id = link.build_id};
	int err = read_link(debug, ".gnu_debugaltlink", true, &link);

	if (err)
		return err == -ENOMEM ? err : -BOBBIN_ENOENT;
	proof.build_id_len = link.build_id_len;
	if (!proof.build_id_len)
		return -BOBBIN_ENOENT;
	err = try_build_id(paths, &query, &proof, ret);
	if (err)
		err = try_alternate_name(debug, link.name, &proof, ret);
	if (err)
		err = try_debuginfod(paths, &proof, ret);
	return err && err != -ENOMEM ? -BOBBIN_ENOENT : err;
}
