/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "shim/previous_stack.h"

#include <link.h>
#include <string.h>

#ifdef __x86_64__

#define WORD sizeof(uint64_t)

/* Words of a signal frame of the kernel's, from the return address on. */
#define FRAME_FLAGS 1
#define FRAME_LINK 2
#define FRAME_STACK 3 /* of the handler */
#define FRAME_STACK_SIZE 5
#define FRAME_R14 12
#define FRAME_SP 21
#define FRAME_FPU 29 /* where the other registers are, above the frame */
#define FRAME_WORDS 30
#define HANDLER_STACK_MOST ((uint64_t)1 << 24)
/* Most of an interrupted stack. */
#define INTERRUPTED_MOST ((uint64_t)1 << 20)

/* The limit of Go's for a stack. */
#define STACK_MOST ((uint64_t)1 << 30)
/* Words of a structure g. */
#define G_LOW 0
#define G_HIGH 1
#define G_M 6
#define G_SP 7
#define G_PC 8
#define G_WORDS 9
/* Words of a structure m: g0, and between which curg is, after other goroutines of the thread's. */
#define M_G0 0
#define M_CURG_FIRST 16
#define M_WORDS 40
/* Words that look like a goroutine's address are looked up so often. */
#define TRIES 16
#define LOWEST_ADDRESS ((uint64_t)1 << 16)
#define HIGHEST_ADDRESS ((uint64_t)1 << 47)

static bool has_goroutines;

/* The note of the build ID: its type, and by whom. */
static int find_go_note(struct dl_phdr_info *info, size_t size, void *ctx)
{
	static const char note[8] = {4, 0, 0, 0, 'G', 'o', 0, 0};

	(void)size;
	(void)ctx;
	for (unsigned int i = 0; i < info->dlpi_phnum && !has_goroutines; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		has_goroutines = p->p_type == PT_NOTE &&
				 memmem((const void *)(info->dlpi_addr + p->p_vaddr), p->p_memsz,
					note, sizeof(note));
	}
	return has_goroutines;
}

void previous_stack_begin(void)
{
	dl_iterate_phdr(find_go_note, NULL);
}

static const struct previous_stack none;

static uint64_t word_at(const void *data, size_t at)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)data + at, sizeof(word));
	return word;
}

static bool is_address(uint64_t addr)
{
	return !(addr & 7) && addr - LOWEST_ADDRESS < HIGHEST_ADDRESS - LOWEST_ADDRESS;
}

/*
 * Whether a signal frame is at @at of @data, on the stack of the handler, which has @sp, and the
 * interrupted code on another.
 */
static bool is_signal_frame(const void *data, size_t at, uint64_t sp)
{
	const uint64_t start = word_at(data, at + FRAME_STACK * WORD),
		       size = word_at(data, at + FRAME_STACK_SIZE * WORD),
		       fpu = word_at(data, at + FRAME_FPU * WORD),
		       before = word_at(data, at + FRAME_SP * WORD);

	return sp - start < size && sp + at - start < size && size <= HANDLER_STACK_MOST &&
	       !word_at(data, at + FRAME_LINK * WORD) &&
	       word_at(data, at + FRAME_FLAGS * WORD) <= UINT8_MAX && fpu > sp + at &&
	       fpu - start < size && before - start >= size && is_address(before & ~(uint64_t)7);
}

static struct previous_stack interrupted_stack(uint64_t sp, const void *data, size_t size)
{
	for (size_t at = 0; at + FRAME_WORDS * WORD <= size; at += WORD)
		if (is_signal_frame(data, at, sp))
			return (struct previous_stack){.sp = word_at(data, at + FRAME_SP * WORD),
						       .size = INTERRUPTED_MOST,
						       .interrupted = at + FRAME_WORDS * WORD,
						       .r14 = word_at(data, at + FRAME_R14 * WORD)};
	return none;
}

static bool read_words(struct self_memory *memory, uint64_t addr, uint64_t *ret, size_t count)
{
	return is_address(addr) && !self_memory_read(memory, addr, ret, count * WORD);
}

/* Of a goroutine, its thread, and the goroutine that has the stack of that. */
struct goroutine {
	uint64_t g[G_WORDS], m[M_WORDS], g0[G_WORDS];
};

