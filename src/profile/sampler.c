/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vector.h"
#include "profile/ring.h"

/* What kernel.perf_event_mlock_kb grants unprivileged users by default, for each CPU. */
#define RING_BYTES_SMALL ((size_t)512 << 10)
/* Samples that a smaller ring must hold, while it is emptied; at the frequency of the other number. */
#define RING_SAMPLES 64
#define RING_SAMPLES_HZ 1000
#define RING_SAMPLES_MIN 8

/*
 * A record gets its time before it is complete.  One that takes longer than
 * this is given out late, which costs a mapping or two their order.
 */
#define SETTLE_NS 10000000ull
/* From here on losing records is the greater evil. */
#define FULL_PERCENT 60

struct cpu_ring {
	struct ring ring;
	size_t size;
	int fd; /* of the event that owns the ring */
	int cpu;
	const struct perf_event_header *next; /* peeked */
	uint64_t next_time, last_time;        /* of that, and of the one before */
};

/**
 * struct sampler - the events and their rings
 * @sources: what is sampled; the first one's attributes are those by which all records are read
 * @teller_attr: of those that only tell what is mapped and who lives, where the others see too
 *	little; size 0: there are none
 */
struct sampler {
	struct area_reader *area; /* instead of rings; or NULL */
	struct sampler_source *sources;
	size_t source_count;
	uint64_t period; /* of all samples, or 0: they tell */
	struct perf_event_attr teller_attr;
	struct cpu_ring *rings;
	size_t ring_count, ring_bytes;
	struct pollfd *pollfds;
	int *tellers;
	size_t teller_count;
	struct {
		struct perf_event_attr attr;
		struct sampler_events events;
	} added[SAMPLER_ADDED];
	size_t added_count;
	struct cpu_ring *given; /* its record is the caller's */
	uint64_t horizon;
};

/**
 * struct subject - what an event is of
 * @id: a thread, -1 for all, or the descriptor of a cgroup's folder
 */
struct subject {
	int id;
	bool cgroup;
};

static const struct subject everyone = {.id = -1};

static size_t subject_count(const struct sampler_options *o)
{
	return o->cgroup_count ? o->cgroup_count : o->tid_count;
}

static struct subject subject_at(const struct sampler_options *o, size_t i)
{
	return o->cgroup_count ? (struct subject){o->cgroups[i], true}
			       : (struct subject){o->tids[i], false};
}

static bool is_sampled(const struct sampler_options *o, long cpu)
{
	return !o->cpus || cpu_choice_has(o->cpus, (unsigned int)cpu);
}

/* CPUs that there may be. */
static long cpu_count(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	return cpus < SAMPLER_CPUS ? cpus : SAMPLER_CPUS;
}

static int event_open(const struct perf_event_attr *attr, struct subject subject, int cpu)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (subject.cgroup ? PERF_FLAG_PID_CGROUP : 0);
	int fd = (int)syscall(SYS_perf_event_open, attr, subject.id, cpu, -1, flags);

	return fd < 0 ? -errno : fd;
}

/*
 * Code may be mapped on other CPUs than those that are sampled, or before its thread joins a
 * cgroup.  And what is mapped is told from the beginning on, also while samples are not wanted yet.
 */
static bool needs_tellers(const struct sampler_options *options)
{
	return options->wait || options->cgroup_count || (options->cpus && options->cpus->some) ||
	       options->events[0].of_all;
}

/* The first CPU to sample from @cpu on; -1: there is none. */
static int first_cpu(const struct sampler_options *options, long cpu)
{
	long count = cpu_count();

	while (cpu < count && !is_sampled(options, cpu))
		cpu++;
	return cpu < count ? (int)cpu : -1;
}

static int name_source(struct sampler_source *source)
{
	const struct perf_event_attr *attr = &source->attr;
	const char *usual = attr->type == PERF_TYPE_HARDWARE ? "cycles" : "cpu-clock";
	const char *name = source->event->name ? source->event->name : usual;
	/* the choice of the caller is in the name already */
	bool only_user = attr->exclude_kernel && !source->event->exclude_kernel;

	if (asprintf(&source->name, "%s%s", name, only_user ? ":u" : "") >= 0)
		return 0;
	source->name = NULL;
	return -ENOMEM;
}

