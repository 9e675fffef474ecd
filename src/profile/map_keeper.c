/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that processes tell in perf maps, kept for the report.
 *
 *	/proc/PID/root/tmp/perf-PID.map ──► OUTPUT.jit/perf-PID.map ──► bobbin report
 *
 * The file may be in a /tmp that ends with its process, or be removed by it, or be another
 * process's by the time of the report.  So what is sampled in made memory is looked up while the
 * process lives, and its function is written as the process has written it.  A record of a
 * mapping says where.  Where code is replaced, a new file begins, and a record says so: what was
 * sampled before keeps its name, and so does a child that was forked before.
 *
 * A forked child has no map of its own, mostly: then it has those of its lineage as far as its
 * code is the same.
 */
#include "profile/kept_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash_index.h"
#include "base/vector.h"
#include "symbol/perfmap.h"
#include "target/mapping_list.h"

#define MS 1000000ull
#define MAX_PROCESSES 1024
#define MAX_FUNCTIONS 65536
/* Files of a process, one for each time that code was replaced. */
#define MAX_FILES 256
#define SEEN_BITS 10
/* A map is read in no more than so many parts of the time, and where there is none less often. */
#define FACTOR 20
#define FIRST_WAIT MS
#define LAST_WAIT (1000 * MS)
#define LOOK_WAIT (50 * MS)

struct recorded_function {
	uint64_t start, size;
	char *name;
	uint64_t differs; /* when another name was read; 0: there is none */
};

/* An address that was looked up, in the maps as they were then. */
struct seen {
	uint64_t pc;
	int64_t changes;
};

struct kept_maps {
	int pid;
	uint64_t program; /* struct process's */
	/* its own map, and those of its lineage */
	struct perfmap *maps[1 + LINEAGE_MAX];
	struct remote_process processes[1 + LINEAGE_MAX];
	unsigned int count;
	uint64_t due, wait;
	uint64_t look;      /* when a new map is looked for */
	uint64_t look_wait; /* how long after the last look that is */
	int64_t changes;    /* of the maps; 0: there is none yet */
	struct seen seen[1u << SEEN_BITS];
	struct recorded_function *functions;
	size_t function_count, function_room;
	struct hash_index index; /* by start */
	FILE *file;
	unsigned int number; /* of it */
};

struct map_keeper {
	struct jit_folder *folder;
	uint64_t seed;
	struct kept_maps *processes[MAX_PROCESSES];
	size_t count;
};

int map_keeper_open(struct jit_folder *folder, struct map_keeper **ret)
{
	struct map_keeper *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->folder = folder;
	k->seed = hash_seed();
	*ret = k;
	return 0;
}

/* What another program had. */
static void forget(struct kept_maps *p)
{
	for (unsigned int i = 0; i < p->count; i++)
		perfmap_close(p->maps[i]);
	for (size_t i = 0; i < p->function_count; i++)
		free(p->functions[i].name);
	free(p->functions);
	hash_index_fini(&p->index);
	if (p->file)
		fclose(p->file);
	*p = (struct kept_maps){.pid = p->pid, .number = p->number};
}

void map_keeper_close(struct map_keeper *keeper)
{
	if (!keeper)
		return;
	for (size_t i = 0; i < keeper->count; i++) {
		forget(keeper->processes[i]);
		free(keeper->processes[i]);
	}
	free(keeper);
}

static struct kept_maps *find_process(const struct map_keeper *k, int pid)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->processes[i]->pid == pid)
			return k->processes[i];
	return NULL;
}

static int open_maps(const struct map_keeper *k, struct kept_maps *p, const struct process *process)
{
	struct lineage lineage = process->lineage;
	int r = 0;

	/* it may have been forked before the recording began */
	if (!lineage.count)
		lineage = lineage_read(&(struct remote_process){k->folder->reader, process->pid});
	p->program = process->program;
	for (unsigned int i = 0; i <= lineage.count && !r; i++) {
		p->processes[i].reader = k->folder->reader;
		p->processes[i].pid = i ? lineage.pids[i - 1] : process->pid;
		r = perfmap_open(&p->processes[i], PERFMAP_FOLDER, NULL, &p->maps[i]);
		p->count += !r;
	}
	return r;
}

