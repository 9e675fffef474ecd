/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/recording_clock.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/clock.h"

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

struct recording_clock recording_clock_of(const struct perf_reader *reader, const char *path)
{
	struct recording_clock clock = {.here = is_of_this_machine(reader)};

	if (!take_clock_data(reader, &clock))
		take_date(reader, path, &clock);
	return clock;
}

uint64_t recording_clock_day(const struct recording_clock *clock, uint64_t time)
{
	if (!clock->known)
		return 0;
	return time ? time + clock->offset : clock->start;
}
