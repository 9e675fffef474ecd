/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sframe_forms.h - a small section with a function of each form.
 */
#ifndef TEST_SFRAME_FORMS_H
#define TEST_SFRAME_FORMS_H

#include "sframe_bytes.h"

#define FORMS_ADDR 0x400000

static inline struct section_spec amd64_forms(uint8_t version, uint8_t flags)
{
	return (struct section_spec){
		.version = version,
		.flags = flags,
		.abi = AMD64,
		.fixed_ra = -8,
		.aux_len = 2,
		.addr = FORMS_ADDR,
		.num_funcs = 4,
		.funcs = {{.start = 0x1000,
			   .size = 6,
			   .num_fres = 4,
			   ROWS(0, 3, 8, 1, 5, 0x10, 0xf0, 4, 4, 0x10, 0xf0, 5, 5, 8, 0xf0)},
			  {.start = 0x1010,
			   .size = 64,
			   .info = PCMASK,
			   .rep_size = 16,
			   .num_fres = 2,
			   ROWS(0, 3, 8, 11, 3, 16)},
			  {.start = 0x2000,
			   .size = 0x400,
			   .info = ADDR2,
			   .num_fres = 2,
			   ROWS(0, 0, 3, 8, 0x34, 0x01, 0x25, 40, 0, 0xf0, 0xff)},
			  {.start = 0x500000,
			   .size = 0x20000,
			   .info = ADDR4 | SIGNAL,
			   .info2 = version == 3 ? FLEX : 0,
			   .num_fres = 1,
			   ROWS(0, 0, 0, 0, 8, 0x39, 8, 2, 0xf0)}},
	};
}

#endif
