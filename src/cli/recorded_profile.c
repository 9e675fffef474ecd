/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/recorded_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/private_folder.h"
#include "base/spool_file.h"

bool recorded_profile_choose(struct recorded_profile *profile, struct arguments *a)
{
	if (!a->format && !profile_format_of_file(a->output))
		return true;
	profile->format = export_format(a);
	if (!profile->format)
		return false;
	if (!a->has_output) {
		snprintf(profile->name, sizeof(profile->name), "perf%s",
			 profile->format->suffixes[0]);
		a->output = profile->name;
	}
	return true;
}

static int make_folder(struct recorded_profile *profile)
{
	int r = private_folder_create(spool_folder(), &profile->folder);

	if (r) {
		complain("%s: %s", spool_folder(), strerror(-r));
		return 1;
	}
	if (asprintf(&profile->recording, "%s/perf.data", profile->folder) >= 0)
		return 0;
	profile->recording = NULL;
	complain("%s", strerror(ENOMEM));
	return 1;
}

int recorded_profile_open(struct recorded_profile *profile, const struct arguments *a)
{
	if (!profile->format)
		return 0;
	profile->output = export_output_open(a->output);
	return profile->output ? make_folder(profile) : 1;
}

int recorded_profile_write(struct recorded_profile *profile, const struct arguments *a,
			   const volatile sig_atomic_t *stop)
{
	struct arguments reading = *a;
	struct input input = {.arguments = &reading, .known = true, .stop = stop};
	struct draft *output = profile->output;
	int r;

	reading.input = profile->recording;
	reading.naming.lines = true;
	r = input_open(&input);
	if (r)
		return r;
	profile->output = NULL;
	r = export_recording(&input, profile->format, output);
	return input_close(&input) || r;
}

void recorded_profile_close(struct recorded_profile *profile)
{
	int r = profile->folder ? private_folder_remove(profile->folder) : 0;

	if (r)
		complain("%s: %s", profile->folder, strerror(-r));
	draft_discard(profile->output);
	free(profile->folder);
	free(profile->recording);
	*profile = (struct recorded_profile){0};
}
