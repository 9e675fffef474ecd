/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/annotation.h"

#include <inttypes.h>
#include <string.h>

#include "export/report_line.h"
#include "export/safe_text.h"

#define SHARE_COLUMNS 9
#define CODE_COLUMN 20
#define NAME_COLUMNS 64
#define NAME_BYTES 256
#define SOURCE_COLUMNS 160
/* Sources are indented by tabs, which would be left out as control characters. */
#define TAB "    "

static void write_path(const struct annotated_function *function, FILE *out)
{
	fputs("# ", out);
	safe_text_plain(out, function->dso);
	if (function->end > function->start)
		fprintf(out, " 0x%" PRIx64 "-0x%" PRIx64, function->start, function->end);
	if (function->note)
		fprintf(out, "\n# No instructions: %s", function->note);
	putc('\n', out);
}

void annotation_begin(struct annotation *annotation, const struct annotated_function *function,
		      FILE *out)
{
	char share[REPORT_PERCENT_SIZE];

	*annotation = (struct annotation){.out = out, .weight = function->weight};
	report_percent(share, function->weight, function->all);
	fputs("# ", out);
	safe_text_plain(out, function->name);
	fputs(", in ", out);
	safe_text_plain(out, report_file_name(function->dso));
	fprintf(out, ": %s of %" PRIu64 " samples of '", share, function->all_samples);
	safe_text_plain(out, function->event);
	fputs("'\n", out);
	write_path(function, out);
	fputs("#\n# Percent  Address  Code\n# .......  .......  ....\n#\n", out);
}

static bool is_same(const char *kept, size_t size, const char *text)
{
	return !strncmp(kept, text ? text : "", size - 1);
}

static void keep(char *kept, size_t size, const char *text)
{
	snprintf(kept, size, "%s", text ? text : "");
}

static bool is_new_place(const struct annotation *a, const struct annotated_code *code)
{
	return !a->begun || a->line != code->line ||
	       !is_same(a->inlined, sizeof(a->inlined), code->inlined) ||
	       !is_same(a->file, sizeof(a->file), code->file);
}

/* Whether the angle bracket at @at is a part of the name of an operator. */
static bool is_operator(const char *name, const char *at)
{
	static const char word[] = "operator";
	const size_t length = sizeof(word) - 1;

	/* the longest are <=> and >>= */
	for (int i = 0; i < 2 && at > name && strchr("<>-=", at[-1]); i++)
		at--;
	return (size_t)(at - name) >= length && !strncmp(at - length, word, length);
}

/*
 * "list<>::push" of "list<node<char>, 3>::push": what is cut from a long name is not the function.
 * false: it makes no sense, or has no room.
 */
static bool leave_out_arguments(const char *name, char *ret, size_t size)
{
	size_t depth = 0, n = 0;

	for (const char *at = name; *at; at++) {
		bool bracket = strchr("<>", *at) && !is_operator(name, at);

		if (bracket && *at == '>' && !depth--)
			return false;
		if (!depth && n + 1 < size)
			ret[n++] = *at;
		depth += bracket && *at == '<';
	}
	ret[n] = '\0';
	return !depth && n + 1 < size;
}

static void write_name(FILE *out, const char *name)
{
	char shorter[NAME_BYTES];

	if (safe_text_columns(name) > NAME_COLUMNS &&
	    leave_out_arguments(name, shorter, sizeof(shorter)))
		name = shorter;
	safe_text_cut(out, name, NAME_COLUMNS);
}

static void write_source(FILE *out, const char *source)
{
	fputs("  ", out);
	for (; *source == '\t' || *source == ' '; source++)
		fputs(*source == '\t' ? TAB : " ", out);
	safe_text_cut(out, source, SOURCE_COLUMNS);
}

/* Where the next instructions come from, if that is known. */
static void write_place(struct annotation *a, const struct annotated_code *code)
{
	keep(a->inlined, sizeof(a->inlined), code->inlined);
	keep(a->file, sizeof(a->file), code->file);
	a->line = code->line;
	a->begun = true;
	if (!code->file && !code->inlined)
		return;
	fprintf(a->out, "%*s", CODE_COLUMN, "");
	if (code->inlined) {
		write_name(a->out, code->inlined);
		fputs(" (inlined)", a->out);
	}
	if (code->file) {
		fputs(code->inlined ? "  " : "", a->out);
		safe_text_cut(a->out, report_file_name(code->file), NAME_COLUMNS);
		fprintf(a->out, ":%" PRIu32, code->line);
	}
	if (code->source)
		write_source(a->out, code->source);
	putc('\n', a->out);
}

static void write_share(const struct annotation *a, uint64_t weight)
{
	char share[REPORT_PERCENT_SIZE] = "";

	if (weight)
		report_percent(share, weight, a->weight);
	fprintf(a->out, "%*s", SHARE_COLUMNS, share);
}

void annotation_code(struct annotation *annotation, const struct annotated_code *code)
{
	FILE *out = annotation->out;

	if (is_new_place(annotation, code))
		write_place(annotation, code);
	write_share(annotation, code->weight);
	fprintf(out, " %8" PRIx64, code->address);
	if (*code->text)
		fprintf(out, "  %s", code->text);
	if (code->target) {
		fputs(" <", out);
		write_name(out, code->target);
		if (code->into)
			fprintf(out, "+0x%" PRIx64, code->into);
		putc('>', out);
	}
	putc('\n', out);
}

void annotation_gap(struct annotation *annotation, size_t instructions, uint64_t weight)
{
	write_share(annotation, weight);
	fprintf(annotation->out, "%*s[ %zu instruction%s ]\n", CODE_COLUMN - SHARE_COLUMNS, "",
		instructions, instructions == 1 ? "" : "s");
}
