/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
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
	case BOBBIN_SOURCE_SFRAME:
		return indexed_sections_functions(&m->sframe, sink, ctx);
	case BOBBIN_SOURCE_EH_FRAME:
		return call_frames_functions(&m->frames, CALL_FRAMES_EH, sink, ctx);
	case BOBBIN_SOURCE_DEBUG_FRAME:
		return call_frames_functions(&m->frames, CALL_FRAMES_DEBUG, sink, ctx);
	case BOBBIN_SOURCE_GO:
		return go_functions(&m->go, sink, ctx);
	case BOBBIN_SOURCE_SIDEFILE:
		return sidefile_functions(m, sink, ctx);
	default:
		return 0;
	}
}

struct gap {
	uint64_t vaddr, start, end;
};

static int narrow(void *ctx, uint64_t start, uint64_t end)
{
	struct gap *gap = ctx;

	if (end <= gap->vaddr && end > gap->start)
		gap->start = end;
	if (start > gap->vaddr && start < gap->end)
		gap->end = start;
	return 0;
}

static struct gap segment_around(const struct module *m, uint64_t vaddr)
{
	for (size_t i = 0; i < m->image.segment_count; i++) {
		const struct elf_segment *s = &m->image.segments[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz)
			return (struct gap){vaddr, s->vaddr, s->vaddr + s->memsz};
	}
	return (struct gap){vaddr, 0, UINT64_MAX};
}

void module_gap(struct module *module, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	static const enum bobbin_source sources[] = {BOBBIN_SOURCE_SFRAME, BOBBIN_SOURCE_EH_FRAME,
						     BOBBIN_SOURCE_DEBUG_FRAME,
						     BOBBIN_SOURCE_SIDEFILE};
	struct gap gap = segment_around(module, vaddr);

	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		module_functions(module, sources[i], narrow, &gap);
	*start = gap.start;
	*end = gap.end;
}
