/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/kernel_walk.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/native_arch.h"
#include "base/vector.h"
#include "core/frame_rules.h"
#include "core/plain_step.h"
#include "profile/kernel_lists.h"
#include "profile/kernel_tables.h"
#include "sampler.skel.h"
#include "unwind/space.h"

/* Of stacks that were walked late, until their samples come: those are about 10 ms behind. */
#define LATE_TRACES 128
/* Until a process that found no room tries again. */
#define RETRY_NS 1000000000ull

/* linux/proc_ns.h: PROC_PID_INIT_INO */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFC

struct kernel_walk {
	struct sampler *bpf;
	struct bpf_program *program; /* of its two */
	struct kernel_tables tables;
	struct kernel_lists lists;
	struct kernel_mapping *entries; /* of the list that is being made */
	size_t entry_room;
	struct kernel_trace trace;
	struct ring_buffer *results; /* of walks that waited; NULL: none do */
	uint64_t roomless;           /* processes that found no room for a list */
	uint64_t late_count;         /* of all that came; the last ones are in */
	struct kernel_trace late[LATE_TRACES];
};

bool kernel_walk_is_built(void)
{
	return true;
}

static size_t map_bytes(const struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (size_t)bpf_map__max_entries(map) * ((bpf_map__value_size(map) + 7) & ~7u);

	return (size + page - 1) / page * page;
}

static int map_memory(const struct bpf_map *map, void *ret)
{
	void *p = mmap(NULL, map_bytes(map), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map),
		       0);

	if (p == MAP_FAILED)
		return -errno;
	memcpy(ret, &p, sizeof(p));
	return 0;
}

static void unmap_memory(const struct bpf_map *map, void *memory)
{
	if (memory)
		munmap(memory, map_bytes(map));
}

/* The program is told numbers of processes as the first namespace has them. */
static bool has_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino != INITIAL_PID_NAMESPACE;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* Linux 6.18 has what a task can be made to do on its way back to user mode. */
#define DEFER_FUNCTION "bpf_task_work_schedule_resume_impl"

/* The last argument of that function; NULL: there is none. */
static struct btf_param *last_argument(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, DEFER_FUNCTION, BTF_KIND_FUNC);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	return type && btf_vlen(type) ? btf_params(type) + btf_vlen(type) - 1 : NULL;
}

/*
 * It points to anything on 6.18, and to a structure on 7.2.  libbpf wants to see the same in the
 * object, also where no program calls the function.
 */
static int match_argument(const struct btf *kernel, struct btf *own)
{
	const struct btf_param *theirs = last_argument(kernel);
	const struct btf_type *pointer = btf__type_by_id(kernel, theirs->type);
	int id;

	if (!btf_is_ptr(pointer) || !pointer->type)
		return 0;
	id = btf__add_struct(own, "bpf_prog_aux", 0);
	if (id > 0)
		id = btf__add_ptr(own, id);
	if (id < 0)
		return id;
	last_argument(own)->type = (uint32_t)id;
	return 0;
}

static bool kernel_can_defer(struct sampler *bpf)
{
	struct btf *kernel = btf__load_vmlinux_btf(), *own = bpf_object__btf(bpf->obj);
	bool can = kernel && last_argument(kernel) && last_argument(own) &&
		   !match_argument(kernel, own);

	btf__free(kernel);
	return can;
}

/* One of the two programs is loaded, and what only the other one needs is not. */
static int choose_program(struct kernel_walk *w, bool may_defer)
{
	struct sampler *bpf = w->bpf;
	bool defers = kernel_can_defer(bpf) && may_defer;
	int r;

	w->program = defers ? bpf->progs.walk_or_defer : bpf->progs.walk_stack;
	r = bpf_program__set_autoload(bpf->progs.walk_stack, !defers);
	if (!r)
		r = bpf_program__set_autoload(bpf->progs.walk_or_defer, defers);
	if (!r && !defers)
		r = bpf_map__set_autocreate(bpf->maps.late_walks, false);
	if (!r && !defers)
		r = bpf_map__set_autocreate(bpf->maps.results, false);
	return r;
}

