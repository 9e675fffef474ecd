/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report_graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "core/bisect.h"
#include "export/report_line.h"
#include "export/safe_text.h"

#define MARGIN 12     /* columns before the first bar */
#define INDENT 11     /* columns of "|--12.34%--" */
#define FIRST_DEPTH 2 /* below the root and the commands */

enum direction {
	DOWN_TO_ENTRY,
	DOWN_FROM_ENTRY,
	UP_FROM_ENTRY,
};

static bool goes_up(const struct report_options *options)
{
	return options->order == REPORT_ORDER_USUAL ? options->no_children
						    : options->order == REPORT_CALLEE;
}

/* A node, and the part of its weight that concerns the entry. */
struct item {
	uint64_t weight;
	uint32_t at, frame;
	enum direction direction;
};

struct branch {
	uint64_t weight;
	size_t first, n; /* of items; none: what the limit hides */
	const struct call_frame *frame;
	uint32_t levels;
	size_t n_hidden;
};

/* What goes on from one place of the drawing. */
struct fork {
	struct item *items;
	size_t n_items, items_capacity;
	struct branch *branches;
	size_t n_branches, branches_capacity;
	size_t next;   /* the branch to print */
	size_t prefix; /* columns before it */
};

struct graph {
	const struct report_entries *all;
	const struct report_entry *entry;
	const struct report_options *options;
	FILE *out;
	uint64_t *self_before; /* weight of the entry's first nodes: n_nodes + 1 sums */
	struct fork *forks;    /* from the entry to where we are */
	size_t n_forks, forks_capacity;
	char *prefix;
	size_t prefix_capacity;
	bool drawn;
};

static void fork_fini(struct fork *fork)
{
	free(fork->items);
	free(fork->branches);
	*fork = (struct fork){0};
}

static bool is_hidden(const struct graph *g, uint64_t weight)
{
	double total = (double)call_tree_total(g->all->tree);

	return (double)weight * 100 < g->options->graph_limit * total;
}

/* The entry's first node at or after a place. */
static uint32_t lower_bound(const struct graph *g, uint32_t at)
{
	const uint32_t *places = g->all->places + g->entry->first;

	return bisect(i, 0, g->entry->n_nodes, places[i] >= at);
}

/* Weight of the stacks through a node that end in the entry. */
static uint64_t self_below(const struct graph *g, uint32_t at)
{
	uint32_t end = g->all->order.nodes[at].end;

	return g->self_before[lower_bound(g, end)] - g->self_before[lower_bound(g, at)];
}

static int add_item(const struct graph *g, struct fork *fork, enum direction direction, uint32_t at,
		    uint64_t weight)
{
	const uint32_t frame = g->all->order.nodes[at].frame;
	const struct item item = {
		.weight = weight,
		.at = at,
		.frame = g->all->functions ? g->all->functions[frame] : frame,
		.direction = direction,
	};

	return weight ? vector_push(fork->items, fork->n_items, fork->items_capacity, item) : 0;
}

static int add_callees(const struct graph *g, struct fork *fork, enum direction direction,
		       uint32_t at)
{
	const struct preorder_node *nodes = g->all->order.nodes;
	int r = 0;

	for (uint32_t child = at + 1; !r && child < nodes[at].end; child = nodes[child].end) {
		uint64_t own = self_below(g, child);

		r = add_item(g, fork, direction, child,
			     direction == DOWN_TO_ENTRY ? own : nodes[child].total - own);
	}
	return r;
}

static int add_next(const struct graph *g, struct fork *fork, const struct item *item)
{
	uint32_t parent = g->all->order.nodes[item->at].parent;

	if (item->direction != UP_FROM_ENTRY)
		return add_callees(g, fork, item->direction, item->at);
	if (g->all->order.nodes[parent].depth < FIRST_DEPTH)
		return 0;
	return add_item(g, fork, item->direction, parent, item->weight);
}

/* Whole stacks that end in the entry. */
static int add_stacks(const struct graph *g, struct fork *fork)
{
	const struct preorder_node *nodes = g->all->order.nodes;
	int r = 0;

	for (uint32_t command = 1; !r && command < g->all->order.n_nodes;
	     command = nodes[command].end)
		r = add_callees(g, fork, DOWN_TO_ENTRY, command);
	return r;
}

/* The callers of a node, of its own weight or of all that passes through it. */
static int add_callers(const struct graph *g, struct fork *fork, uint32_t at)
{
	const struct preorder_node *node = &g->all->order.nodes[at];

	if (g->options->no_children)
		return add_item(g, fork, UP_FROM_ENTRY, at, node->self);
	return g->all->outermost[at] ? add_item(g, fork, UP_FROM_ENTRY, at, node->total) : 0;
}

