/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code_section.h"

#include <errno.h>

#include "core/deps.h"
#include "core/refusal.h"

/*
 * Whether a section that was empty has been filled.  Who fills it stores the magic
 * number last: half of one is not malformed, and nobody looks for where it may begin.
 */
static bool is_filled(const struct code *code)
{
	const volatile uint8_t *magic = (const volatile uint8_t *)code->table;
	bool filled = code->table_size >= 2 && magic[0] && magic[1];

	BOBBIN_READ_FENCE();
	return filled;
}

int code_section_lookup(const struct code *code, const struct bobbin_arch *arch, uint64_t pc,
			struct bobbin_error *err, struct bobbin_row *ret)
{
	const struct bobbin_sframe_view *view = &code->sframe;
	struct bobbin_sframe_view later;

	if (!view->data) {
		int r;

		if (!is_filled(code))
			return -ENOENT;
		r = bobbin_sframe_view((const void *)code->table, code->table_size, code->table,
				       err, &later);
		if (r)
			return r;
		view = &later;
	}
	if (view->arch != arch)
		return refuse(err, 0, BOBBIN_REASON_SFRAME_ABI);
	return bobbin_sframe_lookup(view, pc, err, ret);
}
