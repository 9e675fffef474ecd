/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/sampler_program.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/native_arch.h"
#include "core/frame_rules.h"
#include "core/plain_step.h"
#include "sampler.skel.h"

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
	/* the processes that read for us, and the command, have no use for it */
	madvise(p, map_bytes(map), MADV_DONTFORK);
	memcpy(ret, &p, sizeof(p));
	return 0;
}

static void unmap_memory(const struct bpf_map *map, void *memory)
{
	if (memory)
		munmap(memory, map_bytes(map));
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

/* @kernel: its types, or NULL */
static bool kernel_has(const struct btf *kernel, const char *function)
{
	return kernel && btf__find_by_name_kind(kernel, function, BTF_KIND_FUNC) > 0;
}

/*
 * The kernel's function that runs a program when a task returns to user mode.  Linux 6.18 has the
 * second name and wants five arguments; 7.0 has the first one, and leaves out the last argument.  Its
 * BTF has the old name, too, but programs cannot call that.
 */
static const char *const task_work_names[] = {
	"bpf_task_work_schedule_resume",
	"bpf_task_work_schedule_resume_impl",
};

static int find_task_work(const struct btf *kernel)
{
	int id = -1;

	for (size_t i = 0;
	     i < sizeof(task_work_names) / sizeof(*task_work_names) && kernel && id <= 0; i++)
		id = btf__find_by_name_kind(kernel, task_work_names[i], BTF_KIND_FUNC);
	return id;
}

static bool calls_helper(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && !insn->src_reg &&
	       insn->imm == KERNEL_SCHEDULE_RESUME;
}

/* Make a program call the function, which is put in the place of the helper that no kernel has. */
static int link_task_work(struct bpf_program *program, int function)
{
	size_t count = bpf_program__insn_cnt(program), calls = 0;
	struct bpf_insn *insns;
	int r;

	insns = malloc(count * sizeof(*insns));
	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(program), count * sizeof(*insns));
	for (size_t i = 0; i < count; i++) {
		if (!calls_helper(&insns[i]))
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = function;
		calls++;
	}
	r = calls ? bpf_program__set_insns(program, insns, count) : -EINVAL;
	free(insns);
	return r;
}

/* Load one of two programs, or neither. */
static int choose(const struct sampler_program *p, struct bpf_program *plain,
		  struct bpf_program *defers, bool wanted)
{
	int r = wanted && p->waits ? link_task_work(defers, p->task_work) : 0;

	if (!r)
		r = bpf_program__set_autoload(plain, wanted && !p->waits);
	return r ? r : bpf_program__set_autoload(defers, wanted && p->waits);
}

/* Whether there are events whose hits run a program, of a kind. */
static bool has_hits(const struct bpf_walk_options *o, bool probes)
{
	for (uint32_t i = 0; i < o->event_count; i++)
		if (o->events[i].by_program && o->events[i].probe == probes)
			return true;
	return false;
}

static int choose_hits(const struct sampler_program *p, const struct bpf_walk_options *o)
{
	struct sampler_bpf *bpf = p->bpf;
	bool any = has_hits(o, false) || has_hits(o, true), some = any && !o->all;
	int r = choose(p, bpf->progs.walk_tracepoint, bpf->progs.walk_or_defer_tracepoint,
		       has_hits(o, false));

	if (!r)
		r = choose(p, bpf->progs.walk_probe, bpf->progs.walk_or_defer_probe,
			   has_hits(o, true));
	if (r)
		return r;
	bpf_program__set_autoload(bpf->progs.follow_fork, some);
	bpf_program__set_autoload(bpf->progs.follow_exec, some);
	bpf_program__set_autoload(bpf->progs.follow_free, some);
	return any ? 0 : bpf_map__set_autocreate(bpf->maps.sampled_tasks, false);
}

/* What this kernel can have: of two programs one is loaded, and what only the other one needs is not. */
static int choose_programs(struct sampler_program *p, const struct bpf_walk_options *o,
			   const struct btf *kernel, bool with_new)
{
	struct sampler_bpf *bpf = p->bpf;
	int r;

	/* Linux 6.7 can go through the mappings of a task */
	p->lists = with_new && kernel_has(kernel, "bpf_iter_task_vma_new");
	p->task_work = find_task_work(kernel);
	p->waits = p->lists && p->task_work > 0;
	bpf_program__set_autoload(bpf->progs.on_exec, p->lists);
	bpf_program__set_autoload(bpf->progs.on_exit, p->lists);
	r = choose(p, bpf->progs.walk_stack, bpf->progs.walk_or_defer, true);
	if (!r)
		r = choose_hits(p, o);
	if (!r && !p->waits)
		r = bpf_map__set_autocreate(bpf->maps.late_walks, false);
	if (!r && !p->waits)
		r = bpf_map__set_autocreate(bpf->maps.results, false);
	return r;
}