/* What passes through a node. */
static int add_passing(const struct graph *g, struct fork *fork, uint32_t at)
{
	if (g->options->no_children || !g->all->outermost[at])
		return 0;
	return add_item(g, fork, DOWN_FROM_ENTRY, at,
			g->all->order.nodes[at].total - self_below(g, at));
}

static int add_entry(const struct graph *g, struct fork *fork)
{
	const uint32_t *places = g->all->places + g->entry->first;
	bool up = goes_up(g->options);
	int r = 0;

	for (uint32_t i = 0; !r && i < g->entry->n_nodes; i++)
		r = up ? add_callers(g, fork, places[i]) : add_passing(g, fork, places[i]);
	if (!r && !up && !is_hidden(g, g->entry->self))
		r = add_stacks(g, fork);
	return r;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->direction != y->direction)
		return x->direction < y->direction ? -1 : 1;
	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Heaviest first, what is hidden last. */
static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;
	int order;

	if (!x->n != !y->n)
		return x->n ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	order = strcmp(x->frame->name, y->frame->name);
	if (order)
		return order;
	return x->first < y->first ? -1 : 1;
}

static int add_branch(struct fork *fork, const struct branch *branch)
{
	return vector_push(fork->branches, fork->n_branches, fork->branches_capacity, *branch);
}

static struct branch branch_from(const struct graph *g, const struct fork *fork, size_t first)
{
	const struct item *item = &fork->items[first];
	struct branch branch = {.first = first};

	branch.frame = call_tree_frame(g->all->tree, item->frame);
	while (first + branch.n < fork->n_items && item[branch.n].frame == item->frame &&
	       item[branch.n].direction == item->direction) {
		const struct item *next = &item[branch.n++];

		branch.weight += next->weight;
		if (g->all->order.nodes[next->at].levels > branch.levels)
			branch.levels = g->all->order.nodes[next->at].levels;
	}
	return branch;
}

static int split(const struct graph *g, struct fork *fork)
{
	struct branch hidden = {0};
	int r = 0;

	if (!fork->n_items)
		return 0;
	qsort(fork->items, fork->n_items, sizeof(*fork->items), compare_items);
	for (size_t i = 0; !r && i < fork->n_items;) {
		struct branch branch = branch_from(g, fork, i);

		i += branch.n;
		if (is_hidden(g, branch.weight)) {
			hidden.weight += branch.weight;
			hidden.n_hidden++;
		} else {
			r = add_branch(fork, &branch);
		}
	}
	if (!r && hidden.n_hidden && !is_hidden(g, hidden.weight))
		r = add_branch(fork, &hidden);
	if (!r && fork->n_branches)
		qsort(fork->branches, fork->n_branches, sizeof(*fork->branches), compare_branches);
	return r;
}

static int follow(const struct graph *g, const struct fork *from, const struct branch *branch,
		  struct fork *ret)
{
	int r = 0;

	*ret = (struct fork){0};
	for (size_t i = 0; !r && i < branch->n; i++)
		r = add_next(g, ret, &from->items[branch->first + i]);
	if (!r)
		r = split(g, ret);
	if (r < 0)
		fork_fini(ret);
	return r;
}

static void start_line(struct graph *g, size_t prefix)
{
	fwrite(g->prefix, 1, prefix, g->out);
	g->drawn = true;
}

static void write_frame(const struct graph *g, const struct branch *branch)
{
	char limit[REPORT_PERCENT_SIZE];

	if (!branch->n) {
		report_limit(limit, g->options->graph_limit);
		fprintf(g->out, "[%zu more, each below %s]\n", branch->n_hidden, limit);
		return;
	}
	safe_text_plain(g->out, branch->frame->name);
	if (branch->frame->kind == FRAME_INLINED)
		fputs(" (inlined)", g->out);
	if (branch->levels > 1)
		fprintf(g->out, " [recursion, up to %" PRIu32 " levels]", branch->levels);
	putc('\n', g->out);
}

static void write_share(const struct graph *g, const struct branch *branch, bool last)
{
	char share[REPORT_PERCENT_SIZE];

	report_percent(share, branch->weight, call_tree_total(g->all->tree));
	fprintf(g->out, "%c%.*s%s--", last ? ' ' : '|', (int)(8 - strlen(share)), "--------",
		share);
	write_frame(g, branch);
}

