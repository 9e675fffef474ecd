/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/kept_names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jitdump_format.h"
#include "base/native_arch.h"
#include "target/gdb_jit.h"
#include "target/mapping_list.h"
#include "unwind/space.h"

#define MS 1000000ull
/* Between searches for a descriptor, which read symbol tables. */
#define FIRST_WAIT (500 * MS)
#define LAST_WAIT (60000 * MS)
#define MAX_PROCESSES 1024
#define MAX_CODE (1u << 20)
#define MAX_NAME 1024

struct kept_process {
	struct jit_keeper *keeper;
	struct remote_process process;
	uint64_t wait, due; /* when to search again */
	uint64_t looked;    /* when it was asked last */
	uint64_t descriptors[GDB_JIT_DESCRIPTORS];
	struct gdb_jit_state states[GDB_JIT_DESCRIPTORS];
	size_t count; /* of descriptors; 0: none are known */
	struct gdb_jit_entry *known[GDB_JIT_DESCRIPTORS];
	size_t known_count[GDB_JIT_DESCRIPTORS];
	FILE *file;
	uint64_t file_size, index;
	uint64_t from; /* of the code that is being read */
};

struct jit_keeper {
	struct jit_folder folder;
	struct kept_process processes[MAX_PROCESSES];
	size_t count;
	struct map_keeper *maps;
	uint8_t code[MAX_CODE];
};

/* The absolute name of the folder beside a recording, or NULL. */
static char *folder_of(const char *output)
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

int jit_folder_create(const struct jit_folder *folder, const char *name, FILE **ret)
{
	int place = open_folder(folder->path), fd;

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

int jit_folder_mark(const struct jit_folder *folder, const char *name, FILE *file, int pid,
		    uint64_t time, uint64_t address)
{
	struct perf_event event = snapshot_code(pid, time, folder->id, address, KEPT_SIZE);
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/%s", folder->path, name) >= PATH_MAX ||
	    fstat(fileno(file), &st))
		return 0;
	event.mmap.maj = major(st.st_dev);
	event.mmap.min = minor(st.st_dev);
	event.mmap.ino = st.st_ino;
	event.mmap.filename = path;
	return folder->sink(folder->ctx, &event);
}

void jit_folder_fail(struct jit_folder *folder, int error)
{
	if (!folder->stats.error)
		folder->stats.error = error;
}

int jit_keeper_open(const char *output, struct process_reader *reader, uint64_t id,
		    snapshot_sink sink, void *ctx, struct jit_keeper **ret)
{
	struct jit_keeper *k = calloc(1, sizeof(*k));
	struct stat st;

	if (!k)
		return -ENOMEM;
	k->folder = (struct jit_folder){.reader = reader, .id = id, .sink = sink, .ctx = ctx};
	if (output && (stat(output, &st) || S_ISREG(st.st_mode))) {
		k->folder.path = folder_of(output);
		if (!k->folder.path) {
			free(k);
			return -ENOMEM;
		}
	}
	if (map_keeper_open(&k->folder, &k->maps)) {
		jit_keeper_close(k);
		return -ENOMEM;
	}
	*ret = k;
	return 0;
}

static void forget(struct kept_process *p)
{
	for (size_t i = 0; i < GDB_JIT_DESCRIPTORS; i++) {
		free(p->known[i]);
		p->known[i] = NULL;
		p->known_count[i] = 0;
		p->states[i] = (struct gdb_jit_state){0};
	}
	p->count = 0;
}

void jit_keeper_close(struct jit_keeper *keeper)
{
	if (!keeper)
		return;
	for (size_t i = 0; i < keeper->count; i++) {
		forget(&keeper->processes[i]);
		if (keeper->processes[i].file)
			fclose(keeper->processes[i].file);
	}
	map_keeper_close(keeper->maps);
	free(keeper->folder.path);
	free(keeper);
}

static void file_name(const struct kept_process *p, char name[32])
{
	snprintf(name, 32, "jit-%d.dump", p->process.pid);
}

static int write_all(struct kept_process *p, const void *bytes, size_t size)
{
	p->file_size += size;
	return fwrite(bytes, 1, size, p->file) == size ? 0 : -EIO;
}

