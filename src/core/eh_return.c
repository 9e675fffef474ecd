/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/eh_return.h"

#include "core/memory.h"

#define CALL_OPCODE 0xe8

/* mov %rcx, %rsp; pop %rcx; jmp *%rcx, read as little-endian numbers */
#define LAST_CODE_SIZE 6
#define LAST_CODE_START 0x59cc8948u
#define LAST_CODE_END 0xe1ffu

/* DW_CFA_def_cfa RCX + 8, which holds at the first of them */
static const uint8_t last_rule[] = {0x0c, 0x02, 0x08};

/* One branch: BPF's verifier follows each of them, from each address again. */
static bool is_last_code(const uint8_t *code)
{
	uint32_t differs = load_u32(code, false) ^ LAST_CODE_START;

	return !(differs | (load_u16(code + 4, false) ^ LAST_CODE_END));
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
	for (unsigned int i = 1; i + LAST_CODE_SIZE <= EH_RETURN_SIZE; i++) {
		if (is_last_code(code + i))
			return true;
		if (i >= EH_RETURN_BEFORE && is_call(code + i) && ++calls == 2)
			return false;
	}
	return false;
}

static bool is_last_rule(const uint8_t *bytes)
{
	for (size_t i = 0; i < sizeof(last_rule); i++)
		if (bytes[i] != last_rule[i])
			return false;
	return true;
}

bool eh_return_possible(const uint8_t *frames, size_t size)
{
	for (size_t i = 0; i + sizeof(last_rule) <= size; i++)
		if (is_last_rule(frames + i))
			return true;
	return false;
}
