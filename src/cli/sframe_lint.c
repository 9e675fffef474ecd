/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_lint.c - bobbin sframe lint: where unwind tables contradict the code.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/sframe_command.h"
#include "export/json_output.h"
#include "export/safe_text.h"
#include "infer/program_code.h"
#include "infer/stated_rows.h"
#include "infer/table_lint.h"
#include "infer/x86_decode.h"
#include "symbol/symbolizer.h"

#define STATUS_FAULTS 1
#define STATUS_UNREADABLE 3
/* Between two looks of how far it is. */
#define PROGRESS_NS (NS_PER_SECOND / 2)

/**
 * struct lint_progress - for whoever waits at a terminal
 * @number: of the file
 * @shown: when it was last
 */
struct lint_progress {
	int number;
	uint64_t shown;
};

/**
 * struct lint_report - a report on its way
 * @json: where a document is printed to, or NULL for lines of text
 * @arguments: what to do
 * @path, @input: the file
 * @symbolizer, @file: for names
 * @decoder: for instructions
 * @progress: through the files
 */
struct lint_report {
	struct json_output *json;
	const struct arguments *arguments;
	const char *path;
	struct file_cfi input;
	struct symbolizer *symbolizer;
	unsigned int file;
	struct insn_decoder *decoder;
	struct lint_progress *progress;
};

static const char *const sections[] = {".eh_frame", ".debug_frame", ".sframe"};

#define LABEL_MAX 128

/* "name+0x10", or by the start of the function in the table: "0x1200+0x10". */
static void name_place(const struct lint_report *r, const struct lint_fault *fault,
		       char ret[LABEL_MAX])
{
	struct symbol symbol;
	uint64_t offset;

	if (r->symbolizer && elf_image_offset(&r->input.image, fault->start, &offset) &&
	    symbolizer_resolve(r->symbolizer, r->file, offset, &symbol, 1) == 1 &&
	    symbol.start >= fault->function)
		snprintf(ret, LABEL_MAX, "%.96s+0x%" PRIx64, symbol.name, symbol.offset);
	else
		snprintf(ret, LABEL_MAX, "0x%" PRIx64 "+0x%" PRIx64, fault->function,
			 fault->start - fault->function);
}

static void instruction_at(const struct lint_report *r, uint64_t addr, char ret[INSN_TEXT_MAX])
{
	uint8_t code[16] = {0};
	uint64_t offset;
	ssize_t size = -1;

	*ret = 0;
	if (addr && elf_image_offset(&r->input.image, addr, &offset))
		size = pread(r->input.fd, code, sizeof(code), (off_t)offset);
	if (size > 0)
		x86_text(r->decoder, code, (uint64_t)size, addr, ret);
}

static const char *kind_of(const struct lint_fault *fault)
{
	if (fault->kinds == STATED_FP_DIFFERS)
		return "FP";
	return fault->kinds == STATED_CFA_DIFFERS ? "CFA" : "CFA and FP";
}

/* The strings of one fault. */
struct spelled_fault {
	char place[LABEL_MAX], at[INSN_TEXT_MAX], after[INSN_TEXT_MAX];
	char stated[BOBBIN_RULE_STR_MAX], inferred[BOBBIN_RULE_STR_MAX];
};

static void spell(const struct lint_report *r, const struct lint_fault *fault,
		  struct spelled_fault *ret)
{
	name_place(r, fault, ret->place);
	instruction_at(r, fault->start, ret->at);
	instruction_at(r, fault->after, ret->after);
	bobbin_rule_str(r->input.arch, &fault->stated, ret->stated);
	bobbin_rule_str(r->input.arch, &fault->inferred, ret->inferred);
}

static void print_line(const struct lint_report *r, const struct lint_fault *fault)
{
	struct spelled_fault s;

	spell(r, fault, &s);
	safe_text_place(stdout, r->path);
	printf("0x%" PRIx64 "..0x%" PRIx64 ": ", fault->start, fault->end);
	safe_text_plain(stdout, s.place);
	if (*s.after)
		printf(": after '%s'", s.after);
	printf(": '%s'", s.at);
	if (fault->instructions > 1)
		printf(" and %" PRIu64 " more", fault->instructions - 1);
	printf(": %s: %s: %s; code: %s\n", kind_of(fault), sections[fault->section], s.stated,
	       s.inferred);
}

static void print_object(const struct lint_report *r, const struct lint_fault *fault)
{
	struct json_output *json = r->json;
	struct spelled_fault s;

	spell(r, fault, &s);
	json_object(json, NULL);
	json_address(json, "start", fault->start);
	json_address(json, "end", fault->end);
	json_address(json, "function", fault->function);
	json_string(json, "place", s.place);
	json_string(json, "instruction", s.at);
	if (*s.after)
		json_string(json, "after", s.after);
	json_unsigned(json, "instructions", fault->instructions);
	json_bool(json, "cfa", fault->kinds & STATED_CFA_DIFFERS);
	json_bool(json, "fp", fault->kinds & STATED_FP_DIFFERS);
	json_string(json, "section", sections[fault->section]);
	json_string(json, "table", s.stated);
	json_string(json, "code", s.inferred);
	json_object_end(json);
}

