/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * small_core.h - a core file of two threads of any machine, made by hand.
 *
 *	headers, notes
 *	SMALL_CORE_CODE    two pages of "/small/program", of which the first one is there
 *	SMALL_CORE_MADE    a page of code without a file
 *	SMALL_CORE_STACK   a page: of each word its address
 */
#ifndef BOBBIN_TESTS_SMALL_CORE_H
#define BOBBIN_TESTS_SMALL_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMALL_CORE_MAX 65536
#define SMALL_CORE_PAGE 4096u
#define SMALL_CORE_CODE 0x400000u
#define SMALL_CORE_MADE 0x500000u
#define SMALL_CORE_STACK 0x700000u
#define SMALL_CORE_TID 4711
/* Word N of a thread's registers, as the kernel counts, is so much and N; likewise float N. */
#define SMALL_CORE_WORD 0x701000u
#define SMALL_CORE_FLOAT 0x900000u
#define SMALL_CORE_PATH "/small/program"

/* Write it; its size. */
size_t small_core_make(uint16_t machine, bool big_endian, uint8_t ret[SMALL_CORE_MAX]);

#endif
