/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/window_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base_name.h"
#include "base/private_folder.h"
#include "base/vector.h"

#define PREFIX "bobbin-"
#define SUFFIX ".perf.data"
#define COMPILED ".jit"
#define UNSENT ".unsent"
#define NAME_SIZE 64
/* Of those that are too old, for each that comes. */
#define AGED_AT_ONCE 2

struct window {
	char name[NAME_SIZE]; /* in the folder */
	uint64_t bytes, samples;
	uint64_t time; /* when it was written, in seconds of the time of day */
	bool unsent;
};

struct window_folder {
	struct window_folder_options options;
	int fd;
	pthread_mutex_t lock; /* of all below */
	struct window *windows;
	size_t count, room;
	struct window_folder_stats stats;
};

static const char *suffixed(const struct window *window, const char *suffix,
			    char name[NAME_SIZE + 8])
{
	snprintf(name, NAME_SIZE + 8, "%s%s", window->name, suffix);
	return name;
}

static bool is_window_name(const char *name)
{
	const size_t length = strlen(name), end = strlen(SUFFIX);

	return length < NAME_SIZE && length > end && !strncmp(name, PREFIX, strlen(PREFIX)) &&
	       !strcmp(name + length - end, SUFFIX);
}

static DIR *open_below(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

/* Of the files with names of compiled code. */
static uint64_t compiled_bytes(int folder, const char *name)
{
	DIR *dir = open_below(folder, name);
	const int below = dir ? dirfd(dir) : -1;
	struct dirent *entry;
	struct stat st;
	uint64_t bytes = 0;

	while (below >= 0 && (entry = readdir(dir)))
		if (!fstatat(below, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	if (dir)
		closedir(dir);
	return bytes;
}

static bool read_samples(int folder, const char *name, uint64_t *ret)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char text[32];
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (size < 0)
		return false;
	text[size] = '\0';
	*ret = strtoull(text, NULL, 10);
	return true;
}

static int write_samples(int folder, const char *name, uint64_t samples)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = dprintf(fd, "%" PRIu64 "\n", samples) < 0 ? -errno : 0;
	close(fd);
	return r;
}

/* Size and time of what is there; false: it is no file. */
static bool look_at(const struct window_folder *f, struct window *window)
{
	char name[NAME_SIZE + 8];
	struct stat st;

	if (fstatat(f->fd, window->name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return false;
	window->bytes = (uint64_t)st.st_size +
			compiled_bytes(f->fd, suffixed(window, COMPILED, name));
	window->time = (uint64_t)st.st_mtime;
	return true;
}

static int push(struct window_folder *f, const struct window *window)
{
	int r = vector_push(f->windows, f->count, f->room, *window);

	if (r)
		return r;
	f->stats.windows++;
	f->stats.bytes += window->bytes;
	f->stats.unsent += window->unsent;
	f->stats.unsent_samples += window->unsent ? window->samples : 0;
	return 0;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct window *)left)->name, ((const struct window *)right)->name);
}

static int read_folder(struct window_folder *f)
{
	DIR *dir = open_below(f->fd, ".");
	struct dirent *entry;
	char name[NAME_SIZE + 8];
	int r = dir ? 0 : -errno;

	while (dir && !r && (entry = readdir(dir))) {
		struct window window = {0};

		if (!is_window_name(entry->d_name))
			continue;
		memcpy(window.name, entry->d_name, strlen(entry->d_name));
		if (!look_at(f, &window))
			continue;
		window.unsent = f->options.send &&
				read_samples(f->fd, suffixed(&window, UNSENT, name),
					     &window.samples);
		r = push(f, &window);
	}
	if (dir)
		closedir(dir);
	if (f->count)
		qsort(f->windows, f->count, sizeof(*f->windows), by_name);
	return r;
}

static int take_folder(struct window_folder *f)
{
	if (mkdir(f->options.path, 0700) && errno != EEXIST)
		return -errno;
	f->fd = open(f->options.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->fd < 0 || flock(f->fd, LOCK_EX | LOCK_NB))
		return -errno;
	return read_folder(f);
}

int window_folder_open(const struct window_folder_options *options, struct window_folder **ret)
{
	struct window_folder *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->options = *options;
	f->fd = -1;
	pthread_mutex_init(&f->lock, NULL);
	r = take_folder(f);
	if (r)
		window_folder_close(f);
	else
		*ret = f;
	return r;
}

void window_folder_close(struct window_folder *folder)
{
	if (!folder)
		return;
	if (folder->fd >= 0)
		close(folder->fd);
	free(folder->windows);
	pthread_mutex_destroy(&folder->lock);
	free(folder);
}

