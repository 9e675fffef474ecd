/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recorded_profile.h - what record writes if it is not a recording.
 *
 * The samples go to a recording in a private folder of $TMPDIR or /var/tmp, with what is kept
 * beside it.  Once it is complete it is exported, and the folder is removed.
 */
#ifndef BOBBIN_CLI_RECORDED_PROFILE_H
#define BOBBIN_CLI_RECORDED_PROFILE_H

#include <signal.h>

#include "cli/export_command.h"

/**
 * struct recorded_profile - a profile of what is recorded; all zero before
 * @format: NULL: there is none, a recording is asked for
 * @output: begun, until it is written
 * @recording: the path of the recording
 */
struct recorded_profile {
	const struct profile_format *format;
	struct draft *output;
	char *folder, *recording;
	char name[32];
};

/*
 * Whether a profile is asked for, and which.  Without -o, @a->output becomes a name, of @profile,
 * that tells its format.  false after a complaint about the call.
 */
bool recorded_profile_choose(struct recorded_profile *profile, struct arguments *a);

/* If there is one, begin its output, and make the folder.  0, or 1 after a complaint. */
int recorded_profile_open(struct recorded_profile *profile, const struct arguments *a);

/*
 * Write it.  @stop: given up once it is set, with a complaint.  0, or 1 after a complaint; there is
 * no file then.
 */
int recorded_profile_write(struct recorded_profile *profile, const struct arguments *a,
			   const volatile sig_atomic_t *stop);

/* Remove the folder, and an output that was not written. */
void recorded_profile_close(struct recorded_profile *profile);

#endif
