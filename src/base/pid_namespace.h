/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pid_namespace.h - whether process IDs here are those that the kernel tells programs and tracepoints.
 */
#ifndef BOBBIN_BASE_PID_NAMESPACE_H
#define BOBBIN_BASE_PID_NAMESPACE_H

#include <stdbool.h>
#include <sys/stat.h>

/* linux/proc_ns.h: PROC_PID_INIT_INO */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFC

/* Those are the numbers of the first namespace. */
static inline bool pid_namespace_is_initial(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == INITIAL_PID_NAMESPACE;
}

#endif
