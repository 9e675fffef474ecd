/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report_json.h"

#include <stdlib.h>

#include "export/report_line.h"
#include "export/report_lines.h"
#include "export/task_names.h"

#define PERCENT_PLACES 2

static struct report_options complete(const struct report_options *options)
{
	struct report_options copy = *options;

	report_options_complete(&copy);
	return copy;
}

void report_json_keys(struct json_output *json, const struct report_options *options)
{
	const struct report_options all = complete(options);

	json_array(json, "keys");
	for (size_t i = 0; i < all.n_keys; i++)
		json_string(json, NULL, report_key_name(all.keys[i]));
	json_array_end(json);
}

/* A number that stands in a label. */
static void put_number(struct json_output *json, const char *key, const char *text)
{
	if (*text)
		json_number(json, key, strtoll(text, NULL, 10));
	else
		json_null(json, key);
}

static void put_task(struct json_output *json, const char *key, const char *name_key,
		     const char *text, const struct task_names *tasks)
{
	put_number(json, key, text);
	if (tasks && *text)
		json_string(json, name_key, task_names_find(tasks, atoi(text)));
}

static void put_key(struct json_output *json, enum report_key key, const char *text,
		    const struct task_names *tasks)
{
	const char *name = report_key_name(key);

	switch (key) {
	case REPORT_PID:
		put_task(json, name, "pid_comm", text, tasks);
		break;
	case REPORT_TID:
		put_task(json, name, "tid_comm", text, tasks);
		break;
	case REPORT_CPU:
		put_number(json, name, text);
		break;
	default:
		json_string(json, name, text);
	}
}

static void put_row(struct json_output *json, const struct report_entry *entry,
		    const struct report_options *options, uint64_t total)
{
	json_object(json, NULL);
	for (size_t i = 0; i < options->n_keys; i++)
		put_key(json, options->keys[i], entry->texts[options->keys[i]], options->tasks);
	if (report_has_key(options, REPORT_SYM))
		json_bool(json, "kernel", entry->kernel);
	json_unsigned(json, "children", entry->children);
	json_unsigned(json, "self", entry->self);
	json_decimal(json, "children_percent", (uint64_t)report_share(entry->children, total),
		     PERCENT_PLACES);
	json_decimal(json, "self_percent", (uint64_t)report_share(entry->self, total),
		     PERCENT_PLACES);
	json_object_end(json);
}

static void put_rows(struct json_output *json, const struct report_lines *lines,
		     const struct report_options *options, uint64_t total)
{
	json_string(json, "event", options->event ? options->event : "samples");
	json_unsigned(json, "samples", options->samples);
	json_unsigned(json, "weight", total);
	json_array(json, "rows");
	for (size_t i = 0; i < lines->count; i++)
		put_row(json, lines->lines[i], options, total);
	json_array_end(json);
	json_object(json, "left_out");
	json_unsigned(json, "rows", lines->left_out_count);
	json_unsigned(json, "self", lines->left_out);
	json_object_end(json);
}

int report_json_write(const struct report *report, const struct report_options *options,
		      struct json_output *json)
{
	const struct report_options all = complete(options);
	struct report_lines lines = {0};
	int r = report ? report_lines_init(report_tree(report), &all, &lines) : 0;

	if (r)
		return r;
	put_rows(json, &lines, &all, report ? call_tree_total(report_tree(report)) : 0);
	report_lines_fini(&lines);
	return 0;
}
