/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lookup_touches.c - the library's lookup once more, counting.
 *
 * The functions that read an entry's or a row's start are wrapped, then lookup.c
 * is compiled after them under another name.
 */
#include "sframe/default_rule.h"
#include "sframe/words.h"

#include "lookup_touches.h"

#define MAX_FDES 256

static struct {
	uint64_t fdes[MAX_FDES];
	struct lookup_touches sum;
} touched;

static uint64_t touch_fde(uint64_t fde)
{
	for (unsigned int i = 0; i < touched.sum.fdes; i++) {
		if (touched.fdes[i] == fde)
			return fde;
	}
	if (touched.sum.fdes < MAX_FDES)
		touched.fdes[touched.sum.fdes++] = fde;
	return fde;
}

static const uint8_t *touch_row(const uint8_t *row)
{
	touched.sum.rows++;
	return row;
}

#define sframe_fde_start(fdes, fde) sframe_fde_start(fdes, touch_fde(fde))
#define sframe_fde_starts_by(fdes, fde, pc) sframe_fde_starts_by(fdes, touch_fde(fde), pc)
#define sframe_read_start(row, ...) sframe_read_start(touch_row(row), __VA_ARGS__)
#define sframe_read_last_start(row, ...) sframe_read_last_start(touch_row(row), __VA_ARGS__)
#define bobbin_sframe_lookup counted_lookup

int counted_lookup(const struct bobbin_sframe_view *view, uint64_t pc, struct bobbin_error *err,
		   struct bobbin_row *ret);

#include "sframe/lookup.c"

struct lookup_touches lookup_touches(const struct bobbin_sframe_view *view, uint64_t pc)
{
	struct bobbin_row row;

	touched.sum = (struct lookup_touches){.buckets = view->index.buckets != NULL};
	counted_lookup(view, pc, NULL, &row);
	return touched.sum;
}
