/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/jit_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "target/mapping_list.h"

char *jit_folder_of(const char *output)
{
	char *copy = strdup(output), *slash, *parent, *folder = NULL;

	if (!copy)
		return NULL;
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	parent = realpath(slash ? (slash == copy ? "/" : copy) : ".", NULL);
	if (!parent || asprintf(&folder, "%s/%s.jit", parent, slash ? slash + 1 : copy) < 0)
		folder = NULL;
	free(parent);
	free(copy);
	return folder;
}

/* A descriptor of the folder.  Ours alone: others could put links there. */
static int open_folder(const char *path)
{
	struct stat st;
	int fd;

	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -EPERM : -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022))
		return fd;
	close(fd);
	return -EPERM;
}

int jit_folder_create(const char *folder, const char *name, FILE **ret)
{
	int place = open_folder(folder), fd;

	if (place < 0)
		return place;
	unlinkat(place, name, 0);
	fd = openat(place, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		fd = -errno;
	close(place);
	if (fd < 0)
		return fd;
	*ret = fdopen(fd, "w");
	if (*ret)
		return 0;
	close(fd);
	return -ENOMEM;
}

int jit_folder_mark(const char *folder, const char *name, FILE *file, const struct perf_event *at,
		    uint64_t address, snapshot_sink sink, void *ctx)
{
	struct perf_event event = snapshot_code((pid_t)at->pid, at->time, at->id, address,
						KEPT_SIZE);
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_MAX ||
	    fstat(fileno(file), &st))
		return 0;
	event.mmap.maj = major(st.st_dev);
	event.mmap.min = minor(st.st_dev);
	event.mmap.ino = st.st_ino;
	event.mmap.filename = path;
	return sink(ctx, &event);
}
