/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window_folder.h - the recordings that an agent keeps on disk, oldest first.
 *
 *	FOLDER/bobbin-20261129T154333Z.perf.data	a recording, named by when it began
 *	FOLDER/bobbin-20261129T154333Z.perf.data.jit/	names of its compiled code, if there are any
 *	FOLDER/bobbin-20261129T154333Z.perf.data.unsent	its samples, in decimal, until it is sent
 *
 * The folder is the queue of what is to be sent, too: it outlives the agent, and is as long as the
 * disk space that it may take.  The oldest go first.  Of age, two go at most for each one that
 * comes, so that a clock that is set to a wrong day, and back, does not cost all of them.
 *
 * Any thread may use a folder at any time.
 */
#ifndef BOBBIN_AGENT_WINDOW_FOLDER_H
#define BOBBIN_AGENT_WINDOW_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct window_folder_options - what is kept
 * @path: of the folder, which is made if its own folder is there
 * @keep_seconds: recordings that were sent, or need not be, for so long; 0: not at all
 * @max_bytes: of all files
 * @send: those that come are to be sent
 */
struct window_folder_options {
	const char *path;
	uint64_t keep_seconds, max_bytes;
	bool send;
};

/**
 * struct window_folder_stats - what there is, and what is gone
 * @windows, @bytes: kept now
 * @unsent, @unsent_samples: of them, those that are to be sent
 * @dropped, @dropped_samples: that made room before they were sent
 */
struct window_folder_stats {
	uint64_t windows, bytes, unsent, unsent_samples, dropped, dropped_samples;
};

struct window_folder;

/*
 * Take a folder and what is in it.  0; -EWOULDBLOCK: another agent has it; -ENOTDIR, -ENOMEM or
 * the errno of making or reading it.
 */
int window_folder_open(const struct window_folder_options *options, struct window_folder **ret);
void window_folder_close(struct window_folder *folder); /* NULL is fine */

/* The path of the next recording, which nothing has; free() it.  NULL without memory. */
char *window_folder_name(struct window_folder *folder);

/*
 * A recording was written there, of so many samples.  Makes room for it.  0; or a negative errno:
 * it is kept, but after a restart it will not be known as unsent.
 */
int window_folder_add(struct window_folder *folder, const char *path, uint64_t samples);

/* The path of the oldest one that is to be sent, and its samples; free() it.  NULL: there is none. */
char *window_folder_unsent(struct window_folder *folder, uint64_t *samples);

/* It was sent, or cannot be.  It is kept as others are. */
void window_folder_sent(struct window_folder *folder, const char *path);

void window_folder_stats(struct window_folder *folder, struct window_folder_stats *ret);

#endif