static struct subject subject_of(const struct sampler_source *source,
				 const struct sampler_options *options, size_t i)
{
	return source->event->of_all && !options->cgroup_count ? everyone : subject_at(options, i);
}

static size_t subjects_of(const struct sampler_source *source,
			  const struct sampler_options *options)
{
	return source->event->of_all && !options->cgroup_count ? 1 : subject_count(options);
}

/* Open the event for the first thread that lives, on the first CPU that runs.  -errno. */
static int open_somewhere(const struct sampler_source *source,
			  const struct sampler_options *options)
{
	int fd = -ESRCH;

	for (size_t i = 0; i < subjects_of(source, options) && fd == -ESRCH; i++) {
		int cpu = first_cpu(options, 0);

		for (fd = -ENODEV; cpu >= 0 && fd == -ENODEV; cpu = first_cpu(options, cpu + 1))
			fd = event_open(&source->attr, subject_of(source, options, i), cpu);
	}
	return fd;
}

/* Find out, on one thread and CPU, what this kernel and user may open. */
static int settle(struct sampler_source *source, const struct sampler_options *options)
{
	int fd;

	while ((fd = open_somewhere(source, options)) < 0)
		if (!sampler_attr_relax(&source->attr, source->event, fd))
			return fd;
	close(fd);
	return name_source(source);
}

