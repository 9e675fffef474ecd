/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_search.h - the code at addresses, as one walk of the own process finds it.
 *
 * The map is entered when it is first asked, since many walks need no more than what is
 * remembered.  What was found last is kept: most frames are in the same code as the one
 * before.  All of this is async-signal-safe.
 */
#ifndef BOBBIN_UNWIND_CODE_SEARCH_H
#define BOBBIN_UNWIND_CODE_SEARCH_H

#include "codemap/registry.h"
#include "core/deps.h"
#include "unwind/loaded_object.h"

struct code_search {
	struct registry *registry;  /* NULL: there is no code */
	struct self_memory *memory; /* to see whether an object is there */
	const struct code_map *map; /* NULL: nobody has asked it yet */
	unsigned int token;         /* of the map's readers */
	struct code_range range;    /* the one that was found last; of no code: none */
	uint64_t generation;        /* of the map, after it was found */
	const struct code *present; /* the last object that was found to be present */
	bool stale;                 /* the map does not know what is loaded */
};

static inline void code_search_begin(struct code_search *s, struct registry *registry,
				     struct self_memory *memory)
{
	s->registry = registry;
	s->memory = memory;
	s->map = NULL;
	s->range.code = NULL;
	s->present = NULL;
	s->stale = false;
}

static inline void code_search_end(struct code_search *s)
{
	if (s->map)
		read_leave(code_map_readers(registry_map(s->registry)), s->token);
}

/* The code at an address, or NULL; an object may have gone. */
struct code *code_search_find(struct code_search *s, uint64_t pc);

/* The same if it is present; NULL: it is not known, and @why. */
struct code *code_search_present(struct code_search *s, uint64_t pc, enum bobbin_reason *why);

/* Whether code at an address is known and present. */
bool code_search_has(struct code_search *s, uint64_t addr);

/* The object at an address, if it has tables, or NULL; it may have gone. */
const struct loaded_object *code_search_object(struct code_search *s, uint64_t pc);

/* Whether an address is in the object that was last found to be present. */
static BOBBIN_ALWAYS_INLINE bool code_search_is_near(const struct code_search *s, uint64_t pc)
{
	const struct code_range *range = &s->range;

	return range->code && range->code == s->present &&
	       pc - range->start < range->end - range->start;
}

#endif
