/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report_columns.h"

#include <stdlib.h>
#include <string.h>

#include "export/report_line.h"
#include "export/safe_text.h"
#include "export/task_names.h"

#define WIDEST_COLUMN 48 /* wider cells push their line to the right */
#define MARK 4           /* of a symbol: "[k] " */
#define CELL_SIZE 64     /* numbers and names that the kernel bounds */

static const char *const key_titles[REPORT_KEY_COUNT] = {
	[REPORT_COMM] = "Command",        [REPORT_DSO] = "Shared Object",
	[REPORT_SYM] = "Symbol",          [REPORT_PID] = "    Pid:Command",
	[REPORT_TID] = "    Tid:Command", [REPORT_CPU] = "CPU",
	[REPORT_CGROUP] = "Cgroup",       [REPORT_SRCLINE] = "Source:Line",
	[REPORT_SRCFILE] = "Source File",
};

/* "     12:make", in perf's form. */
static const char *task_cell(const struct report_columns *columns, const char *id,
			     char buffer[CELL_SIZE])
{
	const char *comm = columns->tasks ? task_names_find(columns->tasks, atoi(id)) : "";

	snprintf(buffer, CELL_SIZE, "%7s:%s", id, comm);
	return buffer;
}

/* Without the mark in front of a symbol; @buffer: may be used for it. */
static const char *cell(const struct report_columns *columns, const struct report_entry *entry,
			enum report_key key, char buffer[CELL_SIZE])
{
	const char *text = entry->texts[key];

	if (key >= REPORT_FIRST_LABEL && !*text)
		return text;
	switch (key) {
	case REPORT_DSO:
		return report_file_name(text);
	case REPORT_PID:
	case REPORT_TID:
		return task_cell(columns, text, buffer);
	case REPORT_CPU:
		snprintf(buffer, CELL_SIZE, "%03d", atoi(text));
		return buffer;
	default:
		return text;
	}
}

static int compare_texts(const struct report_entry *a, const struct report_entry *b,
			 enum report_key key)
{
	return a->texts[key] ? strcmp(a->texts[key], b->texts[key]) : 0;
}

int report_entry_compare(const struct report_entry *a, const struct report_entry *b)
{
	static const enum report_key first[] = {REPORT_COMM, REPORT_SYM, REPORT_DSO};
	int order = 0;

	for (size_t i = 0; i < sizeof(first) / sizeof(*first) && !order; i++)
		order = compare_texts(a, b, first[i]);
	if (!order)
		order = (int)a->kernel - (int)b->kernel;
	for (int key = REPORT_USUAL_KEYS; key < REPORT_KEY_COUNT && !order; key++)
		order = compare_texts(a, b, (enum report_key)key);
	return order;
}

void report_columns_init(struct report_columns *columns, const struct report_options *options)
{
	memcpy(columns->keys, options->keys, sizeof(columns->keys));
	columns->n_keys = options->n_keys;
	columns->tasks = options->tasks;
	for (size_t key = 0; key < REPORT_KEY_COUNT; key++)
		columns->widths[key] = strlen(key_titles[key]);
}

void report_columns_measure(struct report_columns *columns, const struct report_entry *entry)
{
	char buffer[CELL_SIZE];

	for (size_t i = 0; i < columns->n_keys; i++) {
		enum report_key key = columns->keys[i];
		size_t width = safe_text_columns(cell(columns, entry, key, buffer)) +
			       (key == REPORT_SYM ? MARK : 0);

		if (width > WIDEST_COLUMN)
			width = WIDEST_COLUMN;
		if (width > columns->widths[key])
			columns->widths[key] = width;
	}
}

static void write_padding(FILE *out, char c, size_t n)
{
	while (n--)
		putc(c, out);
}

void report_columns_titles(const struct report_columns *columns, const char *titles,
			   const char *dots, FILE *out)
{
	fprintf(out, "# %s", titles);
	for (size_t i = 0; i < columns->n_keys; i++) {
		const char *title = key_titles[columns->keys[i]];

		fprintf(out, "  %s", title);
		if (i + 1 < columns->n_keys)
			write_padding(out, ' ', columns->widths[columns->keys[i]] - strlen(title));
	}
	fprintf(out, "\n# %s", dots);
	for (size_t i = 0; i < columns->n_keys; i++) {
		fputs("  ", out);
		write_padding(out, '.', columns->widths[columns->keys[i]]);
	}
	fputs("\n#\n", out);
}

void report_columns_write(const struct report_columns *columns, const struct report_entry *entry,
			  FILE *out)
{
	char buffer[CELL_SIZE];

	for (size_t i = 0; i < columns->n_keys; i++) {
		enum report_key key = columns->keys[i];
		const char *text = cell(columns, entry, key, buffer);
		size_t width = safe_text_columns(text);

		fputs("  ", out);
		if (key == REPORT_SYM) {
			fputs(entry->kernel ? "[k] " : "[.] ", out);
			width += MARK;
		}
		safe_text_plain(out, text);
		if (i + 1 < columns->n_keys && width < columns->widths[key])
			write_padding(out, ' ', columns->widths[key] - width);
	}
	putc('\n', out);
}
