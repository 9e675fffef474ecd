/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * space.h - inside of struct bobbin_space: what a process has mapped and registered, and
 * what the walker keeps for its next walk there.
 */
#ifndef BOBBIN_UNWIND_SPACE_H
#define BOBBIN_UNWIND_SPACE_H

#include "core/plain_step.h"
#include "target/mapping_list.h"
#include "unwind/remote_code.h"

struct bobbin_space {
	struct mapping_list maps;
	const struct bobbin_arch *arch;
	struct remote_code *remote; /* what the process registered, or NULL */
	uint64_t generation;        /* counts changes of both */
	int live_pid;               /* whose memory may be read while it lives, or 0 */
	bool whole;                 /* what walks read is all of its memory, code included */
	/* the walker's */
	struct plain_forms forms; /* of the architecture */
	size_t remote_last;       /* where the last search in @remote ended */
	void *memo;               /* from malloc() */
	/* of the process, since it runs its program; NULL: not known */
	bool root_sought;
	const char *root;
};

/* The mapping that holds @addr, or NULL. */
static inline const struct mapping *space_find(struct bobbin_space *space, uint64_t addr)
{
	return mapping_list_find(&space->maps, addr);
}

/* Whether code is mapped in a range. */
static inline bool space_overlaps(const struct bobbin_space *space, uint64_t start, uint64_t end)
{
	return mapping_list_overlaps(&space->maps, start, end);
}

/* Whether something is known to be at @addr. */
static inline bool space_has(struct bobbin_space *space, uint64_t addr)
{
	return space_find(space, addr) || (space->remote && remote_code_find(space->remote, addr));
}

/* That the root of the process is one of those that have the file of @m. */
void space_note_root(struct bobbin_space *space, const struct mapping *m);

/* Replace what is known of registered code; takes over the caller's use. */
void space_register(struct bobbin_space *space, struct remote_code *code);

/* As bobbin_space_open(), for an unwinder's table of files; @reader: of its, or NULL. */
int space_open(struct file_table *files, struct process_reader *reader,
	       const struct bobbin_arch *arch, struct bobbin_space **ret);

#endif
