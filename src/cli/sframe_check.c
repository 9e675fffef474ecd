/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_check.c - bobbin sframe check: say what is wrong with SFrame sections.
 */
#include <bobbin/sframe_validate.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "cli/sframe_command.h"
#include "convert/comparison.h"
#include "elf/sframe_file.h"
#include "export/json_output.h"
#include "export/safe_text.h"
#include "object/object_code.h"

#define STATUS_DEFECTS 1
#define STATUS_UNREADABLE 3
/* Between sections that are laid out, so that a function that is too long touches nothing. */
#define LAYOUT_GAP 4096

/* A section of a relocatable file that functions lie in, and where it was put. */
struct placed_section {
	size_t index;
	uint64_t start, size;
	bool exec;
};

/**
 * struct check_bounds - executable ranges and memory, for bobbin_sframe_validate()
 *
 * Linked files have executable ranges.  In a relocatable file each section
 * starts at 0, so they are laid out one after the other, and the start fields of
 * the SFrame section's data are changed to what a linker would write.
 *
 * @bounds: what it takes
 * @linked: of the file; borrowed
 * @laid_out: of the current section of a relocatable file; owned
 * @placed, @placed_count: what @laid_out comes from, ascending by index; owned
 * @order, @order_max: owned
 */
struct check_bounds {
	struct bobbin_sframe_bounds bounds;
	const struct coverage *linked;
	struct bobbin_range *laid_out;
	struct placed_section *placed;
	size_t placed_count;
	struct bobbin_sframe_order *order;
	size_t order_max;
};

