/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "table/compile_sframe.h"

#include <errno.h>

#include "table/table_sources.h"

/* Functions that others cover are never found; what is left of others would be found elsewhere. */
static void note_difference(void *ctx, const struct merge_report *report)
{
	bool *differs = ctx;

	if (report->size &&
	    (report->fate != MERGE_DROPPED || (report->reason != BOBBIN_REASON_SFRAME_COVERED &&
					       report->reason != BOBBIN_REASON_SFRAME_DUPLICATE)))
		*differs = true;
}

int compile_sframe_within(const struct bobbin_sframe_view *views, unsigned int count,
			  uint64_t limit, uint8_t **data, uint64_t *size)
{
	bool differs = false;
	const struct table_sources sources = {
		.arch = views->arch,
		.sframe = views,
		.sframe_count = count,
		.sane_stubs = true,
		.report = note_difference,
		.ctx = &differs,
	};
	struct table_builder builder;
	int r = table_builder_init(views->arch, NULL, 0, &builder);

	builder.limit = limit;
	if (!r)
		r = table_sources_rows(&sources, &builder);
	if (!r && differs)
		r = -EBADMSG;
	if (!r)
		r = table_builder_make(&builder, data, size);
	table_builder_fini(&builder);
	return r;
}
