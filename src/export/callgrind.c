/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * callgrind.c - a profile for callgrind_annotate and KCachegrind: costs of lines, and of calls.
 *
 * Readers add up what the calls of a function cost.  So that each sample counts once in each
 * function, however often that is on the stack, only the call of its outermost frame has the
 * sample's cost, and the others have none.  A function that nobody calls would lack what is called
 * from elsewhere, so commands call the outermost ones:
 *
 *	main ─► a ─► b ─► a ─► c	[cmd] ─► main,  main ─► a,  a ─► b,  a ─► c;  b ─► a costs nothing
 */
#include <bobbin/frame.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "export/profile_format.h"
#include "export/safe_text.h"

#define FIRST_ID 1

/**
 * struct cost_function - a function by its name and its file of code
 * @name, @dso: which one; NULL: a command; @src_file: that of the first line that was seen
 * @costs: the newest of its costs, or PROFILE_NONE
 * @seen: the total, by its number and one, in whose stack it was seen last
 * @named: its name was written
 */
struct cost_function {
	const char *name, *dso, *src_file;
	uint32_t costs, seen;
	bool named;
};

/**
 * struct cost - what a line of a function costs
 * @function, @line, @src_file: which line
 * @callee: what is called there; PROFILE_NONE: the line itself
 * @next: the next one of the function, or PROFILE_NONE
 * @calls: samples with this call
 */
struct cost {
	uint32_t function, line, callee, next;
	const char *src_file;
	uint64_t calls;
};

/* A line of a function. */
struct place {
	uint32_t function, line;
	const char *src_file;
};

/* The costs of a profile; @weights: of each cost those of all events. */
struct costs {
	const struct profile *profile;
	struct cost_function *functions;
	size_t function_count, function_room;
	struct hash_index function_index;
	uint32_t *merged, *commands; /* for each function of the profile, and for each thread */
	struct place *path;          /* of a stack, leaf first */
	size_t path_count, path_room;
	struct cost *costs;
	size_t count, room;
	struct hash_index index;
	uint64_t *weights;
	size_t weight_room;
};

/* Strings of a profile are equal if their pointers are. */
static uint64_t hash_two(const struct costs *c, const void *a, const void *b)
{
	return hash_words((uintptr_t)a, (uintptr_t)b, c->profile->names.seed);
}

static int merge_function(struct costs *c, const char *name, const char *dso, const char *src_file,
			  uint32_t *ret)
{
	const uint64_t hash = hash_two(c, name, dso);
	size_t at = 0;
	int r;

	while (hash_index_next(&c->function_index, hash, &at, ret))
		if (c->functions[*ret].name == name && c->functions[*ret].dso == dso)
			return 0;
	r = hash_index_push(
		&c->function_index, hash, c->functions, c->function_count, c->function_room,
		(struct cost_function){
			.name = name, .dso = dso, .src_file = src_file, .costs = PROFILE_NONE});
	*ret = (uint32_t)c->function_count - 1;
	return r;
}

/* Those of the profile, and a caller for each command, of which there is no file. */
static int merge_functions(struct costs *c)
{
	const struct profile *p = c->profile;
	int r = 0;

	c->merged = calloc(p->function_count + 1, sizeof(*c->merged));
	c->commands = calloc(p->thread_count + 1, sizeof(*c->commands));
	if (!c->merged || !c->commands)
		return -ENOMEM;
	for (size_t i = 0; i < p->function_count && !r; i++) {
		const struct profile_function *f = &p->functions[i];

		r = merge_function(c, f->name, f->dso, f->src_file, &c->merged[i]);
	}
	for (size_t i = 0; i < p->thread_count && !r; i++)
		r = merge_function(c, p->threads[i].comm, NULL, "", &c->commands[i]);
	return r;
}

static bool is_cost(const struct cost *cost, const struct place *at, uint32_t callee)
{
	return cost->function == at->function && cost->line == at->line && cost->callee == callee &&
	       cost->src_file == at->src_file;
}

