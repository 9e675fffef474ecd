/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process.h - call chains of another process's threads.
 *
 *	struct bobbin_frame frames[128];
 *	struct bobbin_trace trace = {.frames = frames, .max = 128};
 *	struct bobbin_process *process;
 *
 *	if (!bobbin_process_open(pid, NULL, &process)) {
 *		if (!bobbin_process_unwind(process, tid, &trace))
 *			for (uint32_t i = 0; i < trace.count; i++)
 *				printf("%#" PRIx64 "\n", trace.frames[i].pc);
 *		bobbin_process_close(process);
 *	}
 *
 * A thread is stopped with ptrace(2) while its stack is walked, and runs on afterwards.  So
 * the caller must be allowed to trace it (ptrace(2), "Ptrace access mode checking"), no
 * debugger may hold it, and it is a thread of another process; for the own threads there is
 * <bobbin/backtrace.h>.  A signal that it was about to take is delivered, and a process that
 * was stopped stays so.
 *
 * The thread that opened a process makes all calls for it: Linux knows tracers by thread.
 * Stops raise SIGCHLD in the calling process, and are waited for by the thread's number;
 * meanwhile nobody else may wait for any child (waitpid(-1, …, __WALL)).
 *
 * None of the functions is async-signal-safe.
 */
#ifndef BOBBIN_PROCESS_H
#define BOBBIN_PROCESS_H

#include <bobbin/unwind.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bobbin_process;

/**
 * struct bobbin_process_options - what a user may choose
 * @size: sizeof(struct bobbin_process_options)
 * @unwinder: knows the files, and has the deadline for reading memory; must live until the
 *	process is closed.  One may serve many processes.  NULL: the process has an unwinder
 *	of its own, with a deadline of a second and without debug files and side-files
 * @stop_ms: how long a thread may take to stop, in milliseconds; 0: 1000.  All threads
 *	together may take three times as long; then each one gets 50 ms.  On a busy machine a
 *	thread that waits for nothing but a processor may take 20 times as long in addition
 */
struct bobbin_process_options {
	size_t size;
	struct bobbin_unwinder *unwinder;
	uint32_t stop_ms;
};

/**
 * bobbin_process_open() - get ready to unwind a process
 * @pid: the process, or one of its threads
 * @options: NULL for defaults; an unknown tail must be zero
 * @ret: the process; untouched on failure
 *
 * Reads what is mapped and what code is registered, without stopping anything.
 *
 * Return: 0; -ESRCH; -EPERM or -EACCES: not allowed to look into it; -ETIMEDOUT; another
 * errno of reading /proc/PID/maps; -ENOMEM; -EINVAL or -E2BIG: @options is of no size, or
 * has an unknown tail.
 */
int bobbin_process_open(int pid, const struct bobbin_process_options *options,
			struct bobbin_process **ret);

/**
 * bobbin_process_close() - give a process back
 * @process: NULL is fine
 *
 * Lets late threads run on if they have stopped by now, see bobbin_process_late().
 */
void bobbin_process_close(struct bobbin_process *process);

/**
 * bobbin_process_update() - learn what is mapped and registered now
 * @process: the process
 *
 * Needed after the process has unloaded or replaced code, or called exec.  Code that is new
 * is found by bobbin_process_unwind(), too.
 *
 * Return: as bobbin_process_open().  On failure nothing may be known to be mapped.
 */
int bobbin_process_update(struct bobbin_process *process);

/**
 * bobbin_process_code_status() - whether the process's registered code is known
 * @process: the process
 *
 * Without it files are unwound all the same.
 *
 * Return: what bobbin_space_update_code() returned when the process was opened or updated.
 */
int bobbin_process_code_status(const struct bobbin_process *process);

/**
 * bobbin_process_space() - what is mapped in the process
 * @process: the process
 *
 * For bobbin_space_find(), which leads from an address to a file and an offset.
 *
 * Return: the space; it lives as long as @process.
 */
struct bobbin_space *bobbin_process_space(struct bobbin_process *process);

/**
 * bobbin_process_threads() - the threads that the process has now
 * @process: the process
 * @ret: their numbers, ascending, to be released with free(); untouched on failure
 *
 * Return: how many, at least 1; -ESRCH: the process has ended; -ENOMEM; another errno of
 * reading /proc/PID/task.
 */
int bobbin_process_threads(const struct bobbin_process *process, int **ret);

/**
 * bobbin_process_unwind() - the call chain of a thread
 * @process: the process
 * @tid: one of its threads; the first one has the process's number
 * @trace: in: @frames, @max and @outer; out: the rest.  At least one frame; untouched on
 *	failure
 *
 * The thread is stopped for as long as the walk takes: some microseconds, milliseconds where
 * tables of files have to be read first.  Where the walk meets code that is not known, the
 * process is updated while the thread is stopped, and the thread is walked again.
 *
 * Return: 0; -ESRCH: it is no thread of the process, or has ended; -EPERM: not allowed to
 * trace it, or a debugger does; -ETIMEDOUT: it does not stop, since it waits in the kernel,
 * as in vfork(2), see bobbin_process_late(); -ENOTSUP: it runs a 32-bit program.
 */
int bobbin_process_unwind(struct bobbin_process *process, int tid, struct bobbin_trace *trace);

/**
 * bobbin_process_late() - threads that did not stop in time, and may yet
 * @process: the process
 *
 * Such a thread stops as soon as it leaves the kernel, and stays stopped until somebody lets
 * it run on.  This function does so for all that have stopped by now, and so does each
 * bobbin_process_unwind().  What is left when the process is closed is released by Linux
 * when the calling thread ends.
 *
 * Return: how many have not stopped yet.
 */
unsigned int bobbin_process_late(struct bobbin_process *process);

#ifdef __cplusplus
}
#endif

#endif
