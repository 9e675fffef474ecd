/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_name.h - what an event is called whose recording does not say.
 */
#ifndef BOBBIN_PROFILE_EVENT_NAME_H
#define BOBBIN_PROFILE_EVENT_NAME_H

#include <linux/perf_event.h>

#define EVENT_NAME_SIZE 64

/*
 * By its attributes, as perf calls it: "page-faults:u"; others by their numbers, "tracepoint:317".
 * Events with one name may differ in what the name does not say.
 */
void event_name_of(const struct perf_event_attr *attr, char name[EVENT_NAME_SIZE]);

#endif
