/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * record_ring.h - the ring through which programs in the kernel give out records.
 *
 * All CPUs write to one.  The kernel tells where the last record ends, we tell it up to where
 * we have read; what it writes to is mapped twice, so that no record wraps around.
 */
#ifndef BOBBIN_BPFWALK_RECORD_RING_H
#define BOBBIN_BPFWALK_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_ring {
	uint64_t *consumer;      /* a page of ours */
	const uint8_t *producer; /* a page of the kernel's, and the data */
	size_t size, page;       /* of the data, a power of two; of a page */
	uint64_t head, tail;     /* head: as of the last record_ring_update() */
};

/* Map the ring of a BPF map with @size bytes of data.  0 or a negative errno. */
int record_ring_open(int map, size_t size, struct record_ring *ret);
void record_ring_close(struct record_ring *ring);

/* See what the kernel has written since. */
void record_ring_update(struct record_ring *ring);

/*
 * The next record, valid until record_ring_consume(), aligned to 8 bytes.  NULL: there is none
 * yet, or it is still being written.
 */
const void *record_ring_peek(struct record_ring *ring, size_t *size);

/* Give the room of the record that record_ring_peek() showed back to the kernel. */
void record_ring_consume(struct record_ring *ring);

#endif
