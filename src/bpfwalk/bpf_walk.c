/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/bpf_walk.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/process_stat.h"
#include "bpfwalk/bpf_lists.h"
#include "bpfwalk/bpf_samples.h"
#include "bpfwalk/bpf_tables.h"
#include "bpfwalk/exec_lists.h"
#include "bpfwalk/relay_program.h"
#include "bpfwalk/sampler_program.h"
#include "bpfwalk/stack_intern.h"
#include "bpfwalk/table_store.h"
#include "bpfwalk/walk_workers.h"
#include "sampler.skel.h"
#include "unwind/unwinder.h"

/* A process that found no room tries again after this time. */
#define RETRY_NS 1000000000ull
/* JIT tables are looked at again after this time, or 20 times what the last look took. */
#define GROW_NS 20000000ull
#define GROW_FACTOR 20u

/* While more tables are to come, lists that wait for some are made anew no more often than this. */
#define NEWS_NS 20000000ull

/* All processes are looked at that often, even if nothing is known to have changed. */
#define LOOK_NS 1000000000ull

struct bpf_walk {
	struct walk_job load; /* first */
	int error;            /* of @load */
	struct bpf_walk_options options;
	struct relay_program relay; /* if that is wanted */
	struct sampler_program program;
	struct bpf_tables tables;
	struct bpf_lists lists;
	struct exec_lists exec_lists;
	uint64_t time; /* records up to here were read */
	struct bpf_samples samples;
	struct bpf_trace trace;                   /* of the last sample */
	uint64_t roomless;                        /* processes that found no room for a list */
	uint64_t looked_news, looked_drops, look; /* when all were looked at, and when to again */
	uint64_t news, news_time; /* tables that lists were made anew for, and when */
};

bool bpf_walk_is_built(void)
{
	return true;
}

static int load(struct bpf_walk *w, bool with_new)
{
	struct sampler_program *p = &w->program;
	struct sample_rings rings = {.late = -1};
	int r;

	stack_intern_init(&w->samples.store);
	r = sampler_program_load(&w->options, &w->samples.store.key, with_new, p);
	if (r)
		return r;
	w->tables.store.files = p->files;
	w->tables.store.pages = p->pages;
	w->lists.mappings = p->mappings;
	rings.samples = bpf_map__fd(p->bpf->maps.samples);
	rings.sample_bytes = bpf_map__max_entries(p->bpf->maps.samples);
	if (p->waits)
		rings.late = bpf_map__fd(p->bpf->maps.results);
	if (p->lists)
		r = exec_lists_init(&w->lists, &w->tables, bpf_map__fd(p->bpf->maps.told),
				    bpf_map__fd(p->bpf->maps.inodes), &w->exec_lists);
	return r ? r : bpf_samples_open(&w->samples, &rings, &p->bpf->bss->stack_epoch);
}

static void unload(struct bpf_walk *w)
{
	exec_lists_fini(&w->exec_lists);
	bpf_samples_close(&w->samples);
	sampler_program_unload(&w->program);
}

/* The verifier refused the program, or a kernel function that it calls has changed. */
static bool is_refusal(int error)
{
	switch (error) {
	case -EACCES:
	case -EINVAL:
	case -E2BIG:
	case -ENOENT:
	case -ESRCH:
		return true;
	default:
		return false;
	}
}

static void load_best(struct walk_job *job)
{
	struct bpf_walk *w = (struct bpf_walk *)job;

	/* the program is told numbers of processes as the first namespace has them */
	w->error = -ENXIO;
	if (!pid_namespace_is_initial())
		return;
	w->error = load(w, true);
	if (!is_refusal(w->error))
		return;
	/* newer functions of the kernel may refuse how the program calls them: do without */
	unload(w);
	w->error = load(w, false);
}

/* The job is a part of the walk. */
static void drop_load(struct walk_job *job)
{
}

int bpf_walk_start(struct bobbin_unwinder *unwinder, const struct bpf_walk_options *options,
		   struct bpf_walk **ret)
{
	struct bpf_walk *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->load = (struct walk_job){.run = load_best, .drop = drop_load, .interruptible = true};
	w->options = *options;
	w->tables.unwinder = unwinder;
	r = options->relayed ? relay_program_load(&w->relay) : 0;
	if (!r)
		r = bpf_tables_init(&w->tables);
	if (!r)
		r = bpf_lists_init(&w->lists);
	if (r) {
		bpf_walk_close(w);
		return r;
	}
	walk_workers_ask(w->tables.workers, &w->load);
	*ret = w;
	return 0;
}

int bpf_walk_wait(struct bpf_walk *walk)
{
	walk_workers_take(walk->tables.workers, true);
	return walk->error;
}

