/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/stack_printer.h"

#include <inttypes.h>

#include "base/base_name.h"
#include "export/safe_text.h"

/* Whether frames were left out before this one. */
static bool is_outer(const struct bobbin_trace *trace, uint32_t number)
{
	return trace->left_out && number >= trace->count - trace->outer;
}

static void print_text(const struct stack_printer *p, uint32_t shown, const struct bobbin_frame *f,
		       const struct named_frame *name)
{
	fprintf(p->out, "#%-3" PRIu32 " 0x%016" PRIx64 " ", shown, f->pc);
	safe_text_plain(p->out, name->symbol.name ? name->symbol.name : "[unknown]");
	if (name->symbol.name && !name->inlined)
		fprintf(p->out, "+0x%" PRIx64, name->symbol.offset);
	fputs(" (", p->out);
	safe_text_plain(p->out, name->inlined ? "inlined" : name->dso);
	fputc(')', p->out);
	if (name->symbol.src_file) {
		fputs(" at ", p->out);
		safe_text_plain(p->out, base_name(name->symbol.src_file));
		fprintf(p->out, ":%" PRIu32, name->symbol.line);
	}
	if (p->verbose && !name->inlined)
		fprintf(p->out, " [%s]", bobbin_source_str(f->source));
	fputc('\n', p->out);
}

static void print_object(const struct stack_printer *p, uint32_t shown,
			 const struct bobbin_frame *f, const struct named_frame *name)
{
	struct json_output *json = p->json;

	json_object(json, NULL);
	json_unsigned(json, "number", shown);
	json_address(json, "pc", f->pc);
	if (name->symbol.name)
		json_shown(json, "function", name->symbol.name);
	if (name->symbol.name && !name->inlined)
		json_address(json, "offset", name->symbol.offset);
	json_shown(json, "file", name->dso);
	json_address(json, "file_offset", name->file_offset);
	if (name->symbol.src_file) {
		json_shown(json, "source_file", name->symbol.src_file);
		json_unsigned(json, "line", name->symbol.line);
	}
	json_bool(json, "inlined", name->inlined);
	json_string(json, "table", bobbin_source_str(f->source));
	json_object_end(json);
}

/* @number: of frames in the trace */
static void print_frame(const struct stack_printer *p, const struct bobbin_trace *trace,
			uint32_t number)
{
	const struct bobbin_frame *f = &trace->frames[number];
	const uint32_t shown = number + (is_outer(trace, number) ? trace->left_out : 0);
	const struct naming_moment moment = {.pid = p->pid, .time = UINT64_MAX};
	struct named_frame named[NAMING_MAX_INLINES];
	size_t n = naming_frame(p->naming, p->space, &moment, f, named);

	for (size_t i = 0; i < n; i++) {
		if (p->json)
			print_object(p, shown, f, &named[i]);
		else
			print_text(p, shown, f, &named[i]);
	}
}

static void put_text(const struct stack_printer *p, const struct bobbin_trace *trace)
{
	for (uint32_t i = 0; i < trace->count; i++) {
		if (is_outer(trace, i) && !is_outer(trace, i - 1))
			fprintf(p->out, "     [%" PRIu32 " frames left out]\n", trace->left_out);
		print_frame(p, trace, i);
	}
	if (trace->reason != BOBBIN_REASON_OUTERMOST)
		fprintf(p->out, "     the trace ends here: %s\n", bobbin_reason_str(trace->reason));
}

static void put_object(const struct stack_printer *p, int tid, const char *name,
		       const struct bobbin_trace *trace)
{
	struct json_output *json = p->json;

	json_object(json, NULL);
	json_number(json, "tid", tid);
	if (name)
		json_shown(json, "name", name);
	json_string(json, "reason", bobbin_reason_name(trace->reason));
	json_bool(json, "complete", trace->reason == BOBBIN_REASON_OUTERMOST);
	json_unsigned(json, "left_out", trace->left_out);
	json_array(json, "frames");
	for (uint32_t i = 0; i < trace->count; i++)
		print_frame(p, trace, i);
	json_array_end(json);
	json_object_end(json);
}

void stack_printer_put(const struct stack_printer *printer, int tid, const char *name,
		       const struct bobbin_trace *trace)
{
	if (printer->json) {
		put_object(printer, tid, name, trace);
		return;
	}
	fprintf(printer->out, "TID %d", tid);
	if (name) {
		fputs(" (", printer->out);
		safe_text_plain(printer->out, name);
		fputc(')', printer->out);
	}
	fputs(":\n", printer->out);
	put_text(printer, trace);
}
