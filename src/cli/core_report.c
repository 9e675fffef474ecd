/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/core_report.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/draft_stream.h"
#include "cli/command.h"
#include "export/profile_format.h"
#include "export/safe_text.h"

/* The name of a program as a part of a file's name. */
static void make_plain(char *name)
{
	for (; *name; name++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *name))
			*name = '_';
}

static char *report_path(const struct core_file *core, const char *folder, bool is_json)
{
	char name[CORE_NAME_SIZE], *path;

	memcpy(name, core->name, sizeof(name));
	make_plain(name);
	return asprintf(&path, "%s/core.%s.%d.%lld.%s", folder, *name ? name : "unknown", core->pid,
			(long long)time(NULL), is_json ? "json" : "txt") < 0
		       ? NULL
		       : path;
}

static int open_file(const struct core_file *core, const char *folder, struct core_report *report)
{
	int r;

	report->path = report_path(core, folder, report->is_json);
	if (!report->path)
		return -ENOMEM;
	r = draft_open(report->path, &report->draft);
	if (r)
		return r;
	report->out = draft_stream(report->draft);
	return report->out ? 0 : -ENOMEM;
}

bool core_report_open(const struct core_file *core, const char *folder, bool is_json,
		      struct core_report *ret)
{
	int r = 0;

	*ret = (struct core_report){.out = stdout, .is_json = is_json};
	if (folder)
		r = open_file(core, folder, ret);
	if (r)
		complain("%s: %s", ret->path ? ret->path : folder, strerror(-r));
	ret->json = json_output(ret->out);
	return !r;
}

static const char *signal_name(int number)
{
	const char *name = sigabbrev_np(number);

	return name ? name : "?";
}

static bool is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE ||
	       number == SIGTRAP || number == SIGSYS;
}

static void print_cause(FILE *out, const struct core_signal *s)
{
	if (s->code <= 0 && s->sender)
		fprintf(out, ": sent by process %d of user %" PRIu32, s->sender, s->user);
	else if (s->code == SI_KERNEL)
		fputs(": the kernel tells no address", out);
	else if (s->number == SIGSEGV && s->code == SEGV_MAPERR)
		fprintf(out, ": nothing is mapped at 0x%" PRIx64, s->address);
	else if (s->number == SIGSEGV && s->code == SEGV_ACCERR)
		fprintf(out, ": no access to 0x%" PRIx64, s->address);
	else if (is_fault(s->number) && s->code > 0)
		fprintf(out, ": at 0x%" PRIx64, s->address);
}

static void print_text(FILE *out, const struct core_file *core)
{
	const struct core_signal *s = &core->signal;

	fprintf(out, "PID %d: ", core->pid);
	safe_text_plain(out, *core->arguments ? core->arguments : core->name);
	fputc('\n', out);
	if (!s->number)
		return;
	fprintf(out, "signal %d (SIG%s)", s->number, signal_name(s->number));
	print_cause(out, s);
	fputc('\n', out);
}

static void print_signal(struct json_output *json, const struct core_signal *s)
{
	char name[32];

	snprintf(name, sizeof(name), "SIG%s", signal_name(s->number));
	json_object(json, "signal");
	json_number(json, "number", s->number);
	json_string(json, "name", name);
	json_number(json, "code", s->code);
	if (is_fault(s->number) && s->code > 0 && s->code != SI_KERNEL)
		json_address(json, "address", s->address);
	if (s->code <= 0 && s->sender)
		json_number(json, "sender", s->sender);
	json_object_end(json);
}

void core_report_begin(struct core_report *report, const struct core_file *core)
{
	struct json_output *json = &report->json;

	if (!report->is_json) {
		print_text(report->out, core);
		return;
	}
	json_object(json, NULL);
	json_number(json, "pid", core->pid);
	json_shown(json, "name", core->name);
	json_shown(json, "arguments", core->arguments);
	json_string(json, "machine", core->arch->name);
	json_unsigned(json, "missing_bytes", core->missing);
	if (core->signal.number)
		print_signal(json, &core->signal);
	json_array(json, "threads");
}

/* The draft is gone afterwards. */
static bool put_file(struct core_report *report, bool good)
{
	int r = report->out ? stream_close(report->out, 0) : -ENOMEM;

	if (r || !good)
		draft_discard(report->draft);
	else
		r = draft_commit(report->draft);
	if (r)
		complain("%s: %s", report->path, strerror(-r));
	return !r;
}

bool core_report_close(struct core_report *report, bool good)
{
	bool r;

	if (report->is_json && report->json.depth) {
		json_array_end(&report->json);
		json_object_end(&report->json);
	}
	if (!report->path)
		r = finish_output();
	else
		r = report->draft && put_file(report, good);
	free(report->path);
	return r;
}
