/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/clock.h"
#include "profile/perf_format.h"
#include "profile/trace_payload.h"
#include "symbol/recorded_names.h"
#include "unwind/module.h"

/*
 * When, by the time of day, a recording's records were made.
 *
 * Files are dated by the time of day, records by another clock.  A recording may say how the
 * two go together (the feature CLOCK_DATA).  One that does not, and that was made on this
 * machine since it was started, tells by its own date: it was written when the last record was
 * made, unless it was copied, and then the date contradicts the machine's uptime.
 */
struct recording_clock {
	bool known;
	bool here;       /* the recording was made on this machine, as far as names tell */
	uint64_t start;  /* of the recording, by the time of day in nanoseconds */
	uint64_t offset; /* from the time of a record to that of day; wraps around */
};

#define CLOCK_DATA_VERSION 1
/* Records are dated by a clock that nobody corrects: it may be wrong by so much of its time. */
#define DRIFT 10000
#define PATIENCE (2 * NS_PER_SECOND)

/* u32 version, u32 clock, u64 the time of day, u64 that clock's time at the same moment */
static bool take_clock_data(const struct perf_reader *reader, struct recording_clock *ret)
{
	struct bytes b = perf_feature_bytes(perf_reader_feature(reader, PERF_FILE_CLOCK_DATA));
	uint32_t version = bytes_u32(&b);
	uint64_t day, time;

	bytes_skip(&b, sizeof(uint32_t));
	day = bytes_u64(&b);
	time = bytes_u64(&b);
	if (b.bad || version != CLOCK_DATA_VERSION)
		return false;
	*ret = (struct recording_clock){true, ret->here, day, day - time};
	return true;
}

/* perf's own clock, and those that are like it, begin with the machine. */
static bool counts_uptime(const struct perf_reader *reader)
{
	const struct perf_reader_attr *event = perf_reader_event(reader, 0);

	return event && (!event->attr.use_clockid || event->attr.clockid == CLOCK_MONOTONIC ||
			 event->attr.clockid == CLOCK_MONOTONIC_RAW);
}

static bool is_of_this_machine(const struct perf_reader *reader)
{
	struct utsname machine;
	const char *name;

	return !perf_feature_string(perf_reader_feature(reader, PERF_FILE_HOSTNAME), &name) &&
	       !uname(&machine) && !strcmp(machine.nodename, name);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* Of both ways to know it, what makes it earlier. */
static void take_date(const struct perf_reader *reader, const char *path,
		      struct recording_clock *ret)
{
	uint64_t first, last, uptime = clock_now(), boot = clock_ns(CLOCK_REALTIME) - uptime;
	struct stat st;

	if (!counts_uptime(reader) || !ret->here || stat(path, &st) ||
	    !perf_reader_times(reader, &first, &last) ||
	    distance(clock_of(&st.st_mtim), boot + last) > PATIENCE + uptime / DRIFT)
		return;
	if (clock_of(&st.st_mtim) < boot + last)
		boot = clock_of(&st.st_mtim) - last;
	*ret = (struct recording_clock){true, ret->here, boot + first, boot};
}

/* @path: of the recording that @reader reads. */
static struct recording_clock recording_clock_of(const struct perf_reader *reader, const char *path)
{
	struct recording_clock clock = {.here = is_of_this_machine(reader)};

	if (!take_clock_data(reader, &clock))
		take_date(reader, path, &clock);
	return clock;
}

/* The time of day of a record's time; that of the start for 0.  0: unknown. */
static uint64_t recording_clock_day(const struct recording_clock *clock, uint64_t time)
{
	if (!clock->known)
		return 0;
	return time ? time + clock->offset : clock->start;
}

/* Whether the kernel that runs here is the one of the recording, where it was. */
static bool is_of_this_boot(const struct recording_clock *clock)
{
	const uint64_t boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);

	return clock->here && clock->known && clock->start + PATIENCE >= boot;
}

/* Kernel and user part. */
#define MAX_FRAMES (2 * TRACE_CHAIN_MAX)

struct session {
	struct perf_reader *reader;
	const struct bobbin_arch *arch;
	struct bobbin_unwinder *unwinder;
	struct process_table *processes;
	struct recording_clock clock;
	struct file_build_ids build_ids;
	struct naming *naming;
	int names_error; /* of those that the recording keeps, and where */
	struct bobbin_error names_damage;
	struct bobbin_frame frames[MAX_FRAMES];
	struct bobbin_frame user[TRACE_CHAIN_MAX]; /* scratch: the user part, as it was recorded */
};

