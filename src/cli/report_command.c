/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "export/report.h"

static const char usage[] =
	"usage: bobbin report [OPTIONS]\n"
	"\n"
	"Show where the time of a recording went: by function, with callers and callees.\n"
	"Reads the files of 'bobbin record' and of 'perf record', with call chains or with\n"
	"copies of stacks, which are unwound here.\n"
	"\n"
	"      --no-children      count a function's own samples only\n"
	"      --sort KEYS        columns: any of comm,dso,sym\n"
	"  -g, --call-graph HOW   'none', or the least per cent of a branch to be shown (0.5)\n"
	"      --no-fold          show each level of a recursion\n"
	"      --percent-limit P  leave out entries below P per cent (0.1)\n"
	"      --stdio            write text to standard output, as always\n" INPUT_USAGE;

struct arguments {
	struct input input;
	struct report_options options;
};

static bool parse_percent(const char *option, const char *text, double *ret)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 100)) {
		complain_use("%s: '%s' is not a percentage", option, text);
		return false;
	}
	*ret = value;
	return true;
}

static int parse(int argc, char **argv, struct arguments *a)
{
	enum {
		NO_CHILDREN = INPUT_OPTIONS_END,
		SORT,
		NO_FOLD,
		PERCENT_LIMIT,
		STDIO
	};
	static const struct option longs[] = {
		INPUT_LONG_OPTIONS,
		{"no-children", no_argument, NULL, NO_CHILDREN},
		{"sort", required_argument, NULL, SORT},
		{"call-graph", required_argument, NULL, 'g'},
		{"no-fold", no_argument, NULL, NO_FOLD},
		{"percent-limit", required_argument, NULL, PERCENT_LIMIT},
		{"stdio", no_argument, NULL, STDIO},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "g:s:" INPUT_SHORT_OPTIONS, longs, NULL)) != -1) {
		if (input_option(&a->input, &report_command, c, optarg))
			continue;
		switch (c) {
		case NO_CHILDREN:
			a->options.no_children = true;
			break;
		case SORT:
		case 's':
			if (!report_parse_keys(optarg, &a->options))
				break;
			complain_use("--sort: '%s' is not a list of comm, dso and sym", optarg);
			return EXIT_USAGE;
		case 'g':
			if (!strcmp(optarg, "none"))
				a->options.no_graph = true;
			else if (!parse_percent("-g", optarg, &a->options.graph_limit))
				return EXIT_USAGE;
			break;
		case NO_FOLD:
			a->input.unfolded = true;
			break;
		case PERCENT_LIMIT:
			if (!parse_percent("--percent-limit", optarg, &a->options.percent_limit))
				return EXIT_USAGE;
			break;
		case STDIO:
			break;
		default:
			return show_usage(&report_command);
		}
	}
	if (optind < argc) {
		complain_use("unexpected argument '%s'", argv[optind]);
		return show_usage(&report_command);
	}
	return 0;
}

static int print(void *ctx, const struct report *report)
{
	struct arguments *a = ctx;
	char **footer;
	int r;

	a->options.event = a->input.event;
	a->options.samples = a->input.samples;
	a->options.n_footer = input_summary(&a->input, &footer);
	a->options.footer = (const char *const *)footer;
	r = report_write(report, &a->options, stdout);
	for (size_t i = 0; i < a->options.n_footer; i++)
		free(footer[i]);
	free(footer);
	if (r && r != -EPIPE)
		complain("standard output: %s", strerror(-r));
	return r || !finish_output();
}

static int run(int argc, char **argv)
{
	struct arguments a = {.options = REPORT_OPTIONS_DEFAULT};
	int r;

	input_init(&a.input);
	a.options.percent_limit = 0.1;
	r = parse(argc, argv, &a);
	return r ? r : input_report(&a.input, true, print, &a);
}

const struct command report_command = {
	.name = "report",
	.summary = "show where the time went",
	.usage = usage,
	.run = run,
};
