/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_hits.h - tracepoints and probes, walked by programs in the kernel.
 *
 *	hit ──► program ──┬── whole stack ──► ring of samples
 *	                  └── else an event of the sampler's makes the usual sample
 *
 * A program is run at each hit on the machine, whoever it is of; see bpf/hit_walks.h.  To attach it
 * takes one event of perf, that counts nothing.
 */
#ifndef BOBBIN_PROFILE_EVENT_HITS_H
#define BOBBIN_PROFILE_EVENT_HITS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/kernel_walk_options.h"

struct bpf_link;
struct btf;
struct sampler_bpf;

/* With follow_fork() and the like. */
#define HIT_LINKS (KERNEL_EVENTS + 3)

struct event_hits {
	struct bpf_link *links[HIT_LINKS];
	size_t count;
};

/*
 * Before the programs are loaded: which ones are, for @cpus.  @kernel: its types; @defers: walks may
 * wait.  0 or a negative errno.
 */
int event_hits_configure(struct sampler_bpf *bpf, const struct kernel_walk_options *options,
			 const struct btf *kernel, bool defers, uint32_t cpus);

/* What is copied goes to the events of the sampler.  0 or a negative errno. */
int event_hits_attach(struct event_hits *hits, struct sampler_bpf *bpf,
		      const struct kernel_walk_options *options, const struct sampler *sampler);
void event_hits_close(struct event_hits *hits);

#endif
