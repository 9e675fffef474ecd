/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroup_table.h - cgroups, by the numbers that samples have of them, and by their paths.
 */
#ifndef BOBBIN_PROFILE_CGROUP_TABLE_H
#define BOBBIN_PROFILE_CGROUP_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_index.h"

/* Of all cgroups of a table; one record of a file may have 64 KiB of a path. */
#define CGROUP_TABLE_BYTES (64 << 20)

/**
 * struct cgroup - a cgroup; it stays where it is
 * @id: the kernel's number, that of its folder's inode, or another one that no other cgroup has
 * @path: from the root of its hierarchy on, "/a/b"
 */
struct cgroup {
	uint64_t id;
	char path[];
};

/* Starts as all zero but for @seed. */
struct cgroup_table {
	struct cgroup **list;
	size_t count, room, bytes;
	struct hash_index by_id, by_path;
	uint64_t seed; /* hash_seed() */
};

void cgroup_table_fini(struct cgroup_table *table);

/* NULL: there is none. */
const struct cgroup *cgroup_table_find(const struct cgroup_table *table, uint64_t id);
const struct cgroup *cgroup_table_named(const struct cgroup_table *table, const char *path);

/* Who is first to claim a number has it.  0; -ENOMEM; -E2BIG: the table is full. */
int cgroup_table_add(struct cgroup_table *table, uint64_t id, const char *path);

#endif
