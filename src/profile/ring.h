/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring.h - the buffer through which the kernel hands over records.
 *
 * See perf_event_open(2), "MMAP layout".  The kernel moves data_head, we move
 * data_tail; what lies between belongs to us.
 */
#ifndef BOBBIN_PROFILE_RING_H
#define BOBBIN_PROFILE_RING_H

#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	struct perf_event_mmap_page *control;
	const uint8_t *data;
	size_t size;         /* of the data, a power of two */
	uint64_t head, tail; /* head: as of the last ring_update() */
	uint8_t *joined;     /* a record that wraps around, in one piece */
};

/* Map the buffer of @fd with @size bytes of data.  0 or a negative errno. */
int ring_open(int fd, size_t size, struct ring *ret);
void ring_close(struct ring *ring);

/* See what the kernel has written since. */
void ring_update(struct ring *ring);

/*
 * The next record, or NULL.  Valid until ring_consume().  A record that makes
 * no sense empties the ring and sets *@broken.
 */
const struct perf_event_header *ring_peek(struct ring *ring, bool *broken);

/* Give the room of the record that ring_peek() showed back to the kernel. */
void ring_consume(struct ring *ring, const struct perf_event_header *record);

/* How full it was at the last ring_update(), in per cent. */
unsigned int ring_fill(const struct ring *ring);

/*
 * After poll(2): leave out what has hung up.  A ring's event does so when its thread ends, and
 * poll(2) returns at once from then on, but others may write to the ring: whether it has to be
 * looked at without being told.
 */
bool ring_mute(struct pollfd *fds, size_t count);

#endif
