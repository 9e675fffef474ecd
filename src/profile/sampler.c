/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "profile/ring.h"

/* What kernel.perf_event_mlock_kb grants unprivileged users by default, for each CPU. */
#define RING_BYTES_SMALL ((size_t)512 << 10)
/* In a small ring large samples would be lost. */
#define STACK_BYTES_SMALL 8192

/*
 * A record gets its time before it is complete.  One that takes longer than
 * this is given out late, which costs a mapping or two their order.
 */
#define SETTLE_NS 10000000ull
/* From here on losing records is the greater evil. */
#define FULL_PERCENT 60

struct cpu_ring {
	struct ring ring;
	int fd; /* of the event that owns the ring */
	int cpu;
	int output_fd; /* of the event for programs, or -1 */
	uint64_t output_id;
	const struct perf_event_header *next; /* peeked */
	uint64_t next_time;
};

struct sampler {
	struct perf_event_attr attr, output_attr;
	const char *name;
	struct cpu_ring *rings;
	size_t ring_count, ring_bytes;
	struct pollfd *pollfds;
	int *fds;
	uint64_t *ids;
	size_t fd_count;
	struct cpu_ring *given; /* its record is the caller's */
	uint64_t horizon;
};

static int event_open(const struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static struct perf_event_attr attr_of(const struct sampler_options *options)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(struct perf_event_attr),
		.freq = 1,
		.sample_freq = options->frequency,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = options->regs_mask,
		.sample_stack_user = options->stack_bytes,
		.sample_id_all = 1,
		.inherit = !options->no_inherit,
		.disabled = options->enable_on_exec,
		.enable_on_exec = options->enable_on_exec,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

/*
 * Up to the time its records begin like those of @attr.  The kernel's part of the stack comes
 * with them; the user's is what the program gives out.
 */
static struct perf_event_attr output_attr_of(const struct perf_event_attr *attr)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.size = sizeof(struct perf_event_attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_RAW,
		.exclude_callchain_user = 1,
		.exclude_callchain_kernel = attr->exclude_kernel,
		.sample_id_all = 1,
		.use_clockid = attr->use_clockid,
		.clockid = attr->clockid,
	};
}

/* The other events tell what is mapped from the beginning on; the sampling ones wait. */
static void let_outputs_tell(struct perf_event_attr *attr, struct perf_event_attr *output)
{
	output->mmap = attr->mmap;
	output->mmap2 = attr->mmap2;
	output->build_id = attr->build_id;
	output->comm = attr->comm;
	output->comm_exec = attr->comm_exec;
	output->task = attr->task;
	attr->mmap = attr->mmap2 = attr->build_id = 0;
	attr->comm = attr->comm_exec = attr->task = 0;
	attr->disabled = 1;
}

static bool next_best(struct perf_event_attr *attr, int error)
{
	bool hardware = attr->type == PERF_TYPE_HARDWARE;

	if (error == -EACCES || error == -EPERM) {
		if (attr->exclude_kernel)
			return false;
		attr->exclude_kernel = 1;
		return true;
	}
	/* virtual machines and containers have no counters */
	if (hardware && (error == -ENOENT || error == -EOPNOTSUPP || error == -ENODEV)) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		/* a CPU that has nothing to do makes no cycles either */
		attr->exclude_idle = 1;
		return true;
	}
	/* build_id: Linux 5.12 */
	if (error == -EINVAL && attr->build_id) {
		attr->build_id = 0;
		return true;
	}
	return false;
}

/* Find out, on one thread and CPU, what this kernel and user may open. */
static int settle_attr(struct sampler *s, pid_t tid)
{
	int fd;

	while ((fd = event_open(&s->attr, tid, 0)) < 0)
		if (!next_best(&s->attr, fd))
			return fd;
	close(fd);
	if (s->attr.type == PERF_TYPE_HARDWARE)
		s->name = s->attr.exclude_kernel ? "cycles:u" : "cycles";
	else
		s->name = s->attr.exclude_kernel ? "cpu-clock:u" : "cpu-clock";
	return 0;
}

static int open_ring(struct sampler *s, struct cpu_ring *ring, int fd)
{
	int r = ring_open(fd, s->ring_bytes, &ring->ring);

	if (r)
		return r;
	ring->fd = fd;
	ring->output_fd = -1;
	s->pollfds[s->ring_count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	return 0;
}

static int add_event(struct sampler *s, pid_t tid, int cpu, struct cpu_ring *ring)
{
	int fd = event_open(&s->attr, tid, cpu);

	if (fd < 0)
		return fd;
	s->fds[s->fd_count] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &s->ids[s->fd_count++]))
		return -errno;
	if (!ring->ring.control)
		return open_ring(s, ring, fd);
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) ? -errno : 0;
}

/* Programs give out to the ring that the CPU's samples go to. */
static int add_output(struct sampler *s, struct cpu_ring *ring, int cpu)
{
	int fd = event_open(&s->output_attr, -1, cpu);

	if (fd < 0)
		return fd;
	ring->cpu = cpu;
	ring->output_fd = fd;
	return ioctl(fd, PERF_EVENT_IOC_ID, &ring->output_id) ||
			       ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd)
		       ? -errno
		       : 0;
}

