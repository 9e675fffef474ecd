/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpfwalk/bpf_samples.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vector.h"

/* Samples that wait, at most; the others wait in the ring. */
#define PENDING_MAX 131072

#define HEAD_SIZE sizeof(struct kernel_sample_head)

static int open_ring(int map, size_t size, struct record_ring *ret)
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
	/* as of all maps, see map_memory() */
	madvise(ring.consumer, ring.page, MADV_DONTFORK);
	madvise(p, ring.page + 2 * size, MADV_DONTFORK);
	*ret = ring;
	return 0;
}

static void close_ring(struct record_ring *ring)
{
	if (!ring->consumer)
		return;
	munmap(ring->consumer, ring->page);
	munmap((void *)ring->producer, ring->page + 2 * ring->size);
	*ring = (struct record_ring){0};
}

/* See what the kernel has written since. */
static void update_ring(struct record_ring *ring)
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

/*
 * The next record, valid until consume(), aligned to 8 bytes.  NULL: there is none yet, or it is
 * still being written.
 */
static const void *peek(struct record_ring *ring, size_t *size)
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

/* Give the room of the record that peek() has shown back to the kernel. */
static void consume(struct record_ring *ring)
{
	ring->tail += room_of(length_at(ring, ring->tail));
	/* our reads come before the kernel's next writes */
	__atomic_store_n(ring->consumer, ring->tail, __ATOMIC_RELEASE);
}

/* The program wakes when there is much; poll(2) would return at the first byte. */
static int open_wake(int map)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int fd = epoll_create1(EPOLL_CLOEXEC), r;

	if (fd < 0 || !epoll_ctl(fd, EPOLL_CTL_ADD, map, &event))
		return fd < 0 ? -errno : fd;
	r = -errno;
	close(fd);
	return r;
}

int bpf_samples_open(struct bpf_samples *samples, const struct sample_rings *rings,
		     volatile uint64_t *epoch)
{
	int r = open_ring(rings->samples, rings->sample_bytes, &samples->ring);

	samples->epoch = epoch;
	if (!r && rings->late >= 0)
		r = open_ring(rings->late, KERNEL_LATE_BYTES, &samples->late_ring);
	samples->wake = r ? -1 : open_wake(rings->samples);
	return r ? r : samples->wake < 0 ? samples->wake : 0;
}

void bpf_samples_close(struct bpf_samples *samples)
{
	if (samples->wake > 0)
		close(samples->wake);
	close_ring(&samples->ring);
	close_ring(&samples->late_ring);
	stack_intern_fini(&samples->store);
	free(samples->list);
	*samples = (struct bpf_samples){0};
}

/* The words of a record in their order, as far as they are there. */
struct word_reader {
	const uint64_t *words;
	size_t left;
};

static const uint64_t *read_words(struct word_reader *from, uint32_t count)
{
	const uint64_t *words = from->words;

	if (count > from->left)
		return NULL;
	from->words += count;
	from->left -= count;
	return words;
}

static bool read_word(struct word_reader *from, bool present, uint64_t *ret)
{
	const uint64_t *word = read_words(from, present);

	*ret = word && present ? *word : 0;
	return word;
}

/* Take a record apart; false: it contradicts itself. */
static bool read_parts(const struct kernel_sample *record, size_t size, struct stack_part *user,
		       struct stack_part *chain, struct sample_extras *extras)
{
	struct word_reader from = {record->words, size < HEAD_SIZE ? 0 : (size - HEAD_SIZE) / 8};
	const struct kernel_sample_head *head = &record->head;
	bool has_chain = size >= HEAD_SIZE && head->flags & KERNEL_HAS_CHAIN;

	if (size < HEAD_SIZE || head->count > KERNEL_FRAMES || head->chain > KERNEL_CHAIN)
		return false;
	*user = (struct stack_part){.words = read_words(&from, head->count),
				    .count = head->count,
				    .from_root = head->flags & KERNEL_FROM_ROOT,
				    .outer = head->outer,
				    .epoch = head->epoch};
	*chain = (struct stack_part){.words = read_words(&from, head->chain),
				     .count = head->chain,
				     .from_root = head->flags & KERNEL_CHAIN_FROM_ROOT,
				     .epoch = head->epoch};
	return user->words && chain->words &&
	       read_word(&from, has_chain && !chain->from_root, &chain->outer) &&
	       read_word(&from, head->flags & KERNEL_HAS_COOKIE, &extras->cookie) &&
	       read_word(&from, head->flags & KERNEL_HAS_EVENT, &extras->event) &&
	       read_word(&from, head->flags & KERNEL_HAS_GAP, &extras->left_out) &&
	       extras->event < KERNEL_EVENTS && extras->left_out < KERNEL_DEEP_FRAMES &&
	       (has_chain || !chain->count);
}

/* Learn what is new of a stack. */
static int learn(struct bpf_samples *s, const struct stack_part *part, uint32_t *node)
{
	int r = stack_intern_add(&s->store, part, node);

	if (r != -ENOENT)
		return r;
	*node = STACK_NONE;
	/* once for all records that are on their way */
	s->wants_renewal |= part->epoch == (uint16_t)s->store.epoch;
	return 0;
}

