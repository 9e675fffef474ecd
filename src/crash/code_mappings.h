/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_mappings.h - what the own process has mapped as code of files, by /proc/self/maps.
 *
 * In memory of the caller, for a context in which nothing can be allocated.
 */
#ifndef BOBBIN_CRASH_CODE_MAPPINGS_H
#define BOBBIN_CRASH_CODE_MAPPINGS_H

#include <bobbin/types.h>

#define CODE_MAPPINGS_MAX 8192
#define CODE_MAPPINGS_PATHS (512 * 1024)

struct code_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint64_t ino;
	uint32_t major, minor;
	const char *path; /* "[vdso]": the kernel's library, which is no file */
};

/* Ascending; what finds no room is not there. */
struct code_mappings {
	uint32_t count;
	size_t used; /* of @paths */
	struct code_mapping mappings[CODE_MAPPINGS_MAX];
	char paths[CODE_MAPPINGS_PATHS];
};

/* As they are now.  Where they cannot be read there are none. */
void code_mappings_read(struct code_mappings *ret);

/* The one with an address, or NULL. */
const struct code_mapping *code_mappings_find(const struct code_mappings *mappings, uint64_t addr);

#endif
