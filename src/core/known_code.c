/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/known_code.h"

#include "core/eh_return.h"
#include "core/frame_rules.h"
#include "core/root_code.h"
#include "core/trampoline.h"

#define MAX_CALL 7 /* bytes of a call instruction, without prefixes that say nothing */

static bool read_code(const struct code_reader *code, uint64_t addr, void *dst, size_t size)
{
	return code->read(code->ctx, addr, dst, size);
}

static bool is_trampoline(const struct bobbin_arch *arch, const struct code_reader *code,
			  uint64_t addr, struct bobbin_rule *rule)
{
	uint8_t bytes[TRAMPOLINE_SIZE];

	for (unsigned int i = 0; i < TRAMPOLINE_STARTS; i++)
		if (read_code(code, trampoline_start(arch, i, addr), bytes, sizeof(bytes)) &&
		    trampoline_rule(arch, bytes, rule))
			return true;
	return false;
}

bool known_code_root(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr)
{
	uint8_t bytes[ROOT_CODE_SIZE];

	return read_code(code, addr, bytes, sizeof(bytes)) && root_code(arch, bytes);
}

bool known_code_rule(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr,
		     struct bobbin_rule *rule, enum bobbin_source *source)
{
	if (is_trampoline(arch, code, addr, rule)) {
		*source = BOBBIN_SOURCE_TRAMPOLINE;
		return true;
	}
	/* calls return to a root's code: the address that was looked up lies before it */
	if (!known_code_root(arch, code, addr + 1))
		return false;
	*source = BOBBIN_SOURCE_ENTRY;
	*rule = outermost_rule(arch);
	return true;
}

bool known_code_eh_return(const struct bobbin_arch *arch, const struct code_reader *code,
			  uint64_t addr)
{
	uint8_t bytes[EH_RETURN_SIZE];

	return read_code(code, addr - EH_RETURN_BEFORE, bytes, sizeof(bytes)) &&
	       eh_return_code(arch, bytes);
}

bool known_code_syscall(const struct bobbin_arch *arch, const struct code_reader *code,
			uint64_t addr)
{
	uint8_t bytes[2];

	/* x86-64: syscall */
	return arch->default_ra_off &&
	       read_code(code, addr - sizeof(bytes), bytes, sizeof(bytes)) && bytes[0] == 0x0f &&
	       bytes[1] == 0x05;
}

/*
 * x86-64: E8 and an offset, or FF /2 followed by zero to five bytes.  All calls end like
 * this, and some other code.
 */
static bool ends_like_a_call(const uint8_t bytes[MAX_CALL])
{
	if (bytes[MAX_CALL - 5] == 0xe8)
		return true;
	for (unsigned int i = 0; i + 1 < MAX_CALL; i++)
		if (bytes[i] == 0xff && (bytes[i + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

bool known_code_return(const struct bobbin_arch *arch, const struct code_reader *code,
		       uint64_t addr)
{
	uint8_t before[MAX_CALL], bytes[TRAMPOLINE_SIZE];
	struct bobbin_rule rule;

	if (!read_code(code, addr - sizeof(before), before, sizeof(before)) ||
	    !read_code(code, addr, bytes, sizeof(bytes)))
		return true;
	/* signal handlers return to a trampoline */
	return ends_like_a_call(before) || trampoline_rule(arch, bytes, &rule);
}