/* Files of a clock that was put back may have the names already. */
char *window_folder_name(struct window_folder *folder)
{
	char when[32], *path;
	time_t now = time(NULL);
	struct tm tm;

	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	for (unsigned int i = 1;; i++) {
		char more[16] = "";

		if (i > 1)
			snprintf(more, sizeof(more), "-%u", i);
		if (asprintf(&path, "%s/" PREFIX "%s%s" SUFFIX, folder->options.path, when, more) <
		    0)
			return NULL;
		if (faccessat(folder->fd, base_name(path), F_OK, AT_SYMLINK_NOFOLLOW))
			return path;
		free(path);
	}
}

static void forget(struct window_folder *f, size_t at)
{
	const struct window *w = &f->windows[at];

	f->stats.windows--;
	f->stats.bytes -= w->bytes;
	f->stats.unsent -= w->unsent;
	f->stats.unsent_samples -= w->unsent ? w->samples : 0;
	memmove(&f->windows[at], &f->windows[at + 1], (f->count - at - 1) * sizeof(*w));
	f->count--;
}

static void remove_compiled(const struct window_folder *f, const struct window *window)
{
	char *path;

	if (asprintf(&path, "%s/%s" COMPILED, f->options.path, window->name) < 0)
		return;
	private_folder_remove(path);
	free(path);
}

static void drop(struct window_folder *f, size_t at)
{
	const struct window *w = &f->windows[at];
	char name[NAME_SIZE + 8];

	unlinkat(f->fd, w->name, 0);
	unlinkat(f->fd, suffixed(w, UNSENT, name), 0);
	remove_compiled(f, w);
	f->stats.dropped += w->unsent;
	f->stats.dropped_samples += w->unsent ? w->samples : 0;
	forget(f, at);
}

/* What waits to be sent is kept for as long as there is room. */
static void drop_aged(struct window_folder *f)
{
	const uint64_t now = (uint64_t)time(NULL);

	for (size_t i = 0, gone = 0; i < f->count && gone < AGED_AT_ONCE;) {
		const struct window *w = &f->windows[i];

		if (w->unsent) {
			i++;
			continue;
		}
		if (f->options.keep_seconds && w->time + f->options.keep_seconds >= now)
			return;
		drop(f, i);
		gone++;
	}
}

static void make_room(struct window_folder *f)
{
	while (f->count > 1 && f->stats.bytes > f->options.max_bytes)
		drop(f, 0);
	drop_aged(f);
}

int window_folder_add(struct window_folder *folder, const char *path, uint64_t samples)
{
	struct window window = {.samples = samples, .unsent = folder->options.send};
	char name[NAME_SIZE + 8];
	int r = 0;

	snprintf(window.name, sizeof(window.name), "%s", base_name(path));
	pthread_mutex_lock(&folder->lock);
	if (look_at(folder, &window)) {
		if (window.unsent)
			r = write_samples(folder->fd, suffixed(&window, UNSENT, name), samples);
		if (push(folder, &window))
			r = -ENOMEM;
		make_room(folder);
	} else {
		r = -ENOENT;
	}
	pthread_mutex_unlock(&folder->lock);
	return r;
}

char *window_folder_unsent(struct window_folder *folder, uint64_t *samples)
{
	char *path = NULL;
	size_t i = 0;

	pthread_mutex_lock(&folder->lock);
	while (i < folder->count && !folder->windows[i].unsent)
		i++;
	if (i < folder->count) {
		*samples = folder->windows[i].samples;
		if (asprintf(&path, "%s/%s", folder->options.path, folder->windows[i].name) < 0)
			path = NULL;
	}
	pthread_mutex_unlock(&folder->lock);
	return path;
}

void window_folder_sent(struct window_folder *folder, const char *path)
{
	char name[NAME_SIZE + 8];

	pthread_mutex_lock(&folder->lock);
	for (size_t i = 0; i < folder->count; i++) {
		struct window *w = &folder->windows[i];

		if (!w->unsent || strcmp(w->name, base_name(path)) != 0)
			continue;
		unlinkat(folder->fd, suffixed(w, UNSENT, name), 0);
		w->unsent = false;
		folder->stats.unsent--;
		folder->stats.unsent_samples -= w->samples;
		if (!folder->options.keep_seconds)
			drop(folder, i);
		break;
	}
	pthread_mutex_unlock(&folder->lock);
}

void window_folder_stats(struct window_folder *folder, struct window_folder_stats *ret)
{
	pthread_mutex_lock(&folder->lock);
	*ret = folder->stats;
	pthread_mutex_unlock(&folder->lock);
}
