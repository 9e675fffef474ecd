/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * switch_events.h - when the sampled threads leave a CPU, with which stack, and when they are back.
 *
 *	sample		the thread leaves: registers, copy of the stack, the kernel's part
 *	SWITCH, out	whether it could have gone on
 *	SWITCH, in	it is back
 *
 * The records come through the sampler's rings, in the order of time.
 */
#ifndef BOBBIN_PROFILE_SWITCH_EVENTS_H
#define BOBBIN_PROFILE_SWITCH_EVENTS_H

#include "profile/sampler.h"

/*
 * Of what the sampler was opened for; with @wait not before sampler_events_enable().  0; a negative
 * errno of perf_event_open(2), -EACCES where the user may not see the kernel's part: there no event
 * tells of these moments.
 */
int switch_events_open(struct sampler *sampler, const struct sampler_options *options, bool wait,
		       struct sampler_events *ret);

#endif
