/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jit_folder.h - OUTPUT.jit, where names are kept that processes tell of their code.
 */
#ifndef BOBBIN_PROFILE_JIT_FOLDER_H
#define BOBBIN_PROFILE_JIT_FOLDER_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "profile/snapshot.h"

/* What a file there may have. */
#define JIT_FOLDER_FILE_MAX ((uint64_t)256 << 20)

/* The absolute name of the folder beside a recording, to be freed; or NULL. */
char *jit_folder_of(const char *output);

/*
 * Make a file of the name in the folder, and the folder, which must be the user's alone.  0,
 * -EPERM, -ENOMEM or the errno of making it.
 */
int jit_folder_create(const char *folder, const char *name, FILE **ret);

/* Give the record that leads a reader to a file: of a mapping at @address.  What @sink returns. */
int jit_folder_mark(const char *folder, const char *name, FILE *file, const struct perf_event *at,
		    uint64_t address, snapshot_sink sink, void *ctx);

#endif
