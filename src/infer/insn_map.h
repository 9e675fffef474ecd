/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * insn_map.h - the instructions of a function that were decoded, by address.
 *
 * The map of a file is made once, and emptied for each function; it takes memory for the pages
 * of code that the function touches, and a pointer for each of the others.
 */
#ifndef BOBBIN_INFER_INSN_MAP_H
#define BOBBIN_INFER_INSN_MAP_H

#include "infer/program_code.h"
#include "infer/x86_insn.h"

#define NO_INSN UINT32_MAX

/* An instruction, and what its function's analysis keeps of it. */
struct mapped_insn {
	struct x86_insn insn;
	uint32_t label;     /* number of its label + 1, or 0 */
	bool reached, ends; /* a state has reached it; a call that does not return here */
};

struct insn_page;

/**
 * struct insn_map - the instructions
 * @base: the address that @at of an instruction counts from
 * @insns, @count: in the order in which they were decoded
 */
struct insn_map {
	uint64_t base;
	struct mapped_insn *insns;
	size_t count, capacity;
	struct insn_page **pages;
	size_t page_count;
	uint32_t *used;
	size_t used_count, used_capacity;
	struct insn_page *spare;
};

/* For code from @start to before @end, less than 4 GiB.  0, -ENOMEM, -EFBIG. */
int insn_map_init(struct insn_map *map, uint64_t start, uint64_t end);
void insn_map_fini(struct insn_map *map);

/* Forget the instructions. */
void insn_map_empty(struct insn_map *map);

/* The number of the instruction at an address, or NO_INSN. */
uint32_t insn_map_find(const struct insn_map *map, uint64_t addr);

/* Append an instruction whose @at is set.  0, -ENOMEM. */
int insn_map_add(struct insn_map *map, const struct x86_insn *insn);

#endif
