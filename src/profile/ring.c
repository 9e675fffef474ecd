/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A record's size is 16 bits wide. */
#define RECORD_MAX 65536

int ring_open(int fd, size_t size, struct ring *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ring ring = {.size = size};
	void *map;

	ring.joined = malloc(RECORD_MAX);
	if (!ring.joined)
		return -ENOMEM;
	map = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		free(ring.joined);
		return -errno;
	}
	ring.control = map;
	ring.data = (const uint8_t *)map + page;
	*ret = ring;
	return 0;
}

void ring_close(struct ring *ring)
{
	if (ring->control)
		munmap(ring->control, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
	free(ring->joined);
	*ring = (struct ring){0};
}

void ring_update(struct ring *ring)
{
	/* pairs with the kernel's store: records before the head are complete */
	ring->head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
}

const struct perf_event_header *ring_peek(struct ring *ring, bool *broken)
{
	size_t at = ring->tail & (ring->size - 1), first = ring->size - at;
	const struct perf_event_header *record;

	*broken = false;
	if (ring->head == ring->tail)
		return NULL;
	/* records are aligned to 8 bytes, so a header never wraps */
	record = (const struct perf_event_header *)(ring->data + at);
	if (record->size < sizeof(*record) || record->size > ring->head - ring->tail) {
		*broken = true;
		ring->tail = ring->head;
		return NULL;
	}
	if (record->size <= first)
		return record;
	memcpy(ring->joined, ring->data + at, first);
	memcpy(ring->joined + first, ring->data, record->size - first);
	return (const struct perf_event_header *)ring->joined;
}

void ring_consume(struct ring *ring, const struct perf_event_header *record)
{
	ring->tail += record->size;
	/* our reads come before the kernel's next writes */
	__atomic_store_n(&ring->control->data_tail, ring->tail, __ATOMIC_RELEASE);
}

unsigned int ring_fill(const struct ring *ring)
{
	return (unsigned int)(100 * (ring->head - ring->tail) / ring->size);
}

bool ring_mute(struct pollfd *fds, size_t count)
{
	bool muted = false;

	for (size_t i = 0; i < count; i++) {
		if (fds[i].revents & (POLLHUP | POLLERR))
			fds[i].fd = -1;
		muted |= fds[i].fd < 0;
	}
	return muted;
}
