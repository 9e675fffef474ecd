/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_files.h - the perf maps and jitdump files that were used most recently.
 */
#ifndef BOBBIN_SYMBOL_JIT_FILES_H
#define BOBBIN_SYMBOL_JIT_FILES_H

#include "symbol/jitdump.h"
#include "symbol/perfmap.h"

#define JIT_FILES_MAX 64

/* Zero to begin; the latest first. */
struct jit_files {
	struct process_reader *reader; /* or NULL */
	void *maps[JIT_FILES_MAX], *dumps[JIT_FILES_MAX];
	unsigned int map_count, dump_count;
};

/* The perf map of @pid, or, if it is not NULL, the one at @path; new or known.  Returns 0, -ENOMEM. */
int jit_files_map(struct jit_files *files, pid_t pid, const char *path, struct perfmap **ret);

/* The jitdump file, by process and path.  Returns 0, -ENOMEM. */
int jit_files_dump(struct jit_files *files, const struct jitdump_file *file, bool lines,
		   struct jitdump **ret);

size_t jit_files_memory(const struct jit_files *files);
void jit_files_fini(struct jit_files *files);

#endif
