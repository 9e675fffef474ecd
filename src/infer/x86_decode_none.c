// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* x86_decode_none.c - a build without the library that decodes instructions. */
#include "infer/x86_decode.h"

#include <stddef.h>

bool x86_decoder_exists(void)
{
	return false;
}

struct insn_decoder *x86_decoder_open(void)
{
	return NULL;
}

void x86_decoder_close(struct insn_decoder *decoder)
{
}

void x86_decode(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
		struct insn *ret)
{
	*ret = (struct insn){.at = ret->at, .op = OP_BAD, .len = 1};
}

void x86_text(const struct insn_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
	      char ret[INSN_TEXT_MAX])
{
	*ret = 0;
}
