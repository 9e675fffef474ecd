/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf_samples.h - samples from the rings of the program in the kernel, with whole stacks.
 */
#ifndef BOBBIN_BPFWALK_BPF_SAMPLES_H
#define BOBBIN_BPFWALK_BPF_SAMPLES_H

#include "bpfwalk/stack_intern.h"

/**
 * struct bpf_trace - a sample whose stack was walked in the kernel
 * @head: of the sample
 * @list: number of the list of mappings by which it was walked
 * @cookie: 0: it is whole; else the one of a whole stack that may follow
 * @event: the number of the event that it is of
 * @count, @left_out: of frames; 0: the program names a stack that is not known; and of those that
 *	are left out before the last KERNEL_OUTER_FRAMES
 * @frames: as in struct kernel_sample
 * @chain_count: of words of the kernel's part
 */
struct bpf_trace {
	struct kernel_sample_head head;
	uint64_t list, cookie;
	uint32_t event, count, left_out, chain_count;
	uint64_t frames[KERNEL_FRAMES];
	uint64_t chain[KERNEL_CHAIN + 1];
};

#define STACK_NONE UINT32_MAX

/* Late stacks that are kept until their samples arrive, some 10 ms later. */
#define LATE_STACKS 128

/* What a record has besides stacks: see struct kernel_sample_head. */
struct sample_extras {
	uint64_t cookie, event, left_out;
};

/* A sample that was taken from the ring, with nodes of the store, or STACK_NONE. */
struct pending_sample {
	struct kernel_sample_head head;
	struct sample_extras extras;
	uint32_t stack, chain;
};

/**
 * struct record_ring - the ring through which the program gives out records
 * @consumer: a page of ours: up to where we have read
 * @producer: a page of the kernel's: up to where it has written, and the data, which are mapped
 *	twice, so that no record wraps around
 * @size, @page: of the data, a power of two; of a page
 * @head, @tail: of what was there at the last look, and was not read
 */
struct record_ring {
	uint64_t *consumer;
	const uint8_t *producer;
	size_t size, page;
	uint64_t head, tail;
};

/**
 * struct bpf_samples - what comes out of the rings
 * @late_ring: of whole stacks that were walked late, if walks wait; else zero
 * @store: stacks by their hashes
 * @epoch: where the program reads the current epoch
 * @list, @first, @count: samples to be given out, from @first on, by time; the ring, which is of all
 *	CPUs, is only nearly so
 * @wants_renewal: a new epoch is to begin
 * @behind: the ring may have more than @list can hold
 * @error: -ENOMEM: not all were taken
 * @wake: a descriptor of epoll(7), or -1
 * @records, @bytes: that were taken, with what the ring needs for them
 * @unknown, @broken: records that name a part of a stack that is not known, and that make no sense
 * @late_count, @late: stacks that were walked late, and the last ones of them
 */
struct bpf_samples {
	struct record_ring ring, late_ring;
	struct stack_intern store;
	volatile uint64_t *epoch;
	struct pending_sample *list;
	size_t first, count, room;
	bool wants_renewal, behind;
	int wake, error;
	uint64_t records, bytes, unknown, broken, late_count;
	struct bpf_trace late[LATE_STACKS];
};

/* The maps of the rings; @late: -1: there is none. */
struct sample_rings {
	int samples, late;
	size_t sample_bytes;
};

/* @samples->store is initialised, the rest zero.  0 or a negative errno. */
int bpf_samples_open(struct bpf_samples *samples, const struct sample_rings *rings,
		     volatile uint64_t *epoch);
void bpf_samples_close(struct bpf_samples *samples);

/*
 * Take what the program has given out since, up to a limit; beyond that bpf_samples_next() takes
 * it.  0, -ENOMEM.
 */
int bpf_samples_collect(struct bpf_samples *samples);

/* The time of the next one; UINT64_MAX: there is none. */
uint64_t bpf_samples_time(const struct bpf_samples *samples);

/* Take the next one. */
void bpf_samples_next(struct bpf_samples *samples, struct bpf_trace *ret);

#endif