static int open_file(struct jit_keeper *k, struct kept_process *p)
{
	const struct jitdump_header header = {
		.magic = JITDUMP_MAGIC,
		.version = JITDUMP_VERSION,
		.total_size = sizeof(header),
		.elf_machine = native_arch()->elf_machine,
		.pid = (uint32_t)p->process.pid,
		.timestamp = clock_now(),
	};
	char name[32];
	int r;

	file_name(p, name);
	r = jit_folder_create(&k->folder, name, &p->file);
	if (r)
		return r;
	return write_all(p, &header, sizeof(header));
}

/* The record that leads a reader to the file. */
static int put_marker(struct jit_keeper *k, struct kept_process *p, uint64_t time)
{
	char name[32];

	file_name(p, name);
	return jit_folder_mark(&k->folder, name, p->file, p->process.pid, time,
			       KEPT_JITDUMP_ADDRESS);
}

static int write_code(struct kept_process *p, const struct gdb_jit_function *f, const void *code)
{
	size_t name_len = strnlen(f->name, MAX_NAME);
	struct jitdump_load load = {
		.prefix = {.total_size = (uint32_t)(sizeof(load) + name_len + 1 + f->size),
			   .timestamp = p->from},
		.pid = (uint32_t)p->process.pid,
		.tid = (uint32_t)p->process.pid,
		.vma = f->start,
		.code_addr = f->start,
		.code_size = f->size,
		.code_index = p->index++,
	};
	int r = write_all(p, &load, sizeof(load));

	r = r ? r : write_all(p, f->name, name_len);
	r = r ? r : write_all(p, "", 1);
	return r ? r : write_all(p, code, f->size);
}

static int keep_function(void *ctx, const struct gdb_jit_function *function)
{
	struct kept_process *p = ctx;
	int r;

	/* the code has gone, or never was */
	if (function->size > MAX_CODE ||
	    process_read(&p->process, function->start, p->keeper->code, function->size))
		return 0;
	if (p->file_size > JIT_FOLDER_FILE_MAX)
		return -E2BIG;
	r = write_code(p, function, p->keeper->code);
	p->keeper->folder.stats.functions += !r;
	return r;
}

static int compare_entries(const void *left, const void *right)
{
	const struct gdb_jit_entry *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

static bool is_known(const struct kept_process *p, size_t i, const struct gdb_jit_entry *entry)
{
	return p->known_count[i] &&
	       bsearch(entry, p->known[i], p->known_count[i], sizeof(*entry), compare_entries);
}

/* Images that cannot be read cost their names; a file that cannot be written, all others. */
static void keep_images(struct jit_keeper *k, struct kept_process *p, size_t i,
			const struct gdb_jit_entry *entries, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		int r = is_known(p, i, &entries[n])
				? 0
				: gdb_jit_functions(&p->process, &entries[n], keep_function, p);

		if (r == -E2BIG || r == -EIO) {
			jit_folder_fail(&k->folder, r);
			return;
		}
	}
}

/* What a descriptor leads to that it did not before. */
static int look(struct jit_keeper *k, struct kept_process *p, size_t i)
{
	struct gdb_jit_entry *entries;
	struct gdb_jit_state state;
	int count = gdb_jit_state(&p->process, p->descriptors[i], &state);

	if (count || !memcmp(&state, &p->states[i], sizeof(state)))
		return count;
	count = gdb_jit_list(&p->process, p->descriptors[i], &entries);
	if (count < 0)
		return count;
	if (count)
		qsort(entries, (size_t)count, sizeof(*entries), compare_entries);
	keep_images(k, p, i, entries, (size_t)count);
	free(p->known[i]);
	p->known[i] = entries;
	p->known_count[i] = (size_t)count;
	p->states[i] = state;
	return 0;
}

/* Code that is new was there since @from at the earliest. */
static int look_at_all(struct jit_keeper *k, struct kept_process *p, uint64_t from)
{
	int r = 0;

	p->from = from;
	p->looked = clock_now();
	for (size_t i = 0; i < p->count && !r; i++)
		r = look(k, p, i);
	if (fflush(p->file))
		jit_folder_fail(&k->folder, -errno);
	if (r == -ENOMEM)
		return r;
	/* it has ended, or runs another program */
	if (r)
		forget(p);
	return 0;
}

static struct kept_process *find_process(struct jit_keeper *k, int pid)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->processes[i].process.pid == pid)
			return &k->processes[i];
	if (k->count == MAX_PROCESSES)
		return NULL;
	k->processes[k->count] = (struct kept_process){.keeper = k,
						       .process = {k->folder.reader, pid}};
	return &k->processes[k->count++];
}