static int configure(struct sampler *bpf, bool also_copy)
{
	const struct bobbin_rule outermost = outermost_rule(native_arch());
	struct plain_forms forms;
	uint64_t word;
	int cpus = libbpf_num_possible_cpus(), r;

	if (cpus < 0)
		return cpus;
	r = bpf_map__set_max_entries(bpf->maps.states, (uint32_t)cpus + KERNEL_LATE_WALKS);
	if (!r)
		r = bpf_map__set_max_entries(bpf->maps.counts, (uint32_t)cpus);
	if (!r)
		r = bpf_map__set_max_entries(bpf->maps.outputs, (uint32_t)cpus);
	plain_forms_of(native_arch(), &forms);
	if (bobbin_rule_pack(&outermost, &word))
		return -EINVAL;
	bpf->rodata->form_from_sp = forms.from_sp;
	bpf->rodata->form_from_fp = forms.from_fp;
	bpf->rodata->form_record = forms.record;
	bpf->rodata->outermost_word = word;
	bpf->rodata->first_late_state = (uint32_t)cpus;
	bpf->rodata->also_copy = also_copy;
	return r;
}

static int take_result(void *ctx, void *data, size_t size)
{
	struct kernel_walk *w = ctx;
	const size_t head = offsetof(struct kernel_trace, frames);
	struct kernel_trace *to = &w->late[w->late_count % LATE_TRACES];

	if (size < head || size > sizeof(*to))
		return 0;
	memcpy(to, data, size);
	if (to->count <= (size - head) / sizeof(*to->frames))
		w->late_count++;
	else
		to->cookie = 0;
	return 0;
}

static int open_results(struct kernel_walk *w)
{
	const struct bpf_map *map = w->bpf->maps.late_walks;
	uint8_t *none;
	int r = 0;

	if (w->program != w->bpf->progs.walk_or_defer)
		return 0;
	none = calloc(1, bpf_map__value_size(map));
	if (!none)
		return -ENOMEM;
	for (uint32_t i = 0; i < KERNEL_LATE_WALKS && !r; i++)
		r = bpf_map_update_elem(bpf_map__fd(map), &i, none, BPF_ANY);
	free(none);
	if (r)
		return r;
	w->results = ring_buffer__new(bpf_map__fd(w->bpf->maps.results), take_result, w, NULL);
	return w->results ? 0 : -errno;
}

static int load(struct kernel_walk *w, bool also_copy, bool may_defer)
{
	int r;

	w->bpf = sampler__open();
	if (!w->bpf)
		return -errno;
	r = choose_program(w, may_defer);
	if (!r)
		r = configure(w->bpf, also_copy);
	if (!r)
		r = sampler__load(w->bpf);
	if (!r)
		r = map_memory(w->bpf->maps.files, &w->tables.files);
	if (!r)
		r = map_memory(w->bpf->maps.pages, &w->tables.pages);
	if (!r)
		r = map_memory(w->bpf->maps.mappings, &w->lists.mappings);
	return r ? r : open_results(w);
}

static int open_walk(struct bobbin_unwinder *unwinder, bool also_copy, bool may_defer,
		     struct kernel_walk **ret)
{
	struct kernel_walk *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->tables.unwinder = unwinder;
	r = load(w, also_copy, may_defer);
	if (!r)
		r = table_maker_open(&w->tables.maker);
	if (r)
		kernel_walk_close(w);
	else
		*ret = w;
	return r;
}

int kernel_walk_open(struct bobbin_unwinder *unwinder, bool also_copy, struct kernel_walk **ret)
{
	int r = -ENXIO;

	if (has_namespace())
		return r;
	libbpf_set_print(quiet);
	/* a copy ends at the page that a walk would wait for */
	if (!also_copy)
		r = open_walk(unwinder, also_copy, true, ret);
	/* a kernel may have what waiting takes, and not like how it is used */
	return r ? open_walk(unwinder, also_copy, false, ret) : 0;
}

bool kernel_walk_waits(const struct kernel_walk *walk)
{
	return walk->results;
}

void kernel_walk_close(struct kernel_walk *walk)
{
	if (!walk)
		return;
	if (walk->bpf) {
		unmap_memory(walk->bpf->maps.files, walk->tables.files);
		unmap_memory(walk->bpf->maps.pages, walk->tables.pages);
		unmap_memory(walk->bpf->maps.mappings, walk->lists.mappings);
	}
	kernel_tables_fini(&walk->tables);
	kernel_lists_fini(&walk->lists);
	ring_buffer__free(walk->results);
	sampler__destroy(walk->bpf);
	free(walk->entries);
	free(walk);
}

