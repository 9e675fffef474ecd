/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash_index.h"
#include "base/proc_maps.h"
#include "base/text_file.h"
#include "codemap/page_copy.h"
#include "elf/elf_image.h"
#include "target/text_copy.h"
#include "target/thread.h"

static struct perf_event event_of(uint32_t type, uint16_t misc, pid_t pid, pid_t tid, uint64_t id)
{
	return (struct perf_event){
		.type = type,
		.misc = misc,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.id = id,
	};
}

static int thread_comm(pid_t pid, pid_t tid, uint64_t id, snapshot_sink sink, void *ctx)
{
	struct perf_event event = event_of(PERF_RECORD_COMM, 0, pid, tid, id);
	char name[64], comm[32];

	snprintf(name, sizeof(name), "/proc/%d/task/%d/comm", pid, tid);
	text_file_read(name, comm, sizeof(comm));
	if (!*comm)
		return 0; /* it has ended */
	comm[strcspn(comm, "\n")] = 0;
	event.comm.comm = comm;
	return sink(ctx, &event);
}

/* The build ID of what is mapped, if the file can be opened. */
static void read_build_id(const struct remote_process *process, struct perf_mmap *m)
{
	char name[MAP_FILE_SIZE];
	int fd;

	map_file_path(process->pid, m->addr, m->addr + m->len, name);
	fd = process_file_open(process, name, 0, NULL);
	if (fd < 0)
		return;
	if (elf_build_id(fd, m->build_id, &m->build_id_len))
		m->build_id_len = 0;
	close(fd);
}

static void take_build_id(const struct remote_process *process, struct snapshot_files *files,
			  struct perf_mmap *m)
{
	uint64_t hash = hash_words(m->ino, (uint64_t)m->maj << 32 | m->min, 0);
	struct snapshot_file *known = files ? &files->list[hash % SNAPSHOT_FILES] : NULL;

	if (known && known->ino == m->ino && known->major == m->maj && known->minor == m->min) {
		memcpy(m->build_id, known->build_id, sizeof(known->build_id));
		m->build_id_len = known->build_id_len;
		return;
	}
	read_build_id(process, m);
	if (!known)
		return;
	*known = (struct snapshot_file){
		.major = m->maj, .minor = m->min, .ino = m->ino, .build_id_len = m->build_id_len};
	memcpy(known->build_id, m->build_id, sizeof(known->build_id));
}

struct maps_context {
	const struct remote_process *process;
	uint64_t id;
	struct snapshot_files *files;
	snapshot_sink sink;
	void *ctx;
	bool page;
};

static int map_line(void *ctx, const struct proc_map *map)
{
	struct maps_context *c = ctx;
	struct perf_event event = event_of(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER,
					   c->process->pid, c->process->pid, c->id);
	struct perf_mmap *m = &event.mmap;

	c->page |= page_copy_may_be(map);
	if (!map->exec)
		return 0;
	m->addr = map->start;
	m->len = map->end - m->addr;
	m->pgoff = map->offset;
	m->maj = map->major;
	m->min = map->minor;
	m->ino = map->ino;
	m->prot = PROT_EXEC | (map->read ? PROT_READ : 0) | (map->write ? PROT_WRITE : 0);
	m->flags = map->shared ? MAP_SHARED : MAP_PRIVATE;
	m->filename = map->path[0] ? map->path : "//anon";
	if (m->ino)
		take_build_id(c->process, c->files, m);
	return c->sink(c->ctx, &event);
}

struct perf_event snapshot_code(pid_t pid, uint64_t time, uint64_t id, uint64_t start,
				uint64_t size)
{
	struct perf_event event = event_of(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, pid, pid, id);

	event.time = time;
	event.mmap = (struct perf_mmap){
		.addr = start, .len = size, .prot = PROT_READ | PROT_EXEC, .flags = MAP_PRIVATE};
	return event;
}

struct telling {
	pid_t pid;
	uint64_t id;
	snapshot_sink sink;
	void *ctx;
	int count, error;
};

