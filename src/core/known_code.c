/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "core/known_code.h"

#include "core/call_code.h"
#include "core/eh_return.h"
#include "core/frame_rules.h"
#include "core/restorer.h"
#include "core/root_code.h"
#include "core/stub_code.h"
#include "core/trampoline.h"

#define PAGE 4096 /* or larger: code is not read across a multiple of it at once */

static bool read_code(const struct code_reader *code, uint64_t addr, void *dst, size_t size)
{
	return code->read(code->ctx, addr, dst, size);
}

/*
 * The same around a page's edge, on the other side of which there may be no code: what cannot
 * be read is 0.  @at: offset of the byte that must be readable.
 */
static bool read_around(const struct code_reader *code, uint64_t addr, uint8_t *dst, size_t size,
			size_t at)
{
	const size_t before = PAGE - addr % PAGE;

	if (read_code(code, addr, dst, size))
		return true;
	for (size_t i = 0; i < size; i++)
		dst[i] = 0;
	if (before >= size)
		return false;
	return at < before ? read_code(code, addr, dst, before)
			   : read_code(code, addr + before, dst + before, size - before);
}

static bool restorer_rule(const struct bobbin_arch *arch, const struct code_reader *code,
			  uint64_t addr, struct bobbin_rule *rule)
{
	uint8_t bytes[RESTORER_SIZE];
	int start;

	if (!read_around(code, addr - RESTORER_BEFORE, bytes, sizeof(bytes), RESTORER_BEFORE))
		return false;
	start = restorer_find(arch, bytes);
	if (start == RESTORER_NONE)
		return false;
	if (restorer_is_plain(arch, bytes + RESTORER_BEFORE + start))
		plain_frame_rule(arch, rule);
	else
		signal_frame_rule(arch, rule);
	return true;
}

bool known_code_root(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr)
{
	uint8_t bytes[ROOT_CODE_AROUND];

	return read_around(code, addr - ROOT_CODE_BEFORE, bytes, sizeof(bytes), ROOT_CODE_BEFORE) &&
	       root_code(arch, bytes);
}

bool known_code_stub(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr,
		     struct bobbin_rule *rule)
{
	uint8_t bytes[STUB_CODE_SIZE];

	return !arch->default_ra_off &&
	       read_around(code, addr - STUB_CODE_BEFORE, bytes, sizeof(bytes), STUB_CODE_BEFORE) &&
	       stub_code(arch, addr, bytes, rule);
}

bool known_code_rule(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr,
		     struct bobbin_rule *rule, enum bobbin_source *source)
{
	if (restorer_rule(arch, code, addr, rule)) {
		*source = BOBBIN_SOURCE_TRAMPOLINE;
		return true;
	}
	if (known_code_stub(arch, code, addr, rule)) {
		*source = BOBBIN_SOURCE_PATH;
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

bool known_code_resolver(const struct bobbin_arch *arch, const struct code_reader *code,
			 uint64_t addr)
{
	uint8_t bytes[6];

	/* x86-64: push link_map(%rip) */
	return arch->default_ra_off &&
	       read_code(code, addr - sizeof(bytes), bytes, sizeof(bytes)) && bytes[0] == 0xff &&
	       bytes[1] == 0x35;
}

enum code_answer known_code_return(const struct bobbin_arch *arch, const struct code_reader *code,
				   uint64_t addr)
{
	uint8_t bytes[RESTORER_SIZE], before[CALL_CODE_SIZE];

	if (arch->cfa_bias ||
	    !read_around(code, addr - sizeof(before), before, sizeof(before), sizeof(before) - 1))
		return CODE_UNREADABLE;
	if (call_code_ends(arch, before))
		return CODE_YES;
	/* signal handlers return to a trampoline */
	if (!read_around(code, addr - RESTORER_BEFORE, bytes, sizeof(bytes), RESTORER_BEFORE))
		return CODE_NO;
	return restorer_find(arch, bytes) == 0 ? CODE_YES : CODE_NO;
}
