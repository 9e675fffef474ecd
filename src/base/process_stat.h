/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process_stat.h - what /proc/PID tells of a process or thread.
 *
 * Reading these files waits for nobody.  A PID of 0 is this process.
 */
#ifndef BOBBIN_BASE_PROCESS_STAT_H
#define BOBBIN_BASE_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* When it started, in clock ticks; 0: unknown. */
uint64_t process_start_time(pid_t pid);

/* Whether it is a thread of the kernel. */
bool process_is_kernels(pid_t pid);

/* The process of a thread; 0: there is no such thread. */
pid_t process_of(pid_t tid);

/* The real user that it runs as; false: there is none, or it is not known. */
bool process_user(pid_t pid, uint32_t *ret);

/* The letter of its state, 'Z' if it has ended and nobody has asked for that; 0: there is none. */
char process_state(pid_t pid);

/* Who started it, or has it now; 0: nobody, or unknown. */
pid_t process_parent(pid_t pid);

/* Whether it is there and has not begun to end: then it gives its memory and files up first. */
bool process_has_memory(pid_t pid);

/* The CPU time that it has used so far, in milliseconds; 0 if it is gone. */
uint64_t process_cpu_ms(pid_t pid);

/* The memory that it has now, in bytes; 0 if it is gone. */
uint64_t process_resident(pid_t pid);

/*
 * Whether it takes too long: more than @limit_ns from @since_ns on, both of clock_now().
 * Where it lacks nothing but a processor, because the machine is busy, 20 times that is
 * allowed in addition.
 */
bool process_is_late(pid_t pid, uint64_t since_ns, uint64_t limit_ns);

/* Whether process IDs here are those that the kernel tells programs and tracepoints. */
bool pid_namespace_is_initial(void);

#endif
