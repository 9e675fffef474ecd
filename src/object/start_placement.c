/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "object/start_placement.h"

#include "core/bytes.h"

void start_placement(const struct sframe_section *section, const struct bobbin_sframe_view *view,
		     uint64_t (*place)(const void *ctx, const struct sframe_target *target),
		     const void *ctx)
{
	uint64_t table = (uint64_t)(view->data - section->data) + view->fde_off;

	for (uint32_t i = 0; i < view->num_fdes; i++) {
		uint64_t field = table + (uint64_t)i * view->fde_size;
		const struct sframe_target *target = sframe_section_target(section, field);

		if (target)
			bytes_store(section->data + field,
				    place(ctx, target) - section->addr - field,
				    view->version < 3 ? 4 : 8, view->arch->big_endian);
	}
}

static uint64_t start_in(const void *code, const struct sframe_target *target)
{
	const struct object_text *text = target->section
						 ? object_code_section(code, target->section_index)
						 : NULL;

	if (!text || target->start > text->end - text->start)
		return OBJECT_CODE_MAX;
	return text->start + target->start;
}

void start_placement_by(const struct object_code *code, const struct sframe_section *section,
			struct bobbin_sframe_view *view)
{
	start_placement(section, view, start_in, code);
	/* the order is left to the linker */
	view->sorted = false;
}
