/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stack_report.h - write the stacks of all threads of a process that has crashed.
 *
 * All static: one report at a time, as the caller sees to.
 */
#ifndef BOBBIN_CRASH_STACK_REPORT_H
#define BOBBIN_CRASH_STACK_REPORT_H

#include <signal.h>

#include <bobbin/types.h>

/* What has happened to the calling thread; @context: the handler's third argument. */
struct crash {
	int number;
	const siginfo_t *info;
	const void *context;
};

/* Threads that were stopped for it stay so. */
void stack_report_write(int fd, unsigned int flags, const struct crash *crash);

/*
 * The thread that writes the report has crashed: does not return if the report can go on, else a line
 * is written.
 */
void stack_report_recover(const struct crash *crash);

#endif
