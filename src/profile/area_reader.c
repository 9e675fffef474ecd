/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/area_reader.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/native_arch.h"
#include "base/sample_area.h"
#include "profile/stack_sample.h"

struct due_slot {
	uint64_t time;
	uint32_t at;
};

/**
 * struct area_reader - the area, and what was found in it
 * @due: what the last look has found, from @next on not yet given
 * @slot: a copy of what was given last, with an end after its data
 * @has_text: its data are given next
 * @time: of the last event: those after it are not older
 * @told: samples that were lost, and that was said
 */
struct area_reader {
	struct sample_area *area;
	int fd;
	char path[64];
	uint64_t id;
	struct due_slot due[SAMPLE_SLOTS];
	size_t count, next;
	struct {
		struct sample_slot slot;
		char end; /* 0 */
	} copy;
	char comm[sizeof(((struct sample_slot *)0)->comm) + 1];
	uint64_t regs[BOBBIN_REG_COUNT + 1];
	bool has_text;
	uint64_t time, told, processes;
	double block_bytes; /* as it was set, whatever others have written there since */
};

static int map_area(struct area_reader *r)
{
	r->fd = memfd_create("bobbin-samples", MFD_CLOEXEC);
	if (r->fd < 0)
		return -errno;
	if (ftruncate(r->fd, sizeof(*r->area)))
		return -errno;
	r->area = mmap(NULL, sizeof(*r->area), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->area != MAP_FAILED)
		return 0;
	r->area = NULL;
	return -errno;
}

/* The resolution of the clock that goes on by ticks. */
static uint64_t tick(void)
{
	struct timespec resolution;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) || resolution.tv_sec)
		return 1;
	return (uint64_t)resolution.tv_nsec;
}

int area_reader_open(uint32_t frequency, uint64_t block_bytes, uint32_t stack_bytes,
		     struct area_reader **ret)
{
	struct area_reader *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	error = map_area(r);
	if (error) {
		area_reader_close(r);
		return error;
	}
	r->id = AREA_EVENT_ID;
	snprintf(r->path, sizeof(r->path), "/proc/%d/fd/%d", getpid(), r->fd);
	r->area->period_ns = NS_PER_SECOND / frequency;
	r->area->tick_ns = tick();
	r->area->block_bytes = block_bytes;
	r->block_bytes = (double)block_bytes;
	r->area->stack_bytes = stack_bytes;
	r->area->magic = SAMPLE_AREA_MAGIC;
	r->area->running = 1;
	*ret = r;
	return 0;
}

void area_reader_close(struct area_reader *reader)
{
	if (!reader)
		return;
	if (reader->area) {
		/* there may be processes that go on */
		area_reader_enable(reader, false);
		munmap(reader->area, sizeof(*reader->area));
	}
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
}

const char *area_reader_path(const struct area_reader *reader)
{
	return reader->path;
}

uint64_t *area_reader_id(struct area_reader *reader)
{
	return &reader->id;
}

void area_reader_enable(struct area_reader *reader, bool enable)
{
	atomic_store(&reader->area->running, enable);
}

unsigned int area_reader_fill(const struct area_reader *reader)
{
	size_t used = 0;

	for (size_t i = 0; i < SAMPLE_SLOTS; i++)
		used += atomic_load_explicit(&reader->area->states[i], memory_order_relaxed) !=
			SAMPLE_SLOT_FREE;
	return (unsigned int)(100 * used / SAMPLE_SLOTS);
}

