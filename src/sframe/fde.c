/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fde.c - function descriptor entries.
 */
#include "sframe/fde.h"

BOBBIN_API int bobbin_sframe_fde(const struct bobbin_sframe_view *view, uint32_t index,
				 struct bobbin_error *err, struct bobbin_sframe_fde *ret)
{
	struct sframe_fdes fdes = sframe_fdes_of(view);
	uint64_t entry = view->fde_off + (uint64_t)index * view->fde_size;

	if (index >= view->num_fdes)
		return refuse_as(-BOBBIN_ENOENT, err, view->fde_off, BOBBIN_REASON_NO_FUNCTION);
	if (!sframe_read_fde(view, &fdes, entry, ret))
		return refuse_read(fdes.fault, err, entry, BOBBIN_REASON_SFRAME_FDE);
	return 0;
}