static int size_ring(struct sampler_bpf *bpf, uint32_t cpus)
{
	uint32_t bytes = KERNEL_SAMPLE_BYTES_LEAST;

	while (bytes < KERNEL_SAMPLE_BYTES_MOST && bytes / KERNEL_CPU_SAMPLE_BYTES < cpus)
		bytes *= 2;
	bpf->rodata->wake_bytes = bytes / 4;
	return bpf_map__set_max_entries(bpf->maps.samples, bytes);
}

/* States are of CPUs' samples, of walks that have waited, and of CPUs' hits. */
static int size_maps(struct sampler_bpf *bpf, const struct bpf_walk_options *o, uint32_t cpus)
{
	bool any = has_hits(o, false) || has_hits(o, true);
	uint32_t entries = any ? o->event_count * cpus : 1;
	int r = bpf_map__set_max_entries(bpf->maps.states,
					 cpus + KERNEL_LATE_STATES + (any ? cpus : 0));

	if (!r)
		r = bpf_map__set_max_entries(bpf->maps.counts, cpus);
	if (!r)
		r = bpf_map__set_max_entries(bpf->maps.copies, entries);
	if (!r)
		r = bpf_map__set_max_entries(bpf->maps.hits, entries);
	return r ? r : size_ring(bpf, cpus);
}

static void set_options(struct sampler_bpf *bpf, const struct bpf_walk_options *o, uint32_t cpus)
{
	bpf->rodata->also_copy = o->also_copy;
	bpf->rodata->of_all_users = !o->by_user;
	bpf->rodata->of_user = o->user;
	bpf->rodata->samples_all_tasks = o->all;
	bpf->rodata->counted_event = o->counted;
	bpf->rodata->cpu_count = cpus;
	bpf->rodata->first_late_state = cpus;
	bpf->rodata->first_hit_state = cpus + KERNEL_LATE_STATES;
	for (size_t i = 0; i < KERNEL_CPUS / 64; i++)
		bpf->rodata->event_cpus[i] = o->cpus ? o->cpus[i] : UINT64_MAX;
	for (size_t i = 0; i < o->event_count; i++)
		bpf->rodata->event_periods[i] = o->events[i].period;
}

static int set_rules(struct sampler_bpf *bpf)
{
	const struct bobbin_rule outermost = outermost_rule(native_arch());
	struct plain_forms forms;
	uint64_t word;

	if (bobbin_rule_pack(&outermost, &word))
		return -EINVAL;
	plain_forms_of(native_arch(), &forms);
	bpf->rodata->form_from_sp = forms.from_sp;
	bpf->rodata->form_from_fp = forms.from_fp;
	bpf->rodata->form_record = forms.record;
	bpf->rodata->outermost_word = word;
	return 0;
}

static int configure(struct sampler_program *p, const struct bpf_walk_options *o,
		     const struct stack_key *key, const struct btf *kernel)
{
	int cpus = libbpf_num_possible_cpus(), r;

	if (cpus < 0)
		return cpus;
	r = size_maps(p->bpf, o, (uint32_t)cpus);
	if (!r)
		r = set_rules(p->bpf);
	set_options(p->bpf, o, (uint32_t)cpus);
	p->bpf->rodata->sees_sample = kernel_has(kernel, "bpf_cast_to_kern_ctx");
	p->bpf->rodata->stack_key.seed = key->seed;
	p->bpf->rodata->stack_key.factor = key->factor;
	return r;
}

int sampler_program_open(const struct bpf_walk_options *options, const struct stack_key *key,
			 bool with_new, struct sampler_program *ret)
{
	struct btf *kernel;
	int r;

	libbpf_set_print(quiet);
	ret->bpf = sampler_bpf__open();
	if (!ret->bpf)
		return -errno;
	kernel = btf__load_vmlinux_btf();
	r = choose_programs(ret, options, kernel, with_new);
	if (!r)
		r = configure(ret, options, key, kernel);
	btf__free(kernel);
	return r;
}

/* The program finds places, and does not make them. */
static int make_places(const struct bpf_map *late_walks)
{
	uint8_t *none = calloc(1, bpf_map__value_size(late_walks));
	int r = none ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < KERNEL_LATE_WALKS && !r; i++)
		r = bpf_map_update_elem(bpf_map__fd(late_walks), &i, none, BPF_ANY);
	free(none);
	return r;
}

