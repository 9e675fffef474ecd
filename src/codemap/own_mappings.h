/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_mappings.h - whether addresses of the own process are executable right now.
 *
 * Linux 6.11 and later are asked about one address, in half a microsecond; before,
 * all of /proc/self/maps is read.  Without /proc this cannot be known: then text must
 * only be mapped.
 */
#ifndef BOBBIN_CODEMAP_OWN_MAPPINGS_H
#define BOBBIN_CODEMAP_OWN_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct own_mappings - how to ask
 * @fd: of /proc/thread-self/maps, kept; or -1
 * @dev, @ino: what it must be: a program that closes all descriptors gives its
 *	number to others
 * @no_query: the kernel has no questions about single addresses
 */
struct own_mappings {
	int fd;
	dev_t dev;
	ino_t ino;
	bool no_query;
};

void own_mappings_init(struct own_mappings *ret);

/* Also for a forked child, which goes on with it: the descriptor shows the parent. */
void own_mappings_fini(struct own_mappings *mappings);

/*
 * Whether all of [@start, @end) can be executed.  0; -EFAULT: not all of it;
 * -EMFILE, -ENFILE, -ENOMEM: it cannot be known.  Several mappings may be side by side.
 */
int own_mappings_executable(struct own_mappings *mappings, uint64_t start, uint64_t end);

#endif
