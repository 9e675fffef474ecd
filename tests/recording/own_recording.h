/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_recording.h - a recording of the program that writes it, as a recorder would have made it.
 *
 * The thread "subject" is sampled in sampled_function(), which the kernel was called from, and once
 * more there.  The caller of both is at 0x1234, where nothing is mapped.
 */
#ifndef BOBBIN_TESTS_OWN_RECORDING_H
#define BOBBIN_TESTS_OWN_RECORDING_H

#include <stdint.h>

#define OWN_RECORDING_PID 4711

void own_recording_write(const char *path);

/* In sampled_function(), at 1. */
uint64_t own_recording_pc(void);

#endif
