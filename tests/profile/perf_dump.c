/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perf_dump - the samples of a perf.data file in the manner of
 * `perf script --ns -F pid,tid,cpu,time,event,ip`, for a comparison with it.
 *
 *	perf_dump FILE          leaf PC only
 *	perf_dump -g FILE       the recorded call chain; user addresses as offsets in their files,
 *	                        as perf prints them, so that mappings are compared, too
 *	perf_dump -s FILE       sizes of register sets and stack copies, which perf must not lack
 *	perf_dump -c FILE       counts
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profile/perf_reader.h"

/* The mappings of the one process of the recording, latest last. */
struct mappings {
	struct {
		uint64_t start, size, pgoff;
	} at[256];
	size_t nr;
};

static void add_mapping(struct mappings *mappings, const struct perf_event *event)
{
	size_t i = mappings->nr++ % 256;

	mappings->at[i].start = event->mmap.addr;
	mappings->at[i].size = event->mmap.len;
	mappings->at[i].pgoff = event->mmap.pgoff;
}

static uint64_t file_address(const struct mappings *mappings, uint64_t addr)
{
	if (addr >> 63)
		return addr;
	for (size_t i = mappings->nr; i-- > 0;)
		if (addr - mappings->at[i].start < mappings->at[i].size)
			return addr - mappings->at[i].start + mappings->at[i].pgoff;
	return addr;
}

static void print_chain(const struct mappings *mappings, const struct perf_sample *sample)
{
	for (uint64_t i = 0; i < sample->callchain_nr; i++)
		if (sample->callchain[i] < (uint64_t)PERF_CONTEXT_MAX)
			printf("%" PRIx64 "\n", file_address(mappings, sample->callchain[i]));
	printf("\n");
}

static void print_sample(const struct perf_event *event, const struct mappings *mappings, char mode)
{
	const struct perf_sample *sample = &event->sample;

	/* threads that end while they are sampled have the ID -1 */
	printf("%d/%d [%03u] %" PRIu64 ".%09" PRIu64 ": %s:", (int)event->pid, (int)event->tid,
	       event->cpu, event->time / 1000000000, event->time % 1000000000, event->attr->name);
	if (mode == 's')
		printf(" %d %" PRIu64 " %d\n", __builtin_popcountll(sample->regs_mask),
		       sample->stack_size, sample->dyn_size && sample->regs);
	else if (mode == 'g')
		printf("\n"), print_chain(mappings, sample);
	else
		printf(" %" PRIx64 "\n", sample->ip);
}

static int print_events(struct perf_reader *reader, char mode, struct bobbin_error *err)
{
	struct mappings mappings = {0};
	struct perf_event event;
	int r;

	while ((r = perf_reader_next(reader, err, &event)) > 0)
		if (event.type == PERF_RECORD_SAMPLE)
			print_sample(&event, &mappings, mode);
		else if (event.type == PERF_RECORD_MMAP2)
			add_mapping(&mappings, &event);
	return r;
}

static void print_counts(const struct perf_reader *reader)
{
	const struct perf_reader_stats *stats = perf_reader_stats(reader);

	printf("%" PRIu64 " samples %" PRIu64 " lost%s\n", stats->samples, stats->lost,
	       perf_reader_truncated(reader) ? " truncated" : "");
}

int main(int argc, char **argv)
{
	char mode = argc == 3 ? argv[1][1] : 'i';
	struct perf_reader *reader = NULL;
	struct bobbin_error err = {0};
	int r = perf_reader_open(argv[argc - 1], &err, &reader);

	if (!r && mode == 'c')
		print_counts(reader);
	else if (!r)
		r = print_events(reader, mode, &err);
	perf_reader_close(reader);
	if (r)
		fprintf(stderr, "%s: 0x%" PRIx64 ": %s\n", argv[argc - 1], err.offset,
			r == -EBADMSG ? "malformed" : strerror(-r));
	return r != 0;
}
