/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remote_code.h - what another process registered, beside its mappings.
 *
 * A space and its copies share one object, which is immutable: an update makes a new one.
 */
#ifndef BOBBIN_UNWIND_REMOTE_CODE_H
#define BOBBIN_UNWIND_REMOTE_CODE_H

#include "codemap/page_copy.h"
#include "unwind/debugger_images.h"
#include "unwind/remote_table.h"

/* struct remote_range.place of what has none. */
#define REMOTE_NOWHERE UINT64_MAX

/* struct remote_range.id of what has none: code that debuggers are told of. */
#define REMOTE_NO_ID UINT64_MAX

struct remote_range {
	uint64_t start, end;
	uint64_t id;                /* number of the registration */
	uint64_t place;             /* of @start, unique among all registered code: a cache key */
	struct remote_table *table; /* NULL: none, identity only */
	struct page_image *image;   /* or NULL */
	bool debugger_image;        /* not registered: debuggers are told of it */
};

/* Limits and counts of all spaces of an unwinder. */
struct remote_room {
	uint64_t next_place;  /* where the next range goes among all that were ever registered */
	uint64_t limit, used; /* bytes; an update may need twice as much for a moment */
	uint64_t left_out;    /* pieces of code that there was no room for */
	const struct infer_ops *infer; /* borrowed, or NULL */
	uint64_t drops; /* malformed tables; while it is unchanged, so are those in use */
};

/* The Java virtual machine of a process. */
struct remote_machine {
	struct remote_table *table; /* or NULL */
	bool sought;
	uint64_t generation; /* of the space when it was sought */
};

struct remote_code {
	unsigned int users;
	struct remote_range *ranges; /* ascending */
	size_t count;
	/* what they were made of */
	struct page_copy published;
	struct debugger_images images;
	struct remote_machine machine;
	uint64_t generation; /* of the space whose mapped files were left out of images */
	/* memory */
	size_t bytes;   /* of sections */
	uint64_t drops; /* tables that were dropped when it was made */
	uint64_t section_limit;
	struct remote_room *room;
	uint64_t charged;  /* of @room */
	uint64_t left_out; /* pieces of code, or sections, that there was no room for */
};

/* Whether a range has a table that is of use. */
static inline bool remote_range_serves(const struct remote_range *range)
{
	return range->table && table_set_serves(&range->table->tables);
}

/* The first range that ends after @addr; @count if none does. */
size_t remote_code_after(const struct remote_code *code, uint64_t addr);

/*
 * The same, faster if it is the answer of the last call with @last, which is any number before
 * the first one.
 */
static inline size_t remote_code_after_again(const struct remote_code *code, uint64_t addr,
					     size_t *last)
{
	size_t i = *last;

	if (i > code->count || (i && addr < code->ranges[i - 1].end) ||
	    (i < code->count && addr >= code->ranges[i].end))
		*last = i = remote_code_after(code, addr);
	return i;
}

/* The range that holds @addr, or NULL.  @code may be NULL. */
const struct remote_range *remote_code_find(const struct remote_code *code, uint64_t addr);

/* The Java virtual machine whose code is at @addr, or NULL.  @code may be NULL. */
struct hotspot_code *remote_code_machine(const struct remote_code *code, uint64_t addr);

struct remote_code *remote_code_share(struct remote_code *code);
void remote_code_release(struct remote_code *code);

#endif
