/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/record_ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

int record_ring_open(int map, size_t size, struct record_ring *ret)
{
	struct record_ring ring = {.size = size, .page = (size_t)sysconf(_SC_PAGESIZE)};
	void *p;

	p = mmap(NULL, ring.page, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	if (p == MAP_FAILED)
		return -errno;
	ring.consumer = p;
	p = mmap(NULL, ring.page + 2 * size, PROT_READ, MAP_SHARED, map, (off_t)ring.page);
	if (p == MAP_FAILED) {
		int r = -errno;

		munmap(ring.consumer, ring.page);
		return r;
	}
	ring.producer = p;
	*ret = ring;
	return 0;
}

void record_ring_close(struct record_ring *ring)
{
	if (!ring->consumer)
		return;
	munmap(ring->consumer, ring->page);
	munmap((void *)ring->producer, ring->page + 2 * ring->size);
	*ring = (struct record_ring){0};
}

void record_ring_update(struct record_ring *ring)
{
	ring->head = __atomic_load_n((const uint64_t *)ring->producer, __ATOMIC_ACQUIRE);
}

/* The word before a record: its size, and whether it is there. */
static uint32_t length_at(const struct record_ring *ring, uint64_t at)
{
	const uint8_t *data = ring->producer + ring->page;

	return __atomic_load_n((const uint32_t *)(data + (at & (ring->size - 1))),
			       __ATOMIC_ACQUIRE);
}

static uint64_t room_of(uint32_t length)
{
	uint64_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	return (size + BPF_RINGBUF_HDR_SZ + 7) & ~7ull;
}

const void *record_ring_peek(struct record_ring *ring, size_t *size)
{
	uint32_t length;

	for (; ring->tail < ring->head; ring->tail += room_of(length)) {
		length = length_at(ring, ring->tail);
		if (length & BPF_RINGBUF_BUSY_BIT)
			return NULL;
		if (length & BPF_RINGBUF_DISCARD_BIT)
			continue;
		*size = length;
		return ring->producer + ring->page + (ring->tail & (ring->size - 1)) +
		       BPF_RINGBUF_HDR_SZ;
	}
	return NULL;
}

void record_ring_consume(struct record_ring *ring)
{
	ring->tail += room_of(length_at(ring, ring->tail));
	/* our reads come before the kernel's next writes */
	__atomic_store_n(ring->consumer, ring->tail, __ATOMIC_RELEASE);
}
