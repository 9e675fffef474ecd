/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stepped_walks.h - all ways in which bobbin walks a thread that is stopped.
 */
#ifndef BOBBIN_TESTS_STEPPED_WALKS_H
#define BOBBIN_TESTS_STEPPED_WALKS_H

#include <bobbin/process.h>
#include <sys/user.h>

#include "bpfwalk/bpf_lists.h"
#include "bpfwalk/bpf_tables.h"
#include "native_sampler.h"

enum walk_way {
	WALK_LIBRARY, /* bobbin_process_unwind() as anybody calls it */
	WALK_STACK,   /* as `bobbin stack` does, with rules inferred from code */
	WALK_COPY,    /* as `bobbin record` does, in a copy of the stack */
	WALK_KERNEL,  /* bpf/sampler.bpf.c, as `bobbin record --bpf` does */
	WALK_WAYS
};

extern const char *const walk_way_names[WALK_WAYS];

/* Of all processes, one after the other. */
struct walk_means {
	struct bobbin_unwinder *plain, *inferring;
	struct bpf_tables tables;
	struct bpf_lists lists;
};

struct stepped_walks {
	struct walk_means *means;
	pid_t pid;
	struct bobbin_process *plain, *inferring;
	struct known_list *list;
	struct bobbin_frame frames[BOBBIN_MAX_DEPTH];
	struct bobbin_trace trace;
	uint8_t stack[65528];
};

/* 0 or a negative errno. */
int walk_means_init(struct walk_means *means);
void walk_means_fini(struct walk_means *means);

/* A process that this one traces.  0 or a negative errno. */
int stepped_walks_open(struct walk_means *means, pid_t pid, struct stepped_walks *ret);
void stepped_walks_close(struct stepped_walks *walks);

/* Something was mapped or unmapped.  0 or a negative errno. */
int stepped_walks_update(struct stepped_walks *walks);

/* Walk the thread, to @walks->trace.  0 or a negative errno. */
int stepped_walks_walk(struct stepped_walks *walks, enum walk_way way,
		       const struct user_regs_struct *regs);

#endif
