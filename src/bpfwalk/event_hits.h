/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_hits.h - tracepoints and probes, walked by programs in the kernel.
 *
 *	hit ──► program ──┬── whole stack ──► ring of samples
 *	                  └── else an event of perf makes the usual sample, with a copy
 *
 * A program is run at each hit on the machine, whoever it is of; see bpf/hit_walks.h.  To attach it
 * takes one event of perf, that counts nothing.
 */
#ifndef BOBBIN_BPFWALK_EVENT_HITS_H
#define BOBBIN_BPFWALK_EVENT_HITS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpfwalk/bpf_walk_options.h"

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
int event_hits_configure(struct sampler_bpf *bpf, const struct bpf_walk_options *options,
			 const struct btf *kernel, bool defers, uint32_t cpus);

/* Events of perf that make samples of hits which the program cannot walk, and their CPUs. */
struct event_copies {
	const int *fds, *cpus;
	size_t count;
};

/*
 * Attach a program to the event with this number; before the first one what follows the sampled
 * threads, if not all are sampled.  0 or a negative errno.
 */
int event_hits_attach(struct event_hits *hits, struct sampler_bpf *bpf,
		      const struct bpf_walk_options *options, uint32_t number,
		      const struct event_copies *copies);
void event_hits_close(struct event_hits *hits);

#endif
