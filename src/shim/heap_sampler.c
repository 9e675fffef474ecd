/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libbobbin-heap.so: samples the blocks that the program allocates, by their bytes.
 *
 *	malloc() ──► here ──┬──► the next one: the program's allocator, or the C library's
 *			    └──► once in so many bytes: registers and stack ──► a slot of the area
 *	free()	 ──► here ──┬──► one load says that the block was not sampled
 *			    └──► else a slot says that it is freed
 *
 * 'bobbin heap' preloads it.  A call that is not sampled costs a subtraction from the thread's own
 * number, and no lock; it is handed on by a jump, so that stacks are as without the library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/deps.h"
#include "shim/area_writer.h"
#include "shim/block_set.h"
#include "shim/byte_countdown.h"
#include "unwind/assembly.h"

#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/* What dlsym() allocates while the allocator is looked for. */
#define EARLY_BYTES 16384
#define EARLY_ALIGN 16u

static void free_first(void *block);

static struct {
	struct sample_area *area; /* NULL: nobody samples */
	bool open;                /* that is known */
	_Atomic bool impatient;   /* nobody has emptied slots for a while */
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *block, size_t size);
	void (*free)(void *block);
	void *(*memalign)(size_t alignment, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	int (*posix_memalign)(void **ret, size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
} heap = {.free = free_first};

static _Alignas(EARLY_ALIGN) uint8_t early[EARLY_BYTES];
static _Atomic size_t early_used;

/* A larger block is sampled.  A thread begins with 0, and all calls come to the slow path then. */
static _Thread_local uint64_t left INITIAL_EXEC;
static _Thread_local uint64_t seed INITIAL_EXEC; /* 0: the thread has just begun */
static _Thread_local bool inside INITIAL_EXEC;   /* a call of ours allocates */

/* Zeros, as nothing is given back. */
static void *allocate_early(size_t size)
{
	size_t room = (size + EARLY_ALIGN - 1) & ~(size_t)(EARLY_ALIGN - 1);
	size_t at = size > EARLY_BYTES ? EARLY_BYTES : atomic_fetch_add(&early_used, room);

	if (at > EARLY_BYTES - room) {
		errno = ENOMEM;
		return NULL;
	}
	/* what frees it comes to the slow path */
	block_set_mark(early + at);
	return early + at;
}

/* Once more, in a child. */
static void mark_early(void)
{
	for (size_t at = 0; at < EARLY_BYTES && at < atomic_load(&early_used); at += EARLY_ALIGN)
		block_set_mark(early + at);
}

static bool is_early(const void *block)
{
	return (uintptr_t)block - (uintptr_t)early < EARLY_BYTES;
}

#define FIND(call) (heap.call = (__typeof__(heap.call))dlsym(RTLD_NEXT, #call))

/* Threads that come first at the same time find the same. */
static void find_allocator(void)
{
	inside = true;
	FIND(calloc);
	FIND(realloc);
	FIND(memalign);
	FIND(aligned_alloc);
	FIND(posix_memalign);
	FIND(valloc);
	FIND(pvalloc);
	FIND(free);
	FIND(malloc);
	inside = false;
}

/* Whether there is an allocator; false inside the search for it. */
static bool have_allocator(void)
{
	if (LIKELY(heap.malloc))
		return true;
	if (!inside)
		find_allocator();
	return heap.malloc;
}

static void begin_thread(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seed = ((uint64_t)own_tid() << 32 | (uint64_t)now.tv_nsec) * UINT64_C(0x9e3779b97f4a7c15) |
	       1;
	left = countdown_draw(&seed, heap.area->block_bytes);
}

/* Of a block that is as large as what was left, or larger: whether it is sampled. */
static bool is_due(size_t size)
{
	if (inside || !heap.open)
		return false;
	if (!heap.area || !atomic_load_explicit(&heap.area->running, memory_order_relaxed)) {
		left = COUNTDOWN_NEVER;
		return false;
	}
	if (!seed)
		begin_thread();
	if (size < left) {
		left -= size;
		return false;
	}
	left = countdown_draw(&seed, heap.area->block_bytes);
	return true;
}

/* A loss would make all sums too small: it is waited for, unless nobody empties slots. */
static struct sample_slot *claim_slot(enum sample_slot_kind kind)
{
	struct sample_slot *slot = heap.impatient ? area_claim(heap.area, kind)
						  : area_claim_patiently(heap.area, kind);

	heap.impatient = !slot;
	return slot;
}

static void put_block(void *block, size_t size, const struct bobbin_regs *here, const void *caller)
{
	struct sample_slot *slot;
	bool known = block && block_set_add(block);

	area_tell_changes(heap.area);
	slot = known ? claim_slot(SAMPLE_SLOT_BLOCK) : NULL;
	if (known && !slot)
		block_set_take(block);
	if (block && !slot)
		atomic_fetch_add(&heap.area->lost, 1);
	if (!slot)
		return;
	slot->weight = size;
	slot->address = (uintptr_t)block;
	slot->caller = (uintptr_t)caller;
	memcpy(slot->gpr, here->gpr, sizeof(slot->gpr));
	area_put_stack(heap.area, slot, here);
	area_publish(heap.area, slot);
}

/* It is about to be freed: another thread may have a block at the address at once. */
static void end_block(void *block)
{
	struct sample_slot *slot;

	if (!heap.area || !block_set_may_have(block) || !block_set_take(block))
		return;
	slot = claim_slot(SAMPLE_SLOT_FREE_BLOCK);
	if (!slot) {
		atomic_fetch_add(&heap.area->unfreed, 1);
		return;
	}
	slot->address = (uintptr_t)block;
	area_publish(heap.area, slot);
}

/* Note @block with the registers of the function that this is in, which returns to the program. */
#define SAMPLE(block, size) \
	do { \
		uint64_t gpr_[BOBBIN_REG_COUNT] = {0}; \
		struct bobbin_regs here_; \
\
		here_regs(gpr_, &here_); \
		put_block(block, size, &here_, __builtin_return_address(0)); \
	} while (0)

static BOBBIN_NEVER_INLINE void *slow_malloc(size_t size)
{
	void *block;

	if (!have_allocator())
		return allocate_early(size);
	if (!is_due(size))
		return heap.malloc(size);
	block = heap.malloc(size);
	SAMPLE(block, size);
	return block;
}

BOBBIN_API void *malloc(size_t size)
{
	if (!LIKELY(size < left))
		return slow_malloc(size);
	left -= size;
	return heap.malloc(size);
}

static BOBBIN_NEVER_INLINE void *slow_calloc(size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX;
	if (!have_allocator())
		return allocate_early(bytes);
	if (bytes == SIZE_MAX || !is_due(bytes))
		return heap.calloc(count, size);
	block = heap.calloc(count, size);
	SAMPLE(block, bytes);
	return block;
}

BOBBIN_API void *calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || !LIKELY(bytes < left))
		return slow_calloc(count, size);
	left -= bytes;
	return heap.calloc(count, size);
}

