/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wild MS - compute while the registers that walks begin with are nonsense.
 *
 * The stack pointer and the frame pointer are numbers, addresses of the kernel and of nothing,
 * ends of mappings, a gigabyte of nothing, code, and stacks that lead back to themselves.  The
 * tables of lost() and endless() lie: callers have the same stack pointer, or there is always
 * one more.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "spin.h"

#define ROUND_COUNT 300000
#define RING_SIZE (1 << 16)
#define HUGE_SIZE (1ul << 30)

/* lost(count, sp, fp), endless(count, sp, fp): no stack is used meanwhile */
#define WILD(name, cfa) \
	__asm__(".text\n" \
		".globl " #name "\n" \
		".type " #name ", @function\n" #name ":\n" \
		"	.cfi_startproc\n" \
		"	.cfi_def_cfa " cfa "\n" \
		"	mov %rsp, %r8\n" \
		"	mov %rbp, %r9\n" \
		"	mov %rsi, %rsp\n" \
		"	mov %rdx, %rbp\n" \
		"1:	dec %rdi\n" \
		"	jnz 1b\n" \
		"	mov %r9, %rbp\n" \
		"	mov %r8, %rsp\n" \
		"	ret\n" \
		"	.cfi_endproc\n" \
		".size " #name ", .-" #name "\n");

WILD(plain, "%rsp, 8")
WILD(record, "%rbp, 16\n\t.cfi_offset %rbp, -16")
WILD(lost, "%rsp, 0")
WILD(backward, "%rsp, -64")
WILD(far_away, "%rsp, 0x7fffff00")

typedef void wild(long count, uint64_t sp, uint64_t fp);
extern wild plain, record, lost, backward, far_away;

static wild *const functions[] = {plain, record, lost, backward, far_away};

/* Return addresses into @function, and frame records that lead on, or back at the end. */
static void make_ring(uint64_t *ring, wild *function)
{
	const size_t words = RING_SIZE / sizeof(*ring);

	for (size_t i = 0; i < words; i += 2) {
		ring[i] = (uint64_t)(uintptr_t)&ring[(i + 2) % words];
		ring[i + 1] = (uint64_t)(uintptr_t)function + 13;
	}
}

int main(int argc, char **argv)
{
	long end = thread_ms() + ms_argument(argc, argv);
	uint64_t *ring = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
	char *huge = mmap(NULL, HUGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const uint64_t values[] = {
		0,
		1,
		7,
		(uint64_t)-8,
		0x8000000000000000,
		0xffffffff81000000,
		0xffff888000000000,
		0x00007ffffffffff8,
		0x0000800000000000,
		(uint64_t)(uintptr_t)main,
		(uint64_t)(uintptr_t)huge,
		(uint64_t)(uintptr_t)huge + 4093,
		(uint64_t)(uintptr_t)huge + HUGE_SIZE - 8,
		(uint64_t)(uintptr_t)ring,
		(uint64_t)(uintptr_t)ring + RING_SIZE - 16,
	};
	const size_t count = sizeof(values) / sizeof(*values);

	if (ring == MAP_FAILED || huge == MAP_FAILED)
		return 1;
	for (size_t i = 0; thread_ms() < end; i++) {
		wild *function = functions[i % 5];

		make_ring(ring, function);
		function(ROUND_COUNT, values[i / 5 % count], values[i / 5 / count % count]);
	}
	return 0;
}
