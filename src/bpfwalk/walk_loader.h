/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * walk_loader.h - the walker in the kernel is loaded in a thread, since the kernel takes a quarter
 * of a second to prove the program.
 */
#ifndef BOBBIN_BPFWALK_WALK_LOADER_H
#define BOBBIN_BPFWALK_WALK_LOADER_H

#include <pthread.h>

#include "bpfwalk/bpf_walk.h"

/**
 * struct walk_loader - starts as all zero
 * @running: there is something to wait for
 * @walk, @error: what came of it
 */
struct walk_loader {
	struct bobbin_unwinder *unwinder;
	struct bpf_walk_options options;
	pthread_t thread;
	bool running;
	struct bpf_walk *walk;
	int error;
};

/* Until it is joined the unwinder stays where it is.  0 or a negative errno. */
int walk_loader_start(struct walk_loader *loader, struct bobbin_unwinder *unwinder,
		      const struct bpf_walk_options *options);

/* As bpf_walk_open().  -EINVAL: it was not started. */
int walk_loader_join(struct walk_loader *loader, struct bpf_walk **ret);

/* Nobody wants what it loads any more; also if it was not started. */
void walk_loader_abandon(struct walk_loader *loader);

#endif
