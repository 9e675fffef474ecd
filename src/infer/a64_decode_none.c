// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* a64_decode_none.c - a build without the library that knows the instructions of AArch64. */
#include "infer/a64_decode.h"

bool a64_decoder_exists(void)
{
	return false;
}

struct insn_decoder *a64_decoder_open(void)
{
	return NULL;
}

void a64_decoder_close(struct insn_decoder *decoder)
{
}

void a64_decode(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
		struct insn *ret)
{
	*ret = (struct insn){.at = ret->at, .op = OP_BAD, .len = A64_INSN};
}

void a64_text(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
	      char ret[INSN_TEXT_MAX])
{
	*ret = 0;
}
