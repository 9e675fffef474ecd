/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shim/area_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim/previous_stack.h"
#include "unwind/assembly.h"
#include "unwind/self_memory.h"

#define PAGE_SIZE 4096u /* the smallest of any kernel */
/* Slots that are looked at for a sample: where so many are in use, nobody empties them. */
#define CLAIM_TRIES (SAMPLE_SLOTS / 2)
/* What begins can wait for a slot a little: so many times a millisecond. */
#define START_TRIES 2000
#define START_PAUSE_NS 1000000
/* A thread's name is asked for again after so long: that takes as long as all else of a sample. */
#define NAME_AGE_NS 10000000
/* Of lines of mappings. */
#define MAPS_KEPT ((size_t)SAMPLE_SLOT_DATA / 2)

/* Since they were asked for, or 0; a child's are forgotten by area_tell_fork(). */
static _Thread_local uint32_t tid __attribute__((tls_model("initial-exec")));
static uint32_t pid;

uint32_t own_tid(void)
{
	if (!tid)
		tid = (uint32_t)raw_syscall(SYS_gettid, 0, 0, 0, 0);
	return tid;
}

uint32_t own_pid(void)
{
	if (!pid)
		pid = (uint32_t)raw_syscall(SYS_getpid, 0, 0, 0, 0);
	return pid;
}

/* In another namespace of process numbers the recorder would take others for this process. */
static bool has_recorders_numbers(void)
{
	char self[16] = "";

	return readlink("/proc/self", self, sizeof(self) - 1) > 0 &&
	       (uint32_t)atoi(self) == own_pid();
}

static struct sample_area *map_area(int fd)
{
	struct sample_area *area;
	struct stat st;

	if (fstat(fd, &st) || st.st_size != (off_t)sizeof(*area))
		return NULL;
	area = mmap(NULL, sizeof(*area), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (area == MAP_FAILED)
		return NULL;
	if (area->magic == SAMPLE_AREA_MAGIC)
		return area;
	munmap(area, sizeof(*area));
	return NULL;
}

struct sample_area *area_writer_open(void)
{
	const char *path = getenv(SAMPLE_AREA_VARIABLE);
	struct sample_area *area = NULL;
	int fd = path && has_recorders_numbers() ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return NULL;
	area = map_area(fd);
	close(fd);
	if (area)
		previous_stack_begin();
	return area;
}

static bool claim(_Atomic uint32_t *state, uint32_t owner)
{
	uint32_t seen = SAMPLE_SLOT_FREE;

	return atomic_compare_exchange_strong(
		state, &seen, owner << SAMPLE_SLOT_OWNER_SHIFT | SAMPLE_SLOT_CLAIMED);
}

static uint64_t time_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The calling thread's, as it was not long before @now. */
static void put_name(struct sample_slot *slot, uint64_t now)
{
	static _Thread_local struct {
		uint64_t time; /* 0: it was not asked for */
		char text[sizeof(slot->comm)];
	} name __attribute__((tls_model("initial-exec")));

	if (!name.time || now - name.time >= NAME_AGE_NS) {
		raw_syscall(SYS_prctl, PR_GET_NAME, (long)name.text, 0, 0);
		name.time = now;
	}
	memcpy(slot->comm, name.text, sizeof(slot->comm));
}

static void begin(struct sample_slot *slot, enum sample_slot_kind kind)
{
	int cpu = sched_getcpu();

	slot->time = time_now();
	/* of nobody else the name is looked at */
	if (kind != SAMPLE_SLOT_FREE_BLOCK)
		put_name(slot, slot->time);
	slot->kind = kind;
	slot->pid = own_pid();
	slot->tid = own_tid();
	slot->cpu = cpu < 0 ? 0 : (uint32_t)cpu;
	slot->size = slot->left_pc = 0;
	memset(slot->left, 0, sizeof(slot->left));
}

struct sample_slot *area_claim(struct sample_area *area, enum sample_slot_kind kind)
{
	/* threads begin at different places, which each of them uses again: few pages are touched */
	uint32_t first = own_tid() * 2654435761u >> 16;

