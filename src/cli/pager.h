/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pager.h - what a command prints to a terminal, screen by screen.
 */
#ifndef BOBBIN_CLI_PAGER_H
#define BOBBIN_CLI_PAGER_H

#include <stdbool.h>

/*
 * From now on standard output, if it is a terminal, goes through $BOBBIN_PAGER, $PAGER or
 * less(1), where there is one.  "" and "cat" stand for none.  A second call does nothing.
 */
void pager_start(void);

/*
 * Wait until the user has seen enough.  Nothing is printed afterwards.  false after a complaint:
 * there is no such pager, and nothing was seen.
 */
bool pager_end(void);

#endif
