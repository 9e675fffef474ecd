/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_stat.c - what files' unwind tables hold, and what SFrame would be.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/coverage.h"
#include "cli/sframe_command.h"
#include "convert/row_walk.h"
#include "export/json_output.h"
#include "export/safe_text.h"
#include "object/object_code.h"

/*
 * Rows that are read for each byte of a section, at most: shared rows are read for each
 * function.
 */
#define ROWS_PER_BYTE 64

/**
 * struct section_tally - the numbers of things in sections
 * @sections: sections that were counted
 * @bytes: of the sections by their headers
 * @functions: of these, @flex, @repeating and @signals are what the names say,
 *	and @empty have no rows
 * @rows: rows, of which @outermost have no caller
 * @malformed: functions whose entry or rows cannot be read, or which have an absurd number
 *	of rows
 * @covered: the functions' addresses
 */
struct section_tally {
	uint64_t sections, bytes;
	uint64_t functions, flex, repeating, signals, empty;
	uint64_t rows, outermost;
	uint64_t malformed;
	struct coverage covered;
};

/* Of one file, or the sum over all. */
struct figures {
	uint64_t text, cfi_bytes;
	struct convert_stats convert;
	struct section_tally present, converted;
	uint64_t present_text, converted_text; /* bytes of text that they cover */
	uint8_t version; /* of the section that is there; 0: none, or several */
};

/* false: a row cannot be read. */
static bool add_rows(struct section_tally *tally, const struct bobbin_sframe_view *view,
		     const struct bobbin_sframe_fde *fde, uint64_t *budget)
{
	struct row_walk walk = row_walk(view, fde);
	struct bobbin_sframe_row row;
	struct bobbin_error error;
	int r;

	/* only an attack shares rows among so many functions */
	if (fde->num_fres > *budget)
		return false;
	*budget -= fde->num_fres;
	while ((r = row_walk_next(&walk, &error, &row)) > 0) {
		tally->rows++;
		tally->outermost += row.rule.ra.how == BOBBIN_HOW_UNDEFINED;
	}
	return !r;
}

/* Count a section, too.  0, -ENOMEM. */
static int tally_add(struct section_tally *tally, const struct bobbin_sframe_view *view)
{
	uint64_t budget = view->size * ROWS_PER_BYTE;

	tally->sections++;
	tally->bytes += view->size;
	for (uint32_t i = 0; i < view->num_fdes; i++) {
		struct bobbin_sframe_fde fde;

		tally->functions++;
		if (bobbin_sframe_fde(view, i, NULL, &fde) ||
		    !add_rows(tally, view, &fde, &budget)) {
			tally->malformed++;
			continue;
		}
		tally->flex += fde.flex;
		tally->repeating += fde.pcmask;
		tally->signals += fde.signal;
		tally->empty += !fde.num_fres;
		if (coverage_add(&tally->covered, fde.start, fde.start + fde.size))
			return -ENOMEM;
	}
	return 0;
}

static int tally_section(const struct file_cfi *input, const struct sframe_section *section,
			 struct figures *f)
{
	struct bobbin_sframe_view view;
	uint64_t pos = 0;
	int r = 0;

	while (!r && sframe_section_next(section, &pos, NULL, &view) > 0) {
		if (section->relocated)
			start_placement_by(&input->object, section, &view);
		f->version = view.version;
		r = tally_add(&f->present, &view);
	}
	return r;
}

static int tally_object(const struct file_cfi *input, struct bobbin_error *err, struct figures *f)
{
	struct sframe_file file;
	int r = sframe_file_init(input->fd, err, &file);

	if (r)
		return r;
	for (size_t i = 0; i < file.section_count && !r; i++)
		r = tally_section(input, &file.sections[i], f);
	sframe_file_fini(&file);
	return r;
}

static int tally_converted(const struct arguments *a, const struct file_cfi *input,
			   struct figures *f)
{
	const struct convert_options options = {.version = 3, .share = a->share};
	struct bobbin_sframe_view view;
	uint8_t *data;
	uint64_t size;
	int r;