static const struct bobbin_arch *arch_of(const struct perf_reader *reader)
{
	const char *name;

	/* a recording that was killed has no features: it was made here, most likely */
	if (perf_feature_string(perf_reader_feature(reader, PERF_FILE_ARCH), &name))
		return bobbin_arch_amd64();
	if (!strcmp(name, "aarch64"))
		return bobbin_arch_aarch64();
	if (!strcmp(name, "s390x"))
		return bobbin_arch_s390x();
	return bobbin_arch_amd64();
}

static int open_names(struct session *s, const struct session_options *options)
{
	struct perf_span feature = perf_reader_feature(s->reader, RECORDED_NAMES_FEATURE);
	struct recorded_names *kept = NULL;
	int r;

	s->names_error = recorded_names_open(perf_feature_bytes(feature), feature.offset,
					     &s->names_damage, &kept);
	r = naming_open(&options->naming, options->symbolizer, s->unwinder, kept, &s->naming);
	if (!r)
		naming_kernel_is(s->naming,
				 is_of_this_boot(&s->clock) ? KERNEL_HAS_RUN : KERNEL_IS_OTHER);
	return r;
}

int session_open(const char *path, const struct session_options *options, struct bobbin_error *err,
		 struct session **ret)
{
	struct session *s = calloc(1, sizeof(*s));
	int r;

	if (err)
		*err = (struct bobbin_error){0};
	if (!s)
		return -ENOMEM;
	r = perf_reader_open(path, err, &s->reader);
	if (r)
		goto out;
	s->arch = arch_of(s->reader);
	r = unwinder_open(&options->unwind, options->infer, &s->unwinder);
	if (!r)
		r = process_table_open(s->unwinder, s->arch, false, &s->processes);
	s->clock = recording_clock_of(s->reader, path);
	if (!r)
		r = file_build_ids_init(perf_reader_feature(s->reader, PERF_FILE_BUILD_ID),
					&s->build_ids);
	if (!r)
		r = open_names(s, options);
out:
	if (r)
		session_close(s);
	else
		*ret = s;
	return r;
}

void session_close(struct session *session)
{
	if (!session)
		return;
	naming_close(session->naming);
	process_table_close(session->processes);
	bobbin_unwinder_close(session->unwinder);
	file_build_ids_fini(&session->build_ids);
	perf_reader_close(session->reader);
	free(session);
}

struct perf_reader *session_reader(const struct session *session)
{
	return session->reader;
}

int session_names_error(const struct session *session, struct bobbin_error *err)
{
	*err = session->names_damage;
	return session->names_error;
}

uint64_t session_day(const struct session *session, uint64_t time)
{
	return recording_clock_day(&session->clock, time);
}

struct bobbin_unwinder *session_unwinder(const struct session *session)
{
	return session->unwinder;
}

struct naming *session_naming(const struct session *session)
{
	return session->naming;
}

static void push(struct session *s, struct stack_sample *out, struct bobbin_frame frame)
{
	if (out->count < MAX_FRAMES)
		s->frames[out->count++] = frame;
}

/* The user part that the kernel wrote after the sample.  Its length. */
static size_t take_user_chain(struct session *s, const struct perf_event *event, uint64_t cookie,
			      struct stack_sample *out)
{
	struct perf_user_chain chain;
	size_t user = 0;

	if (!perf_reader_user_chain(s->reader, event, cookie, &chain)) {
		out->traced = true;
		out->reason = BOBBIN_REASON_CHAIN_MISSING;
		return 0;
	}
	for (uint64_t i = 0; i < chain.count; i++)
		if (chain.pcs[i] < PERF_CONTEXT_MAX)
			push(s, out, (struct bobbin_frame){.pc = chain.pcs[i], .exact = !user++});
	return user;
}

/* The callchain, in kernel and user parts; returns the user part's length. */
static size_t take_callchain(struct session *s, const struct perf_event *event,
			     struct stack_sample *out)
{
	bool kernel = (event->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	bool leaf = true;
	size_t user = 0;

	for (uint64_t i = 0; i < event->sample.callchain_nr; i++) {
		uint64_t pc = event->sample.callchain[i];

		if (pc == PERF_FILE_CONTEXT_USER_DEFERRED && i + 1 < event->sample.callchain_nr)
			return user +
			       take_user_chain(s, event, event->sample.callchain[i + 1], out);
		if (pc >= PERF_CONTEXT_MAX) {
			kernel = pc == PERF_CONTEXT_KERNEL || pc == PERF_CONTEXT_GUEST_KERNEL;
			leaf = true;
			continue;
		}
		if (!kernel)
			user++;
		push(s, out, (struct bobbin_frame){.pc = pc, .kernel = kernel, .exact = leaf});
		leaf = false;
	}
	return user;
}

/* The frames that a gap stands for, or its mark. */
static void push_gap(struct session *s, struct stack_sample *out, const struct trace_gap *gap)
{
	if (!gap->period)
		push(s, out, stack_sample_gap(gap->count));
	for (uint32_t i = 0; gap->period && i < gap->count && out->count < MAX_FRAMES; i++)
		push(s, out, s->user[gap->at - gap->period + i % gap->period]);
}

/* The last @user frames anew, with those that were taken out. */
static void fill_gaps(struct session *s, const struct trace_gaps *gaps, size_t user,
		      struct stack_sample *out)
{
	const struct trace_gap *gap = gaps->gaps, *end = gap + gaps->count;

