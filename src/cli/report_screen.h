/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report_screen.h - the reports of a recording on a terminal, with the keys of the live table.
 */
#ifndef BOBBIN_CLI_REPORT_SCREEN_H
#define BOBBIN_CLI_REPORT_SCREEN_H

#include "cli/event_reports.h"

/*
 * Show the events that have samples, of which one is on the screen, until the user has seen enough.
 * Stacks have the numbers of their processes as labels.  0; an exit status, after a complaint if it
 * is 1.
 */
int report_screen_show(const struct event_reports *reports);

#endif