	if (!input->count)
		return 0;
	r = file_cfi_convert(input, &options, &f->convert, &data, &size);
	if (r)
		return r;
	r = bobbin_sframe_view(data, size, 0, NULL, &view);
	if (!r)
		r = tally_add(&f->converted, &view);
	free(data);
	return r;
}

static int measure_text(const struct file_cfi *input, struct figures *f)
{
	struct coverage text = {0};
	int r = 0;

	for (size_t i = 0; i < input->code_count && !r; i++)
		r = coverage_add(&text, input->code[i].start, input->code[i].end);
	f->text = coverage_bytes(&text);
	f->present_text = coverage_overlap(&f->present.covered, &text);
	f->converted_text = coverage_overlap(&f->converted.covered, &text);
	coverage_fini(&text);
	return r;
}

/* false after a complaint. */
static bool measure(const struct arguments *a, const char *path, struct figures *f)
{
	struct bobbin_error error = {0};
	struct sframe_section section;
	struct file_cfi input;
	int r;

	if (!file_cfi_open(path, &input))
		return false;
	f->cfi_bytes = input.bytes;
	section = file_cfi_sframe(&input);
	r = input.object.arch ? tally_object(&input, &error, f)
			      : tally_section(&input, &section, f);
	if (!r)
		r = tally_converted(a, &input, f);
	if (!r)
		r = measure_text(&input, f);
	file_cfi_close(&input);
	return accept_file(path, r, &error);
}

static void figures_fini(struct figures *f)
{
	coverage_fini(&f->present.covered);
	coverage_fini(&f->converted.covered);
}

static void add_tally(struct section_tally *sum, const struct section_tally *more)
{
	sum->sections += more->sections;
	sum->bytes += more->bytes;
	sum->functions += more->functions;
	sum->flex += more->flex;
	sum->repeating += more->repeating;
	sum->signals += more->signals;
	sum->empty += more->empty;
	sum->rows += more->rows;
	sum->outermost += more->outermost;
	sum->malformed += more->malformed;
}

static void add_figures(struct figures *sum, const struct figures *more)
{
	sum->text += more->text;
	sum->cfi_bytes += more->cfi_bytes;
	sum->convert.fdes += more->convert.fdes;
	sum->convert.dead += more->convert.dead;
	sum->convert.cfi_rows += more->convert.cfi_rows;
	sum->convert.lost_rows += more->convert.lost_rows;
	sum->convert.lost_fdes += more->convert.lost_fdes;
	sum->convert.lost_text += more->convert.lost_text;
	for (unsigned int i = 0; i < BOBBIN_REASON_COUNT; i++)
		sum->convert.reasons[i] += more->convert.reasons[i];
	add_tally(&sum->present, &more->present);
	add_tally(&sum->converted, &more->converted);
	sum->present_text += more->present_text;
	sum->converted_text += more->converted_text;
}

static void print_tally(const char *name, const struct section_tally *t, uint64_t text_covered,
			const struct figures *f)
{
	printf("  %-12s %" PRIu64 " bytes, %" PRIu64 " functions, %" PRIu64
	       " rows, %.2f %% of the text",
	       name, t->bytes, t->functions, t->rows, percent(text_covered, f->text));
	if (f->cfi_bytes)
		printf(", %.3f of the call-frame information",
		       percent(t->bytes, f->cfi_bytes) / 100);
	putchar('\n');
	printf("  %-12s flexible %" PRIu64 ", repeating %" PRIu64 ", signal %" PRIu64
	       ", without rows %" PRIu64 ", outermost rows %" PRIu64 "\n",
	       "", t->flex, t->repeating, t->signals, t->empty, t->outermost);
	if (t->malformed)
		printf("  %-12s malformed functions: %" PRIu64 "\n", "", t->malformed);
}

