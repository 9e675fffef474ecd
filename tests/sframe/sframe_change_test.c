/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A section is changed while it is read: registered memory belongs to the process, which can
 * write to it at any time.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <bobbin/sframe.h>

#include "sframe_bytes.h"

#define ADDR 0x400000
#define MANY 100000

/* From the words of the first row to the end there are just as many bytes as they may have. */
static const struct section_spec spec = {
	.version = 3,
	.abi = AARCH64_LE,
	.flags = SORTED | PCREL,
	.addr = ADDR,
	.num_funcs = 2,
	.funcs = {{.start = 0x1000, .size = 8, .num_fres = 1, ROWS(0, 0x07, 8, 24, 16)},
		  {.start = 0x1008, .size = 8, .num_fres = 1, ROWS(0, 0x05, 8, 16)}},
};

/* An info byte that becomes another all the time. */
struct flipper {
	volatile uint8_t *info;
	uint8_t changed;
	atomic_bool stop;
};

static void *flip(void *arg)
{
	struct flipper *f = arg;
	uint8_t original = *f->info;

	while (!atomic_load_explicit(&f->stop, memory_order_relaxed)) {
		*f->info = f->changed;
		for (unsigned int i = 0; i < 4; i++)
			*f->info = original;
	}
	*f->info = original;
	return NULL;
}

/* The section at the end of a page, before one that cannot be read. */
static uint8_t *place_at_end(const struct built *b, size_t page)
{
	uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	return memcpy(pages + page - b->size, b->data, b->size);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * Lookups for half a second, and until the row was refused, which needs a CPU for the other
 * thread.
 */
static void look_up(const struct bobbin_sframe_view *view, uint64_t pc)
{
	double start = seconds(), now = start;
	unsigned int refused = 0;

	for (; now < start + 0.5 || !refused; now = seconds()) {
		assert_true(now < start + 60);
		for (unsigned int i = 0; i < MANY; i++) {
			struct bobbin_row row;
			int r = bobbin_sframe_lookup(view, pc, NULL, &row);

			if (r != 0 && r != -EBADMSG)
				fail_msg("%d", r);
			refused += r != 0;
			if (!r && (row.rule.cfa.off != 8 || row.rule.fp.off != 16))
				fail_msg("cfa %d fp %d", row.rule.cfa.off, row.rule.fp.off);
		}
	}
}

static void words_that_become_too_wide_are_not_read(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct built b = build(&spec);
	uint8_t *data = place_at_end(&b, page), *row = data + b.size - 12 - 2;
	/* words of 8 bytes, which do not exist */
	struct flipper f = {.info = row + 1, .changed = 0x07 | 3 << 5};
	struct bobbin_sframe_view view;
	pthread_t thread;

	(void)state;
	assert_memory_equal(row, spec.funcs[0].rows, 5);
	assert_int_equal(bobbin_sframe_view(data, b.size, ADDR, NULL, &view), 0);
	assert_int_equal(pthread_create(&thread, NULL, flip, &f), 0);
	look_up(&view, 0x1004);
	atomic_store(&f.stop, true);
	pthread_join(thread, NULL);
	free(b.data);
	munmap(data + b.size - page, 2 * page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_that_become_too_wide_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
