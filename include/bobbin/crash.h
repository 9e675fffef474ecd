/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crash.h - the stacks of all threads, when the program crashes.
 *
 *	bobbin_install_crash_handler(STDERR_FILENO, 0);		first in main()
 *
 * On a fatal signal the handler writes why, and the stack of each thread with the names of its
 * functions and the reason why it ends, as bobbin-stack(1) prints them.  Then the signal has its
 * default action: the exit status is that of the signal, and a core file is written as without the
 * handler, with the registers of the crash.
 *
 * The signals are those whose default action is to dump core: SIGABRT, SIGBUS, SIGFPE, SIGILL,
 * SIGQUIT, SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU and SIGXFSZ.  The report takes no lock, allocates nothing
 * and uses no stdio, so it does not matter what state the heap is in, or who holds which lock.  A
 * crash within it is reported, and the rest of the report goes on.  Link with -lbobbin-crash, or
 * preload libbobbin-crash.so, see libbobbin-crash(7).
 */
#ifndef BOBBIN_CRASH_H
#define BOBBIN_CRASH_H

#include <bobbin/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The thread that crashes is the only one that is reported; no other is stopped. */
#define BOBBIN_CRASH_ONE_THREAD 0x1u
/* Each frame says how its caller was found, as in bobbin-stack(1) with --verbose. */
#define BOBBIN_CRASH_SOURCES 0x2u

/**
 * bobbin_install_crash_handler() - have crashes reported
 * @fd: where to; it must stay open.  What takes nothing for five seconds, as a pipe that
 *	nobody reads, gets no more of the report
 * @flags: BOBBIN_CRASH_*
 *
 * Learns what is loaded, as bobbin_backtrace_prepare() does.  Call it again after
 * dlopen(3), so that stacks through what was loaded are whole, and with another descriptor or
 * flags, which then hold.  Gives the calling thread an alternate signal stack, if it has none or a
 * small one, and so does pthread_create(3) with each thread that it creates afterwards: the stack
 * of a thread that has overflowed is reported, too.  Threads that are there already call
 * bobbin_crash_stack(), and so do all threads of a program that is linked statically.
 *
 * An action that the program has set for such a signal before is not lost.  A handler gets the
 * signal after the report, with the same siginfo and registers, as if nothing had been
 * there; the other threads run on by then, and the next signal of that number goes to this
 * handler alone.  After a crash within the report, the default action follows at once.  A signal that
 * was ignored stays so, unless the kernel sends it for something that an instruction has
 * done, which ends the process in any case.  Actions that are set afterwards replace this one.
 *
 * The other threads are stopped by SIGSTKFLT, whose action is set for that.  A thread that blocks
 * it, or does not answer within two seconds, is named with that reason and has no stack in the report.
 *
 * Locks and allocates: not from signal handlers.  Any thread, one at a time.
 *
 * Return: 0; -EBADF: @fd is not open; -EINVAL: unknown flags; -ENOMEM.
 */
int bobbin_install_crash_handler(int fd, unsigned int flags);

/**
 * bobbin_crash_stack() - give the calling thread an alternate signal stack
 *
 * Of 64 KiB and what a signal needs, with a page below that cannot be written.  One that is large
 * enough already is left as it is.  It is given back when the thread ends.
 *
 * Not from signal handlers.
 *
 * Return: 0; -ENOMEM; -EPERM: the thread runs on a small one at this moment.
 */
int bobbin_crash_stack(void);

#ifdef __cplusplus
}
#endif

#endif
