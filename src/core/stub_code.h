/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stub_code.h - the stubs of a PLT, known by their bytes.
 *
 * Linkers write no call-frame information for those of AArch64 and s390x.  A stub jumps through
 * a register, which in other code may be a switch; all of a stub's instructions are a proof.
 */
#ifndef BOBBIN_CORE_STUB_CODE_H
#define BOBBIN_CORE_STUB_CODE_H

#include <bobbin/arch.h>
#include <bobbin/rule.h>

/* Bytes before an address that stub_code() looks at, and all; what cannot be read is 0. */
#define STUB_CODE_BEFORE 32
#define STUB_CODE_SIZE 64

/*
 * The rule at an instruction of a stub, or of the first entry, which calls the resolver.  @addr:
 * of the instruction, at @code[STUB_CODE_BEFORE].  false: it is none.
 */
bool stub_code(const struct bobbin_arch *arch, uint64_t addr, const uint8_t code[STUB_CODE_SIZE],
	       struct bobbin_rule *ret);

#endif
