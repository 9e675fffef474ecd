/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repeat_recording IN OUT TIMES - a recording of one event whose samples come again and again.
 *
 * Processes do not end in it, so that what comes later has their mappings.  Registers and copies of
 * stacks are dropped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/perf_reader.h"
#include "profile/perf_writer.h"
#include "symbol/recorded_names.h"

struct copy {
	const char *in;
	struct perf_writer *writer;
	uint64_t length; /* of the recording, in nanoseconds */
};

static int open_writer(struct copy *copy, struct perf_reader *reader, const char *path)
{
	struct byte_buffer names = {0};
	const struct perf_reader_attr *attr = perf_reader_event(reader, 0);
	const struct perf_span kept = perf_reader_feature(reader, RECORDED_NAMES_FEATURE);
	struct sample_event event;
	struct perf_event first;
	uint64_t from, to;
	int r = perf_reader_next(reader, NULL, &first) > 0 ? 0 : -EBADMSG;

	if (r || !attr || !perf_reader_times(reader, &from, &to))
		return -EBADMSG;
	copy->length = to - from + 1;
	event = (struct sample_event){
		.attr = attr->attr, .name = attr->name, .ids = &first.id, .nr_ids = 1};
	r = perf_writer_open(path, &event, 1, &copy->writer);
	if (r || !kept.size)
		return r;
	byte_buffer_put(&names, kept.data, kept.size);
	r = perf_writer_feature(copy->writer, RECORDED_NAMES_FEATURE, &names);
	byte_buffer_fini(&names);
	return r;
}

static bool is_wanted(const struct perf_event *event, unsigned int turn)
{
	return event->type == PERF_RECORD_SAMPLE || (!turn && event->type != PERF_RECORD_EXIT);
}

static int copy_events(struct copy *copy, unsigned int turn)
{
	struct perf_reader *reader;
	struct perf_event event;
	int r = perf_reader_open(copy->in, NULL, &reader);

	if (r)
		return r;
	while (!r && perf_reader_next(reader, NULL, &event) > 0) {
		if (!is_wanted(&event, turn))
			continue;
		event.time += turn * copy->length;
		r = perf_writer_put(copy->writer, &event);
		if (r == -EINVAL)
			r = 0;
	}
	perf_reader_close(reader);
	return r;
}

static int run(struct copy *copy, const char *out, unsigned int turns)
{
	static const char *const words[] = {"repeated", NULL};
	const struct perf_writer_info info = {.version = "0", .argv = words};
	struct perf_reader *reader;
	int r = perf_reader_open(copy->in, NULL, &reader);

	if (r)
		return r;
	r = open_writer(copy, reader, out);
	perf_reader_close(reader);
	for (unsigned int turn = 0; turn < turns && !r; turn++) {
		r = copy_events(copy, turn);
		if (!r)
			r = perf_writer_round(copy->writer);
	}
	if (!r)
		return perf_writer_finish(copy->writer, &info);
	if (copy->writer)
		perf_writer_abort(copy->writer);
	return r;
}

int main(int argc, char **argv)
{
	struct copy copy = {.in = argv[1]};
	int r = argc == 4 ? run(&copy, argv[2], (unsigned int)atoi(argv[3])) : -EINVAL;

	if (r)
		fprintf(stderr, "repeat_recording: %s\n", strerror(-r));
	return r != 0;
}
