/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/top_screen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/report_line.h"
#include "export/safe_text.h"

/* Of what is counted, to be worth a word: a table is of two seconds mostly. */
#define LATE_MS 1000
#define PID_WIDTH 7
#define COMM_WIDTH 15
#define WIDEST_DSO 24

static const char *const filters[TOP_FILTERS] = {
	[TOP_FILTER_SYMBOL] = "symbol",
	[TOP_FILTER_DSO] = "dso",
	[TOP_FILTER_COMM] = "comm",
	[TOP_FILTER_PID] = "pid",
};

/* A line of help: of a live table, of a recording's, or of both. */
struct help_line {
	const char *text;
	bool live, still;
};

static const struct help_line help[] = {
	{"", true, true},
	{"q           quit", true, true},
	{"up, down    move; also PgUp, PgDn, Home, End", true, true},
	{"Enter, e    show the call graph of a function, or hide it; Esc hides it, too", true,
	 true},
	{"G           let call graphs begin at their other ends", true, true},
	{"s > <       sort by the next or the previous of: total, self, pid, comm, dso, symbol;",
	 true, true},
	{"            by pid and comm functions are counted for each process or command", true,
	 true},
	{"/ d c p     show functions by a part of their name, of their file, of the command,", true,
	 true},
	{"            or by the number of the process; an empty text shows all", true, true},
	{"x           remove these filters", true, true},
	{"K U         hide functions of the kernel, of programs", true, true},
	{"z           count from zero", true, false},
	{"Space       pause: nothing is counted", true, false},
	{"+ -         longer, shorter intervals", true, false},
	{"Tab         show the next event of the recording", false, true},
	{"h ?         this help; any key leaves it", true, true},
	{"", true, true},
	{"Total is the share of the samples in a function and in all that it calls, Self that in the",
	 true, true},
	{"function alone, of all samples. Older samples count less: an interval takes an eighth.",
	 true, false},
	{"function alone, of all samples.", false, true},
};

/* What all lines of a table have in common. */
struct table {
	const struct top_page *page;
	const struct top_view *view;
	const struct top_status *status;
	size_t width; /* SIZE_MAX: lines are as long as they are */
	size_t dso;   /* columns */
	bool processes, commands;
};

static struct table table_of(const struct top_page *page, const struct top_view *view,
			     const struct top_status *status, size_t width)
{
	struct table table = {.page = page, .view = view, .status = status, .width = width};

	table.dso = strlen("Shared Object");
	for (size_t i = 0; i < page->n_rows; i++) {
		size_t columns = safe_text_columns(report_file_name(page->rows[i].dso));

		if (columns > WIDEST_DSO)
			columns = WIDEST_DSO;
		if (columns > table.dso)
			table.dso = columns;
		table.processes |= page->rows[i].process != NULL;
		table.commands |= page->rows[i].comm != NULL;
	}
	return table;
}

static void pad(FILE *out, size_t columns)
{
	while (columns--)
		putc(' ', out);
}

/* To the left in so many columns. */
static void put_cell(FILE *out, const char *text, size_t columns)
{
	pad(out, columns - safe_text_cut(out, text, columns));
	fputs("  ", out);
}

static void put_row(const struct table *table, const struct top_row *row, FILE *out)
{
	char total[REPORT_PERCENT_SIZE], self[REPORT_PERCENT_SIZE];

	report_percent(total, row->total, table->page->weight);
	report_percent(self, row->self, table->page->weight);
	fprintf(out, "%8s %8s  ", total, self);
	if (table->processes)
		fprintf(out, "%*s  ", PID_WIDTH,
			row->process && *row->process ? row->process : "-");
	if (table->commands)
		put_cell(out, row->comm ? row->comm : "", COMM_WIDTH);
	put_cell(out, report_file_name(row->dso), table->dso);
	fputs(row->kernel ? "[k] " : "[.] ", out);
	safe_text_plain(out, row->symbol ? row->symbol : "[unknown]");
}

static void put_titles(const struct table *table, FILE *out)
{
	fputs("   Total     Self  ", out);
	if (table->processes)
		fprintf(out, "%*s  ", PID_WIDTH, "PID");
	if (table->commands)
		put_cell(out, "Command", COMM_WIDTH);
	put_cell(out, "Shared Object", table->dso);
	fputs("Symbol", out);
}

static void put_numbers(const struct table *table, FILE *out)
{
	const struct top_status *s = table->status;

	fprintf(out, "bobbin %s: ", table->view->still ? "report" : "top");
	safe_text_plain(out, s->subject);
	if (table->view->still)
		fprintf(out, "; %" PRIu64 " samples", s->samples);
	else
		fprintf(out, "; %.0f samples/s", s->rate);
	if (s->event) {
		fputs(" of ", out);
		safe_text_plain(out, s->event);
	}
	if (s->user)
		fprintf(out, ", %.1f %% of %" PRIu64 " user stacks complete",
			100.0 * (double)s->complete / (double)s->user, s->user);
	fprintf(out, ", %" PRIu64 " lost", s->lost);
}

static void put_walks(const struct top_status *s, FILE *out)
{
	fprintf(out, "%zu %s", s->processes, s->processes == 1 ? "process" : "processes");
	if (s->in_kernel && s->walked)
		fprintf(out, "; %.1f %% of the stacks walked in the kernel, others from copies",
			100.0 * (double)s->walked / (double)(s->walked + s->copied));
	else
		fprintf(out, "; stacks walked from copies");
}

