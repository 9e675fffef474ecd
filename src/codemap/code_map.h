/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_map.h - from an address to what unwinds it, for one address space.
 *
 *	address ─► 4 GiB chunk ─► directory ─► leaf ─► struct code
 *
 * A change makes a new leaf and swaps the pointer, so that readers see the old state
 * or the new one.  Ranges that cross chunks are in the map once for each.
 *
 * Readers (code_map_find()) are wait-free and async-signal-safe, inside a section
 * of @readers.  Writers exclude each other by a lock of the caller's.
 */
#ifndef BOBBIN_CODEMAP_CODE_MAP_H
#define BOBBIN_CODEMAP_CODE_MAP_H

#include "codemap/code.h"
#include "codemap/dropped_mark.h"
#include "codemap/reader_epochs.h"

struct code_map;

/* -ENOMEM.  Nothing may be read when it is closed; releases all codes. */
int code_map_open(struct code_map **ret);
void code_map_close(struct code_map *map);

struct reader_epochs *code_map_readers(struct code_map *map);

/* A number that grows with each change; a tag for caches.  For readers, too. */
uint64_t code_map_generation(const struct code_map *map);

/* Tables have changed, though not what is where.  For readers, too. */
void code_map_tables_changed(struct code_map *map);

/*
 * The code for an address and the range that it is for, as far as that lies in the
 * address's 4 GiB; NULL: none.  @ret may be NULL.  Only inside a section of the map's readers; what it returns is valid up
 * to the section's end.
 */
struct code *code_map_find(const struct code_map *map, uint64_t addr, struct code_range *ret);

/*
 * Add a range; a code may have several.  -EEXIST: it overlaps another; -EINVAL:
 * it is empty, wraps, or is larger than a TiB; -ENOMEM.  The map is unchanged then.
 */
int code_map_add(struct code_map *map, const struct code_range *range);

/*
 * Remove a range; -ENOENT if that was not added.  The code is released some time
 * after its last range went.  Takes no memory.
 */
int code_map_remove(struct code_map *map, const struct code_range *range);

/*
 * A code that is held stays while it has no ranges; one that has none when it is let
 * go is released some time after.
 */
void code_map_hold(struct code *code);
void code_map_let_go(struct code_map *map, struct code *code);

/*
 * The first range that ends after @addr, in pieces as code_map_find(); false: none.
 * For writers.
 */
bool code_map_next(const struct code_map *map, uint64_t addr, struct code_range *ret);

/* Wait until nobody can see what was removed, and release it. */
void code_map_wait(struct code_map *map);

/* In a forked child, before anything else. */
void code_map_forked(struct code_map *map);

#endif
