/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "codemap/dropped_mark.h"

bool dropped_mark(_Atomic uint64_t *mark, const struct bobbin_error *error)
{
	uint64_t none = 0, why = error->offset << 16 | (uint16_t)error->reason;

	return atomic_compare_exchange_strong(mark, &none, why);
}
