/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/report_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[REPORT_KEY_COUNT] = {
	[REPORT_COMM] = "comm",     [REPORT_DSO] = "dso",         [REPORT_SYM] = "sym",
	[REPORT_PID] = "pid",       [REPORT_TID] = "tid",         [REPORT_CPU] = "cpu",
	[REPORT_CGROUP] = "cgroup", [REPORT_SRCLINE] = "srcline", [REPORT_SRCFILE] = "srcfile",
};

static bool is_key(const char *text, size_t length, const char *name)
{
	return strlen(name) == length && !memcmp(text, name, length);
}

static int find_key(const char *text, size_t length)
{
	if (is_key(text, length, "symbol"))
		return REPORT_SYM;
	for (int key = 0; key < REPORT_KEY_COUNT; key++)
		if (is_key(text, length, names[key]))
			return key;
	return -EINVAL;
}

const char *report_key_name(enum report_key key)
{
	return names[key];
}

bool report_has_key(const struct report_options *options, enum report_key key)
{
	for (size_t i = 0; i < options->n_keys; i++)
		if (options->keys[i] == key)
			return true;
	return false;
}

int report_parse_keys(const char *text, struct report_options *options)
{
	struct report_options parsed = *options;

	parsed.n_keys = 0;
	if (*text == '+') {
		report_options_complete(&parsed);
		text++;
	}
	for (;;) {
		size_t length = strcspn(text, ",");
		int key = find_key(text, length);

		if (key < 0 || report_has_key(&parsed, (enum report_key)key))
			return -EINVAL;
		parsed.keys[parsed.n_keys++] = (enum report_key)key;
		if (!text[length])
			break;
		text += length + 1;
	}
	*options = parsed;
	return 0;
}

static bool parse_limit(const char *text, size_t length, double *ret)
{
	char *end;
	double limit = strtod(text, &end);

	if (end != text + length || !length || !(limit >= 0 && limit <= 100))
		return false;
	*ret = limit;
	return true;
}

static bool parse_graph_word(const char *text, size_t length, struct report_options *options)
{
	static const char *const usual[] = {"graph", "function", "percent"};

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (is_key(text, length, usual[i]))
			return true;
	if (is_key(text, length, "none"))
		options->no_graph = true;
	else if (is_key(text, length, "caller"))
		options->order = REPORT_CALLER;
	else if (is_key(text, length, "callee"))
		options->order = REPORT_CALLEE;
	else
		return parse_limit(text, length, &options->graph_limit);
	return true;
}

int report_parse_graph(const char *text, struct report_options *options)
{
	struct report_options parsed = *options;

	parsed.no_graph = false;
	for (;;) {
		size_t length = strcspn(text, ",");

		if (!parse_graph_word(text, length, &parsed))
			return -EINVAL;
		if (!text[length])
			break;
		text += length + 1;
	}
	*options = parsed;
	return 0;
}

void report_options_complete(struct report_options *options)
{
	if (options->n_keys)
		return;
	for (size_t key = 0; key < REPORT_USUAL_KEYS; key++)
		options->keys[key] = (enum report_key)key;
	options->n_keys = REPORT_USUAL_KEYS;
}