/* 0, -ENOMEM; -E2BIG: there are too many */
static int process_of(struct map_keeper *k, const struct process *process, struct kept_maps **ret)
{
	struct kept_maps *p = find_process(k, process->pid);

	if (p && p->program == process->program) {
		*ret = p;
		return 0;
	}
	if (!p) {
		if (k->count == MAX_PROCESSES)
			return -E2BIG;
		p = calloc(1, sizeof(*p));
		if (!p)
			return -ENOMEM;
		p->pid = process->pid;
		k->processes[k->count++] = p;
	}
	forget(p);
	*ret = p;
	return open_maps(k, p, process);
}

static struct recorded_function *find_function(struct map_keeper *k, struct kept_maps *p,
					       uint64_t start)
{
	uint64_t hash = hash_words(start, 0, k->seed);
	size_t at = 0;
	uint32_t i;

	while (hash_index_next(&p->index, hash, &at, &i))
		if (p->functions[i].start == start)
			return &p->functions[i];
	return NULL;
}

static int add_function(struct map_keeper *k, struct kept_maps *p,
			const struct recorded_function *f)
{
	struct recorded_function own = *f;
	int r;

	if (p->function_count == MAX_FUNCTIONS)
		return -E2BIG;
	own.differs = 0;
	own.name = strdup(f->name);
	if (!own.name)
		return -ENOMEM;
	r = hash_index_push(&p->index, hash_words(f->start, 0, k->seed), p->functions,
			    p->function_count, p->function_room, own);
	if (r)
		free(own.name);
	return r;
}

static int write_function(struct map_keeper *k, struct kept_maps *p,
			  const struct recorded_function *f)
{
	if (ftell(p->file) > (long)JIT_FOLDER_FILE_MAX)
		return -E2BIG;
	if (fprintf(p->file, "%" PRIx64 " %" PRIx64 " %s\n", f->start, f->size, f->name) < 0 ||
	    fflush(p->file))
		return -EIO;
	k->folder->stats.functions++;
	return 0;
}

/* A new file with all that is known, and the record that leads to it. */
static int begin_file(struct map_keeper *k, struct kept_maps *p, uint64_t time)
{
	char name[48];
	int r;

	if (p->file)
		fclose(p->file);
	p->file = NULL;
	if (p->number)
		snprintf(name, sizeof(name), "perf-%d.%u.map", p->pid, p->number);
	else
		snprintf(name, sizeof(name), "perf-%d.map", p->pid);
	p->number++;
	r = jit_folder_create(k->folder, name, &p->file);
	for (size_t i = 0; i < p->function_count && !r; i++)
		r = write_function(k, p, &p->functions[i]);
	return r ? r : jit_folder_mark(k->folder, name, p->file, p->pid, time, KEPT_MAP_ADDRESS);
}

/* What was told of it before is replaced from now on. */
static int rename_function(struct map_keeper *k, struct kept_maps *p,
			   struct recorded_function *known, const struct recorded_function *f,
			   uint64_t time)
{
	char *name = strdup(f->name);

	if (!name)
		return -ENOMEM;
	free(known->name);
	known->name = name;
	known->size = f->size;
	known->differs = 0;
	return p->number < MAX_FILES || !p->file ? begin_file(k, p, time)
						 : write_function(k, p, known);
}

/* 1: not yet, another name holds from when it was read on, and samples are older than that. */
static int keep_function(struct map_keeper *k, struct kept_maps *p,
			 const struct recorded_function *f, uint64_t time)
{
	struct recorded_function *known = find_function(k, p, f->start);
	int r;

	if (known && known->size == f->size && !strcmp(known->name, f->name))
		return p->file ? 0 : begin_file(k, p, time);
	if (known && !known->differs)
		known->differs = clock_now();
	if (known)
		return time < known->differs ? 1 : rename_function(k, p, known, f, time);
	r = add_function(k, p, f);
	if (r)
		return r;
	return p->file ? write_function(k, p, f) : begin_file(k, p, time);
}

