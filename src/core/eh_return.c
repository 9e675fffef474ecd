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

/* 1 for 0, and 0 for everything else. */
static BOBBIN_ALWAYS_INLINE uint64_t is_zero(uint32_t value)
{
	return ((uint64_t)value - 1) >> 63;
}

static BOBBIN_ALWAYS_INLINE uint64_t is_last_code(const uint8_t *code)
{
	uint32_t differs = load_u32(code, false) ^ LAST_CODE_START;

	return is_zero(differs | (load_u16(code + 4, false) ^ LAST_CODE_END));
}

/* The top byte of its offset tells a call: no function is called from 16 MiB away. */
static BOBBIN_ALWAYS_INLINE uint64_t is_call(const uint8_t *code)
{
	return is_zero(code[0] ^ CALL_OPCODE) & (is_zero(code[4]) | is_zero(code[4] ^ 0xff));
}

/*
 * Of the calls after the address in question, one may be that of the debugger's hook.  Without a
 * branch: BPF's verifier follows each of them, from each address again.
 */
bool eh_return_code(const struct bobbin_arch *arch, const uint8_t code[EH_RETURN_SIZE])
{
	uint64_t calls = 0, found = 0;

	if (!arch->default_ra_off)
		return false;
	for (unsigned int i = 1; i + LAST_CODE_SIZE <= EH_RETURN_SIZE; i++) {
		found |= is_last_code(code + i) & ~(calls >> 1);
		calls |= (calls << 1 | 1) & -(is_call(code + i) & (i >= EH_RETURN_BEFORE));
	}
	return found & 1;
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
