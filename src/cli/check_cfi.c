/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/check_cfi.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cfi_tables.h"
#include "cli/rule_spelling.h"
#include "cli/sframe_command.h"

static const char *const kinds[] = {
	[COMPARISON_DIFFERENT] = "different",
	[COMPARISON_MISSING] = "missing",
	[COMPARISON_EXTRA] = "extra",
	[COMPARISON_UNREADABLE] = "unreadable",
};

/* What is told of a difference. */
struct told {
	const struct check_cfi *check;
	const struct bobbin_arch *arch;
};

static bool is_error(enum comparison_kind kind)
{
	return kind == COMPARISON_DIFFERENT || kind == COMPARISON_UNREADABLE;
}

static void print_line(const struct told *told, const struct comparison_difference *d)
{
	char cfi[RULE_SPELLING_MAX], sframe[RULE_SPELLING_MAX];

	rule_spell(told->arch, &d->cfi, cfi);
	if (d->kind == COMPARISON_MISSING)
		strcpy(sframe, "none");
	else if (d->kind == COMPARISON_UNREADABLE)
		snprintf(sframe, sizeof(sframe), "none (%s)", bobbin_reason_str(d->error.reason));
	else
		rule_spell(told->arch, &d->sframe, sframe);
	printf("%s: code 0x%" PRIx64 "..0x%" PRIx64
	       ": %s: SFrame: %s; call-frame information: %s\n",
	       told->check->path, d->start, d->end, is_error(d->kind) ? "error" : "note", sframe,
	       cfi);
}

static void print_object(const struct told *told, const struct comparison_difference *d)
{
	struct json_output *json = told->check->json;
	char spelled[RULE_SPELLING_MAX];

	json_object(json, NULL);
	json_address(json, "start", d->start);
	json_address(json, "end", d->end);
	json_string(json, "kind", kinds[d->kind]);
	rule_spell(told->arch, &d->cfi, spelled);
	json_string(json, "cfi", spelled);
	if (d->kind == COMPARISON_UNREADABLE) {
		json_string(json, "reason", bobbin_reason_name(d->error.reason));
	} else if (d->kind != COMPARISON_MISSING) {
		rule_spell(told->arch, &d->sframe, spelled);
		json_string(json, "sframe", spelled);
	}
	json_object_end(json);
}

static void differ(void *ctx, const struct comparison_difference *d)
{
	const struct told *told = ctx;

	if (told->check->quiet && !is_error(d->kind))
		return;
	if (told->check->json)
		print_object(told, d);
	else
		print_line(told, d);
}

/* The sections' tables; their number, or -ENOMEM. */
static int list_views(const struct elf_image *image, struct bobbin_sframe_view **ret)
{
	const struct elf_bytes *s = &image->sframe;
	struct bobbin_sframe_view *views = NULL, view;
	uint64_t pos = 0;
	int count = 0;

	while (bobbin_sframe_next(s->data, s->size, s->addr, &pos, NULL, &view) > 0) {
		struct bobbin_sframe_view *more = reallocarray(views, (size_t)count + 1,
							       sizeof(*views));

		if (!more || count == INT32_MAX - 1) {
			free(more ? more : views);
			return -ENOMEM;
		}
		views = more;
		views[count++] = view;
	}
	*ret = views;
	return count;
}

static int compare(struct check_cfi *check, const struct cfi_tables *tables)
{
	struct told told = {check, tables->image.arch};
	struct bobbin_sframe_view *views = NULL;
	int count = list_views(&tables->image, &views), r;

	if (count < 0)
		return count;
	check->comparison = (struct comparison){
		.cfi = tables->views,
		.cfi_count = tables->count,
		.sframe = views,
		.sframe_count = (unsigned int)count,
		.differ = differ,
		.ctx = &told,
	};
	r = comparison_run(&check->comparison);
	free(views);
	return r;
}

static void print_summary(const struct check_cfi *check)
{
	const struct comparison *c = &check->comparison;

	printf("%s: %" PRIu64 " rows of call-frame information compared:", check->path, c->rows);
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

bool check_cfi(struct check_cfi *check)
{
	struct bobbin_error error = {0};
	struct cfi_tables tables;
	int fd = open_input(check->path), r;

	if (fd < 0)
		return false;
	r = cfi_tables_init(fd, &error, &tables);
	close(fd);
	if (r) {
		complain_file(check->path, r, &error);
		return false;
	}
	if (check->json)
		json_array(check->json, "differences");
	if (!tables.count) {
		complain("%s: there is no .eh_frame and no .debug_frame", check->path);
		r = -ENODATA;
	} else {
		r = compare(check, &tables);
		if (r)
			complain("%s: %s", check->path, strerror(-r));
	}
	if (check->json)
		finish_object(check);
	else if (!r && !check->quiet)
		print_summary(check);
	cfi_tables_fini(&tables);
	return !r;
}
