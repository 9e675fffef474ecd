/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hotspot_code.h - the rules of a Java virtual machine's code, by what it says of it.
 *
 *	address ─► blob of the machine's heaps ─► its code, its frame ─► rows, kept
 *
 * Only blobs that walks ask for are read.  Their place may be used again, so they are compared
 * with what the machine says now before walks of later samples use them.
 */
#ifndef BOBBIN_UNWIND_HOTSPOT_CODE_H
#define BOBBIN_UNWIND_HOTSPOT_CODE_H

#include "table/infer_ops.h"
#include "target/hotspot.h"
#include "unwind/table_set.h"

struct hotspot_piece;

struct hotspot_code {
	unsigned int users;
	const struct infer_ops *infer; /* borrowed */
	struct hotspot vm;
	struct hotspot_piece *pieces; /* ascending, without overlaps */
	size_t count, room;
	uint64_t bytes; /* of their rows */
	uint64_t due;   /* when to compare them, by CLOCK_MONOTONIC */
	uint8_t *code;  /* room for that of a piece */
};

/* As hotspot_open(), with one user. */
int hotspot_code_open(const struct remote_process *process, const struct mapping_list *maps,
		      const struct infer_ops *infer, struct hotspot_code **ret);
struct hotspot_code *hotspot_code_share(struct hotspot_code *code); /* NULL is fine */
void hotspot_code_release(struct hotspot_code *code);               /* likewise */

/*
 * Before the walks of later samples: forget the blobs that are there no more, unless that was
 * done a moment ago.  Whether there are other heaps.
 */
bool hotspot_code_update(struct hotspot_code *code);

/* Code of a piece that walks have asked for, and how it is called. */
struct hotspot_name {
	uint64_t start, size;
	char text[HOTSPOT_NAME_MAX];
};

/*
 * What is at an address.  @once: only if nobody has asked so before.  1; 0: nobody knows, or it was
 * asked for; or the errno of reading memory.
 */
int hotspot_code_name(struct hotspot_code *code, uint64_t addr, bool once,
		      struct hotspot_name *ret);

extern const struct table_ops hotspot_code_ops;

#endif