/* Whether a goroutine is at @at, on whose thread's stack @sp is. */
static bool read_goroutine(struct self_memory *memory, uint64_t at, uint64_t sp,
			   struct goroutine *ret)
{
	return read_words(memory, at, ret->g, G_WORDS) && ret->g[G_LOW] < ret->g[G_HIGH] &&
	       read_words(memory, ret->g[G_M], ret->m, M_WORDS) &&
	       read_words(memory, ret->m[M_G0], ret->g0, G_WORDS) && ret->g0[G_M] == ret->g[G_M] &&
	       sp - ret->g0[G_LOW] < ret->g0[G_HIGH] - ret->g0[G_LOW];
}

/* Whether the thread says that it runs the goroutine at @g. */
static bool is_run(const struct goroutine *of, uint64_t g)
{
	for (unsigned int i = M_CURG_FIRST; i < M_WORDS; i++)
		if (of->m[i] == g)
			return true;
	return false;
}

/* What Go runs on the stack of the thread has its g0 in R14. */
static struct previous_stack goroutine_of(struct self_memory *memory, uint64_t sp, uint64_t r14)
{
	struct goroutine g0, left;

	if (!read_goroutine(memory, r14, sp, &g0) || g0.m[M_G0] != r14)
		return none;
	for (unsigned int i = M_CURG_FIRST; i < M_WORDS; i++)
		if (g0.m[i] != r14 && read_goroutine(memory, g0.m[i], sp, &left) &&
		    left.g[G_M] == g0.g[G_M] &&
		    left.g[G_SP] - left.g[G_LOW] < left.g[G_HIGH] - left.g[G_LOW])
			return (struct previous_stack){.sp = left.g[G_SP],
						       .size = left.g[G_HIGH] - left.g[G_SP],
						       .pc = left.g[G_PC]};
	return none;
}

/* Whether asmcgocall() may have kept two words, for a stack of so many bytes. */
static bool is_kept(uint64_t depth, uint64_t g)
{
	return depth && depth <= STACK_MOST && !(depth & 7) && is_address(g);
}

/* The goroutine that has called C last; 0: none has.  Its call is the outermost, if C calls Go in turn. */
static uint64_t find_caller_of_c(struct self_memory *memory, uint64_t sp, const void *data,
				 size_t size, struct goroutine *ret)
{
	unsigned int tries = 0;

	for (size_t at = size & ~(WORD - 1); at >= 2 * WORD && tries < TRIES; at -= WORD) {
		const uint64_t g = word_at(data, at - WORD);

		if (!is_kept(word_at(data, at - 2 * WORD), g))
			continue;
		tries++;
		if (read_goroutine(memory, g, sp, ret) && ret->m[M_G0] != g && is_run(ret, g))
			return g;
	}
	return 0;
}

/* Of its calls the innermost has most of the stack in use. */
static struct previous_stack caller_of_c(struct self_memory *memory, uint64_t sp, const void *data,
					 size_t size)
{
	struct goroutine left;
	const uint64_t g = find_caller_of_c(memory, sp, data, size, &left);
	uint64_t most = 0;

	for (size_t at = 0; g && at + 2 * WORD <= size; at += WORD) {
		const uint64_t depth = word_at(data, at);

		if (word_at(data, at + WORD) == g && is_kept(depth, g) && depth > most &&
		    depth <= left.g[G_HIGH] - left.g[G_LOW])
			most = depth;
	}
	return most ? (struct previous_stack){.sp = left.g[G_HIGH] - most, .size = most} : none;
}

struct previous_stack previous_stack_find(struct self_memory *memory, uint64_t sp, uint64_t r14,
					  bool own, const void *data, size_t size)
{
	struct previous_stack found = none;

	if (!own)
		found = interrupted_stack(sp, data, size);
	if (found.size || !has_goroutines)
		return found;
	found = goroutine_of(memory, sp, r14);
	return found.size ? found : caller_of_c(memory, sp, data, size);
}

#else

void previous_stack_begin(void)
{
}

struct previous_stack previous_stack_find(struct self_memory *memory, uint64_t sp, uint64_t r14,
					  bool own, const void *data, size_t size)
{
	(void)memory;
	(void)sp;
	(void)r14;
	(void)own;
	(void)data;
	(void)size;
	return (struct previous_stack){0};
}

#endif