static int new_cost(struct costs *c, uint64_t hash, const struct cost *cost)
{
	const size_t events = c->profile->event_count;
	struct cost_function *f = &c->functions[cost->function];
	int r = vector_reserve(&c->weights, &c->weight_room, (c->count + 1) * events,
			       sizeof(*c->weights));

	if (!r)
		r = hash_index_push(&c->index, hash, c->costs, c->count, c->room, *cost);
	if (r)
		return r;
	memset(c->weights + (c->count - 1) * events, 0, events * sizeof(*c->weights));
	f->costs = (uint32_t)c->count - 1;
	return 0;
}

/* What @callee, or the line itself, costs there. */
static int add_cost(struct costs *c, const struct profile_total *t, const struct place *at,
		    uint32_t callee, uint64_t weight)
{
	const uint64_t hash = hash_words((uint64_t)at->function << 32 | at->line,
					 (uintptr_t)at->src_file ^ callee, c->profile->names.seed);
	size_t next = 0;
	uint32_t id;
	int r = 0;

	while (hash_index_next(&c->index, hash, &next, &id))
		if (is_cost(&c->costs[id], at, callee))
			goto found;
	r = new_cost(c, hash,
		     &(struct cost){.function = at->function,
				    .line = at->line,
				    .callee = callee,
				    .next = c->functions[at->function].costs,
				    .src_file = at->src_file});
	if (r)
		return r;
	id = (uint32_t)c->count - 1;
found:
	c->costs[id].calls += t->samples;
	c->weights[id * c->profile->event_count + t->event] += weight;
	return 0;
}

static int take_path(struct costs *c, const struct profile_total *t)
{
	const struct profile *p = c->profile;
	int r = 0;

	c->path_count = 0;
	for (uint32_t at = t->stack; at != PROFILE_ROOT && !r; at = p->stacks[at].caller) {
		const struct profile_location *l = &p->locations[p->stacks[at].location];

		for (uint32_t i = 0; i < l->line_count && !r; i++) {
			const struct profile_line *line = &p->lines[l->lines + i];

			r = vector_push(c->path, c->path_count, c->path_room,
					(struct place){c->merged[line->function], line->line,
						       p->functions[line->function].src_file});
		}
	}
	return r;
}

/* @number: of the total, and one. */
static int add_total(struct costs *c, uint32_t number)
{
	const struct profile_total *t = &c->profile->totals[number - 1];
	struct place caller = {.function = c->commands[t->thread], .src_file = ""};
	int r = take_path(c, t);

	for (size_t i = c->path_count; i-- > 0 && !r;) {
		uint32_t *seen = &c->functions[c->path[i].function].seen;

		r = add_cost(c, t, &caller, c->path[i].function, *seen == number ? 0 : t->weight);
		*seen = number;
		caller = c->path[i];
	}
	return r ? r : add_cost(c, t, &caller, PROFILE_NONE, t->weight);
}

static int add_all(struct costs *c)
{
	int r = merge_functions(c);

	for (size_t i = 0; i < c->profile->total_count && !r; i++)
		r = add_total(c, (uint32_t)i + FIRST_ID);
	return r;
}

static void costs_fini(struct costs *c)
{
	hash_index_fini(&c->function_index);
	hash_index_fini(&c->index);
	free(c->functions);
	free(c->merged);
	free(c->commands);
	free(c->path);
	free(c->costs);
	free(c->weights);
}

/* Names of events are words. */
static void write_event(const char *name, FILE *out)
{
	for (; *name; name++)
		putc((unsigned char)*name > ' ' && (unsigned char)*name < 0x7f ? *name : '_', out);
}

static void write_weights(const struct profile *p, const uint64_t *weights, FILE *out)
{
	for (size_t i = 0; i < p->event_count; i++)
		fprintf(out, " %" PRIu64, weights[i]);
	putc('\n', out);
}

