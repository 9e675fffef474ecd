/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fatal_signal.h - the signals whose default action is to dump core, and what they say.
 */
#ifndef BOBBIN_CRASH_FATAL_SIGNAL_H
#define BOBBIN_CRASH_FATAL_SIGNAL_H

#include <signal.h>

#include <bobbin/types.h>

#include "crash/report_text.h"

#define FATAL_SIGNALS 10

/* As signal(7) lists them. */
extern const int fatal_signals[FATAL_SIGNALS];

/* The place among these; FATAL_SIGNALS: it is none of them. */
unsigned int fatal_signal_index(int number);

/* Whether an instruction raises it, so that it arrives even where it is ignored. */
bool fatal_signal_is_fault(int number);

/* "SIGSEGV at 0x0000000000000010: nothing is mapped there" */
void fatal_signal_print(struct report_text *text, int number, const siginfo_t *info);

#endif