/* 1: the maps say what is at @pc; 0; -ENOMEM */
static int ask_maps(struct kept_maps *p, uint64_t pc, struct recorded_function *ret)
{
	for (unsigned int i = 0; i < p->count; i++) {
		struct interval item;
		const char *name;
		int r = perfmap_find(p->maps[i], pc, &item, &name);

		if (r < 0)
			return r;
		if (r && i &&
		    !lineage_shares(&p->processes[0], p->processes[i].pid, item.start, item.size))
			return 0;
		if (r) {
			*ret = (struct recorded_function){
				.start = item.start, .size = item.size, .name = (char *)name};
			return 1;
		}
		if (perfmap_is_there(p->maps[i]))
			return 0;
	}
	return 0;
}

/* Most run times write none, and then each look is in vain. */
static uint64_t next_wait(const struct kept_maps *p, bool found)
{
	uint64_t wait = 2 * p->look_wait;

	if (found || wait < LOOK_WAIT)
		return LOOK_WAIT;
	return wait < LAST_WAIT ? wait : LAST_WAIT;
}

/* Whether something has been written since: then all is looked up again. */
static int look(struct kept_maps *p)
{
	uint64_t begin = clock_now();
	int64_t changes = 0;
	bool found = false;

	if (begin < p->look)
		return 0;
	for (unsigned int i = 0; i < p->count && !found; i++) {
		int64_t n = perfmap_changes(p->maps[i]);

		if (n < 0)
			return (int)n;
		changes += n;
		found = perfmap_is_there(p->maps[i]);
	}
	p->look_wait = next_wait(p, found);
	p->look = clock_now() + FACTOR * (clock_now() - begin) + p->look_wait;
	if (changes != p->changes)
		p->due = p->wait = 0;
	p->changes = changes;
	return 0;
}

static int look_up(struct map_keeper *k, struct kept_maps *p, uint64_t pc, uint64_t time)
{
	struct seen *seen = &p->seen[hash_words(pc, 0, k->seed) >> (64 - SEEN_BITS)];
	struct recorded_function f = {0};
	uint64_t begin;
	int r;

	if (seen->pc == pc && seen->changes == p->changes)
		return 0;
	begin = clock_now();
	if (begin < p->due)
		return 0;
	r = ask_maps(p, pc, &f);
	if (r < 0)
		return r;
	p->wait = r ? 0 : p->wait ? 2 * p->wait : FIRST_WAIT;
	if (p->wait > LAST_WAIT)
		p->wait = LAST_WAIT;
	p->due = clock_now() + FACTOR * (clock_now() - begin) * !r + p->wait;
	r = r ? keep_function(k, p, &f, time) : 0;
	/* where there is no map yet there may be one the next time */
	if (!r && p->changes)
		*seen = (struct seen){pc, p->changes};
	return r < 0 ? r : 0;
}

int map_keeper_trace(struct map_keeper *keeper, const struct process *process,
		     const struct bobbin_trace *trace, uint64_t time)
{
	struct kept_maps *p;
	int r = process_of(keeper, process, &p);

	if (!r)
		r = look(p);
	for (uint32_t i = 0; i < trace->count && !r; i++)
		if (trace->frames[i].source != BOBBIN_SOURCE_LEFT_OUT &&
		    process_is_bare(process, &trace->frames[i]))
			r = look_up(keeper, p, bobbin_frame_lookup_pc(&trace->frames[i]), time);
	if (r && r != -ENOMEM) {
		jit_folder_fail(keeper->folder, r);
		return 0;
	}
	return r;
}

void map_keeper_fork(struct map_keeper *keeper, int parent, const struct process *child)
{
	const struct kept_maps *from = find_process(keeper, parent);
	struct kept_maps *to;
	int r;

	if (!from || !from->function_count)
		return;
	r = process_of(keeper, child, &to);
	for (size_t i = 0; i < from->function_count && !r; i++)
		r = add_function(keeper, to, &from->functions[i]);
	if (r)
		jit_folder_fail(keeper->folder, r);
}