static void print_summary(const struct lint_report *r, const struct lint_result *result)
{
	safe_text_place(stdout, r->path);
	printf("%zu place%s, %" PRIu64 " of %" PRIu64 " instructions differ; %" PRIu64
	       " of them are right on another way, %" PRIu64
	       " are in code that is not called as a function\n",
	       result->count, result->count == 1 ? "" : "s", result->different, result->compared,
	       result->confirmed, result->uncalled);
}

static void print_result(const struct lint_report *r, const struct lint_result *result)
{
	if (r->json) {
		json_object(r->json, NULL);
		json_string(r->json, "file", r->path);
		json_array(r->json, "faults");
	}
	for (size_t i = 0; i < result->count; i++)
		if (r->json)
			print_object(r, &result->faults[i]);
		else
			print_line(r, &result->faults[i]);
	if (r->json) {
		json_array_end(r->json);
		json_unsigned(r->json, "compared", result->compared);
		json_unsigned(r->json, "different", result->different);
		json_unsigned(r->json, "confirmed", result->confirmed);
		json_unsigned(r->json, "uncalled", result->uncalled);
		json_object_end(r->json);
	} else if (!r->arguments->quiet) {
		print_summary(r, result);
	}
}

/* Names are shown if there are any. */
static void open_names(struct lint_report *r)
{
	const struct symbolizer_options options = {.demangle = true,
						   .debug_path = r->arguments->unwind.debug_path,
						   .on_loss = complain_loss};
	const struct symbol_file file = {.path = r->path,
					 .build_id = r->input.image.build_id,
					 .build_id_len = r->input.image.build_id_len};

	if (symbolizer_open(&options, &r->symbolizer)) {
		r->symbolizer = NULL;
	} else if (symbolizer_file(r->symbolizer, &file, &r->file)) {
		symbolizer_close(r->symbolizer);
		r->symbolizer = NULL;
	}
}

static int lint(struct lint_report *r, struct lint_result *ret)
{
	const struct sframe_section section = file_cfi_sframe(&r->input);
	struct sframe_tables sframe = {0};
	struct lint_tables tables = {.cfi = r->input.views, .cfi_count = r->input.count};
	int error = file_cfi_add_tables(&r->input, &section, &sframe);

	tables.sframe = sframe.views;
	tables.sframe_count = sframe.count;
	if (!error && r->input.arch != bobbin_arch_amd64())
		error = -ENOTSUP;
	if (!error && !tables.cfi_count && !tables.sframe_count)
		error = -ENODATA;
	if (!error)
		error = table_lint(r->input.fd, &tables, ret);
	free(sframe.views);
	return error;
}

static const char *refusal_of(int error)
{
	if (error == -ENODATA)
		return "there are no tables, or there is no code";
	if (error == -ENOTSUP)
		return x86_decoder_exists() ? "not the code of x86-64"
					    : "this build cannot read machine code";
	return strerror(-error);
}

/* Where results go to the terminal, they show it themselves. */
static void tell_progress(const struct lint_report *r)
{
	struct lint_progress *p = r->progress;
	uint64_t now = clock_now();

	p->number++;
	if (r->arguments->quiet || !isatty(STDERR_FILENO) || isatty(STDOUT_FILENO) ||
	    (p->shown && now - p->shown < PROGRESS_NS))
		return;
	progress_line("bobbin sframe lint: file %d of %d", p->number, r->arguments->operand_count);
	p->shown = now;
}

static int lint_file(void *ctx, const char *path)
{
	struct lint_report r = *(const struct lint_report *)ctx;
	struct lint_result result = {0};
	int error, status;

	r.path = path;
	tell_progress(&r);
	if (!file_cfi_open(path, &r.input))
		return STATUS_UNREADABLE;
	if (r.input.object.arch) {
		complain("%s: a relocatable file: link it first", path);
		file_cfi_close(&r.input);
		return STATUS_UNREADABLE;
	}
	error = lint(&r, &result);
	if (error) {
		complain("%s: %s", path, refusal_of(error));
		status = STATUS_UNREADABLE;
	} else {
		open_names(&r);
		print_result(&r, &result);
		symbolizer_close(r.symbolizer);
		status = result.count ? STATUS_FAULTS : 0;
	}
	lint_result_fini(&result);
	file_cfi_close(&r.input);
	return status;
}

int run_sframe_lint(struct arguments *a)
{
	struct json_output json = json_output(stdout);
	struct lint_progress progress = {0};
	struct lint_report report = {.json = a->json ? &json : NULL,
				     .arguments = a,
				     .decoder = x86_decoder_open(),
				     .progress = &progress};
	int status = report_files(
		a, &json, &(struct file_report){lint_file, NULL, &report, STATUS_UNREADABLE});

	end_progress_line();
	x86_decoder_close(report.decoder);
	return status;
}