int kernel_walk_attach(struct kernel_walk *walk, int event)
{
	int program = bpf_program__fd(walk->program);

	return ioctl(event, PERF_EVENT_IOC_SET_BPF, program) ? -errno : 0;
}

int kernel_walk_output(struct kernel_walk *walk, int cpu, int event)
{
	return bpf_map_update_elem(bpf_map__fd(walk->bpf->maps.outputs), &cpu, &event, BPF_ANY)
		       ? -errno
		       : 0;
}

/* The list of a process as it is now, or NULL.  What it has registered comes before its files. */
static struct known_list *make_list(struct kernel_walk *w, struct process *process)
{
	const struct bobbin_space *space = process->space;
	const struct mapping_list *maps = &space->maps;
	bool whole = true;

	if (space->remote || maps->count > KERNEL_LIST_MAX ||
	    vector_reserve(&w->entries, &w->entry_room, maps->count, sizeof(*w->entries)))
		return NULL;
	for (size_t i = 0; i < maps->count; i++)
		whole &= kernel_tables_mapping(&w->tables, &maps->list[i], &w->entries[i]);
	process->walk.waits = !whole;
	return kernel_lists_get(&w->lists, w->entries, (uint32_t)maps->count);
}

/*
 * The kernel's entry is changed first.  Who has read it before may still walk by the old list, and
 * sees after the walk that it is not the current one.  false: there is no room.
 */
static bool set_list(struct kernel_walk *w, struct process *process, struct known_list *list)
{
	int processes = bpf_map__fd(w->bpf->maps.processes), pid = process->pid;
	bool done = true;

	if (list && bpf_map_update_elem(processes, &pid, &list->list, BPF_ANY)) {
		kernel_lists_put(&w->lists, list);
		list = NULL;
		done = false;
	}
	if (!list && process->walk.list)
		bpf_map_delete_elem(processes, &pid);
	kernel_lists_put(&w->lists, process->walk.list);
	process->walk.list = list;
	return done;
}

static bool is_followed(const struct kernel_walk *w, const struct process *process)
{
	const struct process_walk *walk = &process->walk;

	if (walk->retry && clock_now() >= walk->retry)
		return false;
	return walk->followed && walk->generation == process->space->generation &&
	       (!walk->waits || walk->taken == w->tables.taken);
}

/* Those without mappings have no list either, nor those that have registered code. */
static bool wants_list(const struct bobbin_space *space)
{
	return !space->remote && space->maps.count;
}

static void note_room(struct kernel_walk *w, struct process *process, bool found)
{
	w->roomless += !found && !process->walk.retry;
	process->walk.retry = found ? 0 : clock_now() + RETRY_NS;
}

void kernel_walk_take_tables(struct kernel_walk *walk, bool wait)
{
	kernel_tables_take(&walk->tables, wait);
}

bool kernel_walk_has_tables_to_come(const struct kernel_walk *walk)
{
	return table_maker_is_busy(walk->tables.maker);
}

void kernel_walk_follow(struct kernel_walk *walk, struct process *process)
{
	struct known_list *list;
	bool done = true;

	if (is_followed(walk, process))
		return;
	process->walk.waits = false;
	list = make_list(walk, process);
	process->walk.followed = true;
	process->walk.taken = walk->tables.taken;
	process->walk.generation = process->space->generation;
	if (list && list == process->walk.list)
		kernel_lists_put(&walk->lists, list);
	else
		done = set_list(walk, process, list);
	note_room(walk, process, done && (list || !wants_list(process->space)));
}

void kernel_walk_forget(struct kernel_walk *walk, struct process *process)
{
	set_list(walk, process, NULL);
}

