/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "export/recursion.h"

#include <stdbool.h>
#include <string.h>

#include "base/repeat.h"

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_function(const void *ctx, size_t a, size_t b)
{
	const struct call_frame *frames = ctx, *x = &frames[a], *y = &frames[b];

	if (x->kind != y->kind || x->kind == FRAME_UNKNOWN || !x->name || !*x->name)
		return false;
	return same_text(x->name, y->name) && same_text(x->dso, y->dso);
}

size_t recursion_fold(struct call_frame *frames, size_t n)
{
	size_t left = 0, at = 0;

	while (at < n) {
		struct repeat repeat = {1, 1};

		repeat_find(same_function, frames, at, n, &repeat);
		for (size_t i = 0; i < repeat.period; i++) {
			frames[left] = frames[at + i];
			frames[left++].levels = (uint32_t)repeat.times;
		}
		at += repeat.period * repeat.times;
	}
	return left;
}
