/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * placed_frames.h - call-frame information at its address in memory, before pages
 * that cannot be read.
 */
#ifndef BOBBIN_TESTS_PLACED_FRAMES_H
#define BOBBIN_TESTS_PLACED_FRAMES_H

#include "cfi_section.h"

#define PLACE_SIZE 0x4000

/* Reserve the place; set-up and tear-down of cmocka's. */
int place_open(void **state);
int place_close(void **state);

/* Copy the bytes; the zeros after them are a terminator. */
void *place(const struct cfi_section *section);

/* The same, a page after bytes that stay: for absolute addresses. */
void *place_further(const struct cfi_section *section);

/* Move the bytes to the end of the page at @place, so that no terminator follows. */
void *place_at_end(const struct cfi_section *section);

#endif
