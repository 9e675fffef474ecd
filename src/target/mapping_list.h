/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapping_list.h - the executable mappings of a process, in ascending order.
 */
#ifndef BOBBIN_TARGET_MAPPING_LIST_H
#define BOBBIN_TARGET_MAPPING_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/process_reader.h"
#include "target/mapped_file.h"

/*
 * A filter before the search for a mapping.
 *
 * Most words of a stack are no code addresses.  A bit stands for all chunks of memory with the
 * same hash: if it is clear, no mapping has a byte in them.
 */

#define CHUNK_SHIFT 21 /* of 2 MiB */
#define CHUNK_BITS 12

struct code_chunks {
	uint64_t bits[1u << (CHUNK_BITS - 6)];
};

static inline uint64_t code_chunk_hash(uint64_t chunk)
{
	return chunk * 0x9e3779b97f4a7c15ull >> (64 - CHUNK_BITS);
}

/* @start is below @end. */
static inline void code_chunks_add(struct code_chunks *chunks, uint64_t start, uint64_t end)
{
	const uint64_t first = start >> CHUNK_SHIFT, last = (end - 1) >> CHUNK_SHIFT;

	if ((last - first) >> CHUNK_BITS) {
		memset(chunks->bits, 0xff, sizeof(chunks->bits));
		return;
	}
	for (uint64_t chunk = first; chunk <= last; chunk++) {
		const uint64_t hash = code_chunk_hash(chunk);

		chunks->bits[hash / 64] |= 1ull << hash % 64;
	}
}

static inline bool code_chunks_may_have(const struct code_chunks *chunks, uint64_t addr)
{
	const uint64_t hash = code_chunk_hash(addr >> CHUNK_SHIFT);

	return chunks->bits[hash / 64] >> hash % 64 & 1;
}

struct mapping {
	uint64_t start, end, offset;
	struct mapped_file *file;
	char *path; /* as this process sees the file */
	int pid;
};

/* Where in its file an address of a mapping is. */
static inline uint64_t mapping_offset(const struct mapping *m, uint64_t addr)
{
	return addr - m->start + m->offset;
}

/* Zero but for @files and @reader to begin. */
struct mapping_list {
	struct file_table *files;      /* of the mappings; borrowed */
	struct process_reader *reader; /* of processes, or NULL; borrowed */
	struct mapping *list;
	size_t count, room;
	size_t last;               /* where the last search ended that found one */
	struct code_chunks chunks; /* of the mappings, if @filtered */
	bool filtered;
	uint64_t probes; /* what functions return to whose return is probed, "[uprobes]"; or 0 */
};

void mapping_list_clear(struct mapping_list *maps);
void mapping_list_fini(struct mapping_list *maps);

/* As bobbin_space_map_image(), bobbin_space_unmap() and bobbin_space_load(); @image: or NULL. */
int mapping_list_add(struct mapping_list *maps, const struct bobbin_mapping *mapping,
		     const struct file_image *image);
int mapping_list_remove(struct mapping_list *maps, uint64_t start, uint64_t end);
int mapping_list_load(struct mapping_list *maps, int pid);

/* 0 or -ENOMEM. */
int mapping_list_copy(const struct mapping_list *from, struct mapping_list *ret);

/* The mapping that holds @addr, or NULL; fast if it is that of the last search. */
const struct mapping *mapping_list_search(struct mapping_list *maps, uint64_t addr);

/* The same, fast if there is none: most words of a stack are no code addresses. */
static inline const struct mapping *mapping_list_find(struct mapping_list *maps, uint64_t addr)
{
	if (maps->filtered && !code_chunks_may_have(&maps->chunks, addr))
		return NULL;
	return mapping_list_search(maps, addr);
}

/* The same, without a guess. */
const struct mapping *mapping_list_at(const struct mapping_list *maps, uint64_t addr);

/* Whether one of the mappings has a byte of the range. */
bool mapping_list_overlaps(const struct mapping_list *maps, uint64_t start, uint64_t end);

/* Whether a mapped file is called as jitdump files are: "…/jit-123.dump". */
bool is_jitdump_path(const char *path);

/* Whether it has the name of a perf map that a recorder keeps: "…/perf-123.map", "…/perf-123.4.map". */
bool is_kept_map_path(const char *path);

/* Recorders map what they keep, in their records, below what a process can map (vm.mmap_min_addr). */
#define KEPT_JITDUMP_ADDRESS 0x1000
#define KEPT_MAP_ADDRESS 0x2000
#define KEPT_SIZE 0x1000

#endif
