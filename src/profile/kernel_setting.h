/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_setting.h - numbers below /proc/sys/kernel, see sysctl(8).
 */
#ifndef BOBBIN_PROFILE_KERNEL_SETTING_H
#define BOBBIN_PROFILE_KERNEL_SETTING_H

#include <stdbool.h>
#include <stdint.h>

/* The value of "perf_event_paranoid" or another name; false: this kernel has none. */
bool kernel_setting(const char *name, int64_t *ret);

/*
 * The samples per second that perf_event_open(2) takes at most.  The kernel lowers this
 * setting by itself if samples take too much of the time.  UINT32_MAX: unknown.
 */
uint32_t kernel_most_samples(void);

#endif