	out->count -= user;
	memcpy(s->user, s->frames + out->count, user * sizeof(*s->user));
	for (size_t i = 0; i <= user; i++) {
		bool mark = false;

		for (; gap < end && gap->at == i; gap++) {
			push_gap(s, out, gap);
			mark |= !gap->period;
		}
		if (i < user && !mark)
			push(s, out, s->user[i]);
	}
}

/* What trace_payload.h adds to the last @user frames. */
static void take_payload(struct session *s, const struct perf_sample *sample, size_t user,
			 struct stack_sample *out)
{
	struct bobbin_frame *frames = s->frames + (out->count - user);
	struct trace_payload payload;

	if (user > TRACE_CHAIN_MAX ||
	    !trace_payload_read(sample->raw, sample->raw_size, frames, user, &payload))
		return;
	out->traced = true;
	out->reason = payload.reason;
	if (payload.gaps.count)
		fill_gaps(s, &payload.gaps, user, out);
}

static void unwind_sample(struct session *s, const struct perf_sample *sample,
			  struct process *process, struct stack_sample *out)
{
	struct bobbin_trace trace = {
		.frames = s->user,
		.max = BOBBIN_MAX_DEPTH,
		.outer = BOBBIN_MAX_DEPTH / 4,
	};

	sample_trace(s->unwinder, s->arch, process, sample, &trace);
	out->traced = true;
	out->reason = trace.reason;
	stack_sample_mark(&trace);
	for (uint32_t i = 0; i < trace.count; i++)
		push(s, out, s->user[i]);
}

static int give_sample(struct session *s, const struct perf_event *event,
		       const struct sample_sink *sink, void *ctx)
{
	const struct perf_sample *sample = &event->sample;
	struct stack_sample out = stack_sample_of(event, &event->attr->attr);
	struct thread *thread;
	size_t user;
	int r = process_table_thread(s->processes, out.pid, out.tid, &thread);

	if (r)
		return r;
	out.event = event->attr->name;
	out.event_number = event->attr->number;
	out.comm = thread->comm;
	out.cgroup = perf_reader_cgroup(s->reader, sample->cgroup);
	out.process = thread->process;
	out.frames = s->frames;
	user = take_callchain(s, event, &out);
	if (sample->regs && sample->stack && !user)
		unwind_sample(s, sample, thread->process, &out);
	else
		take_payload(s, sample, user, &out);
	if (!out.count)
		push(s, &out, stack_sample_place(&out));
	return sink->sample(ctx, &out);
}

/* What is told of a file that a record maps. */
static void take_files(struct session *s, struct perf_event *event)
{
	if (event->type != PERF_RECORD_MMAP && event->type != PERF_RECORD_MMAP2)
		return;
	file_build_ids_fill(&s->build_ids, &event->mmap);
	unwinder_files_since(s->unwinder, recording_clock_day(&s->clock, event->time),
			     s->clock.here);
}

/* A program of BPF comes or goes. */
static int take_program(struct session *s, const struct perf_event *event)
{
	struct loaded_programs *known = naming_programs(s->naming);
	const struct perf_ksymbol *symbol = &event->ksymbol;

	if (event->type != PERF_RECORD_KSYMBOL)
		return 0;
	if (symbol->gone) {
		loaded_programs_remove(known, symbol->addr);
		return 0;
	}
	return loaded_programs_add(
		known, &(struct loaded_program){symbol->addr, symbol->len, symbol->name});
}

int session_next(struct session *session, const struct sample_sink *sink, void *ctx,
		 struct bobbin_error *err)
{
	struct perf_event event;
	int r;

	while ((r = perf_reader_next(session->reader, err, &event)) > 0) {
		if (event.type == PERF_RECORD_SAMPLE) {
			r = give_sample(session, &event, sink, ctx);
			return r ? r : 1;
		}
		take_files(session, &event);
		r = take_program(session, &event);
		if (!r)
			r = process_table_event(session->processes, &event);
		if (!r && sink->record && event.type == PERF_RECORD_COMM)
			r = sink->record(ctx, &event);
		if (r)
			return r;
	}
	return r;
}

int session_run(struct session *session, const struct sample_sink *sink, void *ctx,
		struct bobbin_error *err)
{
	int r;

	do
		r = session_next(session, sink, ctx, err);
	while (r > 0);
	return r;
}
