/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as an SFrame section.
 *
 * Contract: <bobbin/sframe.h> reads no byte outside of the section; a refusal
 * has a reason and an offset and leaves the result alone; rules name registers
 * that exist; a row that is looked up holds the PC; a lookup finds what a plain
 * walk over the function's rows finds.  Concatenated sections are all read.
 */
#include "../tests/sframe/sframe_contract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESS 0x400000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t at = 0;

	for (unsigned int i = 0; i < 4 && at < size; i++) {
		struct bobbin_sframe_view view;

		if (!obeys_contract(data + at, size - at, ADDRESS + at))
			break;
		promise(bobbin_sframe_view(data + at, size - at, ADDRESS + at, NULL, &view) == 0);
		at += view.size;
	}
	return 0;
}
