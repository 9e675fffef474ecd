/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * perfmap.h - names of JIT-compiled code, as its process tells them.
 *
 * The file is /tmp/perf-PID.map in the process's own view: below
 * /proc/PID/root, with the PID that the process sees.  It lies in a directory
 * that all may write to, so it must be a regular file that belongs to root or
 * to the user of the process, and what is read from it is bounded.
 */
#ifndef BOBBIN_SYMBOL_PERFMAP_H
#define BOBBIN_SYMBOL_PERFMAP_H

#include "base/process_reader.h"
#include "symbol/interval.h"

#include <stdbool.h>

/* Where they are. */
#define PERFMAP_FOLDER "/tmp"

struct perfmap;

/*
 * @tmp is the directory, "/tmp"; or, if @path is not NULL, the map is one that was kept there, of
 * process 0.  Nothing is opened yet.  Returns 0, -ENOMEM.
 */
int perfmap_open(const struct remote_process *process, const char *tmp, const char *path,
		 struct perfmap **ret);
void perfmap_close(struct perfmap *m);

/*
 * The function around @address, or none; valid until the next call.  The file
 * is read again if it changed: at once if the address is not known, else at
 * most once a second.  Of two entries for one address the later one counts.
 * Returns 1, 0, -ENOMEM.
 */
int perfmap_find(struct perfmap *m, uint64_t address, struct interval *ret, const char **name);

/* Whether there was a file when it was looked for last. */
bool perfmap_is_there(const struct perfmap *m);

/* Read it again if it has changed.  How often that was so up to now; or -ENOMEM. */
int64_t perfmap_changes(struct perfmap *m);

/* Whether it is that of a process, @path NULL; or of that file. */
bool perfmap_is(const struct perfmap *m, pid_t pid, const char *path);

size_t perfmap_memory(const struct perfmap *m);

#endif
