/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linux_calls.h - hand registrations on to a kernel that has the proposed calls.
 *
 * The numbers of sframe_register(2), sframe_unregister(2) and codectl(2) are proposed, not
 * assigned: another kernel may have another call there.  So the calls are probed before their
 * first use: with arguments that are harmless to any call, then with a section of this file's
 * own, which must register once and unregister once.  codectl(2) is probed likewise, with an
 * empty JIT table, before its own first use.
 */
#ifndef BOBBIN_CODEMAP_LINUX_CALLS_H
#define BOBBIN_CODEMAP_LINUX_CALLS_H

#include <bobbin/code_abi.h>

#define KERNEL_SFRAME_REGISTER 472
#define KERNEL_SFRAME_UNREGISTER 473
#define KERNEL_CODECTL 474

/*
 * A system call: a result, or a negative errno.  @option: codectl's first argument, others have
 * none.  Zeros come after the size.
 */
typedef long (*kernel_call)(long number, unsigned int option, const void *info, size_t size);

enum linux_calls_state {
	LINUX_CALLS_UNKNOWN,
	LINUX_CALLS_PRESENT,
	LINUX_CALLS_ABSENT
};

struct linux_calls {
	kernel_call call; /* NULL: there is no kernel */
	enum linux_calls_state state, codectl;
};

/*
 * The running kernel's calls.  While a seccomp filter is in force all is -ENOSYS and
 * nothing is called: the filter may end the process for a call that it does not know.
 */
kernel_call linux_calls_native(void);

/* Whether the kernel has the calls; asks it once. */
bool linux_calls_exist(struct linux_calls *calls);

/* 0, or why the kernel does not have it: -ENOSYS, or its own errno. */
int linux_calls_register(struct linux_calls *calls, const struct sframe_setup *setup);
int linux_calls_unregister(struct linux_calls *calls, uint64_t sframe_start);

/* codectl(2) with this option and structure: 0, -ENOSYS, or the kernel's errno. */
int linux_calls_codectl(struct linux_calls *calls, enum code_opt option, const void *info,
			size_t size);

#endif
