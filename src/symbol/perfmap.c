/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbol/perfmap.h"

#include "base/clock.h"
#include "symbol/trusted_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_ENTRIES (1u << 20)
#define MAX_NAMES (64u << 20)
#define MAX_NAME 512

struct perfmap {
	struct remote_process process;
	char *tmp;  /* the directory; NULL: */
	char *path; /* of the file */
	bool is_there;
	int64_t changes;
	struct symlist list;
	struct stat seen; /* the file as it was read; zero: none */
	time_t read_at;
};

static int open_map(const struct perfmap *m, struct stat *st)
{
	struct file_teller teller = file_teller_of(m->path ? getpid() : m->process.pid);
	char path[PATH_MAX];
	int fd = -1;

	if (m->path)
		return trusted_file_open(&m->process, m->path, &teller, st);
	if (teller.alive) {
		snprintf(path, sizeof(path), "/proc/%d/root%s/perf-%d.map", (int)m->process.pid,
			 m->tmp, (int)teller.inner_pid);
		fd = trusted_file_open(&m->process, path, &teller, st);
	}
	if (fd < 0) {
		snprintf(path, sizeof(path), "%s/perf-%d.map", m->tmp, (int)m->process.pid);
		fd = trusted_file_open(&m->process, path, &teller, st);
	}
	return fd;
}

/* "7f0000001000 40 Foo.bar(int)": hexadecimal, perhaps with 0x. */
static int add_line(struct symlist *l, const char *line)
{
	char *end;
	uint64_t start = strtoull(line, &end, 16), size;

	if (l->map.count == MAX_ENTRIES || l->names_size > MAX_NAMES)
		return -E2BIG;
	if (end == line || *end != ' ')
		return 0;
	line = end + 1;
	size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || !size || start + size < start)
		return 0;
	return symlist_add(l, start, size, 0, end + 1, strnlen(end + 1, MAX_NAME));
}

/* Code is replaced in place: the later of two entries for one start counts. */
static void drop_replaced(struct symlist *l)
{
	struct interval *items = l->map.items;
	size_t kept = 0;

	for (size_t i = 0; i < l->map.count; i++) {
		if (!kept || items[kept - 1].start != items[i].start)
			items[kept++] = items[i];
		else if (items[kept - 1].value < items[i].value)
			items[kept - 1] = items[i];
	}
	l->map.count = kept;
}

/* Takes @fd over. */
static int read_map(int fd, struct symlist *ret)
{
	FILE *f = fdopen(fd, "r");
	int err;

	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	err = symlist_read(f, add_line, ret);
	fclose(f);
	if (err)
		return err;
	drop_replaced(ret);
	interval_map_sort(&ret->map);
	return 0;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Returns 1 if there is something new. */
static int update(struct perfmap *m)
{
	struct symlist list;
	struct stat st;
	int fd = open_map(m, &st), err;

	if (fd < 0) {
		m->is_there = false;
		return 0;
	}
	m->is_there = true;
	if (is_unchanged(&m->seen, &st)) {
		close(fd);
		return 0;
	}
	err = read_map(fd, &list);
	if (err)
		return err;
	symlist_fini(&m->list);
	m->list = list;
	m->seen = st;
	m->changes++;
	return 1;
}

int perfmap_open(const struct remote_process *process, const char *tmp, const char *path,
		 struct perfmap **ret)
{
	struct perfmap *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->process = *process;
	m->read_at = -1;
	m->tmp = path ? NULL : strdup(tmp);
	m->path = path ? strdup(path) : NULL;
	if (!m->tmp && !m->path) {
		free(m);
		return -ENOMEM;
	}
	*ret = m;
	return 0;
}

void perfmap_close(struct perfmap *m)
{
	if (!m)
		return;
	symlist_fini(&m->list);
	free(m->tmp);
	free(m->path);
	free(m);
}

int perfmap_find(struct perfmap *m, uint64_t address, struct interval *ret, const char **name)
{
	const struct interval *item = interval_map_find(&m->list.map, address);
	time_t time = clock_seconds();

	if (!item || m->read_at != time) {
		int news = update(m);

		if (news < 0)
			return news;
		m->read_at = time;
		if (news)
			item = interval_map_find(&m->list.map, address);
	}
	if (!item)
		return 0;
	*ret = *item;
	*name = symlist_name(&m->list, item);
	return 1;
}

bool perfmap_is_there(const struct perfmap *m)
{
	return m->is_there;
}

int64_t perfmap_changes(struct perfmap *m)
{
	int r = update(m);

	return r < 0 ? r : m->changes;
}

bool perfmap_is(const struct perfmap *m, pid_t pid, const char *path)
{
	return path ? m->path && !strcmp(m->path, path) : !m->path && m->process.pid == pid;
}

size_t perfmap_memory(const struct perfmap *m)
{
	return sizeof(*m) + symlist_memory(&m->list);
}
