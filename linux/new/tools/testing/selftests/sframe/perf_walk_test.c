// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * perf_walk_test.c - perf's deferred chains of user space lead through code with a section.
 *
 * The code spins without a frame pointer, by a jump that nothing but a table sees through.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kselftest.h"
#include "sframe_section.h"

#define RING_PAGES 64

#ifdef __x86_64__

/*
 *	push %rbp; xor %ebp, %ebp; lea 1f(%rip), %rdx; lea 2f(%rip), %rcx
 * 1:	dec %edi; cmovz %rcx, %rdx; jmp *%rdx
 * 2:	pop %rbp; ret
 */
static const unsigned char spin[] = {0x55, 0x31, 0xed, 0x48, 0x8d, 0x15, 7,    0,    0,
				     0,    0x48, 0x8d, 0x0d, 8,    0,    0,    0,    0xff,
				     0xcf, 0x48, 0x0f, 0x44, 0xd1, 0xff, 0xe2, 0x5d, 0xc3};

/* before the push, after it, after the pop */
static const struct section_row spin_rows[] = {
	{.start = 0, .words = 1, .word = {8}},
	{.start = 1, .words = 2, .word = {16, -16}},
	{.start = 26, .words = 1, .word = {8}},
};

static struct section section;
static char *text;
static long page;

/* Samples, and those of them whose chain leads from the code to its caller and on. */
struct chains {
	unsigned int all, whole;
};

static __attribute__((noinline)) void call_spin(void (*code)(unsigned int turns))
{
	code(20000000);
	/* not a tail call: this has a frame */
	asm volatile("" ::: "memory");
}

static int open_event(struct perf_event_mmap_page **ring)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.defer_callchain = 1,
		.defer_output = 1,
	};
	int fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		ksft_exit_skip("perf_event_open: %s\n", strerror(errno));
	*ring = mmap(NULL, (RING_PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*ring == MAP_FAILED)
		ksft_exit_skip("perf's ring: %s\n", strerror(errno));
	return fd;
}

/* A chain of the kernel has a context in front, and addresses from the innermost frame on. */
static void count_chain(const __u64 *ips, __u64 count, struct chains *chains)
{
	__u64 inner, caller;

	if (count && (__s64)ips[0] == PERF_CONTEXT_USER) {
		ips++;
		count--;
	}
	if (!count)
		return;
	inner = ips[0] - address(text);
	if (inner >= sizeof(spin))
		return;
	chains->all++;
	if (count < 3)
		return;
	caller = ips[1] - address(call_spin);
	if (caller < 128)
		chains->whole++;
}

/* Records from the ring's start on; it is large enough for all. */
static void read_ring(const struct perf_event_mmap_page *ring, struct chains *chains)
{
	const char *data = (const char *)ring + page;
	__u64 at = 0;

	while (at < ring->data_head) {
		const struct perf_event_header *header = (const void *)(data + at);
		const __u64 *words = (const void *)(header + 1);

		if (header->type == PERF_RECORD_CALLCHAIN_DEFERRED)
			count_chain(words + 2, words[1], chains);
		at += header->size;
	}
}

static struct chains sample(void)
{
	struct perf_event_mmap_page *ring;
	struct chains chains = {};
	int fd = open_event(&ring);

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	call_spin((void (*)(unsigned int))text);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	read_ring(ring, &chains);
	munmap(ring, (RING_PAGES + 1) * page);
	close(fd);
	return chains;
}

int main(void)
{
	struct sframe_setup setup = {};
	struct chains without, with;

	ksft_print_header();
	page = sysconf(_SC_PAGESIZE);
	text = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		ksft_exit_fail_perror("mmap");
	memcpy(text, spin, sizeof(spin));
	if (mprotect(text, page, PROT_READ | PROT_EXEC))
		ksft_exit_fail_perror("mprotect");
	section_init(&section, text, sizeof(spin), spin_rows, 3);
	setup.sframe_start = address(&section);
	setup.sframe_size = section_size(&section);
	setup.text_start = address(text);
	setup.text_size = page;
	without = sample();
	if (sframe_register(&setup, sizeof(setup))) {
		if (errno == ENOSYS)
			ksft_exit_skip("this kernel has no sframe_register(2)\n");
		ksft_exit_fail_perror("sframe_register");
	}
	with = sample();
	ksft_print_msg("without a section %u of %u chains are whole, with one %u of %u\n",
		       without.whole, without.all, with.whole, with.all);
	ksft_set_plan(2);
	ksft_test_result(without.all && !without.whole, "no chain without a section\n");
	ksft_test_result(with.all && with.whole == with.all, "each chain with a section\n");
	ksft_finished();
}

#else

int main(void)
{
	ksft_print_header();
	ksft_exit_skip("its code is of x86-64\n");
}

#endif
