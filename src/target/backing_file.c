/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/backing_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/build_id_path.h"
#include "base/clock.h"
#include "base/file_range.h"
#include "base/path_list.h"
#include "base/proc_maps.h"
#include "elf/elf_image.h"

static bool same_build_id(int fd, const struct mapped_file *file)
{
	uint8_t id[ELF_BUILD_ID_MAX], len = 0;

	return !elf_build_id(fd, id, &len) && len == file->build_id_len &&
	       !memcmp(id, file->build_id, len);
}

/*
 * overlay and btrfs report other device numbers in maps than in stat, and overlay, of several
 * file systems, other inodes.
 */
static bool has_other_numbers(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) &&
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC);
}

static bool same_device(int fd, const struct stat *st, const struct mapped_file *file)
{
	return (major(st->st_dev) == file->major && minor(st->st_dev) == file->minor) ||
	       has_other_numbers(fd);
}

/* Numbers of inodes are used again, soon in some file systems. */
static bool same_generation(int fd, const struct mapped_file *file)
{
	int generation;

	return !file->generation || ioctl(fd, FS_IOC_GETVERSION, &generation) ||
	       (uint32_t)generation == file->generation;
}

/*
 * Whether the file is unchanged since it was recorded: it may have been overwritten in place.
 * The ctime cannot be set, unlike the mtime.
 */
static bool is_unchanged(const struct stat *st, const struct mapped_file *file)
{
	return file->ino && clock_of(&st->st_ctim) < file->since;
}

static bool same_inode(int fd, const struct stat *st, const struct mapped_file *file)
{
	if (file->ino && (st->st_ino != file->ino || !same_generation(fd, file)))
		return false;
	return !file->recorded || (is_unchanged(st, file) && same_device(fd, st, file));
}

/* Headers and the beginning of the notes; what comes later may have been written to. */
#define COMPARED 4096

static bool begins_as_mapped(int fd, const struct mapped_file *file)
{
	size_t size = file->image_size < COMPARED ? file->image_size : COMPARED;
	uint8_t begin[COMPARED];

	return size && !file_range_read(fd, 0, begin, size) && !memcmp(begin, file->image, size);
}

/*
 * A recording with both has the build ID of what was at the path when it ended, which the
 * inode contradicts if that was another file by then.
 */
static bool is_same(int fd, const struct stat *st, const struct mapped_file *file)
{
	if (!file->build_id_len && file->image)
		return begins_as_mapped(fd, file);
	if (!file->build_id_len)
		return same_inode(fd, st, file);
	return same_build_id(fd, file) && (!file->ino || !file->recorded || !file->here ||
					   st->st_ino == file->ino || has_other_numbers(fd));
}

/* Open @path if it is the mapped file. */
static int open_checked(struct process_reader *reader, const char *path,
			const struct mapped_file *file)
{
	const struct remote_process process = {reader, file->pid};
	struct stat st;
	int fd = process_file_open(&process, path, 0, &st);

	if (fd < 0)
		return fd;
	if (is_same(fd, &st, file))
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_by_build_id(struct process_reader *reader, const struct mapped_file *file,
			    const char *folders)
{
	char path[PATH_MAX], id[BUILD_ID_PATH_SIZE(sizeof(file->build_id))];
	const char *folder;
	size_t length;
	int fd;

	if (file->build_id_len < 2)
		return -ENOENT;
	build_id_path(file->build_id, file->build_id_len, id);
	while ((folder = path_list_next(&folders, &length))) {
		if (snprintf(path, sizeof(path), "%.*s/.build-id/%s.debug", (int)length, folder,
			     id) >= (int)sizeof(path))
			continue;
		fd = open_checked(reader, path, file);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

/* What a process has mapped can be opened when its name is gone, or another file's. */
static int open_through_process(struct process_reader *reader, const struct mapped_file *file,
				int len)
{
	char path[PATH_MAX];
	int fd;

	map_file_path(file->pid, file->start, file->end, path);
	fd = open_checked(reader, path, file);
	if (fd >= 0 || fd == -ETIMEDOUT)
		return fd;
	/* the above needs privileges, which the own program does not */
	snprintf(path, sizeof(path), "/proc/%d/exe", file->pid);
	fd = open_checked(reader, path, file);
	if (fd >= 0 || fd == -ETIMEDOUT)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%.*s", file->pid, len, file->path);
	return open_checked(reader, path, file);
}

int backing_file_open(struct process_reader *reader, const struct mapped_file *file,
		      const char *debug_path)
{
	char path[PATH_MAX];
	int len = (int)map_path_length(file->path), fd, r;

	if (file->kind != FILE_REGULAR || len >= PATH_MAX - 64)
		return -ENOENT;
	fd = file->pid ? open_through_process(reader, file, len) : -ENOENT;
	/* by another name it does not answer either */
	if (fd >= 0 || fd == -ETIMEDOUT)
		return fd;
	snprintf(path, sizeof(path), "%.*s", len, file->path);
	r = open_checked(reader, path, file);
	if (r >= 0)
		return r;
	fd = open_by_build_id(reader, file, debug_path);
	return fd >= 0 ? fd : r;
}

const void *own_vdso(size_t *size)
{
	const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	*size = 0;
	if (!image)
		return NULL;
	/* section headers are the last thing in it */
	*size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	return image;
}

const void *mapped_vdso(const struct mapped_file *file, size_t *size)
{
	*size = file->image_size;
	if (file->kind != FILE_VDSO)
		return NULL;
	return file->image ? file->image : own_vdso(size);
}
