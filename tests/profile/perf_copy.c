/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_copy IN OUT - read a recording of one event and write it again, so that a test can
 * let perf compare the two.  Registers and stack copies are dropped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/perf_reader.h"
#include "profile/perf_writer.h"

/* The id of each record stays what it was, so that one is enough here. */
static int open_writer(const struct perf_event *first, const char *path, struct perf_writer **ret)
{
	const struct sample_event event = {
		.attr = first->attr->attr,
		.name = first->attr->name,
		.ids = &first->id,
		.nr_ids = 1,
	};

	return perf_writer_open(path, &event, 1, ret);
}

static int copy_events(struct perf_reader *reader, struct perf_event *event,
		       struct perf_writer *writer)
{
	int r;

	do {
		r = perf_writer_put(writer, event);
		if (r && r != -EINVAL)
			return r;
	} while ((r = perf_reader_next(reader, NULL, event)) > 0);
	return r;
}

int main(int argc, char **argv)
{
	const char *const words[] = {"copied", "by the test", NULL};
	struct perf_writer_info info = {.version = "1.2.3", .argv = words};
	struct perf_reader *reader = NULL;
	struct perf_writer *writer;
	struct perf_event event;
	int r = argc == 3 ? perf_reader_open(argv[1], NULL, &reader) : -EINVAL;

	if (!r)
		r = perf_reader_next(reader, NULL, &event) > 0 ? 0 : -EBADMSG;
	if (!r)
		r = open_writer(&event, argv[2], &writer);
	if (!r) {
		r = copy_events(reader, &event, writer);
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