static void *move_early(const void *block, size_t size)
{
	size_t most = EARLY_BYTES - (size_t)((const uint8_t *)block - early);
	void *moved = malloc(size);

	if (moved)
		memcpy(moved, block, size < most ? size : most);
	return moved;
}

/* A block that cannot be moved for lack of memory counts as freed, too. */
static BOBBIN_NEVER_INLINE void *slow_realloc(void *block, size_t size)
{
	void *moved;

	if (is_early(block))
		return move_early(block, size);
	if (!have_allocator())
		return allocate_early(size);
	end_block(block);
	if (!is_due(size))
		return heap.realloc(block, size);
	moved = heap.realloc(block, size);
	SAMPLE(moved, size);
	return moved;
}

BOBBIN_API void *realloc(void *block, size_t size)
{
	if (!LIKELY(size < left) || block_set_may_have(block))
		return slow_realloc(block, size);
	left -= size;
	return heap.realloc(block, size);
}

static BOBBIN_NEVER_INLINE void slow_free(void *block)
{
	if (is_early(block))
		return;
	end_block(block);
	heap.free(block);
}

/* Of a block from before the library was there, whose allocator is the next one. */
static void free_first(void *block)
{
	if (have_allocator())
		heap.free(block);
}

BOBBIN_API void free(void *block)
{
	if (!block)
		return;
	if (LIKELY(!block_set_may_have(block)))
		heap.free(block);
	else
		slow_free(block);
}

/* A call with an alignment, or without; @size: of the block. */
#define ALIGNED(call, size, ...) \
	do { \
		void *block; \
\
		if (!have_allocator() || !heap.call) { \
			errno = ENOMEM; \
			return NULL; \
		} \
		if (LIKELY((size) < left)) { \
			left -= (size); \
			return heap.call(__VA_ARGS__); \
		} \
		if (!is_due(size)) \
			return heap.call(__VA_ARGS__); \
		block = heap.call(__VA_ARGS__); \
		SAMPLE(block, size); \
		return block; \
	} while (0)

BOBBIN_API void *memalign(size_t alignment, size_t size)
{
	ALIGNED(memalign, size, alignment, size);
}

BOBBIN_API void *aligned_alloc(size_t alignment, size_t size)
{
	ALIGNED(aligned_alloc, size, alignment, size);
}

BOBBIN_API void *valloc(size_t size)
{
	ALIGNED(valloc, size, size);
}

BOBBIN_API void *pvalloc(size_t size)
{
	ALIGNED(pvalloc, size, size);
}

BOBBIN_API int posix_memalign(void **ret, size_t alignment, size_t size)
{
	int r;

	if (!have_allocator() || !heap.posix_memalign)
		return ENOMEM;
	if (LIKELY(size < left)) {
		left -= size;
		return heap.posix_memalign(ret, alignment, size);
	}
	if (!is_due(size))
		return heap.posix_memalign(ret, alignment, size);
	r = heap.posix_memalign(ret, alignment, size);
	if (!r)
		SAMPLE(*ret, size);
	return r;
}

/* Who forks: the child's only thread has a copy. */
static _Thread_local struct {
	uint32_t process, thread;
} forking INITIAL_EXEC;

static void before_fork(void)
{
	forking.process = own_pid();
	forking.thread = own_tid();
}

/* What the parent has allocated is the parent's. */
static void in_child(void)
{
	block_set_clear();
	mark_early();
	seed = left = 0;
	area_tell_fork(heap.area, forking.process, forking.thread);
}

__attribute__((constructor)) static void begin(void)
{
	int before = errno;
	struct sample_area *area = area_writer_open();

	have_allocator();
	if (area && area->block_bytes && !pthread_atfork(before_fork, NULL, in_child)) {
		area_tell_start(area);
		heap.area = area;
	}
	heap.open = true;
	errno = before;
}
