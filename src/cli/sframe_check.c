/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_check.c - bobbin sframe check: say what is wrong with SFrame sections.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/check_bounds.h"
#include "cli/check_cfi.h"
#include "cli/json_output.h"
#include "cli/sframe_command.h"
#include "export/safe_text.h"

#define STATUS_DEFECTS 1
#define STATUS_UNREADABLE 3

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

/* The status of a comparison of all rules. */
static int compare_rules(const struct check *check, const struct sframe_file *file)
{
	struct check_cfi cfi = {
		.path = check->path, .json = check->json, .quiet = check->arguments->quiet};

	if (!check_cfi(&cfi, file))
		return STATUS_UNREADABLE;
	return cfi.comparison.ranges[COMPARISON_DIFFERENT] ||
			       cfi.comparison.ranges[COMPARISON_UNREADABLE]
		       ? STATUS_DEFECTS
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
	check_bounds_init(&file, &check.bounds);
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
