/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_door.h - hand registrations on to a kernel that has the proposed calls.
 *
 * The numbers of sframe_register(2), sframe_unregister(2) and codectl(2) are proposed, not
 * assigned: another kernel may have another call there.  So nobody believes in the
 * numbers.  At the first use the calls are asked what only they answer like that:
 * first with arguments that no call can do harm with, at last with a section of
 * this file's own, which must register once and unregister once.  codectl(2) is asked likewise,
 * with an empty JIT table, at its own first use.
 */
#ifndef BOBBIN_CODEMAP_KERNEL_DOOR_H
#define BOBBIN_CODEMAP_KERNEL_DOOR_H

#include <bobbin/code_abi.h>

#define KERNEL_SFRAME_REGISTER 472
#define KERNEL_SFRAME_UNREGISTER 473
#define KERNEL_CODECTL 474

/*
 * A system call: a result, or a negative errno.  @option: codectl's first argument, others have
 * none.  Zeros come after the size.
 */
typedef long (*kernel_call)(long number, unsigned int option, const void *info, size_t size);

enum kernel_door_state {
	KERNEL_DOOR_UNKNOWN,
	KERNEL_DOOR_OPEN,
	KERNEL_DOOR_CLOSED
};

struct kernel_door {
	kernel_call call; /* NULL: there is no kernel */
	enum kernel_door_state state, codectl;
};

/*
 * The running kernel's calls.  While a seccomp filter is in force all is -ENOSYS and
 * nothing is called: the filter may end the process for a call that it does not know.
 */
kernel_call kernel_door_native(void);

/* Whether the kernel has the calls; asks it once. */
bool kernel_door_open(struct kernel_door *door);

/* 0, or why the kernel does not have it: -ENOSYS, or its own errno. */
int kernel_door_register(struct kernel_door *door, const struct sframe_setup *setup);
int kernel_door_unregister(struct kernel_door *door, uint64_t sframe_start);

/* codectl(2) with this option and structure: 0, -ENOSYS, or the kernel's errno. */
int kernel_door_codectl(struct kernel_door *door, enum code_opt option, const void *info,
			size_t size);

#endif
