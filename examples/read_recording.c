/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* read_recording FILE - print each sample of a recording, with its call chain by name. */
#include <bobbin/recording.h>
#include <inttypes.h>
#include <stdio.h>

static void print_sample(struct bobbin_recording *recording, const struct bobbin_sample *sample)
{
	printf("%s %d %s: %" PRIu64 "\n", sample->comm, sample->tid, sample->event, sample->period);
	for (size_t i = 0; i < sample->count; i++) {
		const struct bobbin_name *name = bobbin_recording_name(recording,
								       &sample->frames[i], 0);
		printf("\t%s (%s)\n", name->function ? name->function : "?", name->file);
	}
}

int main(int argc, char **argv)
{
	const struct bobbin_sample *sample;
	struct bobbin_recording *recording;

	if (bobbin_recording_open(argv[argc - 1], NULL, NULL, &recording))
		return 1;
	while (bobbin_recording_next(recording, NULL, &sample) > 0)
		print_sample(recording, sample);
	bobbin_recording_close(recording);
	return 0;
}