static bool has_jitdump(const struct bobbin_space *space)
{
	for (size_t i = 0; i < space->maps.count; i++)
		if (is_jitdump_path(space->maps.list[i].path))
			return true;
	return false;
}

static bool search(struct kept_process *p, const struct bobbin_space *space)
{
	if (clock_now() < p->due)
		return false;
	p->wait = p->wait ? 2 * p->wait : FIRST_WAIT;
	if (p->wait > LAST_WAIT)
		p->wait = LAST_WAIT;
	if (!has_jitdump(space))
		p->count = gdb_jit_find(&space->maps, p->descriptors);
	p->due = clock_now() + p->wait;
	return p->count;
}

/*
 * Have a file of a process, and mark it.  0, also if there is none; -ENOMEM; or what the sink
 * returned.
 */
static int begin_file(struct jit_keeper *k, struct kept_process *p, uint64_t time)
{
	int r = p->file ? 0 : open_file(k, p);

	if (r) {
		jit_folder_fail(&k->folder, r);
		return 0;
	}
	return put_marker(k, p, time);
}

static int keep_images_of(struct jit_keeper *keeper, int pid, const struct bobbin_space *space,
			  uint64_t time)
{
	struct kept_process *p = find_process(keeper, pid);
	int r;

	if (!p)
		jit_folder_fail(&keeper->folder, -E2BIG);
	if (!p || p->count || !search(p, space))
		return 0;
	r = begin_file(keeper, p, time);
	if (!p->file)
		forget(p);
	return r || !p->file ? r : look_at_all(keeper, p, time);
}

static int keep_method(struct jit_keeper *k, int pid, const struct hotspot_name *name,
		       uint64_t time)
{
	const struct gdb_jit_function function = {name->start, name->size, name->text};
	struct kept_process *p = find_process(k, pid);
	int r = p && !p->file ? begin_file(k, p, time) : 0;

	if (!p)
		jit_folder_fail(&k->folder, -E2BIG);
	if (r || !p || !p->file)
		return r;
	p->from = time;
	r = keep_function(p, &function);
	if (r)
		jit_folder_fail(&k->folder, r);
	return 0;
}

/* Methods that a Java virtual machine has compiled, and that are in the trace for the first time. */
static int keep_methods(struct jit_keeper *k, const struct process *process,
			const struct bobbin_trace *trace, uint64_t time)
{
	const struct remote_code *remote = process->space->remote;
	struct hotspot_name name;
	int r = 0;

	if (!remote || !remote->machine.table || has_jitdump(process->space))
		return 0;
	for (uint32_t i = 0; i < trace->count && !r; i++) {
		const uint64_t pc = bobbin_frame_lookup_pc(&trace->frames[i]);
		struct hotspot_code *machine = remote_code_machine(remote, pc);

		if (machine && trace->frames[i].source != BOBBIN_SOURCE_LEFT_OUT &&
		    hotspot_code_name(machine, pc, true, &name) > 0)
			r = keep_method(k, process->pid, &name, time);
	}
	return r;
}

int jit_keeper_trace(struct jit_keeper *keeper, const struct process *process,
		     const struct bobbin_trace *trace, uint64_t time)
{
	int r;

	if (!keeper->folder.path || !process_has_bare_code(process, trace))
		return 0;
	r = map_keeper_trace(keeper->maps, process, trace, time);
	r = r ? r : keep_methods(keeper, process, trace, time);
	return r ? r : keep_images_of(keeper, process->pid, process->space, time);
}

void jit_keeper_fork(struct jit_keeper *keeper, int parent, const struct process *child)
{
	if (keeper->folder.path)
		map_keeper_fork(keeper->maps, parent, child);
}

int jit_keeper_sweep(struct jit_keeper *keeper)
{
	int r = 0;

	for (size_t i = 0; i < keeper->count && !r; i++)
		if (keeper->processes[i].count)
			r = look_at_all(keeper, &keeper->processes[i], keeper->processes[i].looked);
		else if (keeper->processes[i].file && fflush(keeper->processes[i].file))
			jit_folder_fail(&keeper->folder, -errno);
	return r;
}

struct jit_keeper_stats jit_keeper_stats(const struct jit_keeper *keeper)
{
	return keeper->folder.stats;
}