static void print_lost(const struct convert_stats *s)
{
	printf("  %-12s %" PRIu64 " rows (%.4f %%), %" PRIu64 " bytes of code", "left out",
	       s->lost_rows, percent(s->lost_rows, s->cfi_rows), s->lost_text);
	for (unsigned int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (s->reasons[i])
			printf("; %" PRIu64 ": %s", s->reasons[i],
			       bobbin_reason_str((enum bobbin_reason)i));
	putchar('\n');
}

static void print_figures(const char *name, const struct figures *f)
{
	char label[32] = ".sframe";

	safe_text_plain(stdout, name);
	fputs(":\n", stdout);
	printf("  %-12s %" PRIu64 " bytes\n", "text", f->text);
	if (f->cfi_bytes)
		printf("  %-12s %" PRIu64 " bytes, %" PRIu64 " functions, %" PRIu64 " rows\n",
		       "CFI", f->cfi_bytes, f->convert.fdes, f->convert.cfi_rows);
	if (f->convert.dead)
		printf("  %-12s entries about no code of the file: %" PRIu64 "\n", "",
		       f->convert.dead);
	if (f->version)
		snprintf(label, sizeof(label), ".sframe V%u", f->version);
	if (f->present.sections)
		print_tally(label, &f->present, f->present_text, f);
	else
		printf("  %-12s none\n", ".sframe");
	if (!f->convert.fdes)
		return;
	print_tally("converted", &f->converted, f->converted_text, f);
	print_lost(&f->convert);
}

static void json_tally(struct json_output *json, const char *key, const struct section_tally *t,
		       uint64_t covered)
{
	json_object(json, key);
	json_unsigned(json, "sections", t->sections);
	json_unsigned(json, "bytes", t->bytes);
	json_unsigned(json, "functions", t->functions);
	json_unsigned(json, "flexible", t->flex);
	json_unsigned(json, "repeating", t->repeating);
	json_unsigned(json, "signal", t->signals);
	json_unsigned(json, "without_rows", t->empty);
	json_unsigned(json, "malformed", t->malformed);
	json_unsigned(json, "rows", t->rows);
	json_unsigned(json, "outermost_rows", t->outermost);
	json_unsigned(json, "text_covered", covered);
	json_object_end(json);
}

static void json_figures(struct json_output *json, const char *key, const char *name,
			 const struct figures *f)
{
	json_object(json, key);
	if (name)
		json_string(json, "file", name);
	json_unsigned(json, "text", f->text);
	json_unsigned(json, "cfi_bytes", f->cfi_bytes);
	json_unsigned(json, "cfi_functions", f->convert.fdes);
	json_unsigned(json, "cfi_rows", f->convert.cfi_rows);
	json_unsigned(json, "cfi_dead", f->convert.dead);
	if (f->version)
		json_unsigned(json, "version", f->version);
	json_tally(json, "sframe", &f->present, f->present_text);
	json_tally(json, "converted", &f->converted, f->converted_text);
	json_unsigned(json, "lost_rows", f->convert.lost_rows);
	json_unsigned(json, "lost_functions", f->convert.lost_fdes);
	json_unsigned(json, "lost_text", f->convert.lost_text);
	json_object(json, "lost_by_reason");
	for (unsigned int i = 0; i < BOBBIN_REASON_COUNT; i++)
		if (f->convert.reasons[i])
			json_unsigned(json, bobbin_reason_name((enum bobbin_reason)i),
				      f->convert.reasons[i]);
	json_object_end(json);
	json_object_end(json);
}

/* All files. */
struct sum {
	const struct arguments *arguments;
	struct json_output *json;
	struct figures figures;
	unsigned int files;
};

static void tell(const struct sum *sum, const char *key, const char *name, const struct figures *f)
{
	if (sum->arguments->json)
		json_figures(sum->json, key, key ? NULL : name, f);
	else
		print_figures(name, f);
}

static int stat_file(void *ctx, const char *path)
{
	struct sum *sum = ctx;
	struct figures f = {0};
	bool good = measure(sum->arguments, path, &f);

	if (good) {
		sum->files++;
		add_figures(&sum->figures, &f);
		tell(sum, NULL, path, &f);
	}
	figures_fini(&f);
	return !good;
}

static void stat_total(void *ctx)
{
	const struct sum *sum = ctx;

	if (sum->arguments->json || sum->files > 1)
		tell(sum, "total", "total", &sum->figures);
}

int run_sframe_stat(struct arguments *a)
{
	struct json_output json = json_output(stdout);
	struct sum sum = {.arguments = a, .json = &json};

	return report_files(a, &json, &(struct file_report){stat_file, stat_total, &sum, 1});
}
