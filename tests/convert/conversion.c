/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "conversion.h"

#include <bobbin/sframe_validate.h>
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "convert/comparison.h"

static void take_gap(void *ctx, const struct convert_gap *gap)
{
	struct conversion_bench *b = ctx;

	assert_true(gap->start < gap->end);
	if (b->gap_count < MAX_GAPS)
		b->gaps[b->gap_count] = *gap;
	b->gap_count++;
}

int conversion_set_up(void **state)
{
	struct conversion_bench *b = calloc(1, sizeof(*b));

	cfi_section_init(&b->eh, bobbin_arch_amd64());
	b->options = (struct convert_options){
		.version = 3, .addr = SFRAME_ADDR, .gap = take_gap, .ctx = b};
	*state = b;
	return 0;
}

int conversion_tear_down(void **state)
{
	struct conversion_bench *b = *state;

	free(b->long_frame);
	free(b->data);
	free(b);
	return 0;
}

int conversion_try(struct conversion_bench *b)
{
	if (!b->long_frame && !b->options.arch) {
		b->views[0] = cfi_section_view(&b->eh);
		b->count = 1;
	}
	if (b->debug.size) {
		b->views[1] = cfi_section_view(&b->debug);
		b->count = 2;
	}
	return convert_cfi(b->views, b->count, &b->options, &b->stats, &b->data, &b->size);
}

static void print_defect(void *ctx, const struct bobbin_sframe_defect *defect)
{
	if (defect->severity > BOBBIN_SFRAME_NOTE)
		print_error("%#" PRIx64 ": %s\n", defect->offset,
			    bobbin_reason_str(defect->reason));
}

/* Every conversion is sound and has no wrong rule. */
static void assert_sound(struct conversion_bench *b)
{
	struct comparison c = {.cfi = b->views,
			       .cfi_count = b->count,
			       .added = b->options.added,
			       .sframe = &b->view,
			       .sframe_count = 1};
	int worst;

	assert_int_equal(bobbin_sframe_view(b->data, b->size, b->options.addr, NULL, &b->view), 0);
	assert_int_equal(b->view.size, b->size);
	assert_int_equal(b->view.version, b->options.version);
	worst = bobbin_sframe_validate(&b->view, NULL, print_defect, NULL);
	assert_in_range(worst, BOBBIN_SFRAME_CLEAN, BOBBIN_SFRAME_NOTE);
	assert_int_equal(comparison_run(&c), 0);
	assert_int_equal(c.ranges[COMPARISON_DIFFERENT], 0);
	assert_int_equal(c.ranges[COMPARISON_EXTRA], 0);
	assert_int_equal(c.ranges[COMPARISON_UNREADABLE], 0);
	assert_true(c.bytes[COMPARISON_MISSING] <= b->stats.lost_text);
}

void conversion_run(struct conversion_bench *b)
{
	free(b->data);
	b->data = NULL;
	b->gap_count = 0;
	assert_int_equal(conversion_try(b), 0);
	assert_sound(b);
}

int rule_of_byte(const struct conversion_bench *b, uint64_t pc, struct bobbin_row *row)
{
	struct bobbin_error error;
	int r = bobbin_sframe_lookup(&b->view, pc, &error, row);

	assert_true(!r || r == -ENOENT);
	return r;
}

void assert_rows(const struct conversion_bench *b, uint64_t size, const char *wanted)
{
	struct bobbin_row last = {.rule = bobbin_rule_none(BOBBIN_REASON_NO_ROW)}, row;
	char text[ROWS_TEXT] = "";
	int n = 0, known = -1;

	for (uint64_t pc = TEXT; pc < TEXT + size; pc++) {
		int r = rule_of_byte(b, pc, &row);

		if (known == r && (r || bobbin_rule_equal(&row.rule, &last.rule)))
			continue;
		known = r;
		last = row;
		row.start = pc;
		n += r ? snprintf(text + n, ROWS_TEXT - (size_t)n, "%" PRIx64 " nothing\n", pc)
		       : row_text(text + n, ROWS_TEXT - (size_t)n, &row, 0);
	}
	assert_string_equal(text, wanted);
}

void assert_gap(const struct conversion_bench *b, size_t i, uint64_t start, uint64_t end,
		enum bobbin_reason reason)
{
	assert_true(i < b->gap_count);
	assert_int_equal(b->gaps[i].start, TEXT + start);
	assert_int_equal(b->gaps[i].end, TEXT + end);
	assert_int_equal(b->gaps[i].reason, reason);
	assert_int_equal(b->gaps[i].rows, 1);
}

void assert_lost(const struct conversion_bench *b, uint64_t rows, uint64_t text)
{
	assert_int_equal(b->stats.lost_rows, rows);
	assert_int_equal(b->stats.lost_text, text);
	assert_int_equal(b->gap_count, rows);
}

struct bobbin_sframe_fde function_at(const struct conversion_bench *b, uint64_t pc)
{
	struct bobbin_sframe_fde fde;

	for (uint32_t i = 0; i < b->view.num_fdes; i++) {
		assert_int_equal(bobbin_sframe_fde(&b->view, i, NULL, &fde), 0);
		if (pc >= fde.start && pc - fde.start < fde.size)
			return fde;
	}
	fail_msg("no function holds %#" PRIx64, pc);
	return fde;
}