bool bpf_walk_is_loaded(const struct bpf_walk *walk, uint64_t until)
{
	return walk_workers_have_done(walk->tables.workers, until);
}

void bpf_walk_close(struct bpf_walk *walk)
{
	if (!walk)
		return;
	/* it may still be loaded */
	bpf_tables_fini(&walk->tables);
	unload(walk);
	relay_program_unload(&walk->relay);
	bpf_lists_fini(&walk->lists);
	free(walk);
}

/* What runs at a sample of a counter. */
static int first_program(const struct bpf_walk *w)
{
	return w->options.relayed ? w->relay.program : sampler_program_fd(&w->program);
}

int bpf_walk_attach(struct bpf_walk *walk, int event)
{
	return ioctl(event, PERF_EVENT_IOC_SET_BPF, first_program(walk)) ? -errno : 0;
}

int bpf_walk_run(struct bpf_walk *walk)
{
	return relay_program_run(&walk->relay, sampler_program_fd(&walk->program));
}

int bpf_walk_attach_hits(struct bpf_walk *walk, uint32_t number, const int *events, const int *cpus,
			 size_t count)
{
	return sampler_program_attach_hits(&walk->program, &walk->options.events[number], number,
					   events, cpus, count);
}

void bpf_walk_want_hits(struct bpf_walk *walk, bool wanted)
{
	*(volatile uint64_t *)&walk->program.bpf->bss->hits_wanted = wanted;
}

int bpf_walk_sample(struct bpf_walk *walk, pid_t tid, uint64_t how)
{
	uint32_t number = (uint32_t)tid;

	return bpf_map_update_elem(bpf_map__fd(walk->program.bpf->maps.sampled_tasks), &number,
				   &how, BPF_ANY);
}

/* The list of a process as it is now, or NULL. */
static struct known_list *make_list(struct bpf_walk *w, struct walked_process *process)
{
	uint64_t begun = clock_now(), cost;

	process->grows = 0;
	if (process->space->maps.count > KERNEL_LIST_MAX ||
	    bpf_tables_make_list(&w->tables, process->space))
		return NULL;
	process->waits = !w->tables.whole;
	cost = clock_now() - begun;
	if (w->tables.grows)
		process->grows = begun +
				 (GROW_FACTOR * cost > GROW_NS ? GROW_FACTOR * cost : GROW_NS);
	return bpf_lists_get(&w->lists, w->tables.list, (uint32_t)w->tables.list_count);
}

/*
 * The kernel's entry for a process.  Registered code must not be walked by the mappings alone, so
 * without a list from here the list that the kernel has made does not count either.
 */
static struct kernel_process describe(const struct bpf_walk *w,
				      const struct walked_process *process,
				      const struct known_list *list)
{
	const struct remote_code *code = process->space->remote;
	struct kernel_process ret = {.time = list ? w->time : UINT64_MAX};

	if (list)
		ret.list = list->list;
	if (code) {
		ret.page = code->published.page;
		ret.page_pid = code->published.page_pid;
		ret.changes = code->published.changes;
	}
	return ret;
}

/* false: there is no room. */
static bool tell_process(struct bpf_walk *w, struct walked_process *process,
			 const struct known_list *list)
{
	int processes = bpf_map__fd(w->program.bpf->maps.processes), pid = process->pid;
	struct kernel_process entry = describe(w, process, list);
	bool entered = list || process->space->remote;

	if (entered && bpf_map_update_elem(processes, &pid, &entry, BPF_ANY))
		entered = false;
	if (!entered && process->told)
		bpf_map_delete_elem(processes, &pid);
	process->told = entered;
	process->time = w->time;
	return entered || !list;
}

/*
 * Change the kernel's entry before the old list is given up.  A walk by the old list sees at its end
 * that the list is not the current one.  false: there is no room.
 */
static bool set_list(struct bpf_walk *w, struct walked_process *process, struct known_list *list)
{
	bool done = tell_process(w, process, list);

	if (!done) {
		bpf_lists_put(&w->lists, list);
		list = NULL;
	}
	bpf_lists_put(&w->lists, process->list);
	process->list = list;
	return done;
}

/* The kernel has made a newer list itself.  That may lack files, so it is replaced soon. */
static bool is_outdated(const struct bpf_walk *w, const struct walked_process *process)
{
	uint64_t theirs = exec_lists_time(&w->exec_lists, process->pid);

	return theirs >= process->time && theirs < w->time;
}

/* Counts tables that came, or were extended, and times that room was found. */
static uint64_t news(const struct bpf_walk *w)
{
	return w->tables.taken + w->tables.extended + w->tables.store.found;
}