	if (!atomic_load_explicit(&area->running, memory_order_relaxed))
		return NULL;
	for (uint32_t i = 0; i < CLAIM_TRIES; i++) {
		uint32_t at = (first + i) % SAMPLE_SLOTS;

		if (atomic_load_explicit(&area->states[at], memory_order_relaxed) ==
			    SAMPLE_SLOT_FREE &&
		    claim(&area->states[at], own_pid())) {
			begin(&area->slots[at], kind);
			return &area->slots[at];
		}
	}
	return NULL;
}

void area_publish(struct sample_area *area, struct sample_slot *slot)
{
	atomic_store_explicit(&area->states[slot - area->slots],
			      slot->pid << SAMPLE_SLOT_OWNER_SHIFT | SAMPLE_SLOT_FULL,
			      memory_order_release);
}

struct sample_slot *area_claim_patiently(struct sample_area *area, enum sample_slot_kind kind)
{
	const struct timespec pause = {.tv_nsec = START_PAUSE_NS};
	struct sample_slot *slot = area_claim(area, kind);

	for (int i = 0; i < START_TRIES && !slot && atomic_load(&area->running); i++) {
		raw_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0);
		slot = area_claim(area, kind);
	}
	return slot;
}

/* A line with its end, as "start-end r-xp …". */
static bool is_of_code(const char *line)
{
	const char *space = strchr(line, ' ');

	return space && space[1] && space[2] && space[3] == 'x';
}

/* Keep whole lines of code of the @count bytes, the first of @kept; what is left of the last one stays. */
static void keep_lines(struct sample_slot *slot, char *text, size_t *count)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', *count - (size_t)(line - text)))) {
		size_t size = (size_t)(end + 1 - line);

		*end = 0;
		if (is_of_code(line) && slot->size + size <= MAPS_KEPT) {
			*end = '\n';
			memcpy(slot->data + slot->size, line, size);
			slot->size += size;
		}
		line = end + 1;
	}
	*count -= (size_t)(line - text);
	memmove(text, line, *count);
}

/* The lower half of the data gets what is kept: a handler's stack may be small. */
static void put_maps(struct sample_slot *slot)
{
	char *text = (char *)slot->data + MAPS_KEPT;
	size_t count = 0;
	ssize_t more;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while (count < MAPS_KEPT && (more = read(fd, text + count, MAPS_KEPT - count)) > 0) {
		count += (size_t)more;
		keep_lines(slot, text, &count);
	}
	close(fd);
}

/* Of the first object: how many were loaded, and unloaded. */
static int read_generation(struct dl_phdr_info *info, size_t size, void *ret)
{
	*(uint64_t *)ret = info->dlpi_adds << 32 ^ info->dlpi_subs;
	return 1;
}

static uint64_t generation(void)
{
	uint64_t ret = 0;

	dl_iterate_phdr(read_generation, &ret);
	return ret;
}

/* When what is mapped was told last; in a child never again: a thread of its parent's may have the lock. */
static _Atomic uint64_t told;
static bool is_child;

uint64_t area_tell_maps(struct sample_area *area)
{
	struct sample_slot *slot = area_claim(area, SAMPLE_SLOT_MAPS);
	int error = errno;
	uint64_t time;

	if (!slot)
		return 0;
	put_maps(slot);
	time = slot->time;
	area_publish(area, slot);
	errno = error;
	return time;
}

void area_tell_changes(struct sample_area *area)
{
	uint64_t before = atomic_load(&told), now = is_child ? before : generation();

	/* one thread tells */
	if (before == now || !atomic_compare_exchange_strong(&told, &before, now))
		return;
	if (!area_tell_maps(area))
		atomic_store(&told, before);
}

