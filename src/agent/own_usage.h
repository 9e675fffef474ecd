/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_usage.h - what this process costs, with the children that read files for it.
 */
#ifndef BOBBIN_AGENT_OWN_USAGE_H
#define BOBBIN_AGENT_OWN_USAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * @cpu_ns: since the start, of user and kernel mode; @resident: bytes now; @files: that are open, of
 * this process alone.
 */
struct own_usage {
	uint64_t cpu_ns, resident;
	size_t files;
};

/* Of children that cannot be listed, those count that have ended. */
void own_usage_read(struct own_usage *ret);

#endif
