/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * annotate_command.c - bobbin annotate: the instructions and lines of functions, with their weights.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "cli/code_listing.h"
#include "cli/code_weights.h"
#include "cli/input.h"
#include "cli/source_text.h"
#include "export/annotation.h"

/* Of functions that nobody has named, and that have at least so much of their own. */
#define MOST_FUNCTIONS 10
#define LEAST_PERCENT 1.0
/* Instructions that are shown before and after those that count. */
#define CONTEXT 3

/* The samples of an event. */
struct event_code {
	const char *name;
	struct code_weights weights;
};

struct annotate {
	struct input input;
	struct event_code *events; /* by their numbers */
	size_t count, room;
	struct source_text sources;
};

static int find_events(struct annotate *a)
{
	const struct perf_reader *reader = session_reader(a->input.session);
	const struct arguments *arguments = a->input.arguments;
	const struct perf_reader_attr *attr;
	int r = 0;

	for (size_t i = 0; !r && (attr = perf_reader_event(reader, i)); i++) {
		r = vector_push(a->events, a->count, a->room,
				(struct event_code){.name = attr->name});
		if (!r)
			code_weights_init(&a->events[i].weights, arguments->operands,
					  (size_t)arguments->operand_count);
	}
	return r;
}

static int add_sample(void *ctx, const struct stack_sample *sample)
{
	struct annotate *a = ctx;

	return code_weights_add(&a->events[sample->event_number].weights,
				session_naming(a->input.session), sample, sample->period);
}

static const struct sample_sink weights_sink = {.sample = add_sample};

/* Whether an instruction is one of those that count, or near one. */
static bool is_near(const struct code_listing *listing, size_t at, double least)
{
	size_t first = at > CONTEXT ? at - CONTEXT : 0;

	for (size_t i = first; i <= at + CONTEXT && i < listing->count; i++)
		if (listing->insns[i].weight && (double)listing->insns[i].weight >= least)
			return true;
	return false;
}

static void write_insn(struct annotate *a, const struct code_listing *listing,
		       const struct listed_insn *insn, struct annotation *annotation)
{
	struct naming *naming = session_naming(a->input.session);
	struct named_frame named[NAMING_MAX_INLINES], there[NAMING_MAX_INLINES];
	size_t n = code_listing_names(listing, naming, insn->offset, named), n_there = 0;
	char text[INSN_TEXT_MAX];
	uint64_t target = code_listing_text(listing, insn, text);
	struct annotated_code code = {.address = listing->function->start + insn->offset,
				      .weight = insn->weight,
				      .text = text};

	if (n && named[0].symbol.src_file) {
		code.file = named[0].symbol.src_file;
		code.line = named[0].symbol.line;
		code.source = source_text_line(&a->sources, code.file, code.line);
	}
	if (n > 1)
		code.inlined = named[0].symbol.name;
	if (target)
		n_there = code_listing_names(listing, naming, target, there);
	if (n_there) {
		code.target = there[n_there - 1].symbol.name;
		code.into = there[n_there - 1].symbol.offset;
	} else if (!insn->length && listing->function->start) {
		code.target = listing->function->name;
		code.into = insn->offset;
	}
	annotation_code(annotation, &code);
}

static void write_insns(struct annotate *a, const struct code_listing *listing,
			struct annotation *annotation)
{
	const struct arguments *arguments = a->input.arguments;
	double least = arguments->report.percent_limit / 100 * (double)listing->function->weight;
	uint64_t weight = 0;
	size_t left_out = 0;

	for (size_t i = 0; i < listing->count; i++) {
		if (!arguments->full && !is_near(listing, i, least)) {
			left_out++;
			weight += listing->insns[i].weight;
			continue;
		}
		if (left_out)
			annotation_gap(annotation, left_out, weight);
		left_out = 0;
		weight = 0;
		write_insn(a, listing, &listing->insns[i], annotation);
	}
	if (left_out)
		annotation_gap(annotation, left_out, weight);
}

