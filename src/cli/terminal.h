/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * terminal.h - a screen of lines, and keys.
 *
 * Plain ANSI sequences, which all terminals in use know, so no terminfo of this machine has to
 * know the terminal at the other end of ssh.  The screen is the alternate one.  What was set is
 * put back by terminal_leave() and by signals that end the process, but for SIGKILL.
 *
 * There is one terminal.
 */
#ifndef BOBBIN_CLI_TERMINAL_H
#define BOBBIN_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "export/top_screen.h"

/* Whether standard input and output are a terminal that can show a screen. */
bool terminal_is_usable(void);

/*
 * Take the screen; or take it again, if somebody else had it meanwhile.  A job in the background
 * stops.  0 or a negative errno; -EINTR: there was a signal, such as that to go on.
 */
int terminal_enter(void);
void terminal_leave(void);

void terminal_size(size_t *width, size_t *height);

/* Show lines; those that have not changed are not sent.  0, or the errno of write(2). */
int terminal_draw(const struct top_screen *screen, size_t width);

/* Send all lines next time. */
void terminal_forget(void);

/*
 * The next key that was typed, enum top_key; 0: none so far; -1: there will be none.  Reads
 * what there is and does not wait for more than the rest of an escape sequence.
 */
int terminal_key(void);

#endif
