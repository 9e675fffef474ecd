/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base_name.h"
#include "cli/command.h"
#include "cli/input.h"
#include "export/safe_text.h"
#include "profile/cgroup_table.h"
#include "symbol/code_label.h"

#define FIELDS_FRAME \
	(FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_SRCLINE | FIELD_SOURCE)
#define FIELDS_NAMED (FIELD_SYM | FIELD_SYMOFF | FIELD_DSO | FIELD_SRCLINE)

#define COMM_COLUMNS 16

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
	{"source", FIELD_SOURCE}, {"reason", FIELD_REASON}, {"cgroup", FIELD_CGROUP},
};

/* perf's, of what bobbin neither records nor reads. */
static const char *const foreign[] = {
	"trace",       "addr",        "iregs",          "uregs",          "brstack", "brstacksym",
	"brstackoff",  "brstackinsn", "brstackinsnlen", "brstackdisasm",  "brcntr",  "flags",
	"data_src",    "weight",      "bpf-output",     "callindent",     "insn",    "insnlen",
	"disasm",      "synth",       "phys_addr",      "metric",         "misc",    "srccode",
	"ipc",         "tod",         "data_page_size", "code_page_size", "ins_lat", "retire_lat",
	"machine_pid", "vcpu",        "dsoff",
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

static void print_comm(const struct stack_sample *s)
{
	size_t columns = s->chained ? 0 : safe_text_columns(s->comm);

	/* as perf: in a column where samples take a line */
	if (!s->chained)
		for (; columns < COMM_COLUMNS; columns++)
			putchar_unlocked(' ');
	print_word(s->comm);
}

/* As perf, which has no word for none. */
static void print_cgroup(const struct cgroup *cgroup)
{
	putchar_unlocked(' ');
	safe_text_plain(stdout, cgroup ? cgroup->path : "unknown");
}

static void print_head(const struct stack_sample *s, unsigned int fields)
{
	if (fields & FIELD_COMM)
		print_comm(s);
	if (fields & FIELD_PID)
		printf(fields & FIELD_TID ? "%7d/" : "%7d ", s->pid);
	if (fields & FIELD_TID)
		printf(fields & FIELD_PID ? "%-7d " : "%7d ", s->tid);
	if (fields & FIELD_CPU)
		printf("[%03" PRIu32 "] ", s->cpu);
	if (fields & FIELD_TIME)
		printf("%5" PRIu64 ".%06" PRIu64 ": ", s->time / 1000000000,
		       s->time / 1000 % 1000000);
	if (fields & FIELD_PERIOD)
		printf("%10" PRIu64 " ", s->period);
	if (fields & FIELD_EVENT)
		safe_text_place(stdout, s->event);
	if (fields & FIELD_REASON)
		printf("%s ", s->traced ? bobbin_reason_name(s->reason) : "-");
	if (fields & FIELD_CGROUP)
		print_cgroup(s->cgroup);
	if (s->chained || !(fields & FIELDS_FRAME))
		putchar('\n');
}

/* "%c%16lx", which millions of lines are made of */
static void print_ip(uint64_t pc, char before)
{
	char text[17];
	size_t i = sizeof(text);

	do {
		text[--i] = "0123456789abcdef"[pc & 15];
		pc >>= 4;
	} while (pc);
	while (i > 1)
		text[--i] = ' ';
	text[0] = before;
	fwrite_unlocked(text, 1, sizeof(text), stdout);
}

/* As perf: the file without its folder. */
static void print_line(const struct symbol *symbol)
{
	fputs("\n  ", stdout);
	safe_text_plain(stdout, base_name(symbol->src_file));
	printf(":%" PRIu32, symbol->line);
}

static void print_frame(const struct named_frame *f, unsigned int fields, char before)
{
	if (fields & FIELD_IP)
		print_ip(f->pc, before);
	if (fields & FIELD_SYM) {
		putchar_unlocked(' ');
		safe_text_plain(stdout, f->symbol.name ? f->symbol.name : "[unknown]");
	}
	if (fields & FIELD_SYMOFF && f->symbol.name && !f->inlined)
		printf("+0x%" PRIx64, f->symbol.offset);
	if (fields & FIELD_DSO)
		print_file(f->inlined ? "inlined" : f->dso);
	if (fields & FIELD_SOURCE)
		printf(" [%s]", bobbin_source_str(f->source));
	if (fields & FIELD_SRCLINE && f->symbol.src_file)
		print_line(&f->symbol);
	putchar_unlocked('\n');
}

static void print_frames(const struct input *input, const struct stack_sample *s)
{
	const struct naming_moment moment = moment_of(s);
	struct named_frame named[NAMING_MAX_INLINES];
	unsigned int fields = input->arguments->fields;

	for (size_t i = 0; i < s->count; i++) {
		const struct bobbin_frame *frame = &s->frames[i];
		size_t n = 1;

		/* those that were left out have no address, and no file is asked for them */
		if (fields & FIELDS_NAMED || frame->source == BOBBIN_SOURCE_LEFT_OUT)
			n = naming_frame(session_naming(input->session), s->process->space, &moment,
					 frame, named);
		else
			named[0] = (struct named_frame){.pc = frame->pc, .source = frame->source};
		/* in a line of its own, the function that holds the code alone, as perf */
		for (size_t k = s->chained ? 0 : n - 1; k < n; k++)
			print_frame(&named[k], fields, s->chained ? '\t' : ' ');
	}
	if (s->chained)
		putchar('\n');
}

static int print_sample(void *ctx, const struct stack_sample *s)
{
	const struct input *input = ctx;
	unsigned int fields = input->arguments->fields;

	print_head(s, fields);
	if (fields & FIELDS_FRAME)
		print_frames(input, s);
	return ferror(stdout) ? -EIO : 0;
}

static const struct sample_sink script_sink = {.sample = print_sample};

int run_script(struct arguments *a)
{
	struct input input = {.arguments = a};
	int r;

	a->naming.lines = a->fields & FIELD_SRCLINE;
	r = input_open(&input);
	if (r)
		return r;
	pager_start();
	r = input_run(&input, &script_sink, &input);
	r = input_close(&input) || r;
	r = !finish_output() || r;
	return !pager_end() || r;
}