static void put_event(const struct table *table, FILE *out)
{
	fprintf(out, "event count %" PRIu64, table->page->weight);
	if (table->view->events > 1)
		fprintf(out, "; event %zu of %zu, Tab shows the next", table->view->event + 1,
			table->view->events);
}

static void put_counts(const struct table *table, FILE *out)
{
	const struct top_status *s = table->status;

	if (table->view->still)
		put_event(table, out);
	else
		put_walks(s, out);
	if (table->page->n_rows < table->page->matched)
		fprintf(out, "; the first %zu of %zu functions", table->page->n_rows,
			table->page->matched);
	if (s->ended)
		fputs("; it has ended", out);
	else if (s->late_ms >= LATE_MS)
		fprintf(out, "; late: what is counted ended %.1f s ago", (double)s->late_ms / 1000);
}

static void put_view(const struct table *table, FILE *out)
{
	const struct top_view *view = table->view;

	if (!view->still)
		fprintf(out, "every %g s; ", (double)view->delay_ms / 1000);
	fprintf(out, "sorted by %s", top_sort_name(view->sort));
	for (int i = 0; i < TOP_FILTERS; i++) {
		if (!*view->filters[i])
			continue;
		fprintf(out, "; %s: ", filters[i]);
		safe_text_plain(out, view->filters[i]);
	}
	if (view->hide_kernel)
		fputs("; without the kernel", out);
	if (view->hide_user)
		fputs("; without programs", out);
	if (view->paused)
		fputs("; paused", out);
}

static void put_foot(const struct top_view *view, FILE *out)
{
	if (view->typing == TOP_NO_FILTER) {
		fputs("q quit  h help  s sort  / filter  d dso  c comm  p pid  Enter call graph",
		      out);
		if (!view->still)
			fputs("  z zero  Space pause", out);
		else if (view->events > 1)
			fputs("  Tab event", out);
		return;
	}
	fprintf(out, "%s: ", filters[view->typing]);
	safe_text_plain(out, view->typed);
	putc('_', out);
}

static void put_head(const struct table *table, size_t line, FILE *out)
{
	static void (*const put[TOP_SCREEN_HEAD])(const struct table *table, FILE *out) = {
		put_numbers,
		put_counts,
		put_view,
		put_titles,
	};

	put[line](table, out);
}

/* The line of help that is the nth of those for this table. */
static const char *help_line(const struct top_view *view, size_t line)
{
	for (size_t i = 0; i < sizeof(help) / sizeof(*help); i++)
		if ((view->still ? help[i].still : help[i].live) && !line--)
			return help[i].text;
	return "";
}

/* The style of the line on the screen. */
static enum top_style put_line(const struct table *table, size_t line, size_t height, FILE *out)
{
	const char *graph;
	const struct top_row *row;
	size_t at = line - TOP_SCREEN_HEAD;

	if (line + 1 == height) {
		put_foot(table->view, out);
		return TOP_TITLE;
	}
	if (line < TOP_SCREEN_HEAD) {
		put_head(table, line, out);
		return line == TOP_SCREEN_HEAD - 1 ? TOP_TITLE : TOP_PLAIN;
	}
	if (table->view->help) {
		fputs(help_line(table->view, at), out);
		return TOP_PLAIN;
	}
	at += table->view->first;
	row = top_page_line(table->page, at, &graph);
	if (row)
		put_row(table, row, out);
	else
		fputs(graph ? graph : "", out);
	return (row || graph) && at == table->view->cursor ? TOP_CURSOR : TOP_PLAIN;
}

static char *cut(const char *text, size_t width)
{
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);

	if (!out)
		return NULL;
	safe_text_cut(out, text, width);
	if (!fclose(out))
		return ret;
	free(ret);
	return NULL;
}

static int make_line(const struct table *table, size_t line, size_t height, struct top_line *ret)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed;

	if (!out)
		return -ENOMEM;
	ret->style = put_line(table, line, height, out);
	failed = fclose(out);
	if (!failed)
		ret->text = cut(text, table->width);
	free(text);
	return ret->text ? 0 : -ENOMEM;
}

size_t top_screen_table(size_t height)
{
	return height > TOP_SCREEN_HEAD + 1 ? height - TOP_SCREEN_HEAD - 1 : 1;
}

int top_screen_init(const struct top_page *page, const struct top_view *view,
		    const struct top_status *status, size_t width, size_t height,
		    struct top_screen *ret)
{
	struct table table = table_of(page, view, status, width);
	struct top_screen screen = {.lines = calloc(height + 1, sizeof(*screen.lines))};
	int r = screen.lines ? 0 : -ENOMEM;

	for (; !r && screen.count < height; screen.count++)
		r = make_line(&table, screen.count, height, &screen.lines[screen.count]);
	if (r)
		top_screen_fini(&screen);
	else
		*ret = screen;
	return r;
}

void top_screen_fini(struct top_screen *screen)
{
	for (size_t i = 0; i < screen->count; i++)
		free(screen->lines[i].text);
	free(screen->lines);
	*screen = (struct top_screen){0};
}

void top_screen_print(const struct top_page *page, const struct top_view *view,
		      const struct top_status *status, size_t rows, FILE *out)
{
	struct table table = table_of(page, view, status, SIZE_MAX);

	for (size_t i = 0; i < TOP_SCREEN_HEAD; i++) {
		put_head(&table, i, out);
		putc('\n', out);
	}
	for (size_t i = 0; i < page->n_rows && i < rows; i++) {
		put_row(&table, &page->rows[i], out);
		putc('\n', out);
	}
}