/* Many lists wait for the first tables: do not make all of them anew for each table. */
static void tell_news(struct bpf_walk *w)
{
	uint64_t now = clock_now();

	if (walk_workers_are_busy(w->tables.workers) && now - w->news_time < NEWS_NS)
		return;
	w->news = news(w);
	w->news_time = now;
}

/* Whether what is mapped and registered is still what the process's list was made of. */
static bool list_holds(const struct bpf_walk *w, const struct walked_process *process)
{
	const struct bobbin_space *space = process->space;

	return process->generation == space->generation &&
	       (!space->remote || process->drops == w->tables.unwinder->registered.drops);
}

static bool is_followed(const struct bpf_walk *w, const struct walked_process *process)
{
	if (is_outdated(w, process))
		return false;
	if ((process->retry && clock_now() >= process->retry) ||
	    (process->grows && clock_now() >= process->grows))
		return false;
	return process->followed && list_holds(w, process) &&
	       process->extended == w->tables.extended &&
	       (!process->waits || process->taken == w->news);
}

/* Those without mappings have no list either. */
static bool wants_list(const struct bobbin_space *space)
{
	return space->maps.count;
}

static void note_room(struct bpf_walk *w, struct walked_process *process, bool found)
{
	w->roomless += !found && !process->retry;
	process->retry = found ? 0 : clock_now() + RETRY_NS;
}

bool bpf_walk_has_tables_to_come(const struct bpf_walk *walk)
{
	return walk_workers_are_busy(walk->tables.workers);
}

/* Whether lists may be out of date of which no record tells. */
static bool look_is_due(struct bpf_walk *w)
{
	uint64_t now = clock_now(), drops = w->tables.unwinder->registered.drops;

	if (w->looked_news == w->news && w->looked_drops == drops && now < w->look)
		return false;
	w->looked_news = w->news;
	w->looked_drops = drops;
	w->look = now + LOOK_NS;
	return true;
}

bool bpf_walk_take_tables(struct bpf_walk *walk, bool wait)
{
	/* before new tables come, which no list names yet */
	table_store_make_room(&walk->tables.store, &walk->lists);
	bpf_tables_take(&walk->tables, wait);
	tell_news(walk);
	return look_is_due(walk);
}

/* Look at all processes then, at the latest. */
static void look_at(struct bpf_walk *w, uint64_t time)
{
	if (time && time < w->look)
		w->look = time;
}

void bpf_walk_follow(struct bpf_walk *walk, struct walked_process *process)
{
	struct known_list *list;
	bool done = true;

	if (is_followed(walk, process))
		return;
	process->waits = false;
	list = make_list(walk, process);
	process->followed = true;
	process->taken = walk->news;
	process->extended = walk->tables.extended;
	process->generation = process->space->generation;
	process->drops = walk->tables.unwinder->registered.drops;
	/* the page that goes with it may say something else */
	if (list && list == process->list && !is_outdated(walk, process) && !process->space->remote)
		bpf_lists_put(&walk->lists, list);
	else
		done = set_list(walk, process, list);
	note_room(walk, process, done && (list || !wants_list(process->space)));
	look_at(walk, process->retry);
	look_at(walk, process->grows);
}

void bpf_walk_forget(struct bpf_walk *walk, struct walked_process *process)
{
	int pid = process->pid;

	if (process->told)
		bpf_map_delete_elem(bpf_map__fd(walk->program.bpf->maps.processes), &pid);
	bpf_lists_put(&walk->lists, process->list);
	process->list = NULL;
	process->told = false;
}

void bpf_walk_mapped(struct bpf_walk *walk, struct walked_process *process, uint64_t time,
		     uint64_t addr)
{
	const struct mapping *m = walk->exec_lists.told ? space_find(process->space, addr) : NULL;

	if (m)
		exec_lists_mapped(&walk->exec_lists, process->pid, time, m);
}

void bpf_walk_exec(struct bpf_walk *walk, int pid, uint64_t time)
{
	exec_lists_exec(&walk->exec_lists, pid, time);
}

int bpf_walk_read_until(struct bpf_walk *walk, uint64_t time)
{
	walk->time = time;
	exec_lists_read_until(&walk->exec_lists, time);
	return walk->samples.error;
}

/*
 * Whether an address has the same code as in the list that it was walked by.  Registered code may
 * be gone since, which is @outlived: the program compared the process's own count of registrations
 * before the walk.
 */
