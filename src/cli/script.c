/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "export/safe_text.h"

static const char usage[] =
	"usage: bobbin script [OPTIONS]\n"
	"\n"
	"Print every sample with its call chain, in the form of 'perf script', which other\n"
	"programs read.\n"
	"\n"
	"  -F, --fields LIST      any of comm,pid,tid,cpu,time,event,ip,sym,dso,source,reason\n"
	"                         (comm,tid,time,event,ip,sym,dso)\n" INPUT_USAGE;

enum field {
	FIELD_COMM = 1 << 0,
	FIELD_PID = 1 << 1,
	FIELD_TID = 1 << 2,
	FIELD_CPU = 1 << 3,
	FIELD_TIME = 1 << 4,
	FIELD_EVENT = 1 << 5,
	FIELD_IP = 1 << 6,
	FIELD_SYM = 1 << 7,
	FIELD_DSO = 1 << 8,
	FIELD_SOURCE = 1 << 9,
	FIELD_REASON = 1 << 10,
};

static const char *const field_names[] = {"comm", "pid", "tid", "cpu",    "time",  "event",
					  "ip",   "sym", "dso", "source", "reason"};

#define FIELD_COUNT (sizeof(field_names) / sizeof(*field_names))
#define FIELDS_DEFAULT \
	(FIELD_COMM | FIELD_TID | FIELD_TIME | FIELD_EVENT | FIELD_IP | FIELD_SYM | FIELD_DSO)
#define FIELDS_FRAME (FIELD_IP | FIELD_SYM | FIELD_DSO | FIELD_SOURCE)
#define FIELDS_NAMED (FIELD_SYM | FIELD_DSO)

struct arguments {
	struct input input;
	unsigned int fields;
};

static bool parse_fields(const char *text, unsigned int *ret)
{
	unsigned int fields = 0;

	while (*text) {
		size_t len = strcspn(text, ","), i;

		for (i = 0; i < FIELD_COUNT; i++)
			if (strlen(field_names[i]) == len && !strncmp(field_names[i], text, len))
				break;
		if (i == FIELD_COUNT)
			return false;
		fields |= 1u << i;
		text += len + (text[len] == ',');
	}
	*ret = fields;
	return fields;
}

static int parse(int argc, char **argv, struct arguments *a)
{
	static const struct option longs[] = {
		INPUT_LONG_OPTIONS,
		{"fields", required_argument, NULL, 'F'},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "F:" INPUT_SHORT_OPTIONS, longs, NULL)) != -1) {
		if (input_option(&a->input, &script_command, c, optarg))
			continue;
		if (c != 'F')
			return show_usage(&script_command);
		if (!parse_fields(optarg, &a->fields)) {
			complain("-F: '%s' has an unknown field", optarg);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		complain("unexpected argument '%s'", argv[optind]);
		return show_usage(&script_command);
	}
	return 0;
}

static void print_word(const char *text)
{
	safe_text_plain(stdout, text);
	putchar_unlocked(' ');
}

static void print_file(const char *path)
{
	fputs(" (", stdout);
	safe_text_plain(stdout, path);
	putchar_unlocked(')');
}

static void print_head(const struct session_sample *s, unsigned int fields)
{
	if (fields & FIELD_COMM)
		print_word(s->comm);
	if (fields & FIELD_PID)
		printf(fields & FIELD_TID ? "%7d/" : "%7d ", s->pid);
	if (fields & FIELD_TID)
		printf(fields & FIELD_PID ? "%-7d " : "%7d ", s->tid);
	if (fields & FIELD_CPU)
		printf("[%03" PRIu32 "] ", s->cpu);
	if (fields & FIELD_TIME)
		printf("%5" PRIu64 ".%06" PRIu64 ": ", s->time / 1000000000,
		       s->time / 1000 % 1000000);
	if (fields & FIELD_EVENT)
		printf("%10" PRIu64 " ", s->period);
	safe_text_place(stdout, s->event);
	if (fields & FIELD_REASON)
		printf("%s ", s->traced ? bobbin_reason_name(s->reason) : "-");
	putchar('\n');
}

/* "\t%16lx", which millions of lines are made of */
static void print_ip(uint64_t pc)
{
	char text[17];
	size_t i = sizeof(text);

	do {
		text[--i] = "0123456789abcdef"[pc & 15];
		pc >>= 4;
	} while (pc);
	while (i > 1)
		text[--i] = ' ';
	text[0] = '\t';
	fwrite_unlocked(text, 1, sizeof(text), stdout);
}

static void print_frame(const struct named_frame *f, unsigned int fields)
{
	if (fields & FIELD_IP)
		print_ip(f->pc);
	if (fields & FIELD_SYM) {
		putchar_unlocked(' ');
		safe_text_plain(stdout, f->symbol.name ? f->symbol.name : "[unknown]");
		if (f->symbol.name && !f->inlined)
			printf("+0x%" PRIx64, f->symbol.offset);
	}
	if (fields & FIELD_DSO)
		print_file(f->inlined ? "inlined" : f->dso);
	if (fields & FIELD_SOURCE)
		printf(" [%s]", bobbin_source_str((enum bobbin_source)f->source));
	putchar_unlocked('\n');
}

static void print_sample(struct input *input, const struct session_sample *s, unsigned int fields)
{
	const struct naming_moment moment = {.pid = s->pid, .time = s->code_time};
	struct named_frame named[NAMING_MAX_INLINES];

	print_head(s, fields);
	if (!(fields & FIELDS_FRAME))
		return;
	for (size_t i = 0; i < s->count; i++) {
		size_t n = 1;

		named[0] = (struct named_frame){.pc = s->frames[i].pc,
						.source = s->frames[i].source};
		if (fields & FIELDS_NAMED)
			n = naming_frame(input->naming, s->space, &moment, &s->frames[i], named);
		for (size_t k = 0; k < n; k++)
			print_frame(&named[k], fields);
	}
	putchar('\n');
}

static int run(int argc, char **argv)
{
	struct arguments a = {.fields = FIELDS_DEFAULT};
	struct session_sample sample;
	int r;

	input_init(&a.input);
	r = parse(argc, argv, &a);
	if (r)
		return r;
	r = input_open(&a.input);
	if (r)
		return r;
	while ((r = input_next(&a.input, &sample)) > 0 && !ferror(stdout))
		print_sample(&a.input, &sample, a.fields);
	input_close(&a.input);
	return !finish_output() || r < 0;
}

const struct command script_command = {
	.name = "script",
	.summary = "print every sample with its call chain",
	.usage = usage,
	.run = run,
};