/* How many frames still have the code that they were walked by. */
static uint32_t frames_that_hold(struct kernel_walk *w, struct process *process,
				 const struct kernel_trace *trace)
{
	const struct known_list *used = kernel_lists_find(&w->lists, trace->list);
	uint32_t i = 0;

	for (; used && i < trace->count; i++) {
		uint64_t pc = trace->frames[i] & KERNEL_PC;
		const struct kernel_mapping *then;
		const struct mapping *m;
		struct kernel_mapping now;

		pc -= !(trace->frames[i] & KERNEL_EXACT);
		then = known_list_at(used, pc);
		m = space_find(process->space, pc);
		if (!m || !then)
			break;
		kernel_tables_mapping(&w->tables, m, &now);
		if (now.file != then->file || now.bias != then->bias)
			break;
	}
	return i;
}

static bool is_current(const struct process *process, uint64_t number)
{
	const struct process_walk *walk = &process->walk;

	return walk->list && walk->list->list.number == number &&
	       walk->generation == process->space->generation;
}

static bool read_trace(const struct perf_sample *sample, struct kernel_trace *ret)
{
	const size_t head = offsetof(struct kernel_trace, frames);

	if (!sample->raw || sample->raw_size < head)
		return false;
	memcpy(ret, sample->raw, head);
	if (!ret->count || ret->count > KERNEL_FRAMES ||
	    (sample->raw_size - head) / sizeof(*ret->frames) < ret->count)
		return false;
	memcpy(ret->frames, (const uint8_t *)sample->raw + head, ret->count * sizeof(*ret->frames));
	return true;
}

void kernel_walk_collect(struct kernel_walk *walk)
{
	if (walk->results)
		ring_buffer__consume(walk->results);
}

/* The whole stack in the place of one that ends at a page; false: it has not come. */
static bool take_late(const struct kernel_walk *w, struct kernel_trace *trace)
{
	for (unsigned int i = 0; i < LATE_TRACES; i++) {
		const struct kernel_trace *late = &w->late[i];

		if (late->cookie != trace->cookie)
			continue;
		trace->list = late->list;
		trace->count = late->count;
		memcpy(trace->frames, late->frames, late->count * sizeof(*late->frames));
		return true;
	}
	return false;
}

static struct bobbin_frame frame_of(uint64_t word)
{
	return (struct bobbin_frame){
		.pc = word & KERNEL_PC,
		.source = (uint8_t)(word >> KERNEL_PC_BITS & KERNEL_SOURCE),
		.exact = word & KERNEL_EXACT,
	};
}

bool kernel_walk_trace(struct kernel_walk *walk, struct process *process,
		       const struct perf_sample *sample, struct bobbin_trace *trace,
		       uint64_t *period)
{
	struct kernel_trace *from = &walk->trace;
	enum bobbin_reason end = BOBBIN_REASON_OUTERMOST;
	uint32_t count, inner, skipped;

	if (!read_trace(sample, from))
		return false;
	*period = from->period;
	if (from->cookie && !take_late(walk, from))
		end = BOBBIN_REASON_STACK_HOLE;
	count = is_current(process, from->list) ? from->count
						: frames_that_hold(walk, process, from);
	trace->reason = count == from->count ? end : BOBBIN_REASON_UNLOADED;
	trace->left_out = skipped = count > trace->max ? count - trace->max : 0;
	trace->count = count - skipped;
	inner = skipped ? trace->max - trace->outer : count;
	for (uint32_t i = 0; i < trace->count; i++)
		trace->frames[i] = frame_of(from->frames[i < inner ? i : i + skipped]);
	return true;
}

static void read_counts(const struct kernel_walk *walk, struct kernel_walk_stats *ret)
{
	const struct bpf_map *map = walk->bpf->maps.counts;
	struct kernel_counts counts;

	for (uint32_t cpu = 0; cpu < bpf_map__max_entries(map); cpu++) {
		if (bpf_map_lookup_elem(bpf_map__fd(map), &cpu, &counts))
			continue;
		ret->walks += counts.walks;
		ret->frames += counts.frames;
		ret->whole += counts.whole;
	}
}

void kernel_walk_stats(const struct kernel_walk *walk, struct kernel_walk_stats *ret)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	*ret = (struct kernel_walk_stats){
		.late = walk->late_count,
		.roomless = walk->roomless,
		.roomless_files = walk->tables.roomless,
	};
	read_counts(walk, ret);
	if (!bpf_obj_get_info_by_fd(bpf_program__fd(walk->program), &info, &size)) {
		ret->runs = info.run_cnt;
		ret->run_ns = info.run_time_ns;
	}
}
