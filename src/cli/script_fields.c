/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/script_fields.h"

#include <stddef.h>
#include <string.h>

#include "cli/command.h"

struct word {
	const char *text;
	unsigned int fields;
};

/* What is known of an event comes with it, and where in a function, unless it is taken off. */
static const struct word known[] = {
	{"comm", FIELD_COMM},     {"pid", FIELD_PID},       {"tid", FIELD_TID},
	{"cpu", FIELD_CPU},       {"time", FIELD_TIME},     {"event", FIELD_EVENT | FIELD_PERIOD},
	{"period", FIELD_PERIOD}, {"ip", FIELD_IP},         {"sym", FIELD_SYM | FIELD_SYMOFF},
	{"symoff", FIELD_SYMOFF}, {"dso", FIELD_DSO},       {"srcline", FIELD_SRCLINE},
	{"source", FIELD_SOURCE}, {"reason", FIELD_REASON},
};

/* perf's, of what bobbin neither records nor reads. */
static const char *const foreign[] = {
	"trace",       "addr",        "iregs",          "uregs",          "brstack", "brstacksym",
	"brstackoff",  "brstackinsn", "brstackinsnlen", "brstackdisasm",  "brcntr",  "flags",
	"data_src",    "weight",      "bpf-output",     "callindent",     "insn",    "insnlen",
	"disasm",      "synth",       "phys_addr",      "metric",         "misc",    "srccode",
	"ipc",         "tod",         "data_page_size", "code_page_size", "ins_lat", "retire_lat",
	"machine_pid", "vcpu",        "cgroup",         "dsoff",
};

static const char *const types[] = {"hw", "sw", "trace", "raw", "synth", "break"};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool is(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

static unsigned int fields_of(const char *text, size_t len)
{
	for (size_t i = 0; i < COUNT(known); i++)
		if (is(text, len, known[i].text))
			return known[i].fields;
	return 0;
}

static bool is_foreign(const char *text, size_t len)
{
	for (size_t i = 0; i < COUNT(foreign); i++)
		if (is(text, len, foreign[i]))
			return true;
	return false;
}

static bool refuse_field(const char *option, const char *text, size_t len)
{
	if (is_foreign(text, len))
		complain_use("%s: field '%.*s' of 'perf script' is not supported: bobbin does "
			     "not record it",
			     option, (int)len, text);
	else
		complain_use("%s: unknown field '%.*s'", option, (int)len, text);
	return false;
}

/* What comes after "TYPE:"; NULL if there is no such type. */
static const char *after_type(const char *option, const char *list)
{
	const char *colon = strchr(list, ':');

	if (!colon)
		return list;
	for (size_t i = 0; i < COUNT(types); i++)
		if (is(list, (size_t)(colon - list), types[i]))
			return colon + 1;
	complain_use("%s: unknown type of events '%.*s'", option, (int)(colon - list), list);
	return NULL;
}

static bool take(const char *option, const char *word, size_t len, bool *replaced,
		 unsigned int *fields)
{
	char sign = word[0];
	bool has_sign = len && (sign == '+' || sign == '-');
	unsigned int named = fields_of(word + has_sign, len - has_sign);

	/* what is not printed is easily taken off */
	if (!named && sign == '-' && is_foreign(word + 1, len - 1))
		return true;
	if (!named)
		return refuse_field(option, word + has_sign, len - has_sign);
	if (!has_sign && !*replaced) {
		*fields = 0;
		*replaced = true;
	}
	*fields = sign == '-' ? *fields & ~named : *fields | named;
	return true;
}

bool script_fields_parse(const char *option, const char *list, unsigned int *fields)
{
	const char *text = after_type(option, list);
	unsigned int changed = *fields;
	bool replaced = false;

	if (!text)
		return false;
	do {
		size_t len = strcspn(text, ",");

		if (!take(option, text, len, &replaced, &changed))
			return false;
		text += len + (text[len] == ',');
	} while (*text);
	if (!changed) {
		complain_use("%s: no field is left", option);
		return false;
	}
	*fields = changed;
	return true;
}
