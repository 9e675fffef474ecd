/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/elf_file.h"

#include "base/build_id_path.h"
#include "base/elf_walk.h"
#include "base/path_list.h"
#include "base/shortage.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What shows that a file is the right one; what is not known is not asked for. */
struct proof {
	const struct build_id *id;
	const uint32_t *checksum; /* of all bytes */
};

/* Larger files are found by build ID only: all bytes are read for a checksum. */
#define MAX_CHECKED ((off_t)2 << 30)

void elf_file_build_id(Elf *elf, struct build_id *ret)
{
	const void *bytes;
	ssize_t len = dwelf_elf_gnu_build_id(elf, &bytes);

	ret->len = len > 0 && len <= BUILD_ID_MAX ? (size_t)len : 0;
	if (ret->len)
		memcpy(ret->bytes, bytes, ret->len);
}

static bool has_checksum(int fd, uint32_t expected)
{
	uint8_t chunk[16384];
	uint32_t sum = 0;
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(fd, &st) || st.st_size > MAX_CHECKED)
		return false;
	while ((n = pread(fd, chunk, sizeof(chunk), at)) > 0) {
		sum = lzma_crc32(chunk, (size_t)n, sum);
		at += n;
	}
	return !n && sum == expected;
}

static bool is_proved(const struct elf_file *file, const struct proof *proof)
{
	struct build_id id;

	if (proof->id->len) {
		elf_file_build_id(file->elf, &id);
		if (id.len != proof->id->len || memcmp(id.bytes, proof->id->bytes, id.len))
			return false;
	}
	return !proof->checksum || has_checksum(file->fd, *proof->checksum);
}

void elf_file_close(struct elf_file *file)
{
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	*file = (struct elf_file)ELF_FILE_CLOSED;
}

int elf_file_reopen(struct elf_file *file, Elf_Cmd command)
{
	size_t size = 0;
	char *image = file->fd < 0 ? elf_rawfile(file->elf, &size) : NULL;
	Elf *elf;

	if (!image && !elf_counts_are_sane(file->fd))
		return -ENOENT;
	elf = image ? elf_memory(image, size) : elf_begin(file->fd, command, NULL);
	if (elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return -ENOENT;
	}
	elf_end(file->elf);
	file->elf = elf;
	return 0;
}

int elf_file_open_image(void *image, size_t size, struct elf_file *ret)
{
	struct elf_file file = ELF_FILE_CLOSED;

	elf_version(EV_CURRENT);
	file.elf = elf_memory(image, size);
	if (elf_kind(file.elf) != ELF_K_ELF) {
		elf_file_close(&file);
		return -EINVAL;
	}
	*ret = file;
	return 0;
}

/* Takes @fd over, in any case. */
static int open_descriptor(int fd, const char *path, const struct proof *proof,
			   struct elf_file *ret)
{
	struct elf_file file = {.fd = fd, .path = strdup(path)};
	struct stat st;
	int err = -ENOENT;

	elf_version(EV_CURRENT);
	if (!file.path)
		err = -ENOMEM;
	else if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		err = elf_file_reopen(&file, ELF_C_READ);
	if (!err && !is_proved(&file, proof))
		err = -ESTALE;
	if (err)
		elf_file_close(&file);
	else
		*ret = file;
	return err;
}

/* Below @root. */
static int try_below(const struct search_paths *paths, const char *root, const char *name,
		     const struct proof *proof, struct elf_file *ret)
{
	char path[PATH_MAX];
	int fd;

	if (strlen(root) + strlen(name) >= sizeof(path))
		return -ENOENT;
	strcpy(stpcpy(path, root), name);
	fd = paths->opener.open(paths->opener.ctx, path);
	if (fd < 0)
		return fd == -ETIMEDOUT || is_shortage(fd) ? fd : -ENOENT;
	return open_descriptor(fd, path, proof, ret);
}

/* Whether to go on looking; the first wrong build is remembered in @err. */
static bool is_missing(int found, int *err)
{
	/* what does not answer does not do so by another name */
	bool is_end = !found || is_shortage(found) || found == -ETIMEDOUT;

	if (is_end || *err == -ENOENT)
		*err = found;
	return !is_end;
}

/* Debug files of containers may be on the machine only. */
static int try_roots(const struct search_paths *paths, const char *path, const struct proof *proof,
		     struct elf_file *ret)
{
	unsigned int count = paths->roots && *path == '/' ? file_roots_count(paths->roots) : 0;
	bool had_own = false;
	int err = -ENOENT;

	for (unsigned int i = 0; i < count; i++) {
		const char *root = paths->roots->list[i];

		if (!is_missing(try_below(paths, root, path, proof, ret), &err))
			return err;
		had_own |= !*root;
	}
	if (!had_own)
		is_missing(try_below(paths, OWN_ROOT, path, proof, ret), &err);
	return err;
}

__attribute__((format(printf, 4, 5))) static int try_path(const struct search_paths *paths,
							  const struct proof *proof,
							  struct elf_file *ret, const char *format,
							  ...)
{
	char path[PATH_MAX];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENOENT;
	return try_roots(paths, path, proof, ret);
}

/* What belongs to a file is beside its name, however it was opened. */
static int set_path(struct elf_file *file, const char *path)
{
	char *copy = strdup(path);

	if (!copy) {
		elf_file_close(file);
		return -ENOMEM;
	}
	free(file->path);
	file->path = copy;
	return 0;
}