static int by_time(const void *a, const void *b)
{
	const struct due_slot *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

static bool is_full(uint32_t state)
{
	return (state & (SAMPLE_SLOT_CLAIMED | SAMPLE_SLOT_FULL)) == SAMPLE_SLOT_FULL;
}

void area_reader_sweep(struct area_reader *reader, uint64_t horizon)
{
	reader->count = reader->next = 0;
	for (uint32_t i = 0; i < SAMPLE_SLOTS; i++) {
		uint32_t state = atomic_load_explicit(&reader->area->states[i],
						      memory_order_acquire);
		uint64_t time = is_full(state) ? reader->area->slots[i].time : UINT64_MAX;

		if (is_full(state) && time <= horizon)
			reader->due[reader->count++] = (struct due_slot){time, i};
	}
	qsort(reader->due, reader->count, sizeof(*reader->due), by_time);
}

/* Of all stacks, or more than there can be. */
static uint64_t data_size(const struct sample_slot *slot)
{
	uint64_t size = slot->size;

	for (size_t i = 0; i < SAMPLE_LEFT_STACKS && size <= sizeof(slot->data); i++)
		size = slot->left[i].size > sizeof(slot->data) ? UINT64_MAX
							       : size + slot->left[i].size;
	return size;
}

/* Copy a slot, and free it.  false: it cannot be. */
static bool take(struct area_reader *r, uint32_t at)
{
	struct sample_slot *slot = &r->area->slots[at], *copy = &r->copy.slot;

	uint64_t room = sizeof(copy->data), size;

	memcpy(copy, slot, offsetof(struct sample_slot, data));
	size = data_size(copy);
	if (size <= room)
		memcpy(copy->data, slot->data, size);
	atomic_store_explicit(&r->area->states[at], SAMPLE_SLOT_FREE, memory_order_release);
	if (size > room)
		return false;
	if (size < room)
		copy->data[size] = 0;
	memcpy(r->comm, copy->comm, sizeof(copy->comm));
	return true;
}

static struct perf_event event_of(const struct area_reader *r, uint32_t type)
{
	const struct sample_slot *slot = &r->copy.slot;

	return (struct perf_event){
		.type = type,
		.misc = PERF_RECORD_MISC_USER,
		.pid = slot->pid,
		.tid = slot->tid,
		.cpu = slot->cpu,
		.time = r->time,
		.id = r->id,
	};
}

/*
 * A block of @size bytes is sampled with the probability 1 - exp(-size / mean); so it stands for
 * as much as makes the sum that of all blocks, on average.
 */
static uint64_t block_weight(const struct area_reader *r, uint64_t size)
{
	const double bytes = size ? (double)size : 1,
		     weight = bytes / -expm1(-bytes / r->block_bytes);

	return weight < (double)INT64_MAX ? (uint64_t)(weight + 0.5) : INT64_MAX;
}

static void fill_sample(struct area_reader *r, struct perf_event *event)
{
	const struct sample_slot *slot = &r->copy.slot;
	uint64_t size = slot->size & ~UINT64_C(7);
	const uint8_t *data = slot->data + slot->size;

	sample_regs_order(native_arch(), slot->pc, slot->gpr, r->regs);
	event->sample = (struct perf_sample){
		.ip = slot->pc,
		.period = slot->weight,
		.regs_abi = PERF_SAMPLE_REGS_ABI_64,
		.regs_mask = sample_regs_mask(native_arch()),
		.regs = r->regs,
		.stack = slot->data,
		.stack_size = size,
		.dyn_size = size,
		.left_pc = slot->left_pc,
	};
	for (size_t i = 0; i < SAMPLE_LEFT_STACKS; i++) {
		event->sample.left[i] = (struct bobbin_stack_copy){slot->left[i].sp, data,
								   slot->left[i].size};
		data += slot->left[i].size;
	}
}

static int event_of_slot(struct area_reader *r, struct perf_event *ret)
{
	const struct sample_slot *slot = &r->copy.slot;

	switch (slot->kind) {
	case SAMPLE_SLOT_STACK:
		*ret = event_of(r, PERF_RECORD_SAMPLE);
		fill_sample(r, ret);
		return 1;
	case SAMPLE_SLOT_BLOCK:
		if (r->block_bytes < 1)
			return -EBADMSG;
		*ret = event_of(r, PERF_RECORD_SAMPLE);
		fill_sample(r, ret);
		ret->sample.period = block_weight(r, slot->weight);
		ret->sample.block = slot->address;
		ret->sample.caller = slot->caller;
		return 1;
	case SAMPLE_SLOT_FREE_BLOCK:
		*ret = event_of(r, AREA_RECORD_FREE);
		ret->sample.block = slot->address;
		return 1;
	case SAMPLE_SLOT_START:
		*ret = event_of(r, PERF_RECORD_COMM);
		ret->misc = PERF_RECORD_MISC_COMM_EXEC;
		ret->comm.comm = r->comm;
		ret->comm.exec = true;
		r->has_text = true;
		r->processes++;
		return 1;
	case SAMPLE_SLOT_MAPS:
		*ret = event_of(r, AREA_RECORD_MAPS);
		return 1;
	case SAMPLE_SLOT_FORK:
		*ret = event_of(r, PERF_RECORD_FORK);
		ret->misc = 0;
		ret->task.ppid = slot->parent;
		ret->task.ptid = slot->parent_thread;
		return 1;
	default:
		return -EBADMSG;
	}
}

/* After the last event: how many were lost since that was told.  1 or 0. */
static int tell_loss(struct area_reader *r, struct perf_event *ret)
{
	uint64_t lost = atomic_load_explicit(&r->area->lost, memory_order_relaxed);

	if (lost == r->told)
		return 0;
	*ret = (struct perf_event){.type = PERF_RECORD_LOST,
				   .cpu = PERF_NO_CPU,
				   .time = r->time ? r->time : clock_now(),
				   .id = r->id,
				   .lost = lost - r->told};
	r->told = lost;
	return 1;
}

int area_reader_next(struct area_reader *reader, struct perf_event *ret)
{
	const struct due_slot *due = &reader->due[reader->next];

	if (reader->has_text) {
		reader->has_text = false;
		*ret = event_of(reader, AREA_RECORD_MAPS);
		return 1;
	}
	if (reader->next == reader->count)
		return tell_loss(reader, ret);
	reader->next++;
	/* who took long to fill it has an old time */
	if (due->time > reader->time && due->time <= clock_now())
		reader->time = due->time;
	return take(reader, due->at) ? event_of_slot(reader, ret) : -EBADMSG;
}

const char *area_reader_comm(const struct area_reader *reader)
{
	return reader->comm;
}

char *area_reader_text(struct area_reader *reader)
{
	return (char *)reader->copy.slot.data;
}

void area_reader_reclaim(struct area_reader *reader)
{
	for (size_t i = 0; i < SAMPLE_SLOTS; i++) {
		_Atomic uint32_t *state = &reader->area->states[i];
		uint32_t seen = atomic_load(state);
		pid_t pid = (pid_t)(seen >> SAMPLE_SLOT_OWNER_SHIFT);

		if (!(seen & SAMPLE_SLOT_CLAIMED) || (pid > 0 && (!kill(pid, 0) || errno != ESRCH)))
			continue;
		if (atomic_compare_exchange_strong(state, &seen, SAMPLE_SLOT_FREE))
			atomic_fetch_add(&reader->area->lost, 1);
	}
}

uint64_t area_reader_processes(const struct area_reader *reader)
{
	return reader->processes;
}

uint64_t area_reader_unfreed(const struct area_reader *reader)
{
	return atomic_load(&reader->area->unfreed);
}

uint64_t area_reader_unsampled(const struct area_reader *reader)
{
	return atomic_load(&reader->area->unsampled);
}
