/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>

#include "unwind/module.h"

typedef int (*function_sink)(void *ctx, uint64_t start, uint64_t end);

static int cfi_functions(const struct cfi_table *t, function_sink sink, void *ctx)
{
	struct bobbin_cfi_fde fde = {0};
	uint64_t offset = 0;
	int r;

	if (!t->view.frame)
		return 0;
	while ((r = bobbin_cfi_next_like(&t->view, &offset, &fde, NULL, &fde)) != 0) {
		if (r < 0)
			continue;
		r = sink(ctx, fde.start, fde.end);
		if (r)
			return r;
	}
	return 0;
}

static int sidefile_functions(struct module *m, function_sink sink, void *ctx)
{
	struct bobbin_sframe_view view;
	int r = 0;

	module_open_sidefile(m);
	for (uint32_t i = 0; m->sidefile && i < sidefile_head(m->sidefile)->block_count && !r; i++)
		if (!sidefile_block(m->sidefile, i, NULL, &view))
			r = sframe_functions(&view, sink, ctx);
	return r;
}

int module_functions(struct module *m, enum bobbin_source source, function_sink sink, void *ctx)
{
	switch (source) {
	case BOBBIN_FROM_SFRAME:
		return indexed_sections_functions(&m->sframe, sink, ctx);
	case BOBBIN_FROM_EH_FRAME:
		return cfi_functions(&m->eh_frame, sink, ctx);
	case BOBBIN_FROM_DEBUG_FRAME:
		return cfi_functions(&m->debug_frame, sink, ctx);
	case BOBBIN_FROM_SIDEFILE:
		return sidefile_functions(m, sink, ctx);
	default:
		return 0;
	}
}