void area_tell_start(struct sample_area *area)
{
	struct sample_slot *slot = area_claim_patiently(area, SAMPLE_SLOT_START);

	if (!slot)
		return;
	atomic_store(&told, generation());
	put_maps(slot);
	area_publish(area, slot);
}

void area_tell_fork(struct sample_area *area, uint32_t parent, uint32_t parent_thread)
{
	struct sample_slot *slot;

	is_child = true;
	pid = tid = 0;
	slot = area_claim_patiently(area, SAMPLE_SLOT_FORK);
	if (!slot)
		return;
	slot->parent = parent;
	slot->parent_thread = parent_thread;
	area_publish(area, slot);
}

/* Page by page, of a stack whose end is not known. */
static size_t copy_tested(struct self_memory *memory, uint64_t sp, uint8_t *to, size_t room)
{
	size_t count = 0;

	while (count < room) {
		size_t more = PAGE_SIZE - (sp + count) % PAGE_SIZE;

		if (more > room - count)
			more = room - count;
		/* one byte of a page tells */
		if (self_memory_read(memory, sp + count, to + count, 1))
			break;
		memcpy(to + count, (const void *)(uintptr_t)(sp + count), more);
		count += more;
	}
	return count;
}

/* Where the process's first stack began, of glibc; above are its arguments and its environment. */
extern void *__libc_stack_end __attribute__((weak));
/* What the first frame may have above that. */
#define FIRST_FRAME 64

/* What walks need of a stack that ends at @end. */
static uint64_t useful_end(uint64_t sp, uint64_t end)
{
	const uint64_t first = &__libc_stack_end ? (uintptr_t)__libc_stack_end + FIRST_FRAME
						 : UINT64_MAX;

	return sp < first && first < end ? first : end;
}

/* *@own: the stack is the thread's own, and its end is known. */
static size_t copy_stack(struct self_memory *memory, uint64_t sp, uint8_t *to, size_t room,
			 bool *own)
{
	struct memory_run run = self_memory_trust(memory, sp);
	uint64_t size;

	*own = sp - run.start < run.size;
	if (!*own)
		return copy_tested(memory, sp, to, room);
	size = useful_end(sp, run.start + run.size) - sp;
	if (room > size)
		room = size;
	memcpy(to, (const void *)(uintptr_t)sp, room);
	return room;
}

/* Stacks that were left, one for the other. */
static void put_left_stacks(struct self_memory *memory, struct sample_slot *slot, size_t room,
			    struct previous_stack left)
{
	uint8_t *data = slot->data + slot->size;
	bool own;

	for (unsigned int i = 0; i < SAMPLE_LEFT_STACKS && left.size; i++) {
		slot->left_pc = left.pc;
		slot->left[i].sp = left.sp;
		slot->left[i].size = copy_stack(memory, left.sp, data,
						left.size < room ? left.size : room, &own) &
				     ~(size_t)7;
		if (left.interrupted)
			left = previous_stack_find(memory, left.sp, left.r14, true, data,
						   slot->left[i].size);
		else
			left.size = 0;
		data += slot->left[i].size;
		room -= slot->left[i].size;
	}
}

void area_put_stack(const struct sample_area *area, struct sample_slot *slot,
		    const struct bobbin_regs *regs)
{
	size_t room = area->stack_bytes < sizeof(slot->data) ? area->stack_bytes
							     : sizeof(slot->data);
	struct self_memory memory;
	struct previous_stack left;
	bool own;

	self_memory_init(&memory);
	slot->pc = regs->pc;
	slot->size = copy_stack(&memory, regs->sp, slot->data, room, &own) & ~(size_t)7;
	left = previous_stack_find(&memory, regs->sp, slot->gpr[14], own, slot->data, slot->size);
	/* the rest of a handler's stack is of nobody */
	if (left.interrupted)
		slot->size = left.interrupted;
	put_left_stacks(&memory, slot, room - slot->size, left);
}
