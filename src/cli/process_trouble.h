/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * process_trouble.h - why a process or a thread cannot be looked at.
 */
#ifndef BOBBIN_CLI_PROCESS_TROUBLE_H
#define BOBBIN_CLI_PROCESS_TROUBLE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The line for what is so for everybody: it has ended and nobody has waited for it, it is the
 * kernel's.  @kind: "process" or "thread".  false: it is neither, and nothing was said.
 */
bool complain_nothing_there(const char *kind, pid_t id);

/* The line for an error of looking at it, with the reason if that can be known. */
void complain_process(const char *kind, pid_t id, int error);

#endif
