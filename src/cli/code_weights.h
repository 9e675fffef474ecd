/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_weights.h - how often each instruction of each function was the one that ran.
 *
 *	samples ──► function: weight of its own
 *		    └─ offset: weight
 *
 * Of a sample its innermost frame counts.  An inlined function is part of the one that it was
 * expanded into.  Functions are the same that begin at the same place of the same file; files are,
 * as struct mapped_file says.
 */
#ifndef BOBBIN_CLI_CODE_WEIGHTS_H
#define BOBBIN_CLI_CODE_WEIGHTS_H

#include <bobbin/address_space.h>

#include "base/hash_index.h"
#include "base/name_pool.h"
#include "profile/stack_sample.h"
#include "symbol/naming.h"

struct mapped_file;

/**
 * struct code_function - a function with samples of its own
 * @name, @dso: as in struct named_frame, of struct code_weights
 * @kind: of its code
 * @file: that has its code, borrowed from the unwinder; NULL: none has
 * @start, @size: as in struct symbol
 * @weight, @samples: of all its instructions
 * @wanted: it, or a function that is inlined there, has one of the names that are asked for
 * @mapping, @pc: where the file was mapped, and the function with it, in one of its processes
 * @arch: of that process
 * @first, @count: its points, once they are in order
 */
struct code_function {
	const char *name, *dso;
	enum frame_kind kind;
	const struct mapped_file *file;
	uint64_t start, size;
	uint64_t weight, samples;
	bool wanted;
	struct bobbin_mapping mapping;
	uint64_t pc;
	const struct bobbin_arch *arch;
	size_t first, count;
};

/* @offset: from the start of the function. */
struct code_point {
	uint64_t offset, weight;
	uint32_t function;
};

/* Starts as code_weights_init() leaves it. */
struct code_weights {
	char *const *names; /* that are asked for, or patterns of glob(7); borrowed */
	size_t n_names;
	struct code_function *functions;
	struct code_point *points;
	size_t n_functions, function_room, n_points, point_room;
	struct hash_index function_index, point_index;
	struct name_pool pool;
	uint64_t weight, samples; /* of all functions */
};

/* @names: of functions; none: all are wanted. */
void code_weights_init(struct code_weights *weights, char *const *names, size_t count);
void code_weights_fini(struct code_weights *weights);

/* Add a sample.  0; -ENOMEM or -E2BIG. */
int code_weights_add(struct code_weights *weights, struct naming *naming,
		     const struct stack_sample *sample, uint64_t weight);

/* Put the functions into order, the heaviest first, and the points of each.  Nothing is added afterwards. */
void code_weights_sort(struct code_weights *weights);

#endif
