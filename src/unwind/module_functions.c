/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>

#include "unwind/module.h"

typedef int (*function_sink)(void *ctx, uint64_t start, uint64_t end);

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

static int go_functions(const struct pclntab *t, function_sink sink, void *ctx)
{
	uint64_t start, end;
	int r = 0;

	for (uint32_t i = 0; i < t->count && !r; i++)
		if (!pclntab_entry(t, i, &start, &end))
			r = sink(ctx, start, end);
	return r;
}

int module_functions(struct module *m, enum bobbin_source source, function_sink sink, void *ctx)
{
	switch (source) {
	case BOBBIN_FROM_SFRAME:
		return indexed_sections_functions(&m->sframe, sink, ctx);
	case BOBBIN_FROM_EH_FRAME:
		return call_frames_functions(&m->frames, CALL_FRAMES_EH, sink, ctx);
	case BOBBIN_FROM_DEBUG_FRAME:
		return call_frames_functions(&m->frames, CALL_FRAMES_DEBUG, sink, ctx);
	case BOBBIN_FROM_GO:
		return go_functions(&m->go, sink, ctx);
	case BOBBIN_FROM_SIDEFILE:
		return sidefile_functions(m, sink, ctx);
	default:
		return 0;
	}
}