static int open_ring(struct sampler *s, struct cpu_ring *ring, int fd)
{
	int r = ring_open(fd, ring->size, &ring->ring);

	if (r)
		return r;
	ring->fd = fd;
	s->pollfds[s->ring_count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	return 0;
}

/* An event that writes to the CPU's ring, which is that of the first one. */
static int join_ring(struct sampler *s, const struct perf_event_attr *attr, struct subject subject,
		     struct cpu_ring *ring)
{
	int fd = event_open(attr, subject, ring->cpu), r;

	if (fd < 0)
		return fd;
	if (!ring->ring.control)
		r = open_ring(s, ring, fd);
	else
		r = ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ? -errno : 0;
	if (!r)
		return fd;
	close(fd);
	return r;
}

static int add_event(struct sampler *s, struct sampler_source *source, struct subject subject,
		     struct cpu_ring *ring)
{
	int fd = join_ring(s, &source->attr, subject, ring);

	if (fd < 0)
		return fd;
	source->fds[source->count] = fd;
	source->cpus[source->count] = ring->cpu;
	return ioctl(fd, PERF_EVENT_IOC_ID, &source->ids[source->count++]) ? -errno : 0;
}

static int add_teller(struct sampler *s, struct subject subject, struct cpu_ring *ring)
{
	int fd = join_ring(s, &s->teller_attr, subject, ring);

	if (fd < 0)
		return fd;
	s->tellers[s->teller_count++] = fd;
	return 0;
}

/* -ENODEV: the CPU does not run. */
static int add_source(struct sampler *s, struct sampler_source *source,
		      const struct sampler_options *options, struct cpu_ring *ring)
{
	for (size_t i = 0; i < subjects_of(source, options); i++) {
		int r = add_event(s, source, subject_of(source, options, i), ring);

		/* thread that has ended */
		if (r && r != -ESRCH)
			return r;
	}
	return 0;
}

static int add_events(struct sampler *s, const struct sampler_options *options,
		      struct cpu_ring *ring)
{
	int r = 0;

	for (size_t i = 0; i < s->source_count && !r; i++)
		r = add_source(s, &s->sources[i], options, ring);
	return r;
}

/* Of everybody where there are cgroups. */
static int add_tellers(struct sampler *s, const struct sampler_options *options,
		       struct cpu_ring *ring)
{
	size_t count = options->cgroup_count ? 1 : options->tid_count;

	for (size_t i = 0; i < count; i++) {
		struct subject subject = options->cgroup_count ? everyone : subject_at(options, i);
		int r = add_teller(s, subject, ring);

		if (r && r != -ESRCH)
			return r;
	}
	return 0;
}

static int open_cpu(struct sampler *s, const struct sampler_options *options, int cpu)
{
	struct cpu_ring *ring = &s->rings[s->ring_count];
	int r = 0;

	ring->cpu = cpu;
	/* where there are no samples, there is little to tell */
	ring->size = is_sampled(options, cpu) ? s->ring_bytes : RING_BYTES_SMALL;
	if (s->teller_attr.size)
		r = add_tellers(s, options, ring);
	if (!r && is_sampled(options, cpu))
		r = add_events(s, options, ring);
	return r == -ENODEV ? 0 : r;
}

static int make_room(struct sampler_source *source, size_t most)
{
	source->fds = calloc(most, sizeof(*source->fds));
	source->cpus = calloc(most, sizeof(*source->cpus));
	source->ids = calloc(most, sizeof(*source->ids));
	return source->fds && source->cpus && source->ids ? 0 : -ENOMEM;
}

static int open_all(struct sampler *s, const struct sampler_options *options)
{
	long cpus = cpu_count();
	size_t most = (size_t)cpus * subject_count(options);
	int r = 0;

	s->rings = calloc((size_t)cpus, sizeof(*s->rings));
	s->pollfds = calloc((size_t)cpus + 1, sizeof(*s->pollfds));
	s->tellers = calloc(most, sizeof(*s->tellers));
	for (size_t i = 0; i < s->source_count && !r; i++)
		r = make_room(&s->sources[i], most);
	if (r || !s->rings || !s->pollfds || !s->tellers)
		return -ENOMEM;
	for (long cpu = 0; cpu < cpus; cpu++) {
		r = open_cpu(s, options, (int)cpu);
		if (r)
			return r;
	}
	if (!s->ring_count)
		return -ESRCH;
	return s->sources[0].count ? 0 : -ENODEV;
}

static void close_source(struct sampler_source *source)
{
	for (size_t i = 0; i < source->count; i++)
		if (source->fds[i] >= 0)
			close(source->fds[i]);
	free(source->fds);
	free(source->cpus);
	free(source->ids);
	source->fds = source->cpus = NULL;
	source->ids = NULL;
	source->count = 0;
}

/* What was found out of the events stays. */
static void close_all(struct sampler *s)
{
	for (size_t i = 0; i < s->ring_count; i++)
		ring_close(&s->rings[i].ring);
	for (size_t i = 0; i < s->source_count; i++)
		close_source(&s->sources[i]);
	for (size_t i = 0; i < s->teller_count; i++)
		close(s->tellers[i]);
	free(s->rings);
	free(s->pollfds);
	free(s->tellers);
	*s = (struct sampler){.sources = s->sources,
			      .source_count = s->source_count,
			      .period = s->period,
			      .teller_attr = s->teller_attr};
}

static int open_with_rings(struct sampler *s, const struct sampler_options *options, size_t bytes)
{
	s->ring_bytes = bytes;
	s->teller_attr.wakeup_watermark = (uint32_t)(bytes / 4);
	for (size_t i = 0; i < s->source_count; i++)
		s->sources[i].attr.wakeup_watermark = (uint32_t)(bytes / 4);
	return open_all(s, options);
}

/*
 * The kernel's own events count as one each where samples tell their periods, whatever was asked
 * for.
 */
static void fix_period(struct sampler *s, const struct sampler_options *options)
{
	s->period = options->events[0].period;
	for (size_t i = 1; i < s->source_count; i++)
		if (options->events[i].period != s->period)
			s->period = 0;
	for (size_t i = 0; i < s->source_count && s->period; i++)
		s->sources[i].attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
}

static int choose_attrs(struct sampler *s, const struct sampler_options *options)
{
	int r = subject_count(options) ? 0 : -ESRCH;

	for (size_t i = 0; i < s->source_count && !r; i++) {
		struct sampler_source *source = &s->sources[i];

		source->event = &options->events[i];
		source->attr = sampler_attr_of(options, source->event);
		r = settle(source, options);
	}
	if (r)
		return r;
	fix_period(s, options);
	if (needs_tellers(options))
		s->teller_attr = sampler_attr_of_teller(&s->sources[0].attr, options);
	for (size_t i = 0; i < s->source_count; i++) {
		if (i || s->teller_attr.size)
			sampler_attr_tell_nothing(&s->sources[i].attr);
		s->sources[i].attr.disabled |= options->wait;
	}
	return 0;
}

static size_t samples_to_hold(const struct perf_event_attr *attr)
{
	uint64_t count = RING_SAMPLES;

	if (attr->freq && attr->sample_freq < RING_SAMPLES_HZ)
		count = attr->sample_freq * RING_SAMPLES / RING_SAMPLES_HZ;
	return count < RING_SAMPLES_MIN ? RING_SAMPLES_MIN : (size_t)count;
}

/* In a small ring large samples would be lost, where they come fast. */
static void copy_less(struct sampler *s, size_t ring_bytes)
{
	for (size_t i = 0; i < s->source_count; i++) {
		struct perf_event_attr *attr = &s->sources[i].attr;
		size_t most = ring_bytes / samples_to_hold(attr) & ~(size_t)7;

		if (attr->sample_stack_user > most)
			attr->sample_stack_user = (uint32_t)most;
	}
}

/* One event, which no descriptor stands for. */
static int open_area(struct sampler *s, const struct sampler_options *options)
{
	struct sampler_source *source = s->sources;
	int r = make_room(source, 1);

	s->pollfds = calloc(1, sizeof(*s->pollfds));
	if (r || !s->pollfds)
		return -ENOMEM;
	s->area = options->area;
	source->event = options->events;
	source->attr = sampler_attr_of(options, source->event);
	source->fds[0] = -1;
	source->ids[0] = AREA_EVENT_ID;
	source->count = 1;
	return name_source(source);
}

static int open_rings(struct sampler *s, const struct sampler_options *options)
{
	size_t ring_bytes = options->ring_bytes ? options->ring_bytes : SAMPLER_RING_BYTES;
	int r = choose_attrs(s, options);

	if (!r)
		r = open_with_rings(s, options, ring_bytes);
	/* unprivileged users may lock little memory */
	while (s->rings && (r == -EPERM || r == -ENOMEM) && ring_bytes > RING_BYTES_SMALL) {
		close_all(s);
		ring_bytes /= 2;
		copy_less(s, ring_bytes);
		r = open_with_rings(s, options, ring_bytes);
	}
	return r;
}

int sampler_open(const struct sampler_options *options, struct sampler **ret)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (!s)
		return -ENOMEM;
	s->sources = calloc(options->event_count, sizeof(*s->sources));
	s->source_count = s->sources ? options->event_count : 0;
	if (s->sources)
		r = options->area ? open_area(s, options) : open_rings(s, options);
	if (r)
		sampler_close(s);
	else
		*ret = s;
	return r;
}

void sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	close_all(sampler);
	for (size_t i = 0; i < sampler->source_count; i++)
		free(sampler->sources[i].name);
	free(sampler->sources);
	free(sampler);
}

const struct sampler_source *sampler_source(const struct sampler *sampler, size_t i)
{
	return &sampler->sources[i];
}

/* The event of all threads that an id is of, or NULL. */
static const struct sampler_source *source_of_all(const struct sampler *s, uint64_t id)
{
	const struct sampler_source *source = s->sources, *end = source + s->source_count;

	for (; source < end; source++)
		for (size_t i = 0; source->event->of_all && i < source->count; i++)
			if (source->ids[i] == id)
				return source;
	return NULL;
}

bool sampler_is_of_all(const struct sampler *sampler, uint64_t id)
{
	return source_of_all(sampler, id);
}

void sampler_events_close(struct sampler_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		close(events->fds[i]);
	free(events->fds);
	free(events->ids);
	*events = (struct sampler_events){0};
}

bool sampler_events_have(const struct sampler_events *events, uint64_t id)
{
	return events->count &&
	       bsearch(&id, events->ids, events->count, sizeof(id), vector_by_start) != NULL;
}

void sampler_events_enable(const struct sampler_events *events, bool enable)
{
	for (size_t i = 0; i < events->count; i++)
		ioctl(events->fds[i], enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static int add_to_ring(const struct sampler *s, const struct perf_event_attr *attr,
		       struct subject subject, const struct cpu_ring *ring,
		       struct sampler_events *events)
{
	int fd = event_open(attr, subject, ring->cpu);

	/* thread that has ended */
	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	events->fds[events->count] = fd;
	return ioctl(fd, PERF_EVENT_IOC_ID, &events->ids[events->count++]) ||
			       ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd)
		       ? -errno
		       : 0;
}

int sampler_add(struct sampler *sampler, const struct sampler_options *options,
		const struct perf_event_attr *attr, struct sampler_events *ret)
{
	size_t subjects = subject_count(options), most = sampler->ring_count * subjects;
	struct sampler_events events = {0};
	int r = 0;

	if (sampler->added_count == SAMPLER_ADDED)
		return -EINVAL;
	events.fds = calloc(most, sizeof(*events.fds));
	events.ids = calloc(most, sizeof(*events.ids));
	if (!events.fds || !events.ids)
		r = -ENOMEM;
	for (size_t i = 0; i < most && !r; i++)
		r = add_to_ring(sampler, attr, subject_at(options, i % subjects),
				&sampler->rings[i / subjects], &events);
	if (!r && !events.count)
		r = -ESRCH;
	if (r) {
		sampler_events_close(&events);
		return r;
	}
	sampler->added[sampler->added_count].attr = *attr;
	sampler->added[sampler->added_count++].events = events;
	*ret = events;
	return 0;
}

void sampler_enable(const struct sampler *sampler, bool enable)
{
	unsigned long request = enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	if (sampler->area) {
		area_reader_enable(sampler->area, enable);
		return;
	}
	for (size_t i = 0; i < sampler->source_count; i++)
		for (size_t k = 0; k < sampler->sources[i].count; k++)
			ioctl(sampler->sources[i].fds[k], request, 0);
}

/* The kernel makes a period of the frequency of a clock, when the event is opened. */
static uint64_t rate_of(const struct perf_event_attr *attr, uint32_t frequency)
{
	return perf_attr_is_clock(attr) ? NS_PER_SECOND / frequency : frequency;
}

int sampler_set_frequency(const struct sampler *sampler, uint32_t frequency)
{
	for (size_t i = 0; i < sampler->source_count; i++) {
		const struct sampler_source *source = &sampler->sources[i];
		uint64_t rate = rate_of(&source->attr, frequency);

		for (size_t k = 0; k < source->count && source->attr.freq; k++)
			if (ioctl(source->fds[k], PERF_EVENT_IOC_PERIOD, &rate))
				return -errno;
	}
	return 0;
}

struct pollfd *sampler_pollfds(struct sampler *sampler, int other, size_t *count)
{
	*count = sampler->ring_count + 1;
	sampler->pollfds[sampler->ring_count] = (struct pollfd){.fd = other, .events = POLLIN};
	return sampler->pollfds;
}

void sampler_sweep(struct sampler *sampler, bool final)
{
	uint64_t time = clock_now();
	bool full = false;

	for (size_t i = 0; i < sampler->ring_count; i++) {
		ring_update(&sampler->rings[i].ring);
		full |= ring_fill(&sampler->rings[i].ring) >= FULL_PERCENT;
	}
	if (sampler->area)
		full = area_reader_fill(sampler->area) >= FULL_PERCENT;
	sampler->horizon = final ? UINT64_MAX : full ? time : time - SETTLE_NS;
	if (sampler->area)
		area_reader_sweep(sampler->area, sampler->horizon);
}

uint64_t sampler_horizon(const struct sampler *sampler)
{
	return sampler->horizon;
}

/* Have the ring's next record at hand. */
static int peek(struct sampler *s, struct cpu_ring *ring)
{
	bool broken;

	if (ring->next)
		return 0;
	ring->next = ring_peek(&ring->ring, &broken);
	if (ring->next)
		ring->next_time = perf_event_time(&s->sources[0].attr, ring->next,
						  ring->next->size);
	/* the kernel had no room since then */
	if (ring->next && ring->next->type == PERF_RECORD_LOST && ring->last_time)
		ring->next_time = ring->last_time;
	return broken ? -EBADMSG : 0;
}

/*
 * Whether samples of an event with these attributes may have another recorder's number.  Linux
 * (6.18 was looked at) fills in at once what the samples of all recorders' software events and
 * tracepoints have in common, and keeps the number of the event that comes first.
 */
static bool is_doubtful(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config > PERF_COUNT_SW_TASK_CLOCK &&
		       attr->config != PERF_COUNT_SW_BPF_OUTPUT;
	return attr->type == PERF_TYPE_TRACEPOINT || attr->type >= PERF_TYPE_MAX;
}

/* Whether a sample's number may be another recorder's. */
static bool has_doubtful_events(const struct sampler *s)
{
	for (size_t i = 0; i < s->source_count; i++)
		if (is_doubtful(&s->sources[i].attr))
			return true;
	return s->added_count;
}

static bool is_sampled_id(const struct sampler *s, uint64_t id)
{
	for (size_t i = 0; i < s->source_count; i++)
		for (size_t k = 0; k < s->sources[i].count; k++)
			if (s->sources[i].ids[k] == id)
				return true;
	return false;
}

/* The only event that a sample with the number of another recorder's event may be of. */
struct owner {
	const struct perf_event_attr *attr;
	uint64_t id;
	size_t count; /* of such events */
};

static void may_be(struct owner *owner, const struct perf_event_attr *attr, uint64_t id,
		   const struct perf_event_header *record)
{
	if (!is_doubtful(attr) || !perf_event_fits(attr, record, record->size))
		return;
	owner->attr = attr;
	owner->id = id;
	owner->count++;
}

static struct owner owner_of(const struct sampler *s, const struct perf_event_header *record)
{
	struct owner own = {0};

	for (size_t i = 0; i < s->source_count; i++)
		may_be(&own, &s->sources[i].attr, s->sources[i].ids[0], record);
	for (size_t i = 0; i < s->added_count; i++)
		may_be(&own, &s->added[i].attr, s->added[i].events.ids[0], record);
	return own;
}

/* The attributes by which a record is to be read, and the number of its event to @id. */
static const struct perf_event_attr *read_by(const struct sampler *s,
					     const struct perf_event_header *record, uint64_t *id)
{
	struct owner own = {0};

	*id = perf_event_id(&s->sources[0].attr, record, record->size);
	for (size_t i = 0; i < s->added_count; i++)
		if (sampler_events_have(&s->added[i].events, *id))
			return &s->added[i].attr;
	if (record->type == PERF_RECORD_SAMPLE && has_doubtful_events(s) && !is_sampled_id(s, *id))
		own = owner_of(s, record);
	if (own.count != 1)
		return &s->sources[0].attr;
	*id = own.id;
	return own.attr;
}

uint64_t sampler_time(const struct sampler *sampler)
{
	return sampler->given ? sampler->given->next_time : 0;
}

/* The samples of all events may have the same, and those that a program makes have none. */
static uint64_t period_of(const struct sampler *s, const struct perf_event *event)
{
	const struct sampler_source *source;

	if (s->period)
		return s->period;
	source = event->sample.period ? NULL : source_of_all(s, event->id);
	return source ? source->event->period : event->sample.period;
}

int sampler_next(struct sampler *sampler, uint64_t until, struct perf_event *ret)
{
	const struct perf_event_attr *attr;
	struct cpu_ring *oldest = NULL;
	uint64_t id;

	if (sampler->area)
		return area_reader_next(sampler->area, ret);
	if (sampler->given) {
		ring_consume(&sampler->given->ring, sampler->given->next);
		sampler->given->last_time = sampler->given->next_time;
		sampler->given->next = NULL;
		sampler->given = NULL;
	}
	for (size_t i = 0; i < sampler->ring_count; i++) {
		struct cpu_ring *ring = &sampler->rings[i];

		if (peek(sampler, ring))
			return -EBADMSG;
		if (ring->next && (!oldest || ring->next_time < oldest->next_time))
			oldest = ring;
	}
	if (!oldest || oldest->next_time > sampler->horizon || oldest->next_time > until)
		return 0;
	sampler->given = oldest;
	attr = read_by(sampler, oldest->next, &id);
	if (perf_event_decode(attr, oldest->next, oldest->next->size, ret))
		return -EBADMSG;
	ret->id = id;
	if (attr == &sampler->sources[0].attr && ret->type == PERF_RECORD_SAMPLE)
		ret->sample.period = period_of(sampler, ret);
	return 1;
}
