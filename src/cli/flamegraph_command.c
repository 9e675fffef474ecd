/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/flamegraph.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "export/folded.h"
#include "export/report.h"

static const char usage[] =
	"usage: bobbin flamegraph [OPTIONS] > FILE.svg\n"
	"\n"
	"Draw a recording as a flame graph: one SVG file with search (Ctrl-F) and zoom\n"
	"(click) that any browser opens.\n"
	"\n"
	"      --title TEXT       title of the picture\n"
	"      --inverted         callers at the top\n"
	"      --min-width PX     leave out frames narrower than this (0.1)\n"
	"      --no-fold          show each level of a recursion\n"
	"      --folded           write folded stacks as text instead\n" INPUT_USAGE;

struct arguments {
	struct input input;
	struct flamegraph_options options;
	bool folded;
};

static int parse(int argc, char **argv, struct arguments *a)
{
	enum {
		TITLE = INPUT_OPTIONS_END,
		INVERTED,
		MIN_WIDTH,
		NO_FOLD,
		FOLDED
	};
	static const struct option longs[] = {
		INPUT_LONG_OPTIONS,
		{"title", required_argument, NULL, TITLE},
		{"inverted", no_argument, NULL, INVERTED},
		{"min-width", required_argument, NULL, MIN_WIDTH},
		{"no-fold", no_argument, NULL, NO_FOLD},
		{"folded", no_argument, NULL, FOLDED},
		{NULL, 0, NULL, 0},
	};
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, INPUT_SHORT_OPTIONS, longs, NULL)) != -1) {
		if (input_option(&a->input, &flamegraph_command, c, optarg))
			continue;
		switch (c) {
		case TITLE:
			a->options.title = optarg;
			break;
		case INVERTED:
			a->options.inverted = true;
			break;
		case MIN_WIDTH:
			a->options.min_width = strtod(optarg, &end);
			if (end != optarg && !*end && a->options.min_width >= 0)
				break;
			complain_use("--min-width: '%s' is not a width", optarg);
			return EXIT_USAGE;
		case NO_FOLD:
			a->input.unfolded = true;
			break;
		case FOLDED:
			a->folded = true;
			break;
		default:
			return show_usage(&flamegraph_command);
		}
	}
	if (optind < argc) {
		complain_use("unexpected argument '%s'", argv[optind]);
		return show_usage(&flamegraph_command);
	}
	return 0;
}

static int draw(void *ctx, const struct report *report)
{
	struct arguments *a = ctx;
	const struct call_tree *tree = report_tree(report);
	int r = a->folded ? folded_write(tree, stdout)
			  : flamegraph_write(tree, &a->options, stdout);

	if (r && r != -EPIPE)
		complain("standard output: %s", strerror(-r));
	return r || !finish_output();
}

static int run(int argc, char **argv)
{
	struct arguments a = {.options = FLAMEGRAPH_OPTIONS_DEFAULT};
	int r;

	input_init(&a.input);
	r = parse(argc, argv, &a);
	return r ? r : input_report(&a.input, false, draw, &a);
}

const struct command flamegraph_command = {
	.name = "flamegraph",
	.summary = "draw where the time went, as SVG",
	.usage = usage,
	.run = run,
};
