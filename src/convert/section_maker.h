/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * section_maker.h - a section builder whose memory grows.
 */
#ifndef BOBBIN_CONVERT_SECTION_MAKER_H
#define BOBBIN_CONVERT_SECTION_MAKER_H

#include <bobbin/sframe_builder.h>

struct section_maker {
	struct bobbin_sframe_builder builder;
	bool in_place; /* V3: whatever address was given, the section will be where it is made */
};

/*
 * Start an empty section at @addr.  @share: functions with equal rows share
 * them.  @functions: how many there will be, about; more may come, but share
 * less.  -EINVAL for an unknown @version, -ENOMEM.
 */
int section_maker_init(const struct bobbin_arch *arch, uint64_t addr, unsigned int version,
		       bool share, uint32_t functions, struct section_maker *ret);

/* Have room for so many functions and bytes of rows in all.  0, -ENOMEM, -ERANGE. */
int section_maker_reserve(struct section_maker *maker, uint64_t fdes, uint64_t bytes);

/* The section in memory of its own, which becomes the caller's.  0, -ENOMEM. */
int section_maker_finish(struct section_maker *maker, uint8_t **data, uint64_t *size);

void section_maker_fini(struct section_maker *maker);

#endif
