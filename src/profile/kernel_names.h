/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_names.h - functions of the kernel that were sampled, for the names of a recording.
 *
 * Another kernel, and this one after it was booted again, has other functions at these addresses.
 */
#ifndef BOBBIN_PROFILE_KERNEL_NAMES_H
#define BOBBIN_PROFILE_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/byte_buffer.h"
#include "base/hash_index.h"

struct symbolizer;

/* Distinct addresses, in the order in which they came; starts as all zero. */
struct kernel_names {
	uint64_t *places;
	size_t count, room;
	struct hash_index index;
};

void kernel_names_fini(struct kernel_names *names);

/* An address that was sampled; one beyond many is not noted.  0 or -ENOMEM. */
int kernel_names_note(struct kernel_names *names, uint64_t pc);

/*
 * Write the functions as those of the file NAMING_KERNEL, see recorded_names.h.  Programs of BPF come
 * and go: what is there now may be another one, and has no name.
 */
void kernel_names_write(struct kernel_names *names, struct symbolizer *symbolizer,
			struct byte_buffer *blob);

#endif