/* Why stacks ended, of those that are known. */
static void write_reasons(const struct profile *p, FILE *out)
{
	uint64_t counts[BOBBIN_REASON_COUNT] = {0};

	for (size_t i = 0; i < p->total_count; i++)
		if (p->totals[i].traced && p->totals[i].reason < BOBBIN_REASON_COUNT)
			counts[p->totals[i].reason] += p->totals[i].samples;
	for (int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (counts[i])
			fprintf(out, "desc: stack_end %s: %" PRIu64 " samples\n",
				bobbin_reason_name((enum bobbin_reason)i), counts[i]);
}

static void write_sources(const struct profile *p, FILE *out)
{
	char text[256];
	uint32_t sources = 0;

	for (size_t i = 0; i < p->total_count; i++)
		sources |= p->totals[i].sources;
	if (sources)
		fprintf(out, "desc: unwound_by %s\n", profile_sources(sources, text, sizeof(text)));
}

static void write_head(const struct profile *p, FILE *out)
{
	fputs("# callgrind format\nversion: 1\ncreator: " PROFILE_CREATOR "\npositions: line\n",
	      out);
	write_reasons(p, out);
	write_sources(p, out);
	fputs("events:", out);
	for (size_t i = 0; i < p->event_count; i++) {
		putc(' ', out);
		write_event(p->events[i].name, out);
	}
	fputs("\nsummary:", out);
	for (size_t i = 0; i < p->event_count; i++)
		fprintf(out, " %" PRIu64, p->events[i].weight);
	fputs("\n\n", out);
}

/* "KEY=NAME", where the name may be anything, and "???" if it is not known. */
static void write_name(const char *key, const char *name, FILE *out)
{
	fprintf(out, "%s=", key);
	safe_text_plain(out, name && *name ? name : "???");
	putc('\n', out);
}

/* "KEY=(NUMBER) NAME", or the number alone, which stands for the name once that was written. */
static void write_function(struct costs *c, const char *key, uint32_t id, FILE *out)
{
	struct cost_function *f = &c->functions[id];

	fprintf(out, "%s=(%" PRIu32 ")", key, id + FIRST_ID);
	if (!f->named) {
		fputs(f->dso ? " " : " [", out);
		safe_text_plain(out, f->name);
		fputs(f->dso ? "" : "]", out);
	}
	putc('\n', out);
	f->named = true;
}

static void write_cost(struct costs *c, uint32_t id, const char **src_file, FILE *out)
{
	const struct profile *p = c->profile;
	const struct cost *cost = &c->costs[id];

	if (cost->src_file != *src_file)
		write_name("fi", cost->src_file, out);
	*src_file = cost->src_file;
	if (cost->callee != PROFILE_NONE) {
		write_name("cob", c->functions[cost->callee].dso, out);
		write_name("cfi", c->functions[cost->callee].src_file, out);
		write_function(c, "cfn", cost->callee, out);
		fprintf(out, "calls=%" PRIu64 " 0\n", cost->calls);
	}
	fprintf(out, "%" PRIu32, cost->line);
	write_weights(p, c->weights + id * p->event_count, out);
}

static void write_costs(struct costs *c, FILE *out)
{
	for (size_t i = 0; i < c->function_count; i++) {
		const struct cost_function *f = &c->functions[i];
		const char *src_file = f->src_file;

		if (f->costs == PROFILE_NONE)
			continue;
		write_name("ob", f->dso, out);
		write_name("fl", f->src_file, out);
		write_function(c, "fn", (uint32_t)i, out);
		for (uint32_t id = f->costs; id != PROFILE_NONE; id = c->costs[id].next)
			write_cost(c, id, &src_file, out);
		putc('\n', out);
	}
}

static void write_totals(const struct profile *p, FILE *out)
{
	fputs("totals:", out);
	for (size_t i = 0; i < p->event_count; i++)
		fprintf(out, " %" PRIu64, p->events[i].weight);
	putc('\n', out);
}

int callgrind_write(const struct profile *profile, FILE *out)
{
	struct costs costs = {.profile = profile};
	int r = add_all(&costs);

	if (!r) {
		write_head(profile, out);
		write_costs(&costs, out);
		write_totals(profile, out);
	}
	costs_fini(&costs);
	return r;
}
