/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * terminal_bytes.h - what terminals send for keys.
 */
#ifndef BOBBIN_CLI_TERMINAL_BYTES_H
#define BOBBIN_CLI_TERMINAL_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The first key of what was typed, enum top_key, and how many bytes it takes; 0 for a key that
 * nobody knows.  @more: bytes may follow soon; then *@used is 0 if they are needed.
 */
int terminal_bytes_key(const char *bytes, size_t size, bool more, size_t *used);

#endif
