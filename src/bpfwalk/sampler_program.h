/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler_program.h - bpf/sampler.bpf.c, loaded as far as the running kernel can have it, and
 * attached.
 *
 *	sample of a counter ──► program ──┬── whole stack ──► ring of samples
 *	                                  └── else the kernel makes the usual sample, with a copy
 *	hit of a tracepoint or probe ──► program ──┬── whole stack ──► ring of samples
 *	                                           └── else an event of perf makes the usual sample
 *
 * The program runs at each hit on the machine, whoever it is of; see bpf/hit_walks.h.
 */
#ifndef BOBBIN_BPFWALK_SAMPLER_PROGRAM_H
#define BOBBIN_BPFWALK_SAMPLER_PROGRAM_H

#include "bpfwalk/bpf_walk_options.h"

struct bpf_link;
struct sampler_bpf;

/* A program for each event, and those that follow tasks and list mappings. */
#define PROGRAM_LINKS (KERNEL_EVENTS + 5)

/**
 * struct sampler_program - what is loaded
 * @waits: walks wait for pages that are not in memory
 * @task_work: the kernel function for that, by its number in BTF
 * @lists: the program lists mappings itself
 * @follows: what sampled threads start is followed, or need not be
 * @links, @link_count: what is attached, but for samples of counters
 * @files, @pages, @mappings: memory of these maps
 */
struct sampler_program {
	struct sampler_bpf *bpf;
	bool waits, lists, follows;
	int task_work;
	struct bpf_link *links[PROGRAM_LINKS];
	size_t link_count;
	struct kernel_file *files;
	uint8_t *pages;
	struct kernel_mapping *mappings;
};

/* Choose and configure what is to be loaded.  As the next one. */
int sampler_program_open(const struct bpf_walk_options *options, const struct stack_key *key,
			 bool with_new, struct sampler_program *ret);

/*
 * Load it, and have it list mappings where it can.  @with_new: also what is newer than the walk
 * itself.  0, -ENOMEM, or a negative errno of bpf(2); @ret is to be unloaded in any case.
 */
int sampler_program_load(const struct bpf_walk_options *options, const struct stack_key *key,
			 bool with_new, struct sampler_program *ret);

/* One that is all zero is fine, and so it is then. */
void sampler_program_unload(struct sampler_program *program);

/* The program for samples of counters. */
int sampler_program_fd(const struct sampler_program *program);

/*
 * Run it at the hits of the event with this number, and have events of perf, of which each is of one
 * of @cpus, make samples of what it cannot walk; before the first one also follow what the sampled
 * threads start, if not all are sampled.  0 or a negative errno.
 */
int sampler_program_attach_hits(struct sampler_program *program, const struct walk_event *event,
				uint32_t number, const int *events, const int *cpus, size_t count);

#endif
