/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_walk_options.h - what is wanted of the programs that walk in the kernel.
 */
#ifndef BOBBIN_BPFWALK_BPF_WALK_OPTIONS_H
#define BOBBIN_BPFWALK_BPF_WALK_OPTIONS_H

#include <stddef.h>

#include "bpfwalk/bpf_abi.h"

/**
 * struct walk_event - an event of the recording
 * @type, @config, @config1, @config2: as in perf_event_attr
 * @period: hits for a sample
 * @by_program, @probe: each hit runs a program; it is a probe's, else a tracepoint's
 */
struct walk_event {
	uint32_t type;
	uint64_t config, config1, config2, period;
	bool by_program, probe;
};

/**
 * struct bpf_walk_options - what is wanted of the program
 * @also_copy: the kernel's samples beside its traces
 * @by_user, @user: only samples of processes of this (real) user
 * @relayed: bpf_walk_attach() comes before bpf_walk_wait(), and bpf_walk_run() after it
 * @all: hits of all threads; else of those that are told, see bpf_walk_sample()
 * @events, @event_count: of the recording
 * @counted: the one that bpf_walk_attach() is for
 * @cpus: a bit for each on which hits are sampled; NULL: all.  It lives as long as the walk
 */
struct bpf_walk_options {
	bool also_copy, by_user, relayed, all;
	uint32_t user;
	struct walk_event events[KERNEL_EVENTS];
	uint32_t event_count, counted;
	const uint64_t *cpus;
};

#endif