static int open_cpu(struct sampler *s, const struct sampler_options *options, int cpu)
{
	struct cpu_ring *ring = &s->rings[s->ring_count];
	int r;

	for (size_t i = 0; i < options->tid_count; i++) {
		r = add_event(s, options->tids[i], cpu, ring);
		/* offline CPU; thread that has ended */
		if (r == -ENODEV)
			return 0;
		if (r && r != -ESRCH)
			return r;
	}
	return options->outputs && ring->ring.control ? add_output(s, ring, cpu) : 0;
}

static int open_all(struct sampler *s, const struct sampler_options *options)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t most = (size_t)cpus * options->tid_count;
	int r;

	s->rings = calloc((size_t)cpus, sizeof(*s->rings));
	s->pollfds = calloc((size_t)cpus, sizeof(*s->pollfds));
	s->fds = calloc(most, sizeof(*s->fds));
	s->ids = calloc(most, sizeof(*s->ids));
	if (!s->rings || !s->pollfds || !s->fds || !s->ids)
		return -ENOMEM;
	for (long cpu = 0; cpu < cpus; cpu++) {
		r = open_cpu(s, options, (int)cpu);
		if (r)
			return r;
	}
	return s->ring_count ? 0 : -ESRCH;
}

static void close_all(struct sampler *s)
{
	for (size_t i = 0; i < s->ring_count; i++) {
		ring_close(&s->rings[i].ring);
		if (s->rings[i].output_fd >= 0)
			close(s->rings[i].output_fd);
	}
	for (size_t i = 0; i < s->fd_count; i++)
		close(s->fds[i]);
	free(s->rings);
	free(s->pollfds);
	free(s->fds);
	free(s->ids);
	*s = (struct sampler){.attr = s->attr, .output_attr = s->output_attr, .name = s->name};
}

static int open_with_rings(struct sampler *s, const struct sampler_options *options, size_t bytes)
{
	s->ring_bytes = bytes;
	s->attr.wakeup_watermark = (uint32_t)(bytes / 4);
	if (s->output_attr.size)
		return open_all(s, options);
	s->output_attr = output_attr_of(&s->attr);
	if (options->wait)
		let_outputs_tell(&s->attr, &s->output_attr);
	return open_all(s, options);
}

int sampler_open(const struct sampler_options *options, struct sampler **ret)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->attr = attr_of(options);
	r = options->tid_count ? settle_attr(s, options->tids[0]) : -ESRCH;
	if (!r)
		r = open_with_rings(s, options, SAMPLER_RING_BYTES);
	/* unprivileged users may lock little memory */
	if (r == -EPERM || r == -ENOMEM) {
		close_all(s);
		if (s->attr.sample_stack_user > STACK_BYTES_SMALL)
			s->attr.sample_stack_user = STACK_BYTES_SMALL;
		r = open_with_rings(s, options, RING_BYTES_SMALL);
	}
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
	free(sampler);
}

const struct perf_event_attr *sampler_attr(const struct sampler *sampler)
{
	return &sampler->attr;
}

const char *sampler_event_name(const struct sampler *sampler)
{
	return sampler->name;
}

size_t sampler_ids(const struct sampler *sampler, const uint64_t **ret)
{
	*ret = sampler->ids;
	return sampler->fd_count;
}

size_t sampler_events(const struct sampler *sampler, const int **ret)
{
	*ret = sampler->fds;
	return sampler->fd_count;
}

bool sampler_output(const struct sampler *sampler, size_t i, int *fd, int *cpu)
{
	if (i >= sampler->ring_count || sampler->rings[i].output_fd < 0)
		return false;
	*fd = sampler->rings[i].output_fd;
	*cpu = sampler->rings[i].cpu;
	return true;
}

bool sampler_is_output(const struct sampler *sampler, uint64_t id)
{
	for (size_t i = 0; i < sampler->ring_count; i++)
		if (sampler->rings[i].output_fd >= 0 && sampler->rings[i].output_id == id)
			return true;
	return false;
}

void sampler_enable(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->fd_count; i++)
		ioctl(sampler->fds[i], PERF_EVENT_IOC_ENABLE, 0);
}

void sampler_disable(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->fd_count; i++)
		ioctl(sampler->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

struct pollfd *sampler_pollfds(struct sampler *sampler, size_t *count)
{
	*count = sampler->ring_count;
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
	sampler->horizon = final ? UINT64_MAX : full ? time : time - SETTLE_NS;
}

/* Have the ring's next record at hand. */
static int peek(struct sampler *s, struct cpu_ring *ring)
{
	bool broken;

	if (ring->next)
		return 0;
	ring->next = ring_peek(&ring->ring, &broken);
	if (ring->next)
		ring->next_time = perf_event_time(&s->attr, ring->next, ring->next->size);
	return broken ? -EBADMSG : 0;
}

/* The attributes by which a record is to be read. */
static const struct perf_event_attr *attr_of_record(const struct sampler *s,
						    const struct perf_event_header *record)
{
	uint64_t id = perf_event_id(&s->attr, record, record->size);

	return sampler_is_output(s, id) ? &s->output_attr : &s->attr;
}

int sampler_next(struct sampler *sampler, struct perf_event *ret)
{
	const struct perf_event_attr *attr;
	struct cpu_ring *oldest = NULL;

	if (sampler->given) {
		ring_consume(&sampler->given->ring, sampler->given->next);
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
	if (!oldest || oldest->next_time > sampler->horizon)
		return 0;
	sampler->given = oldest;
	attr = attr_of_record(sampler, oldest->next);
	if (perf_event_decode(attr, oldest->next, oldest->next->size, ret))
		return -EBADMSG;
	return 1;
}