static int by_index(const void *a, const void *b)
{
	const struct placed_section *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* The sections that relocations name, each once, one after the other. */
static size_t place(const struct sframe_section *section, struct placed_section *placed)
{
	uint64_t at = LAYOUT_GAP;
	size_t count = 0, used = 0;

	for (size_t i = 0; i < section->target_count; i++) {
		const struct sframe_target *t = &section->targets[i];

		if (t->section)
			placed[count++] = (struct placed_section){.index = t->section_index,
								  .size = t->section_size,
								  .exec = t->exec};
	}
	if (count)
		qsort(placed, count, sizeof(*placed), by_index);
	for (size_t i = 0; i < count; i++) {
		if (used && placed[used - 1].index == placed[i].index)
			continue;
		placed[used] = placed[i];
		placed[used].start = at;
		at += placed[used++].size + LAYOUT_GAP;
	}
	return used;
}

static uint64_t placed_start(const void *ctx, const struct sframe_target *target)
{
	const struct check_bounds *b = ctx;
	const struct placed_section *p;

	if (!target->section)
		return target->start;
	p = bsearch(&(struct placed_section){.index = target->section_index}, b->placed,
		    b->placed_count, sizeof(*p), by_index);
	return p->start + target->start;
}

static int lay_out(struct check_bounds *b, const struct sframe_section *section)
{
	free(b->placed);
	free(b->laid_out);
	b->placed = calloc(section->target_count + 1, sizeof(*b->placed));
	b->laid_out = calloc(section->target_count + 1, sizeof(*b->laid_out));
	if (!b->placed || !b->laid_out)
		return -ENOMEM;
	b->placed_count = place(section, b->placed);
	b->bounds.text = b->laid_out;
	b->bounds.text_count = 0;
	for (size_t i = 0; i < b->placed_count; i++) {
		const struct placed_section *p = &b->placed[i];

		if (p->exec)
			b->laid_out[b->bounds.text_count++] =
				(struct bobbin_range){p->start, p->start + p->size};
	}
	return 0;
}

static int check_bounds_section(struct check_bounds *bounds, const struct sframe_section *section)
{
	if (section->relocated)
		return lay_out(bounds, section);
	bounds->bounds.text = bounds->linked->ranges;
	bounds->bounds.text_count = (uint32_t)bounds->linked->count;
	return 0;
}

/* For a table of the section, whose bytes are changed if it is @section->relocated.  0, -ENOMEM. */
static int check_bounds_table(struct check_bounds *bounds, const struct sframe_section *section,
			      const struct bobbin_sframe_view *view)
{
	int r = vector_reserve(&bounds->order, &bounds->order_max, (size_t)view->num_fdes + 1,
			       sizeof(*bounds->order));

	if (r)
		return r;
	bounds->bounds.order = bounds->order;
	bounds->bounds.order_max = view->num_fdes;
	if (section->relocated)
		start_placement(section, view, placed_start, bounds);
	return 0;
}

static void check_bounds_fini(struct check_bounds *bounds)
{
	free(bounds->laid_out);
	free(bounds->placed);
	free(bounds->order);
}

/**
 * struct check - a check on its way
 * @json: where a document is printed to, or NULL for lines of text
 * @arguments: what to do
 * @path: the file
 * @section: of the file
 * @view: a table in it
 * @base: offset in the file of the table
 * @counts: defects of the file by severity
 * @functions, @rows: of the file
 * @bounds: where functions may lie
 * @input: call-frame information of the file, while rules are compared
 */
struct check {
	struct json_output *json;
	const struct arguments *arguments;
	const char *path;
	const struct sframe_section *section;
	const struct bobbin_sframe_view *view;
	uint64_t base;
	uint64_t counts[BOBBIN_SFRAME_ERROR + 1];
	uint64_t functions, rows;
	struct check_bounds bounds;
	const struct file_cfi *input;
};

static const char *const severities[] = {"clean", "note", "warning", "error"};

/* The function's target in a relocatable file, or NULL. */
static const struct sframe_target *target_of(const struct check *check, uint32_t fde)
{
	uint64_t field = check->view->fde_off + (uint64_t)fde * check->view->fde_size;

	return sframe_section_target(check->section,
				     (uint64_t)(check->view->data - check->section->data) + field);
}

/* Where the function starts; false if its entry cannot be read. */
static bool start_of(const struct check *check, uint32_t index, uint64_t *ret)
{
	const struct sframe_target *target = target_of(check, index);
	struct bobbin_sframe_fde fde;

	if (!target && bobbin_sframe_fde(check->view, index, NULL, &fde))
		return false;
	*ret = target ? target->start : fde.start;
	return true;
}

static void print_place(const struct check *check, const struct bobbin_sframe_defect *d)
{
	const struct sframe_target *target = target_of(check, d->fde);
	uint64_t start;

	printf(": function %" PRIu32, d->fde);
	if (start_of(check, d->fde, &start)) {
		fputs(" (", stdout);
		if (target && target->section) {
			safe_text_plain(stdout, target->section);
			putchar('+');
		}
		printf("0x%" PRIx64 ")", start);
	}
	if (d->fre != BOBBIN_SFRAME_NOWHERE)
		printf(": row %" PRIu32, d->fre);
}

static void print_line(const struct check *check, const struct bobbin_sframe_defect *d)
{
	safe_text_place(stdout, check->path);
	if (check->section->image) {
		safe_text_plain(stdout, check->section->image);
		fputs(": ", stdout);
	}
	printf("offset 0x%" PRIx64, check->base + d->offset);
	if (d->fde != BOBBIN_SFRAME_NOWHERE)
		print_place(check, d);
	printf(": %s: %s\n", severities[d->severity], bobbin_reason_str(d->reason));
}

static void print_object(const struct check *check, const struct bobbin_sframe_defect *d)
{
	struct json_output *json = check->json;
	const struct sframe_target *target;
	uint64_t start;

	json_object(json, NULL);
	if (check->section->image)
		json_string(json, "image", check->section->image);
	json_unsigned(json, "offset", check->base + d->offset);
	if (d->fde != BOBBIN_SFRAME_NOWHERE) {
		target = target_of(check, d->fde);
		json_unsigned(json, "function", d->fde);
		if (target && target->section)
			json_string(json, "section", target->section);
		if (start_of(check, d->fde, &start))
			json_address(json, "start", start);
	}
	if (d->fre != BOBBIN_SFRAME_NOWHERE)
		json_unsigned(json, "row", d->fre);
	json_string(json, "severity", severities[d->severity]);
	json_string(json, "reason", bobbin_reason_name(d->reason));
	json_string(json, "sentence", bobbin_reason_str(d->reason));
	json_object_end(json);
}

static void report(void *ctx, const struct bobbin_sframe_defect *defect)
{
	struct check *check = ctx;

	check->counts[defect->severity]++;
	if (check->arguments->quiet && defect->severity == BOBBIN_SFRAME_NOTE)
		return;
	if (check->json)
		print_object(check, defect);
	else
		print_line(check, defect);
}

/* A defect of the section, at an offset from its first byte. */
static void report_section(struct check *check, uint64_t offset, enum bobbin_reason reason)
{
	const struct bobbin_sframe_defect defect = {
		.offset = offset,
		.reason = reason,
		.severity = bobbin_sframe_severity(reason),
		.fde = BOBBIN_SFRAME_NOWHERE,
		.fre = BOBBIN_SFRAME_NOWHERE,
	};

	check->base = check->section->offset;
	report(check, &defect);
}

static int check_table(struct check *check, const struct bobbin_sframe_view *view)
{
	int r = check_bounds_table(&check->bounds, check->section, view);

	if (r)
		return r;
	check->view = view;
	check->base = check->section->offset + (uint64_t)(view->data - check->section->data);
	check->functions += view->num_fdes;
	check->rows += view->num_fres;
	r = bobbin_sframe_validate(view, &check->bounds.bounds, report, check);
	return r < 0 ? r : 0;
}

/* Bytes after a table that are not even a table. */
static enum bobbin_reason trailing(enum bobbin_reason reason)
{
	if (reason == BOBBIN_REASON_SFRAME_MAGIC || reason == BOBBIN_REASON_TRUNCATED)
		return BOBBIN_REASON_SFRAME_TRAILING;
	return reason;
}

static int check_section(struct check *check, const struct sframe_section *section)
{
	struct bobbin_sframe_view view;
	struct bobbin_error error;
	uint64_t pos = 0, at;
	unsigned int tables = 0;
	int r = 0, status = check_bounds_section(&check->bounds, section);

	check->section = section;
	while (!status && (r = sframe_section_next(section, &pos, &error, &view)) > 0) {
		at = (uint64_t)(view.data - section->data);
		if (tables++)
			report_section(check, at, BOBBIN_REASON_SFRAME_CONCATENATED);
		status = check_table(check, &view);
	}
	if (status)
		return status;
	if (r < 0)
		report_section(check, error.offset, tables ? trailing(error.reason) : error.reason);
	else if (!tables)
		report_section(check, 0, BOBBIN_REASON_SFRAME_EMPTY);
	return 0;
}

static void print_count(uint64_t count, const char *what)
{
	printf("%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void print_summary(const struct check *check)
{
	safe_text_place(stdout, check->path);
	for (int i = BOBBIN_SFRAME_ERROR; i >= BOBBIN_SFRAME_NOTE; i--) {
		print_count(check->counts[i], severities[i]);
		printf(i > BOBBIN_SFRAME_NOTE ? ", " : " in ");
	}
	print_count(check->functions, "function");
	printf(", ");
	print_count(check->rows, "row");
	putchar('\n');
}

static void print_counts(const struct check *check)
{
	json_unsigned(check->json, "errors", check->counts[BOBBIN_SFRAME_ERROR]);
	json_unsigned(check->json, "warnings", check->counts[BOBBIN_SFRAME_WARNING]);
	json_unsigned(check->json, "notes", check->counts[BOBBIN_SFRAME_NOTE]);
	json_unsigned(check->json, "functions", check->functions);
	json_unsigned(check->json, "rows", check->rows);
}

static int check_sections(struct check *check, const struct sframe_file *file)
{
	int r = 0;

	if (check->json) {
		json_object(check->json, NULL);
		json_string(check->json, "file", check->path);
		json_array(check->json, "defects");
	}
	for (size_t i = 0; i < file->section_count && !r; i++)
		r = check_section(check, &file->sections[i]);
	if (check->json) {
		json_array_end(check->json);
		print_counts(check);
	} else if (!r && !check->arguments->quiet) {
		print_summary(check);
	}
	return r;
}

/* What could not be looked at, to stderr. */
static bool is_whole(const struct check *check, const struct sframe_file *file, int r)
{
	for (size_t i = 0; i < file->absence_count; i++)
		complain("%s: %s is not there to be read", check->path, file->absences[i].image);
	if (!file->section_count)
		complain("%s: no SFrame section", check->path);
	if (r)
		complain("%s: %s", check->path, strerror(-r));
	return !r && file->section_count && !file->absence_count;
}

static const char *const kinds[] = {
	[COMPARISON_DIFFERENT] = "different",
	[COMPARISON_MISSING] = "missing",
	[COMPARISON_EXTRA] = "extra",
	[COMPARISON_UNREADABLE] = "unreadable",
};

static bool is_error(enum comparison_kind kind)
{
	return kind == COMPARISON_DIFFERENT || kind == COMPARISON_UNREADABLE;
}

static void print_difference(const struct check *check, const struct comparison_difference *d)
{
	char cfi[BOBBIN_RULE_STR_MAX], sframe[BOBBIN_RULE_STR_MAX];

	safe_text_place(stdout, check->path);
	fputs("code ", stdout);
	file_cfi_print_range(check->input, stdout, d->start, d->end);
	if (d->kind == COMPARISON_MISSING) {
		printf(": note: no SFrame, but call-frame information\n");
		return;
	}
	bobbin_rule_str(check->input->arch, &d->cfi, cfi);
	if (d->kind == COMPARISON_UNREADABLE)
		snprintf(sframe, sizeof(sframe), "none (%s)", bobbin_reason_str(d->error.reason));
	else
		bobbin_rule_str(check->input->arch, &d->sframe, sframe);
	printf(": %s: SFrame: %s; call-frame information: %s\n",
	       is_error(d->kind) ? "error" : "note", sframe, cfi);
}

static void json_difference(const struct check *check, const struct comparison_difference *d)
{
	struct json_output *json = check->json;
	const struct bobbin_arch *arch = check->input->arch;
	char spelled[BOBBIN_RULE_STR_MAX];
	uint64_t start = d->start;
	const char *section = file_cfi_section(check->input, &start);

	json_object(json, NULL);
	if (section)
		json_string(json, "section", section);
	json_address(json, "start", start);
	json_address(json, "end", d->end - (d->start - start));
	json_string(json, "kind", kinds[d->kind]);
	if (d->kind != COMPARISON_MISSING) {
		bobbin_rule_str(arch, &d->cfi, spelled);
		json_string(json, "cfi", spelled);
	}
	if (d->kind == COMPARISON_UNREADABLE) {
		json_string(json, "reason", bobbin_reason_name(d->error.reason));
	} else if (d->kind != COMPARISON_MISSING) {
		bobbin_rule_str(arch, &d->sframe, spelled);
		json_string(json, "sframe", spelled);
	}
	json_object_end(json);
}

static void differ(void *ctx, const struct comparison_difference *d)
{
	const struct check *check = ctx;

	if (check->arguments->quiet && !is_error(d->kind))
		return;
	if (check->json)
		json_difference(check, d);
	else
		print_difference(check, d);
}

static int compare_tables(struct check *check, const struct sframe_file *file,
			  struct comparison *ret)
{
	struct sframe_tables list = {0};
	int r = 0;

	for (size_t i = 0; i < file->section_count && !r; i++)
		r = file_cfi_add_tables(check->input, &file->sections[i], &list);
	*ret = (struct comparison){
		.cfi = check->input->views,
		.cfi_count = check->input->count,
		.sframe = list.views,
		.sframe_count = list.count,
		.differ = differ,
		.ctx = check,
	};
	if (!r)
		r = comparison_run(ret);
	free(list.views);
	return r;
}

static void print_comparison(const struct check *check, const struct comparison *c)
{
	safe_text_place(stdout, check->path);
	printf("%" PRIu64 " rows of call-frame information compared:", c->rows);
	for (int i = 0; i < COMPARISON_KINDS; i++)
		printf("%s %" PRIu64 " %s (%" PRIu64 " bytes)", i ? "," : "", c->ranges[i],
		       kinds[i], c->bytes[i]);
	putchar('\n');
}

static void json_comparison(struct json_output *json, const struct comparison *c)
{
	json_array_end(json);
	json_unsigned(json, "cfi_rows", c->rows);
	for (int i = 0; i < COMPARISON_KINDS; i++)
		json_unsigned(json, kinds[i], c->ranges[i]);
}

/*
 * Compare all sections of the file with its .eh_frame and .debug_frame at every address and print
 * the differences.  The starts of functions in a relocatable file's sections are changed for that.
 * Returns the status.
 */
static int compare_rules(struct check *check, const struct sframe_file *file)
{
	struct comparison c = {0};
	struct file_cfi input;
	int r = -ENODATA;

	if (!file_cfi_open(check->path, &input))
		return STATUS_UNREADABLE;
	check->input = &input;
	if (check->json)
		json_array(check->json, "differences");
	if (!input.count) {
		complain("%s: there is no .eh_frame and no .debug_frame", check->path);
	} else {
		r = compare_tables(check, file, &c);
		if (r)
			complain("%s: %s", check->path, strerror(-r));
	}
	if (check->json)
		json_comparison(check->json, &c);
	else if (!r && !check->arguments->quiet)
		print_comparison(check, &c);
	file_cfi_close(&input);
	if (r)
		return STATUS_UNREADABLE;
	return c.ranges[COMPARISON_DIFFERENT] || c.ranges[COMPARISON_UNREADABLE] ? STATUS_DEFECTS
										 : 0;
}

static int check_file(void *ctx, const char *path)
{
	struct check check = *(const struct check *)ctx;
	struct sframe_file file;
	bool whole;
	int r = 0, status = 0;

	check.path = path;
	if (!read_sframe_file(path, &file))
		return STATUS_UNREADABLE;
	check.bounds = (struct check_bounds){.bounds = {.arch = file.arch}, .linked = &file.code};
	if (file.section_count)
		r = check_sections(&check, &file);
	check_bounds_fini(&check.bounds);
	whole = is_whole(&check, &file, r);
	if (whole && check.arguments->against_cfi)
		status = compare_rules(&check, &file);
	if (check.json && file.section_count)
		json_object_end(check.json);
	sframe_file_fini(&file);
	if (!whole)
		return STATUS_UNREADABLE;
	if (status)
		return status;
	if (check.counts[BOBBIN_SFRAME_ERROR] || check.counts[BOBBIN_SFRAME_WARNING])
		return STATUS_DEFECTS;
	return 0;
}

int run_sframe_check(struct arguments *a)
{
	struct json_output json = json_output(stdout);
	struct check check = {.json = a->json ? &json : NULL, .arguments = a};

	return report_files(a, &json,
			    &(struct file_report){check_file, NULL, &check, STATUS_UNREADABLE});
}
