/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/eh_return.h"

#include "core/deps.h"

#define CALL_OPCODE 0xe8

/* mov %rcx, %rsp; pop %rcx; jmp *%rcx */
static const uint8_t last_code[EH_RETURN_BEFORE] = {0x48, 0x89, 0xcc, 0x59, 0xff, 0xe1};

/* DW_CFA_def_cfa RCX + 8, which holds at the first of them */
static const uint8_t last_rule[] = {0x0c, 0x02, 0x08};

static bool is_there(const uint8_t *bytes, const uint8_t *pattern, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != pattern[i])
			return false;
	return true;
}

/* The top byte of its offset tells a call: no function is called from 16 MiB away. */
static bool is_call(const uint8_t *code)
{
	return code[0] == CALL_OPCODE && (code[4] == 0 || code[4] == 0xff);
}

/* Of the calls after the address in question, one may be that of the debugger's hook. */
bool eh_return_code(const struct bobbin_arch *arch, const uint8_t code[EH_RETURN_SIZE])
{
	unsigned int calls = 0;

	if (!arch->default_ra_off)
		return false;
	for (unsigned int i = 1; i + sizeof(last_code) <= EH_RETURN_SIZE; i++) {
		if (is_there(code + i, last_code, sizeof(last_code)))
			return true;
		if (i >= EH_RETURN_BEFORE && is_call(code + i) && ++calls == 2)
			return false;
	}
	return false;
}

bool eh_return_possible(const uint8_t *frames, size_t size)
{
	for (size_t i = 0; i + sizeof(last_rule) <= size; i++)
		if (is_there(frames + i, last_rule, sizeof(last_rule)))
			return true;
	return false;
}