int elf_file_find_main(const struct search_paths *paths, const char *open_path, const char *path,
		       const struct build_id *id, struct elf_file *ret)
{
	struct search_paths own = *paths;
	struct proof proof = {.id = id};
	int err = -ENOENT;

	own.roots = NULL;
	if (open_path && !paths->symfs &&
	    !is_missing(try_path(&own, &proof, ret, "%s", open_path), &err))
		return err || !path ? err : set_path(ret, path);
	if (path)
		is_missing(try_path(&own, &proof, ret, "%s%s%s", paths->symfs ? paths->symfs : "",
				    paths->symfs ? "/" : "", path),
			   &err);
	return err;
}

/* "DIRECTORY/MIDDLE/NAME" for each directory of the debug path. */
static int try_debug_path(const struct search_paths *paths, const struct proof *proof,
			  const char *middle, int middle_len, const char *name,
			  struct elf_file *ret)
{
	const char *folders = paths->debug_path, *at;
	int err = -ENOENT;
	size_t len;

	while ((at = path_list_next(&folders, &len)))
		if (!is_missing(try_path(paths, proof, ret, "%.*s/%.*s/%s", (int)len, at,
					 middle_len, middle, name),
				&err))
			return err;
	return err;
}

static int try_build_id(const struct search_paths *paths, const struct build_id *id,
			struct elf_file *ret)
{
	char name[BUILD_ID_PATH_SIZE(BUILD_ID_MAX) + sizeof(".debug")];

	if (!id->len)
		return -ENOENT;
	strcpy(build_id_path(id->bytes, id->len, name), ".debug");
	return try_debug_path(paths, &(struct proof){.id = id}, ".build-id", 9, name, ret);
}

static int directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash - path < PATH_MAX ? (int)(slash - path) : 0;
}

/* Beside the file, in its .debug, and below each debug directory. */
static int try_link(const struct search_paths *paths, const struct elf_file *main,
		    const struct build_id *id, struct elf_file *ret)
{
	GElf_Word checksum;
	const char *name = dwelf_elf_gnu_debuglink(main->elf, &checksum);
	struct proof proof = {.id = id, .checksum = &checksum};
	int len, err = -ENOENT;
	const char *path;

	if (!name || !main->path || strchr(name, '/'))
		return err;
	path = paths->inside ? paths->inside : main->path;
	len = directory_length(path);
	if (is_missing(try_path(paths, &proof, ret, "%.*s%s%s", len, path, len ? "/" : "", name),
		       &err) &&
	    is_missing(try_path(paths, &proof, ret, "%.*s%s.debug/%s", len, path, len ? "/" : "",
				name),
		       &err))
		is_missing(try_debug_path(paths, &proof, path, len, name, ret), &err);
	return err;
}

static int try_server(const struct search_paths *paths, const struct build_id *id,
		      struct elf_file *ret)
{
	int fd;

	if (!id->len)
		return -ENOENT;
	fd = paths->opener.fetch(paths->opener.ctx, id);
	if (fd < 0)
		return is_shortage(fd) ? fd : -ENOENT;
	return open_descriptor(fd, "", &(struct proof){.id = id}, ret);
}

int elf_file_find_debug(const struct search_paths *paths, const struct elf_file *main,
			const struct build_id *id, struct elf_file *ret)
{
	struct build_id own;
	int err = -ENOENT;

	if (main->elf) {
		elf_file_build_id(main->elf, &own);
		id = &own;
	}
	if (is_missing(try_build_id(paths, id, ret), &err) &&
	    (!main->elf || is_missing(try_link(paths, main, id, ret), &err)))
		is_missing(try_server(paths, id, ret), &err);
	return err == -ESTALE ? -ENOENT : err;
}

int elf_file_find_supplement(const struct search_paths *paths, const struct elf_file *debug,
			     const char *name, const struct build_id *id, struct elf_file *ret)
{
	struct proof proof = {.id = id};
	int err = -ENOENT, len = debug->path ? directory_length(debug->path) : 0;

	if (!id->len)
		return err;
	if (!is_missing(try_build_id(paths, id, ret), &err))
		return err;
	if (name[0] == '/')
		len = 0;
	if (is_missing(try_path(paths, &proof, ret, "%.*s%s%s", len, len ? debug->path : "",
				len ? "/" : "", name),
		       &err))
		is_missing(try_server(paths, id, ret), &err);
	return err == -ESTALE ? -ENOENT : err;
}

Elf_Scn *elf_file_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_next_section(elf, section, &header)))
		if (!strcmp(elf_section_name(elf, &header), name))
			break;
	return section;
}

Elf_Data *elf_file_symbols(Elf *elf, Elf_Scn *section, size_t limit, Elf_Data **ret)
{
	GElf_Shdr header;

	*ret = elf_file_data(section, limit);
	if (!*ret || !gelf_getshdr(section, &header))
		return NULL;
	return elf_file_data(elf_getscn(elf, header.sh_link), limit);
}

Elf_Data *elf_file_data(Elf_Scn *section, size_t limit)
{
	GElf_Shdr header;
	Elf_Data *data;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    header.sh_flags & SHF_COMPRESSED || header.sh_size > limit)
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}
