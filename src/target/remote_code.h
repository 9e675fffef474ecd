/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remote_code.h - the code that a process registered, beside its mappings.
 *
 * A space and its copies share one object, which does not change: news make a new
 * one.  What unwinds a range is the walker's.
 */
#ifndef BOBBIN_TARGET_REMOTE_CODE_H
#define BOBBIN_TARGET_REMOTE_CODE_H

#include <bobbin/types.h>

struct remote_table;

/* Who made the code, as the process says; zero or NULL: unknown. */
struct remote_image {
	uint64_t start, end;
	char *path;
	uint8_t build_id[20];
	uint8_t build_id_len;
};

struct remote_range {
	uint64_t start, end;
	uint64_t id;                /* number of the registration */
	uint64_t place;             /* of @start among all registered code, for caches */
	struct remote_table *table; /* NULL: none, identity only */
	struct remote_image *image; /* or NULL */
	bool debugger_image;        /* not registered: debuggers are told of it */
};

struct remote_code {
	unsigned int users;
	struct remote_range *ranges; /* ascending */
	size_t count;
	void (*close)(struct remote_code *code);
};

/* The first range that ends behind @addr; @count if none does. */
size_t remote_code_behind(const struct remote_code *code, uint64_t addr);

/*
 * The same where walks go to and fro between code that is not registered; @last: any
 * number at first, then what the answer was last.
 */
static inline size_t remote_code_behind_again(const struct remote_code *code, uint64_t addr,
					      size_t *last)
{
	size_t i = *last;

	if (i > code->count || (i && addr < code->ranges[i - 1].end) ||
	    (i < code->count && addr >= code->ranges[i].end))
		*last = i = remote_code_behind(code, addr);
	return i;
}

/* The range that holds @addr, or NULL.  @code may be NULL. */
const struct remote_range *remote_code_find(const struct remote_code *code, uint64_t addr);

struct remote_code *remote_code_share(struct remote_code *code);
void remote_code_release(struct remote_code *code);

#endif
