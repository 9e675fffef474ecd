/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known_code.h - what code bytes say where tables say nothing, or not the truth.
 */
#ifndef BOBBIN_CORE_KNOWN_CODE_H
#define BOBBIN_CORE_KNOWN_CODE_H

#include <bobbin/arch.h>
#include <bobbin/frame.h>
#include <bobbin/rule.h>

/* How to read code; false: it cannot be read.  Addresses are what the reader takes. */
struct code_reader {
	bool (*read)(void *ctx, uint64_t addr, void *dst, size_t size);
	void *ctx;
};

/*
 * The rule for @addr, of which no table knows: code of the kernel's signal return, or
 * that of a root.  false: neither.
 */
bool known_code_rule(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr,
		     struct bobbin_rule *rule, enum bobbin_source *source);

/* Whether what is called returns to @addr so that its thread, or its fiber, ends. */
bool known_code_root(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr);

/* Whether @addr is where a handler's frame is put in the place of the function's. */
bool known_code_eh_return(const struct bobbin_arch *arch, const struct code_reader *code,
			  uint64_t addr);

/* Whether the instruction before @addr is a system call. */
bool known_code_syscall(const struct bobbin_arch *arch, const struct code_reader *code,
			uint64_t addr);

/* Whether something may return to @addr; true, too, where that cannot be known. */
bool known_code_return(const struct bobbin_arch *arch, const struct code_reader *code,
		       uint64_t addr);

#endif