static int keep(struct sampler_program *p, struct bpf_link *link)
{
	if (!link)
		return -errno;
	p->links[p->link_count++] = link;
	return 0;
}

int sampler_program_load(const struct bpf_walk_options *options, const struct stack_key *key,
			 bool with_new, struct sampler_program *ret)
{
	int r = sampler_program_open(options, key, with_new, ret);

	if (!r)
		r = sampler_bpf__load(ret->bpf);
	if (!r)
		r = map_memory(ret->bpf->maps.files, &ret->files);
	if (!r)
		r = map_memory(ret->bpf->maps.pages, &ret->pages);
	if (!r)
		r = map_memory(ret->bpf->maps.mappings, &ret->mappings);
	if (!r && ret->waits)
		r = make_places(ret->bpf->maps.late_walks);
	if (r || !ret->lists)
		return r;
	/* where they cannot be attached, lists come from the recorder alone */
	keep(ret, bpf_program__attach(ret->bpf->progs.on_exec));
	keep(ret, bpf_program__attach(ret->bpf->progs.on_exit));
	return 0;
}

void sampler_program_unload(struct sampler_program *program)
{
	for (size_t i = 0; i < program->link_count; i++)
		bpf_link__destroy(program->links[i]);
	if (program->bpf) {
		unmap_memory(program->bpf->maps.files, program->files);
		unmap_memory(program->bpf->maps.pages, program->pages);
		unmap_memory(program->bpf->maps.mappings, program->mappings);
	}
	sampler_bpf__destroy(program->bpf);
	*program = (struct sampler_program){0};
}

int sampler_program_fd(const struct sampler_program *program)
{
	return bpf_program__fd(program->waits ? program->bpf->progs.walk_or_defer
					      : program->bpf->progs.walk_stack);
}

/* Of all threads; the CPU does not matter, but that it runs. */
static int open_anchor(const struct walk_event *event)
{
	struct perf_event_attr attr = {
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.config2 = event->config2,
		.size = sizeof(attr),
		.disabled = 1,
	};
	int fd = -1;

	for (int cpu = 0; cpu < KERNEL_CPUS && fd < 0; cpu++) {
		fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno != ENODEV)
			return -errno;
	}
	return fd < 0 ? -ENODEV : fd;
}

static struct bpf_program *program_of(const struct sampler_program *p,
				      const struct walk_event *event)
{
	struct sampler_bpf *bpf = p->bpf;

	if (event->probe)
		return p->waits ? bpf->progs.walk_or_defer_probe : bpf->progs.walk_probe;
	return p->waits ? bpf->progs.walk_or_defer_tracepoint : bpf->progs.walk_tracepoint;
}

/* To attach a program takes an event of perf, which counts nothing. */
static int attach_to_anchor(struct sampler_program *p, const struct walk_event *event,
			    uint32_t number)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = number);
	int fd = open_anchor(event), r;

	if (fd < 0)
		return fd;
	r = keep(p, bpf_program__attach_perf_event_opts(program_of(p, event), fd, &opts));
	/* the link has it otherwise; the program runs without it counting */
	if (r)
		close(fd);
	else
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return r;
}

static bool follows_tasks(const struct sampler_program *p)
{
	return bpf_program__autoload(p->bpf->progs.follow_fork);
}

static int follow_tasks(struct sampler_program *p)
{
	int r = keep(p, bpf_program__attach(p->bpf->progs.follow_fork));

	if (!r)
		r = keep(p, bpf_program__attach(p->bpf->progs.follow_exec));
	return r ? r : keep(p, bpf_program__attach(p->bpf->progs.follow_free));
}

int sampler_program_attach_hits(struct sampler_program *program, const struct walk_event *event,
				uint32_t number, const int *events, const int *cpus, size_t count)
{
	const uint32_t cpu_count = program->bpf->rodata->cpu_count;
	int r = 0;

	if (!program->follows && follows_tasks(program))
		r = follow_tasks(program);
	program->follows = true;
	for (size_t i = 0; i < count && !r; i++) {
		uint32_t index = kernel_event_index(number, cpu_count, (uint32_t)cpus[i]);

		r = bpf_map_update_elem(bpf_map__fd(program->bpf->maps.copies), &index, &events[i],
					BPF_ANY);
	}
	return r ? r : attach_to_anchor(program, event, number);
}
