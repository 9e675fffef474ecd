/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known_regs.h - the registers of a frame of which more than three are known.
 */
#ifndef BOBBIN_CORE_KNOWN_REGS_H
#define BOBBIN_CORE_KNOWN_REGS_H

#include <bobbin/step.h>

#include "core/deps.h"

/*
 * A frame at @pc with the registers of @known, a bit for each DWARF number.  The stack
 * pointer must be among them; if the frame pointer is not, it becomes 0.
 */
static BOBBIN_ALWAYS_INLINE struct bobbin_regs known_regs(const struct bobbin_arch *arch,
							  uint64_t pc, const uint64_t *gpr,
							  uint32_t known)
{
	bool ra_known = !arch->default_ra_off && known >> arch->ra & 1;

	return (struct bobbin_regs){
		.pc = pc,
		.sp = gpr[arch->sp],
		.fp = known >> arch->fp & 1 ? gpr[arch->fp] : 0,
		.ra = ra_known ? gpr[arch->ra] : 0,
		.gpr = gpr,
		.gpr_known = known,
		.exact = true,
		.ra_known = ra_known,
	};
}

#endif
