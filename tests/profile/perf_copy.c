/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_copy IN OUT - read a recording and write it again, so that a test can
 * let perf compare the two.  Registers and stack copies are dropped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/perf_reader.h"
#include "profile/perf_writer.h"

static int open_writer(const struct perf_reader *reader, const char *path, struct perf_writer **ret)
{
	const struct perf_reader_attr *attrs;
	size_t nr = perf_reader_attrs(reader, &attrs);
	struct perf_writer_event *events = calloc(nr, sizeof(*events));
	int r;

	for (size_t i = 0; i < nr; i++) {
		events[i].attr = attrs[i].attr;
		events[i].attr.sample_type &= PERF_WRITER_SAMPLE_TYPE;
		events[i].attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
		events[i].name = attrs[i].name;
		events[i].ids = attrs[i].ids;
		events[i].nr_ids = attrs[i].nr_ids;
	}
	r = perf_writer_open(path, events, nr, ret);
	free(events);
	return r;
}

static int copy_events(struct perf_reader *reader, struct perf_writer *writer)
{
	struct perf_event event;
	int r;

	while ((r = perf_reader_next(reader, NULL, &event)) > 0) {
		r = perf_writer_put(writer, &event);
		if (r && r != -EINVAL)
			return r;
	}
	return r;
}

int main(int argc, char **argv)
{
	const char *const words[] = {"copied", "by the test", NULL};
	struct perf_writer_info info = {.hostname = "testhost",
					.version = "1.2.3",
					.argv = words,
					.nr_cpus_online = 3,
					.nr_cpus_available = 5};
	struct perf_reader *reader = NULL;
	struct perf_writer *writer;
	int r = argc == 3 ? perf_reader_open(argv[1], NULL, &reader) : -EINVAL;

	if (!r)
		r = open_writer(reader, argv[2], &writer);
	if (!r) {
		r = copy_events(reader, writer);
		if (!r)
			r = perf_writer_finish(writer, &info);
		else
			perf_writer_abort(writer);
	}
	perf_reader_close(reader);
	if (r)
		fprintf(stderr, "perf_copy: %s\n", strerror(-r));
	return r != 0;
}
