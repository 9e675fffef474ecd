/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * print_recording FILE - what `bobbin script -F comm,tid,cpu,time,period,event,reason,ip,sym,symoff,dso`
 * prints, but for the columns, by the library.
 */
#include <bobbin/recording.h>
#include <inttypes.h>
#include <stdio.h>

static void print_name(const struct bobbin_frame *frame, const struct bobbin_name *name)
{
	printf(" %" PRIx64 " %s", frame->source == BOBBIN_SOURCE_LEFT_OUT ? 0 : frame->pc,
	       name->function ? name->function : "[unknown]");
	if (name->function && !name->inlined)
		printf("+0x%" PRIx64, name->offset);
	printf(" (%s)\n", name->inlined ? "inlined" : name->file);
}

static void print_sample(struct bobbin_recording *recording, const struct bobbin_sample *sample)
{
	const struct bobbin_name *name;

	printf("%s %d [%03" PRIu32 "] %" PRIu64 ".%06" PRIu64 ": %" PRIu64 " %s: %s \n",
	       sample->comm, sample->tid, sample->cpu, sample->time / 1000000000,
	       sample->time / 1000 % 1000000, sample->period, sample->event,
	       sample->reason ? bobbin_reason_name(sample->reason) : "-");
	for (size_t i = 0; i < sample->count; i++)
		for (size_t k = 0; (name = bobbin_recording_name(recording, &sample->frames[i], k));
		     k++)
			print_name(&sample->frames[i], name);
	printf("\n");
}

int main(int argc, char **argv)
{
	const struct bobbin_sample *sample;
	struct bobbin_recording *recording;
	struct bobbin_error err;
	int r = bobbin_recording_open(argv[argc - 1], NULL, &err, &recording);

	if (r) {
		fprintf(stderr, "%d at %" PRIu64 ": %s\n", r, err.offset,
			bobbin_reason_str(err.reason));
		return 1;
	}
	while ((r = bobbin_recording_next(recording, &err, &sample)) > 0)
		print_sample(recording, sample);
	bobbin_recording_close(recording);
	return r != 0;
}
