/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * name_keeper.h - notes what is sampled, and names it when the recording ends.
 *
 * Noting costs a look into a small table for each frame.  Names are looked up at
 * the end, through the descriptors that the walker holds of the files, so that
 * it does not matter where a file is by then.  Memory, bytes and time are bounded:
 * what is beyond has no kept name.
 */
#ifndef BOBBIN_CLI_NAME_KEEPER_H
#define BOBBIN_CLI_NAME_KEEPER_H

#include "profile/recorder.h"

struct name_keeper;

/* Files that are told of one by one. */
#define NAME_KEEPER_FILES 3

/* What was not named, and what would help. */
struct name_stats {
	uint64_t frames, unnamed; /* of files' code */
	struct unnamed_file {
		char *path; /* as long as the keeper */
		uint64_t frames;
	} files[NAME_KEEPER_FILES]; /* that have most of those without a name */
	size_t file_count;          /* of all */
	uint64_t failed;            /* places that could not be looked up, */
	int failure;                /* and why: a negative errno; 0: none */
	uint64_t java_stacks;       /* that end early in code without a table, of Java machines */
	uint64_t java_frames, v8_frames; /* in code that these have made */
};

/**
 * struct name_keeper_options - what a recording keeps
 * @debug_path: folders with debug files, borrowed
 * @remember: whoever reads the recording is to look there, too
 * @quiet: do not complain of files
 */
struct name_keeper_options {
	const char *debug_path;
	bool remember, quiet;
};

/* Returns 0, -ENOMEM. */
int name_keeper_open(const struct name_keeper_options *options, struct name_keeper **ret);
void name_keeper_close(struct name_keeper *keeper);

/* Once the recording has ended. */
const struct name_stats *name_keeper_stats(const struct name_keeper *keeper);

/* For the options of a recorder. */
struct recorder_names name_keeper_hooks(struct name_keeper *keeper);

#endif
