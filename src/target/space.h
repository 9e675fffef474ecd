/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * space.h - inside of struct bobbin_space: mappings in ascending order, and what
 * the process registered.
 */
#ifndef BOBBIN_TARGET_SPACE_H
#define BOBBIN_TARGET_SPACE_H

#include "base/process_reader.h"
#include "core/plain_step.h"
#include "target/mapped_file.h"
#include "target/remote_code.h"

struct mapping {
	uint64_t start, end, offset;
	struct mapped_file *file;
	char *path; /* as this process sees the file */
	int pid;
};

struct bobbin_space {
	struct file_table *files;
	struct process_reader *reader; /* or NULL */
	const struct bobbin_arch *arch;
	struct plain_forms forms; /* of the architecture */
	struct mapping *mappings;
	size_t count, room;
	size_t last;                /* where the last search ended */
	uint64_t generation;        /* counts changes of the mappings */
	void *memo;                 /* the walker's; goes with the space */
	struct remote_code *remote; /* or NULL */
	size_t remote_last;         /* where the last search in it ended */
};

/* The mapping that holds @addr, or NULL. */
const struct mapping *space_find(struct bobbin_space *space, uint64_t addr);

/* Whether something is known to be at @addr. */
bool space_has(struct bobbin_space *space, uint64_t addr);

/* Memory that no file tells of: what a loader or a compiler has put there. */
bool mapping_is_bare(const struct mapping *m);

/* Replace what is known of registered code; takes over the caller's use. */
void space_register(struct bobbin_space *space, struct remote_code *code);

/* As bobbin_space_open(), for an unwinder's table of files; @reader: of its, or NULL. */
int space_open(struct file_table *files, struct process_reader *reader,
	       const struct bobbin_arch *arch, struct bobbin_space **ret);

#endif
