/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/live_counts.h"

#include <errno.h>
#include <stdlib.h>

#include "export/preorder.h"

/* What an interval leaves of a weight. */
#define KEEP 7
#define OF 8
/* What weighs less than that part of everything is gone: far less than one sample. */
#define FADED_PART ((uint64_t)1 << 20)
/* When there is no room, processes and stacks that are less than that part. */
#define LIGHT_PROCESS_PART 1000

/**
 * struct fading - what is left of each stack after an interval: 7/8, 49/64, ... nothing
 * @keep: @of: of each weight so much remains, @keep / @of; @of is not 0
 * @least: stacks of which less remains are not copied
 * @least_process: a command (FRAME_COMMAND) of which less remains loses the process that its
 *	@dso names, and becomes one with others of its name
 * @rest: the name of a command, and of a frame in it, that stands for all stacks that are not
 *	copied; NULL: nothing does
 */
struct fading {
	uint32_t keep, of;
	uint64_t least, least_process;
	const char *rest;
};

/* One copy. */
struct copy {
	const struct call_tree *from;
	const struct fading *fading;
	struct call_tree *to;
	struct call_frame *path; /* the stack down to the node, outermost frame first */
};

static uint64_t remains(const struct fading *fading, uint64_t weight)
{
	return (uint64_t)((unsigned __int128)weight * fading->keep / fading->of);
}

static struct call_frame frame_of(const struct copy *copy, const struct preorder_node *node)
{
	struct call_frame frame = *call_tree_frame(copy->from, node->frame);

	frame.levels = node->levels;
	if (frame.kind == FRAME_COMMAND &&
	    remains(copy->fading, node->total) < copy->fading->least_process)
		frame.dso = "";
	return frame;
}

static int add_rest(struct copy *copy, uint64_t weight)
{
	const struct call_frame frames[] = {
		{.name = copy->fading->rest, .kind = FRAME_COMMAND},
		{.name = copy->fading->rest, .kind = FRAME_UNKNOWN},
	};

	return copy->fading->rest ? call_tree_add(copy->to, frames, 2, weight) : 0;
}

static int copy_node(struct copy *copy, const struct preorder_node *node)
{
	uint64_t weight = remains(copy->fading, node->self);

	if (node->depth)
		copy->path[node->depth - 1] = frame_of(copy, node);
	if (!weight)
		return 0;
	if (weight < copy->fading->least)
		return add_rest(copy, weight);
	return call_tree_add(copy->to, copy->path, node->depth, weight);
}

static int copy_nodes(struct copy *copy)
{
	struct preorder order;
	int r = preorder_init(copy->from, &order);

	if (r)
		return r;
	copy->path = calloc((size_t)order.depth + 1, sizeof(*copy->path));
	r = copy->path ? call_tree_open(&copy->to) : -ENOMEM;
	for (uint32_t i = 0; !r && i < order.n_nodes; i++)
		r = copy_node(copy, &order.nodes[i]);
	free(copy->path);
	preorder_fini(&order);
	return r;
}

/* A tree only grows: a faded copy takes its place. */
static int fade(struct report *counts, const struct fading *fading)
{
	struct copy copy = {.from = report_tree(counts), .fading = fading};
	int r = copy_nodes(&copy);

	if (r)
		call_tree_close(copy.to);
	else
		report_replace_tree(counts, copy.to);
	return r;
}

static bool is_larger(const struct report *counts, size_t nodes)
{
	return call_tree_size(report_tree(counts)) > nodes;
}

/* Twice as much room as needed, so that this is seldom done. */
static int make_room(struct report *counts)
{
	uint64_t total = call_tree_total(report_tree(counts)), part = FADED_PART;
	struct fading fading = {
		.keep = 1,
		.of = 1,
		.least_process = total / LIGHT_PROCESS_PART,
		.rest = LIVE_COUNTS_REST,
	};
	int r = fade(counts, &fading);

	for (; !r && is_larger(counts, LIVE_COUNTS_NODES / 2) && part; part /= 4) {
		fading.least = total / part;
		r = fade(counts, &fading);
	}
	return r;
}

int live_counts_add(struct report *counts, const char *process, const char *comm,
		    const struct call_frame *frames, size_t n, uint64_t weight)
{
	const struct report_origin origin = {
		.texts = {[REPORT_COMM] = comm, [REPORT_PID] = process},
	};
	int r = 0;

	if (is_larger(counts, LIVE_COUNTS_NODES))
		r = make_room(counts);
	return r ? r : report_add_of(counts, &origin, frames, n, weight);
}

int live_counts_fade(struct report *counts, bool all)
{
	uint64_t total = call_tree_total(report_tree(counts));
	const struct fading fading = {
		.keep = all ? 0 : KEEP,
		.of = OF,
		.least = total / FADED_PART,
	};

	return fade(counts, &fading);
}
