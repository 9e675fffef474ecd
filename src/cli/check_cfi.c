/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/check_cfi.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "cli/file_cfi.h"
#include "cli/sframe_command.h"
#include "export/safe_text.h"
#include "object/start_placement.h"

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

static void print_line(const struct check_cfi *check, const struct comparison_difference *d)
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

static void print_object(const struct check_cfi *check, const struct comparison_difference *d)
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
	const struct check_cfi *check = ctx;

	if (check->quiet && !is_error(d->kind))
		return;
	if (check->json)
		print_object(check, d);
	else
		print_line(check, d);
}

/* All tables of a file's sections, up to the first that cannot be read. */
struct table_list {
	struct bobbin_sframe_view *views;
	unsigned int count;
	size_t capacity;
};

static int list_tables(const struct file_cfi *input, const struct sframe_file *file,
		       struct table_list *ret)
{
	for (size_t i = 0; i < file->section_count; i++) {
		struct bobbin_sframe_view view;
		uint64_t pos = 0;

		while (sframe_section_next(&file->sections[i], &pos, NULL, &view) > 0) {
			if (vector_reserve(&ret->views, &ret->capacity, ret->count + 1,
					   sizeof(view)))
				return -ENOMEM;
			if (file->sections[i].relocated)
				start_placement_by(&input->object, &file->sections[i], &view);
			ret->views[ret->count++] = view;
		}
	}
	return 0;
}

static int compare(struct check_cfi *check, const struct sframe_file *file,
		   const struct file_cfi *input)
{
	struct table_list list = {0};
	int r = list_tables(input, file, &list);

	check->input = input;
	check->comparison = (struct comparison){
		.cfi = input->views,
		.cfi_count = input->count,
		.sframe = list.views,
		.sframe_count = list.count,
		.differ = differ,
		.ctx = check,
	};
	if (!r)
		r = comparison_run(&check->comparison);
	free(list.views);
	return r;
}

static void print_summary(const struct check_cfi *check)
{
	const struct comparison *c = &check->comparison;

	safe_text_place(stdout, check->path);
	printf("%" PRIu64 " rows of call-frame information compared:", c->rows);
	for (int i = 0; i < COMPARISON_KINDS; i++)
		printf("%s %" PRIu64 " %s (%" PRIu64 " bytes)", i ? "," : "", c->ranges[i],
		       kinds[i], c->bytes[i]);
	putchar('\n');
}

static void finish_object(const struct check_cfi *check)
{
	const struct comparison *c = &check->comparison;

	json_array_end(check->json);
	json_unsigned(check->json, "cfi_rows", c->rows);
	for (int i = 0; i < COMPARISON_KINDS; i++)
		json_unsigned(check->json, kinds[i], c->ranges[i]);
}

bool check_cfi(struct check_cfi *check, const struct sframe_file *file)
{
	struct file_cfi input;
	int r;

	if (!file_cfi_open(check->path, &input))
		return false;
	if (check->json)
		json_array(check->json, "differences");
	if (!input.count) {
		complain("%s: there is no .eh_frame and no .debug_frame", check->path);
		r = -ENODATA;
	} else {
		r = compare(check, file, &input);
		if (r)
			complain("%s: %s", check->path, strerror(-r));
	}
	if (check->json)
		finish_object(check);
	else if (!r && !check->quiet)
		print_summary(check);
	file_cfi_close(&input);
	return !r;
}
