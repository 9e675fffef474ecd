/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bare_clone.h - a child that the C library does not know of. */
#ifndef BOBBIN_TESTS_BARE_CLONE_H
#define BOBBIN_TESTS_BARE_CLONE_H

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As fork(), by a bare system call. */
static inline pid_t bare_clone(void)
{
#ifdef __s390x__
	return (pid_t)syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0);
#else
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

#endif
