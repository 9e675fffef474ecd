/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapping_list.h - the executable mappings of a process, in ascending order.
 */
#ifndef BOBBIN_TARGET_MAPPING_LIST_H
#define BOBBIN_TARGET_MAPPING_LIST_H

#include "base/process_reader.h"
#include "target/code_chunks.h"
#include "target/mapped_file.h"

struct mapping {
	uint64_t start, end, offset;
	struct mapped_file *file;
	char *path; /* as this process sees the file */
	int pid;
};

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

/* As bobbin_space_map(), bobbin_space_unmap() and bobbin_space_load(). */
int mapping_list_add(struct mapping_list *maps, const struct bobbin_mapping *mapping);
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

/* Whether a mapped file is called as jitdump files are: "…/jit-123.dump". */
bool is_jitdump_path(const char *path);

/* Whether it has the name of a perf map that a recorder keeps: "…/perf-123.map", "…/perf-123.4.map". */
bool is_kept_map_path(const char *path);

/* Recorders map what they keep, in their records, below what a process can map (vm.mmap_min_addr). */
#define KEPT_JITDUMP_ADDRESS 0x1000
#define KEPT_MAP_ADDRESS 0x2000
#define KEPT_SIZE 0x1000

#endif
