/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as call-frame information (cfi_input.h), converted to SFrame.
 *
 * selector: bit 4 version 2, bit 5 with sharing, bit 6 the section is far away.
 *
 * Contract: the conversion succeeds; what comes out is a sorted section without
 * an error, in which each address has the rule of the call-frame information or
 * none; where it has none there is a gap that says why, and gaps are counted.
 */
#include "convert/converter.h"

#include <bobbin/sframe.h>
#include <bobbin/sframe_validate.h>
#include <stdlib.h>

#include "../tests/promise.h"
#include "cfi_input.h"
#include "convert/comparison.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VERSION_2 0x10
#define SHARE 0x20
#define FAR 0x40

struct gaps {
	uint64_t count, bytes;
};

static void take_gap(void *ctx, const struct convert_gap *gap)
{
	struct gaps *gaps = ctx;

	promise(gap->start < gap->end);
	promise(gap->reason > BOBBIN_REASON_NONE && gap->reason < BOBBIN_REASON_COUNT);
	gaps->count += gap->rows;
	gaps->bytes += gap->end - gap->start;
}

static void check_stats(const struct convert_stats *s, const struct gaps *gaps)
{
	uint64_t reasons = 0;

	for (unsigned int i = 0; i < BOBBIN_REASON_COUNT; i++)
		reasons += s->reasons[i];
	promise(reasons == s->lost_rows);
	/* entries that could not be read have no addresses */
	promise(gaps->count <= s->lost_rows && gaps->bytes == s->lost_text);
	promise(s->lost_text <= s->text);
	promise(s->split <= s->fdes);
}

static void check_section(const struct bobbin_sframe_view *view, const struct convert_stats *s)
{
	struct bobbin_sframe_bounds bounds = {.order_max = view->num_fdes};
	int worst;

	bounds.order = malloc((view->num_fdes + 1) * sizeof(*bounds.order));
	promise(bounds.order);
	worst = bobbin_sframe_validate(view, &bounds, NULL, NULL);
	free(bounds.order);
	promise(worst >= 0 && worst < BOBBIN_SFRAME_ERROR);
	promise(view->sorted);
	promise(view->num_fdes == s->functions && view->num_fres == s->rows);
}

static void check_rules(const struct bobbin_cfi_view *cfi, const struct bobbin_sframe_view *view,
			const struct convert_stats *s)
{
	struct comparison c = {.cfi = cfi, .cfi_count = 1, .sframe = view, .sframe_count = 1};

	promise(comparison_run(&c) == 0);
	promise(!c.ranges[COMPARISON_DIFFERENT]);
	promise(!c.ranges[COMPARISON_EXTRA]);
	promise(!c.ranges[COMPARISON_UNREADABLE]);
	promise(c.bytes[COMPARISON_MISSING] <= s->lost_text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct convert_options options = {.gap = take_gap};
	struct gaps gaps = {0};
	struct bobbin_cfi_view cfi;
	struct bobbin_sframe_view view;
	struct convert_stats stats;
	uint64_t converted_size;
	uint8_t *converted, selector;

	if (!cfi_input(data, size, &cfi, &selector))
		return 0;
	options.version = selector & VERSION_2 ? 2 : 3;
	options.share = selector & SHARE;
	options.addr = selector & FAR ? 0x7000000000 : 0x40000;
	options.ctx = &gaps;
	promise(convert_cfi(&cfi, 1, &options, &stats, &converted, &converted_size) == 0);
	check_stats(&stats, &gaps);
	promise(bobbin_sframe_view(converted, converted_size, options.addr, NULL, &view) == 0);
	promise(view.size == converted_size && view.version == options.version);
	check_section(&view, &stats);
	check_rules(&cfi, &view, &stats);
	free(converted);
	return 0;
}