/* Columns after a branch that has more branches after it, or has not. */
static int extend_prefix(struct graph *g, size_t prefix, bool last, size_t columns)
{
	int r = vector_reserve(&g->prefix, &g->prefix_capacity, prefix + columns, 1);

	if (r < 0)
		return r;
	memset(g->prefix + prefix, ' ', columns);
	if (!last)
		g->prefix[prefix] = '|';
	return 0;
}

static int push(struct graph *g, struct fork *fork)
{
	int r = vector_push(g->forks, g->n_forks, g->forks_capacity, *fork);

	if (r < 0)
		fork_fini(fork);
	return r;
}

/* One way on, and the share that was printed last still is near enough. */
static bool goes_straight_on(const struct graph *g, const struct fork *fork, uint64_t printed)
{
	if (fork->n_branches != 1 || !fork->branches[0].n)
		return false;
	return fork->branches[0].weight == printed ||
	       is_hidden(g, printed - fork->branches[0].weight);
}

/* Prints the frames that follow a branch up to the next fork, and goes there: @from may move. */
static int write_chain(struct graph *g, const struct fork *from, struct branch branch,
		       size_t prefix)
{
	struct fork next, further;
	uint64_t printed = branch.weight;
	int r = follow(g, from, &branch, &next);

	while (!r && goes_straight_on(g, &next, printed)) {
		branch = next.branches[0];
		start_line(g, prefix);
		write_frame(g, &branch);
		r = follow(g, &next, &branch, &further);
		fork_fini(&next);
		next = further;
	}
	if (r < 0)
		return r;
	next.prefix = prefix;
	return push(g, &next);
}

static int write_branch(struct graph *g)
{
	struct fork *fork = &g->forks[g->n_forks - 1];
	struct branch branch = fork->branches[fork->next++];
	bool last = fork->next == fork->n_branches;
	size_t prefix = fork->prefix;
	int r;

	start_line(g, prefix);
	fputs("|\n", g->out);
	start_line(g, prefix);
	write_share(g, &branch, last);
	r = extend_prefix(g, prefix, last, INDENT);
	if (r < 0 || !branch.n)
		return r;
	return write_chain(g, fork, branch, prefix + INDENT);
}

/* A graph that begins with a single frame needs no percentage there. */
static int write_root(struct graph *g)
{
	struct fork *fork = &g->forks[0];
	uint64_t weight = g->options->no_children ? g->entry->self : g->entry->children;
	struct branch branch;

	if (fork->n_branches != 1 || fork->branches[0].weight != weight || !fork->branches[0].n)
		return 0;
	branch = fork->branches[fork->next++];
	start_line(g, MARGIN);
	fputs("|\n", g->out);
	start_line(g, MARGIN);
	fputs("---", g->out);
	write_frame(g, &branch);
	return write_chain(g, fork, branch, MARGIN + 3);
}

static int write_forks(struct graph *g)
{
	int r = write_root(g);

	while (!r && g->n_forks) {
		struct fork *fork = &g->forks[g->n_forks - 1];

		if (fork->next == fork->n_branches) {
			fork_fini(fork);
			g->n_forks--;
		} else {
			r = write_branch(g);
		}
	}
	return r;
}

static int graph_init(struct graph *g)
{
	uint64_t sum = 0;
	struct fork fork = {.prefix = MARGIN};
	int r;

	g->self_before = malloc(((size_t)g->entry->n_nodes + 1) * sizeof(*g->self_before));
	if (!g->self_before)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->entry->n_nodes; i++) {
		g->self_before[i] = sum;
		sum += g->all->order.nodes[g->all->places[g->entry->first + i]].self;
	}
	g->self_before[g->entry->n_nodes] = sum;
	r = extend_prefix(g, 0, true, MARGIN + 3);
	if (!r)
		r = add_entry(g, &fork);
	if (!r)
		r = split(g, &fork);
	if (r < 0) {
		fork_fini(&fork);
		return r;
	}
	return push(g, &fork);
}

static void graph_fini(struct graph *g)
{
	while (g->n_forks)
		fork_fini(&g->forks[--g->n_forks]);
	free(g->forks);
	free(g->self_before);
	free(g->prefix);
}

int report_graph_write(const struct report_entries *all, const struct report_entry *entry,
		       const struct report_options *options, FILE *out)
{
	struct graph g = {.all = all, .entry = entry, .options = options, .out = out};
	int r = graph_init(&g);

	if (!r)
		r = write_forks(&g);
	if (g.drawn)
		putc('\n', out);
	graph_fini(&g);
	return r;
}
