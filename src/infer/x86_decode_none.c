// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* x86_decode_none.c - a build without the library that decodes instructions. */
#include "infer/x86_insn.h"

#include <stddef.h>

bool x86_decoder_exists(void)
{
	return false;
}

struct x86_decoder *x86_decoder_open(void)
{
	return NULL;
}

void x86_decoder_close(struct x86_decoder *decoder)
{
}

void x86_decode(const struct x86_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
		struct x86_insn *ret)
{
	*ret = (struct x86_insn){.at = ret->at, .op = OP_BAD, .len = 1};
}

void x86_text(const struct x86_decoder *decoder, const uint8_t *code, uint64_t size, uint64_t pc,
	      char ret[X86_TEXT_MAX])
{
	*ret = 0;
}
