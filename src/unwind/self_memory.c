/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/self_memory.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "core/deps.h"
#include "unwind/assembly.h"

#define PAGE_SIZE 4096u /* the smallest of any kernel: a part of a larger page */
#define NO_OPERATION -1 /* neither SIG_BLOCK, SIG_UNBLOCK nor SIG_SETMASK */
#define MASK_SIZE 8     /* of the kernel's sigset_t */

typedef uint8_t __attribute__((may_alias)) loose_byte;

void self_memory_init(struct self_memory *memory)
{
	for (unsigned int i = 0; i < SELF_MEMORY_RUNS; i++)
		memory->runs[i].start = memory->runs[i].size = 0;
	memory->runs[0].start = (uint64_t)memory & -(uint64_t)PAGE_SIZE;
	memory->runs[0].size = PAGE_SIZE;
	memory->next = 1;
}

#define STACK_PAGES 256 /* that are tested at once, at most */
#define STACK_TRIES 4   /* on stacks that are not the thread's own */

/*
 * What of the calling thread's stack has been tested: its end, whose address the thread or
 * the kernel knows, and what is below without a gap.  A new thread has none.
 */
static _Thread_local struct {
	uint64_t start, end; /* 0: not known */
	unsigned int tries;
} own_stack __attribute__((tls_model("initial-exec")));

static bool page_readable(uint64_t page)
{
	return raw_syscall(SYS_rt_sigprocmask, NO_OPERATION, (long)page, 0, MASK_SIZE) == -EINVAL;
}

/* Add a page to the run that it follows or precedes, else begin a new one. */
static void note_page(struct self_memory *memory, uint64_t page)
{
	for (unsigned int i = 0; i < SELF_MEMORY_RUNS; i++) {
		uint64_t start = memory->runs[i].start, size = memory->runs[i].size;

		if (!size || (page != start + size && page + PAGE_SIZE != start))
			continue;
		if (page < start)
			memory->runs[i].start = page;
		memory->runs[i].size += PAGE_SIZE;
		return;
	}
	memory->runs[memory->next].start = page;
	memory->runs[memory->next].size = PAGE_SIZE;
	memory->next = (memory->next + 1) % SELF_MEMORY_RUNS;
}

static BOBBIN_ALWAYS_INLINE bool in_run(const struct self_memory *memory, uint64_t addr, size_t len)
{
	for (unsigned int i = 0; i < SELF_MEMORY_RUNS; i++) {
		uint64_t offset = addr - memory->runs[i].start;

		if (offset < memory->runs[i].size && len <= memory->runs[i].size - offset)
			return true;
	}
	return false;
}

static bool is_first_thread(void)
{
	return raw_syscall(SYS_gettid, 0, 0, 0, 0) == raw_syscall(SYS_getpid, 0, 0, 0, 0);
}

/*
 * The end of the page that is the last of the stack, if @sp is on a thread's own: the C
 * library keeps the thread's data there, the kernel a program's first.
 */
static uint64_t stack_end(uint64_t sp)
{
	uint64_t last = (uint64_t)(uintptr_t)__builtin_thread_pointer();

	/* the first thread's data are not on its stack; a fiber's stack may be next to them */
	if (last - sp >= (uint64_t)STACK_PAGES * PAGE_SIZE || is_first_thread())
		last = getauxval(AT_RANDOM);
	return (last & -(uint64_t)PAGE_SIZE) + PAGE_SIZE;
}

static BOBBIN_NEVER_INLINE void learn_stack(uint64_t sp)
{
	uint64_t first = sp & -(uint64_t)PAGE_SIZE;
	uint64_t end = own_stack.end ? own_stack.start : stack_end(sp);

	if (own_stack.tries == STACK_TRIES || end <= first ||
	    end - first > (uint64_t)STACK_PAGES * PAGE_SIZE)
		return;
	for (uint64_t page = end - PAGE_SIZE; page >= first; page -= PAGE_SIZE)
		if (!page_readable(page)) {
			own_stack.tries++;
			return;
		}
	own_stack.start = first;
	if (!own_stack.end)
		own_stack.end = end;
}

struct memory_run self_memory_trust(struct self_memory *memory, uint64_t sp)
{
	struct memory_run run;
	uint64_t first = sp & -(uint64_t)PAGE_SIZE;

	if (sp - own_stack.start >= own_stack.end - own_stack.start)
		learn_stack(sp);
	if (sp - own_stack.start >= own_stack.end - own_stack.start)
		return memory->runs[0];
	run = (struct memory_run){first, own_stack.end - first};
	memory->runs[0] = run;
	return run;
}

static BOBBIN_NEVER_INLINE bool test_pages(struct self_memory *memory, uint64_t addr, size_t len)
{
	uint64_t last, page = addr & -(uint64_t)PAGE_SIZE;

	if (__builtin_add_overflow(addr, len - 1, &last))
		return false;
	for (;; page += PAGE_SIZE) {
		if (!in_run(memory, page, PAGE_SIZE)) {
			if (!page_readable(page))
				return false;
			note_page(memory, page);
		}
		if (last - page < PAGE_SIZE)
			return true;
	}
}

/* Sanitizers do not like what lies between variables. */
__attribute__((no_sanitize("address", "thread"))) static BOBBIN_ALWAYS_INLINE void copy_bytes(
	uint64_t addr, void *dst, size_t len)
{
	const volatile loose_byte *from = (const volatile loose_byte *)addr;
	loose_byte *to = dst;

	if (len == sizeof(loose_word)) {
		*(loose_word *)dst = *(const volatile loose_word *)addr;
		return;
	}
	while (len--)
		*to++ = *from++;
}

__attribute__((no_sanitize("address", "thread"))) enum bobbin_reason self_memory_read(void *ctx,
										      uint64_t addr,
										      void *dst,
										      size_t len)
{
	struct self_memory *memory = ctx;

	if (len && !in_run(memory, addr, len) && !test_pages(memory, addr, len))
		return BOBBIN_REASON_NO_MEMORY;
	copy_bytes(addr, dst, len);
	return BOBBIN_REASON_NONE;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("address", "thread"))) void self_memory_load(uint64_t addr,
									uint64_t *ret)
{
	*ret = *(const volatile loose_word *)addr;
}
#endif
