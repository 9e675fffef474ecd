/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/event_hits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpfwalk/task_work.h"
#include "sampler.skel.h"

/* Of the two programs for a kind of events. */
static struct bpf_program *choose(struct bpf_program *plain, struct bpf_program *defers)
{
	return bpf_program__autoload(defers) ? defers : plain;
}

static int want(struct bpf_program *plain, struct bpf_program *defer, const struct btf *kernel,
		bool wanted, bool defers)
{
	int r = wanted && defers ? task_work_link(defer, kernel) : 0;

	if (!r)
		r = bpf_program__set_autoload(plain, wanted && !defers);
	return r ? r : bpf_program__set_autoload(defer, wanted && defers);
}

/* Who is followed; without it nobody is asked for. */
static int want_tasks(struct sampler_bpf *bpf, bool wanted)
{
	int r = bpf_program__set_autoload(bpf->progs.follow_fork, wanted);

	if (!r)
		r = bpf_program__set_autoload(bpf->progs.follow_exec, wanted);
	if (!r)
		r = bpf_program__set_autoload(bpf->progs.follow_free, wanted);
	return r;
}

static int size_maps(struct sampler_bpf *bpf, uint32_t entries)
{
	int r = bpf_map__set_max_entries(bpf->maps.copies, entries);

	return r ? r : bpf_map__set_max_entries(bpf->maps.hits, entries);
}

static void set_constants(struct sampler_bpf *bpf, const struct bpf_walk_options *o, uint32_t cpus)
{
	bpf->rodata->cpu_count = cpus;
	bpf->rodata->first_hit_state = cpus + KERNEL_LATE_STATES;
	bpf->rodata->samples_all_tasks = o->all;
	for (size_t i = 0; i < KERNEL_CPUS / 64; i++)
		bpf->rodata->event_cpus[i] = o->cpus ? o->cpus[i] : UINT64_MAX;
	for (size_t i = 0; i < o->event_count; i++)
		bpf->rodata->event_periods[i] = o->events[i].period;
}

/* Whether a program is wanted for events of a kind. */
static bool have(const struct bpf_walk_options *o, bool probes)
{
	for (uint32_t i = 0; i < o->event_count; i++)
		if (o->events[i].by_program && o->events[i].probe == probes)
			return true;
	return false;
}

int event_hits_configure(struct sampler_bpf *bpf, const struct bpf_walk_options *options,
			 const struct btf *kernel, bool defers, uint32_t cpus)
{
	bool tracepoints = have(options, false), probes = have(options, true);
	bool any = tracepoints || probes;
	int r = want(bpf->progs.walk_tracepoint, bpf->progs.walk_or_defer_tracepoint, kernel,
		     tracepoints, defers);

	if (!r)
		r = want(bpf->progs.walk_probe, bpf->progs.walk_or_defer_probe, kernel, probes,
			 defers);
	if (!r)
		r = want_tasks(bpf, any && !options->all);
	if (!r && !any)
		return bpf_map__set_autocreate(bpf->maps.sampled_tasks, false);
	if (!r)
		r = size_maps(bpf, options->event_count * cpus);
	if (!r)
		r = bpf_map__set_max_entries(bpf->maps.states,
					     bpf_map__max_entries(bpf->maps.states) + cpus);
	set_constants(bpf, options, cpus);
	return r;
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

static int keep(struct event_hits *hits, struct bpf_link *link)
{
	if (!link)
		return -errno;
	hits->links[hits->count++] = link;
	return 0;
}

static int attach(struct event_hits *hits, struct sampler_bpf *bpf, const struct walk_event *event,
		  uint64_t number)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = number);
	struct bpf_program *program =
		!event->probe
			? choose(bpf->progs.walk_tracepoint, bpf->progs.walk_or_defer_tracepoint)
			: choose(bpf->progs.walk_probe, bpf->progs.walk_or_defer_probe);
	int fd = open_anchor(event), r;

	if (fd < 0)
		return fd;
	r = keep(hits, bpf_program__attach_perf_event_opts(program, fd, &opts));
	/* the link has it otherwise; the program runs without it counting */
	if (r)
		close(fd);
	else
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return r;
}

static int take_copies(struct sampler_bpf *bpf, const struct event_copies *copies, uint32_t number)
{
	int r = 0;

	for (size_t i = 0; i < copies->count && !r; i++) {
		uint32_t index = kernel_event_index(number, bpf->rodata->cpu_count,
						    (uint32_t)copies->cpus[i]);

		r = bpf_map_update_elem(bpf_map__fd(bpf->maps.copies), &index, &copies->fds[i],
					BPF_ANY);
	}
	return r;
}

/* From now on what sampled threads start is sampled. */
static int follow_tasks(struct event_hits *hits, struct sampler_bpf *bpf)
{
	int r;

	if (!bpf_program__autoload(bpf->progs.follow_fork))
		return 0;
	r = keep(hits, bpf_program__attach(bpf->progs.follow_fork));
	if (!r)
		r = keep(hits, bpf_program__attach(bpf->progs.follow_exec));
	return r ? r : keep(hits, bpf_program__attach(bpf->progs.follow_free));
}

int event_hits_attach(struct event_hits *hits, struct sampler_bpf *bpf,
		      const struct bpf_walk_options *options, uint32_t number,
		      const struct event_copies *copies)
{
	int r = hits->count ? 0 : follow_tasks(hits, bpf);

	if (!r)
		r = take_copies(bpf, copies, number);
	return r ? r : attach(hits, bpf, &options->events[number], number);
}

void event_hits_close(struct event_hits *hits)
{
	for (size_t i = 0; i < hits->count; i++)
		bpf_link__destroy(hits->links[i]);
	hits->count = 0;
}