static int take(struct bpf_samples *s, const struct kernel_sample *record, size_t size)
{
	struct pending_sample *to = &s->list[s->count];
	struct stack_part user, chain;
	int r;

	if (!read_parts(record, size, &user, &chain, &to->extras)) {
		s->broken++;
		return 0;
	}
	to->head = record->head;
	to->chain = STACK_NONE;
	r = learn(s, &user, &to->stack);
	if (!r && record->head.flags & KERNEL_HAS_CHAIN)
		r = learn(s, &chain, &to->chain);
	if (r)
		return r;
	s->unknown += to->stack == STACK_NONE ||
		      (to->chain == STACK_NONE && record->head.flags & KERNEL_HAS_CHAIN);
	s->records++;
	s->bytes += size + sizeof(uint64_t);
	/* after those that are not later, as it mostly is already */
	for (size_t i = s->count++; i > s->first && to[0].head.time < to[-1].head.time; i--, to--) {
		struct pending_sample later = to[-1];

		to[-1] = to[0];
		to[0] = later;
	}
	return 0;
}

/* A new epoch begins when no sample waits with a stack of the one before. */
static void renew(struct bpf_samples *s)
{
	s->wants_renewal |= stack_intern_is_full(&s->store);
	for (size_t i = s->first; s->wants_renewal && i < s->count; i++)
		if (s->list[i].head.epoch != (uint16_t)s->store.epoch)
			return;
	if (!s->wants_renewal)
		return;
	stack_intern_renew(&s->store);
	*s->epoch = s->store.epoch;
	s->wants_renewal = false;
}

/* Room for what is in the ring. */
static int make_room(struct bpf_samples *s)
{
	if (s->first) {
		s->count -= s->first;
		memmove(s->list, s->list + s->first, s->count * sizeof(*s->list));
		s->first = 0;
	}
	return vector_reserve(&s->list, &s->room, PENDING_MAX, sizeof(*s->list));
}

/* As many as may wait. */
static void fill(struct bpf_samples *s)
{
	const struct kernel_sample *record;
	size_t size;
	int r = make_room(s);

	update_ring(&s->ring);
	while (!r && s->count < PENDING_MAX && (record = peek(&s->ring, &size))) {
		r = take(s, record, size);
		consume(&s->ring);
	}
	renew(s);
	s->behind = !r && s->count == PENDING_MAX;
	s->error = r;
}

/* A record of a whole stack; 0 frames: it makes no sense. */
static uint32_t read_late(const struct kernel_sample *record, size_t size, struct bpf_trace *ret)
{
	struct stack_part user, chain;
	struct sample_extras extras;

	if (!read_parts(record, size, &user, &chain, &extras) || !user.from_root)
		return 0;
	ret->cookie = extras.cookie;
	ret->list = user.outer;
	ret->left_out = (uint32_t)extras.left_out;
	ret->count = user.count;
	memcpy(ret->frames, user.words, user.count * sizeof(*ret->frames));
	return ret->count;
}

static void take_late(struct bpf_samples *s)
{
	const struct kernel_sample *record;
	size_t size;

	if (!s->late_ring.consumer)
		return;
	update_ring(&s->late_ring);
	while ((record = peek(&s->late_ring, &size))) {
		struct bpf_trace *to = &s->late[s->late_count % LATE_STACKS];

		to->cookie = 0;
		s->late_count += read_late(record, size, to) != 0;
		consume(&s->late_ring);
	}
}

/* Replace a stack that ends at a missing page by the whole one, if that has come. */
static void complete(const struct bpf_samples *s, struct bpf_trace *trace)
{
	for (unsigned int i = 0; i < LATE_STACKS && trace->cookie; i++) {
		const struct bpf_trace *late = &s->late[i];

		if (late->cookie != trace->cookie)
			continue;
		trace->cookie = 0;
		trace->list = late->list;
		trace->count = late->count;
		trace->left_out = late->left_out;
		memcpy(trace->frames, late->frames, late->count * sizeof(*late->frames));
	}
}

int bpf_samples_collect(struct bpf_samples *samples)
{
	struct epoll_event event;

	take_late(samples);
	epoll_wait(samples->wake, &event, 1, 0);
	if (!samples->error)
		fill(samples);
	return samples->error;
}

uint64_t bpf_samples_time(const struct bpf_samples *samples)
{
	return samples->first < samples->count ? samples->list[samples->first].head.time
					       : UINT64_MAX;
}

static uint32_t read_stack(const struct stack_intern *store, const struct pending_sample *sample,
			   uint32_t node, uint64_t *ret, uint32_t max, uint64_t *list)
{
	int count = 0;

	if (node != STACK_NONE)
		count = stack_intern_read(store, sample->head.epoch, node, ret, max, list);
	return count < 0 ? 0 : (uint32_t)count;
}

/* The kernel's part begins with its mark, wherever the kernel puts that. */
static void read_chain(const struct stack_intern *store, const struct pending_sample *sample,
		       struct bpf_trace *trace)
{
	uint64_t list;
	uint32_t count = read_stack(store, sample, sample->chain, trace->chain + 1, KERNEL_CHAIN,
				    &list);

	trace->chain[0] = PERF_CONTEXT_KERNEL;
	trace->chain_count = count ? count + 1 : 0;
	if (!count || trace->chain[1] != PERF_CONTEXT_KERNEL)
		return;
	trace->chain_count = count;
	memmove(trace->chain, trace->chain + 1, count * sizeof(*trace->chain));
}

void bpf_samples_next(struct bpf_samples *samples, struct bpf_trace *ret)
{
	const struct pending_sample *next = &samples->list[samples->first++];

	ret->head = next->head;
	ret->cookie = next->extras.cookie;
	ret->event = (uint32_t)next->extras.event;
	ret->left_out = (uint32_t)next->extras.left_out;
	ret->count = read_stack(&samples->store, next, next->stack, ret->frames, KERNEL_FRAMES,
				&ret->list);
	read_chain(&samples->store, next, ret);
	complete(samples, ret);
	/* while there are later ones to which those in the ring are compared */
	if (samples->behind && samples->count - samples->first <= PENDING_MAX / 2)
		fill(samples);
}