static bool code_holds(struct bpf_walk *w, struct walked_process *process,
		       const struct kernel_mapping *then, uint64_t pc, bool *outlived)
{
	struct kernel_mapping now;

	if (bpf_tables_entry_at(&w->tables, process->space, pc, &now) && now.bias == then->bias &&
	    (now.file == then->file || bpf_tables_replaced(&w->tables, now.file, then->file)))
		return true;
	*outlived |= kernel_is_registered(then->file);
	return kernel_is_registered(then->file);
}

/* Frames from the leaf on whose code is the same as when they were walked. */
static uint32_t frames_that_hold(struct bpf_walk *w, struct walked_process *process,
				 const struct bpf_trace *trace, bool *outlived)
{
	const struct known_list *used = bpf_lists_find(&w->lists, trace->list);
	uint32_t i = 0;

	for (; used && i < trace->count; i++) {
		uint64_t pc = trace->frames[i] & KERNEL_PC;
		const struct kernel_mapping *then;

		pc -= !(trace->frames[i] & KERNEL_EXACT);
		then = known_list_at(used, pc);
		if (!then || !code_holds(w, process, then, pc, outlived))
			break;
	}
	return i;
}

static bool is_current(const struct bpf_walk *w, const struct walked_process *process,
		       uint64_t number)
{
	const struct known_list *list = process->list;

	return list && list->list.number == number && list_holds(w, process);
}

int bpf_walk_collect(struct bpf_walk *walk)
{
	exec_lists_collect(&walk->exec_lists);
	return bpf_samples_collect(&walk->samples);
}

int bpf_walk_wake_fd(const struct bpf_walk *walk)
{
	return walk->samples.wake;
}

uint64_t bpf_walk_time(const struct bpf_walk *walk)
{
	return bpf_samples_time(&walk->samples);
}

const struct bpf_trace *bpf_walk_next(struct bpf_walk *walk)
{
	bpf_samples_next(&walk->samples, &walk->trace);
	return &walk->trace;
}

static struct bobbin_frame frame_of(uint64_t word)
{
	return (struct bobbin_frame){
		.pc = word & KERNEL_PC,
		.source = (uint8_t)(word >> KERNEL_PC_BITS & KERNEL_SOURCE),
		.exact = word & KERNEL_EXACT,
	};
}

bool bpf_walk_trace(struct bpf_walk *walk, struct walked_process *process,
		    const struct bpf_trace *walked, struct bobbin_trace *trace)
{
	enum bobbin_reason end = walked->cookie ? BOBBIN_REASON_STACK_HOLE
						: BOBBIN_REASON_OUTERMOST;
	uint32_t count = walked->count, inner, skipped;
	bool outlived = false;

	if (!count)
		end = BOBBIN_REASON_STACK_UNKNOWN;
	if (!is_current(walk, process, walked->list))
		count = frames_that_hold(walk, process, walked, &outlived);
	trace->reason = count == walked->count ? end : BOBBIN_REASON_UNLOADED;
	/* of a deep stack that is cut there are no outer frames */
	if (walked->left_out && count != walked->count && count > KERNEL_INNER_FRAMES)
		count = KERNEL_INNER_FRAMES;
	skipped = count > trace->max ? count - trace->max : 0;
	trace->left_out = skipped + (count == KERNEL_FRAMES ? walked->left_out : 0);
	trace->count = count - skipped;
	inner = skipped ? trace->max - trace->outer : count;
	for (uint32_t i = 0; i < trace->count; i++)
		trace->frames[i] = frame_of(walked->frames[i < inner ? i : i + skipped]);
	return !outlived;
}

static void read_counts(const struct bpf_walk *walk, struct bpf_walk_stats *ret)
{
	const struct bpf_map *map = walk->program.bpf->maps.counts;
	struct kernel_counts counts;

	for (uint32_t cpu = 0; cpu < bpf_map__max_entries(map); cpu++) {
		if (bpf_map_lookup_elem(bpf_map__fd(map), &cpu, &counts))
			continue;
		ret->walks += counts.walks;
		ret->frames += counts.frames;
		ret->whole += counts.whole;
	}
}

void bpf_walk_stats(const struct bpf_walk *walk, struct bpf_walk_stats *ret)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	*ret = (struct bpf_walk_stats){
		.waits = walk->program.waits,
		.late = walk->samples.late_count,
		.records = walk->samples.records,
		.record_bytes = walk->samples.bytes,
		.unknown = walk->samples.unknown,
		.broken = walk->samples.broken,
		.unfollowed = walk->program.bpf->bss->unfollowed,
		.roomless = walk->roomless,
		.roomless_files = walk->tables.store.roomless,
	};
	read_counts(walk, ret);
	if (!bpf_obj_get_info_by_fd(first_program(walk), &info, &size)) {
		ret->runs = info.run_cnt;
		ret->run_ns = info.run_time_ns;
	}
}
