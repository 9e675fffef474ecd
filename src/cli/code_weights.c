/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/code_weights.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/named_stack.h"
#include "unwind/space.h"

void code_weights_init(struct code_weights *weights, char *const *names, size_t count)
{
	*weights = (struct code_weights){.names = names, .n_names = count};
	name_pool_init(&weights->pool);
}

void code_weights_fini(struct code_weights *weights)
{
	free(weights->functions);
	free(weights->points);
	hash_index_fini(&weights->function_index);
	hash_index_fini(&weights->point_index);
	name_pool_fini(&weights->pool);
}

static bool is_named(const struct code_weights *weights, const char *name)
{
	for (size_t i = 0; name && i < weights->n_names; i++)
		if (!strcmp(weights->names[i], name) ||
		    !fnmatch(weights->names[i], name, FNM_NOESCAPE))
			return true;
	return false;
}

static bool is_wanted(const struct code_weights *weights, const struct named_frame *named, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_named(weights, named[i].symbol.name) ||
		    is_named(weights, named[i].symbol.mangled))
			return true;
	return !weights->n_names;
}

/* Where the file is mapped that has the code at @pc. */
static int set_place(struct code_weights *weights, struct bobbin_space *space, uint64_t pc,
		     struct code_function *function)
{
	const struct mapping *mapped = space ? space_find(space, pc) : NULL;
	struct bobbin_place_info place;

	if (!mapped || function->kind == FRAME_KERNEL || function->kind == FRAME_JIT ||
	    mapped->file->kind != FILE_REGULAR || bobbin_space_find(space, pc, &place))
		return 0;
	function->file = mapped->file;
	function->mapping = place.mapping;
	function->arch = space->arch;
	return name_pool_intern(&weights->pool, place.mapping.path, &function->mapping.path);
}

/* How far a frame is in its function; where that is not known, its address stands for it. */
static uint64_t offset_of(const struct named_frame *frame)
{
	return frame->symbol.name ? frame->symbol.offset : frame->pc;
}

/* What is known of the function that holds the code of a frame; @ret: all but its weights. */
static int describe(struct code_weights *weights, const struct stack_sample *sample,
		    const struct named_frame *frame, struct code_function *ret)
{
	const struct symbol *symbol = &frame->symbol;
	struct code_function function = {
		.kind = frame->kind,
		.start = symbol->start,
		.size = symbol->size,
		.pc = frame->pc - offset_of(frame),
	};
	int r = name_pool_intern(&weights->pool, symbol->name ? symbol->name : "[unknown]",
				 &function.name);

	if (!r)
		r = name_pool_intern(&weights->pool, frame->dso, &function.dso);
	if (!r)
		r = set_place(weights, sample->process->space, frame->pc, &function);
	*ret = function;
	return r;
}

static bool is_same(const struct code_function *a, const struct code_function *b)
{
	return a->name == b->name && a->start == b->start && a->file == b->file && a->dso == b->dso;
}

static int find_function(struct code_weights *weights, const struct code_function *function,
			 uint32_t *ret)
{
	uint64_t hash = hash_words((uintptr_t)function->name ^ (uintptr_t)function->file,
				   function->start, weights->pool.seed);
	size_t at = 0;
	int r;

	while (hash_index_next(&weights->function_index, hash, &at, ret))
		if (is_same(&weights->functions[*ret], function))
			return 0;
	r = hash_index_push(&weights->function_index, hash, weights->functions,
			    weights->n_functions, weights->function_room, *function);
	*ret = (uint32_t)weights->n_functions - 1;
	return r;
}

static int add_point(struct code_weights *weights, uint32_t function, uint64_t offset,
		     uint64_t weight)
{
	uint64_t hash = hash_words(function, offset, weights->pool.seed);
	uint32_t number;

	for (size_t at = 0; hash_index_next(&weights->point_index, hash, &at, &number);) {
		struct code_point *point = &weights->points[number];

		if (point->function != function || point->offset != offset)
			continue;
		point->weight += weight;
		return 0;
	}
	return hash_index_push(&weights->point_index, hash, weights->points, weights->n_points,
			       weights->point_room, (struct code_point){offset, weight, function});
}

int code_weights_add(struct code_weights *weights, struct naming *naming,
		     const struct stack_sample *sample, uint64_t weight)
{
	const struct naming_moment moment = moment_of(sample);
	struct named_frame named[NAMING_MAX_INLINES];
	struct code_function function;
	size_t n = naming_frame(naming, sample->process->space, &moment, sample->frames, named);
	uint32_t number;
	int r = describe(weights, sample, &named[n - 1], &function);

	if (!r)
		r = find_function(weights, &function, &number);
	if (!r)
		r = add_point(weights, number, offset_of(&named[n - 1]), weight);
	if (r)
		return r;
	weights->functions[number].weight += weight;
	weights->functions[number].samples++;
	weights->functions[number].wanted |= is_wanted(weights, named, n);
	weights->weight += weight;
	weights->samples++;
	return 0;
}

static int by_function(const void *a, const void *b)
{
	const struct code_point *x = a, *y = b;

	if (x->function != y->function)
		return (x->function > y->function) - (x->function < y->function);
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_weight(const void *a, const void *b)
{
	const struct code_function *x = a, *y = b;
	int order = (x->weight < y->weight) - (x->weight > y->weight);

	if (!order)
		order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->dso, y->dso);
}

void code_weights_sort(struct code_weights *weights)
{
	if (!weights->n_points)
		return;
	qsort(weights->points, weights->n_points, sizeof(*weights->points), by_function);
	for (size_t i = weights->n_points; i-- > 0;) {
		struct code_function *function = &weights->functions[weights->points[i].function];

		function->first = i;
		function->count++;
	}
	qsort(weights->functions, weights->n_functions, sizeof(*weights->functions), by_weight);
}