static int write_function(struct annotate *a, const struct event_code *event,
			  const struct code_function *function)
{
	const struct code_point *points = event->weights.points + function->first;
	struct annotation annotation;
	struct code_listing listing;
	int r = code_listing_init(&listing, session_unwinder(a->input.session),
				  a->input.arguments->naming.symfs, function, points);

	if (!r) {
		annotation_begin(&annotation,
				 &(struct annotated_function){
					 .name = function->name,
					 .dso = function->dso,
					 .event = event->name,
					 .samples = function->samples,
					 .weight = function->weight,
					 .all_samples = event->weights.samples,
					 .all = event->weights.weight,
					 .start = function->start,
					 .end = function->start + listing.size,
					 .note = listing.missing,
				 },
				 stdout);
		write_insns(a, &listing, &annotation);
	}
	code_listing_fini(&listing);
	return r;
}

/* Whether a function is shown that is the next of those that are wanted. */
static bool has_room(const struct annotate *a, const struct event_code *event,
		     const struct code_function *function, size_t shown)
{
	const struct arguments *arguments = a->input.arguments;

	if (arguments->operand_count || arguments->full || !shown)
		return true;
	return shown < MOST_FUNCTIONS &&
	       percent(function->weight, event->weights.weight) >= LEAST_PERCENT;
}

static void write_rest(size_t left_out, uint64_t weight, const struct event_code *event)
{
	if (left_out)
		printf("\n# %zu more function%s, with %.2f%%: name them, or see --full\n", left_out,
		       left_out == 1 ? "" : "s", percent(weight, event->weights.weight));
}

/* The number of functions, or a negative errno. */
static int write_event(struct annotate *a, struct event_code *event)
{
	size_t shown = 0, left_out = 0;
	uint64_t rest = 0;
	int r = 0;

	code_weights_sort(&event->weights);
	for (size_t i = 0; i < event->weights.n_functions && !r; i++) {
		const struct code_function *function = &event->weights.functions[i];

		if (!function->wanted)
			continue;
		if (!has_room(a, event, function, shown)) {
			left_out++;
			rest += function->weight;
			continue;
		}
		if (shown++)
			fputs("\n\n", stdout);
		r = write_function(a, event, function);
	}
	write_rest(left_out, rest, event);
	return r ? r : (int)shown;
}

/* Of the first event that has samples; of the others it is said that they are there. */
static int write_first(struct annotate *a)
{
	const struct arguments *arguments = a->input.arguments;
	int shown = 0;
	bool found = false;

	for (size_t i = 0; i < a->count && shown >= 0; i++) {
		struct event_code *event = &a->events[i];

		if (!event->weights.samples)
			continue;
		if (found && !arguments->quiet)
			complain("%s: samples of the event '%s' are not shown, see --event",
				 arguments->input, event->name);
		if (!found)
			shown = write_event(a, event);
		found = true;
	}
	if (shown < 0)
		complain("%s", strerror(-shown));
	else if (!found && !arguments->quiet)
		complain("%s: no samples: there is nothing to show", arguments->input);
	else if (found && !shown)
		complain("%s: no samples are in the functions that are named", arguments->input);
	return !finish_output() || shown < 0 || (found && !shown);
}

static int annotate_input(struct annotate *a)
{
	int r = !accept_file(a->input.arguments->input, find_events(a), NULL);

	if (!r)
		r = input_run(&a->input, &weights_sink, a);
	if (r)
		return r;
	pager_start();
	return write_first(a);
}

int run_annotate(struct arguments *a)
{
	struct annotate annotate = {.input = {.arguments = a},
				    .sources = {.root = a->naming.symfs}};
	int r;

	a->naming.lines = true;
	r = input_open(&annotate.input);
	if (r)
		return r;
	r = annotate_input(&annotate);
	for (size_t i = 0; i < annotate.count; i++)
		code_weights_fini(&annotate.events[i].weights);
	free(annotate.events);
	source_text_fini(&annotate.sources);
	r |= input_close(&annotate.input);
	return !pager_end() || r;
}
