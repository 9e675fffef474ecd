/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known_code.h - what code bytes tell where tables are silent or wrong.
 */
#ifndef BOBBIN_CORE_KNOWN_CODE_H
#define BOBBIN_CORE_KNOWN_CODE_H

#include <bobbin/arch.h>
#include <bobbin/frame.h>
#include <bobbin/rule.h>

/* How to read code; false: it cannot be read.  The reader defines what addresses mean. */
struct code_reader {
	bool (*read)(void *ctx, uint64_t addr, void *dst, size_t size);
	void *ctx;
};

/*
 * The rule for @addr, which no table covers: code of the kernel's signal return, a PLT's stub, or
 * that of a root.  false: neither.
 */
bool known_code_rule(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr,
		     struct bobbin_rule *rule, enum bobbin_source *source);

/* The rule for an instruction of a PLT's stub, where linkers write none.  false: it is no such stub. */
bool known_code_stub(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr,
		     struct bobbin_rule *rule);

/* Whether a function that returns to @addr ends its thread or fiber. */
bool known_code_root(const struct bobbin_arch *arch, const struct code_reader *code, uint64_t addr);

/* Whether the code at @addr replaces its frame by an exception handler's. */
bool known_code_eh_return(const struct bobbin_arch *arch, const struct code_reader *code,
			  uint64_t addr);

/* Whether the instruction before @addr is a system call. */
bool known_code_syscall(const struct bobbin_arch *arch, const struct code_reader *code,
			uint64_t addr);

/* Whether @addr is a PLT's jump to the resolver, which takes two words off the stack. */
bool known_code_resolver(const struct bobbin_arch *arch, const struct code_reader *code,
			 uint64_t addr);

enum code_answer {
	CODE_NO,
	CODE_YES,
	CODE_UNREADABLE, /* it is not known */
};

/* Whether a call, or a signal handler, may return to @addr. */
enum code_answer known_code_return(const struct bobbin_arch *arch, const struct code_reader *code,
				   uint64_t addr);

#endif
