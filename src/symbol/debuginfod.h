/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debuginfod.h - debug files from the servers of $DEBUGINFOD_URLS, by build ID.
 */
#ifndef BOBBIN_SYMBOL_DEBUGINFOD_H
#define BOBBIN_SYMBOL_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

struct debuginfod;

/* Returns 0, -ENOENT, -ENOMEM. */
int debuginfod_open(struct debuginfod **ret);
void debuginfod_close(struct debuginfod *d);

/* Returns a descriptor, negative errno. */
int debuginfod_fetch(struct debuginfod *d, const uint8_t *build_id, size_t len);

#endif