static int tell_copy(void *ctx, const struct bobbin_mapping *mapping)
{
	struct telling *t = ctx;
	struct perf_event event = snapshot_code(t->pid, 0, t->id, mapping->start,
						mapping->end - mapping->start);

	event.mmap.pgoff = mapping->offset;
	event.mmap.maj = mapping->major;
	event.mmap.min = mapping->minor;
	event.mmap.ino = mapping->ino;
	event.mmap.build_id_len = mapping->build_id_len;
	event.mmap.filename = mapping->path;
	memcpy(event.mmap.build_id, mapping->build_id, sizeof(mapping->build_id));
	t->error = t->sink(t->ctx, &event);
	t->count++;
	return t->error ? -1 : 0;
}

int snapshot_text_copies(const struct remote_process *process, const struct mapping_list *known,
			 uint64_t id, snapshot_sink sink, void *ctx)
{
	struct telling t = {.pid = process->pid, .id = id, .sink = sink, .ctx = ctx};
	int r = text_copies_find(process, known, tell_copy, &t);

	if (t.error || r == -ENOMEM)
		return t.error ? t.error : r;
	return t.count;
}

int snapshot_process(const struct remote_process *process, uint64_t id,
		     struct snapshot_files *files, snapshot_sink sink, void *ctx, bool *page)
{
	struct maps_context maps = {process, id, files, sink, ctx, false};
	pid_t *tids;
	int count = thread_list(process->pid, &tids), r = 0;

	*page = false;
	if (count < 0)
		return count;
	for (int i = 0; i < count && !r; i++)
		r = thread_comm(process->pid, tids[i], id, sink, ctx);
	free(tids);
	if (r)
		return r;
	r = proc_maps_read(process, map_line, &maps);
	*page = maps.page;
	if (!r)
		r = snapshot_text_copies(process, NULL, id, sink, ctx);
	return r < 0 ? r : 0;
}

int snapshot_text(const struct remote_process *process, uint64_t id, char *text,
		  struct snapshot_files *files, snapshot_sink sink, void *ctx)
{
	struct maps_context maps = {process, id, files, sink, ctx, false};

	return proc_maps_parse(process->pid, text, map_line, &maps);
}

/*
 * How large the kernel's code is, by one of the first lines of /proc/iomem; 0: it does not say so, or
 * not to us.  Its end by kallsyms is a hundred thousand lines away.
 */
static uint64_t kernel_code_size(void)
{
	char line[128];
	FILE *f = fopen("/proc/iomem", "re");
	uint64_t start = 0, last = 0;

	while (f && !last && fgets(line, sizeof(line), f))
		if (strstr(line, " : Kernel code\n")) {
			char *rest;

			start = strtoull(line, &rest, 16);
			last = *rest == '-' ? strtoull(rest + 1, NULL, 16) : 0;
		}
	if (f)
		fclose(f);
	return last > start ? last + 1 - start : 0;
}

/* Of a line "address type name", with a name that says where the kernel's code is. */
static bool take_symbol(const char *line, uint64_t *start, uint64_t *end)
{
	char *rest;
	uint64_t addr = strtoull(line, &rest, 16);

	if (*rest != ' ' || !rest[1] || strncmp(rest + 2, " _", 2))
		return false;
	rest += 3;
	if (!strcmp(rest, "_text\n") || (!strcmp(rest, "_stext\n") && !*start))
		*start = addr;
	else if (!strcmp(rest, "_etext\n"))
		*end = addr;
	else
		return false;
	return true;
}

static bool kernel_text(uint64_t *start, uint64_t *end)
{
	const uint64_t size = kernel_code_size();
	char *line = NULL;
	size_t room = 0;
	FILE *f = fopen("/proc/kallsyms", "re");

	*start = *end = 0;
	if (!f)
		return false;
	while ((!*start || !*end) && getline(&line, &room, f) > 0) {
		/* the addresses of others are hidden then, too */
		if (take_symbol(line, start, end) && !*start)
			break;
		if (*start && size)
			*end = *start + size;
	}
	free(line);
	fclose(f);
	return *start && *end > *start;
}

int snapshot_kernel(uint64_t id, snapshot_sink sink, void *ctx)
{
	/* the name and the pid by which perf knows the kernel's own map */
	struct perf_event event = event_of(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL, -1, 0, id);
	uint64_t start, end;

	if (!kernel_text(&start, &end))
		return 0;
	event.mmap.addr = start;
	event.mmap.len = end - start;
	event.mmap.pgoff = start;
	event.mmap.filename = "[kernel.kallsyms]_text";
	return sink(ctx, &event);
}
