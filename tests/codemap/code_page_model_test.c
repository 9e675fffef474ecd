/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The protocol of an entry, with the writer's and the reader's own code, in all
 * interleavings.
 *
 * The writer is compiled into this test so that each of its stores leaves a picture
 * of the memory: in program order, which its barriers guarantee.  The reader copies
 * an entry between two copies of its sequence.  Let the writer have come to picture
 * i at the first and to picture j at the last of them; in between the words of the
 * entry are copied in any order, so each of them is that of any picture from i to j,
 * whatever the others are.  So all i <= j are tried, and for each word all pictures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <bobbin/code_page.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "codemap/page_copy.h"

#define WORDS (sizeof(struct bobbin_code_entry) / sizeof(uint64_t))
#define MAX_PICTURES 100

struct picture {
	struct bobbin_code_page page;
	uint64_t entry[WORDS]; /* the first */
};

static struct picture pictures[MAX_PICTURES];
static unsigned int picture_count;

static void take_picture(int order);

/* Stores in the order of the writer; a reader in between sees one after the other. */
#define __atomic_store_n(field, value, order) (*(field) = (value), take_picture(order))
#define __atomic_fetch_add(field, value, order) (*(field) += (value), take_picture(order))
#include "codemap/page_writer.c"
#undef __atomic_store_n
#undef __atomic_fetch_add

static struct page_writer *writer;

static void take_picture(int order)
{
	struct picture *now = &pictures[picture_count];
	const struct picture *last = now - 1;

	if (!writer)
		return;
	assert_true(picture_count < MAX_PICTURES);
	now->page = *writer->page;
	memcpy(now->entry, writer->entries, sizeof(now->entry));
	/* only an odd sequence may be told late: release keeps the others in order */
	if (order != __ATOMIC_RELEASE) {
		assert_true(now->entry[0] % 2 == 1);
		assert_true(now->entry[0] == last->entry[0] + 1);
	}
	picture_count++;
}

/* What the reader finds. */
static struct {
	unsigned int first, last;        /* pictures at the first and the last sequence */
	unsigned int word, word_picture; /* this word is as in that picture */
	unsigned int later;              /* picture for whatever is read afterwards */
	unsigned int entry_reads;
} view;

static enum bobbin_reason read_entry_words(void *dst, size_t len)
{
	const unsigned int n = view.entry_reads++;
	unsigned int from = n == 0 ? view.first : n <= 2 ? view.last : view.later;
	uint64_t words[WORDS];

	memcpy(words, pictures[from].entry, sizeof(words));
	if (n == 1)
		words[view.word] = pictures[view.word_picture].entry[view.word];
	memcpy(dst, words, len);
	return BOBBIN_REASON_NONE;
}

static enum bobbin_reason read_view(void *ctx, uint64_t addr, void *dst, size_t len)
{
	const uint64_t page = (uintptr_t)writer->page, entries = (uintptr_t)writer->entries;

	if (addr >= page && addr - page <= sizeof(pictures->page) - len) {
		memcpy(dst, (const uint8_t *)&pictures[view.first].page + (addr - page), len);
		return BOBBIN_REASON_NONE;
	}
	if (addr == entries && len <= sizeof(pictures->entry))
		return read_entry_words(dst, len);
	return BOBBIN_REASON_NO_MEMORY;
}

static struct bobbin_code_entry entry_of(uint64_t n)
{
	return (struct bobbin_code_entry){
		.id = n,
		.kind = 1 + n % 2,
		.flags = (uint32_t)n,
		.text_start = n << 16,
		.text_end = (n << 16) + n,
		.table = n << 24,
		.table_size = n * 3,
		.table_addr = n << 8,
	};
}

/* Put something in, take it out, put something else in its place. */
static void make_pictures(void)
{
	struct bobbin_code_entry first = entry_of(5), second = entry_of(10);
	uint32_t number;

	assert_int_equal(page_writer_open(&writer), 0);
	picture_count = 0;
	take_picture(__ATOMIC_RELEASE);
	assert_int_equal(page_writer_add(writer, &first, &number), 0);
	page_writer_remove(writer, number);
	assert_int_equal(page_writer_add(writer, &second, &number), 0);
	assert_int_equal(number, 0);
	page_writer_remove(writer, number);
}

/* A read gives the state of one moment, which is not older than page.changes. */
static void assert_whole(const struct page_copy *code)
{
	struct bobbin_code_entry expected;

	assert_true(code->count <= 1);
	if (!code->count)
		return;
	expected = entry_of(code->ranges[0].entry.id);
	expected.sequence = code->ranges[0].entry.sequence;
	assert_memory_equal(&code->ranges[0].entry, &expected, sizeof(expected));
	assert_true(expected.id == 5 || expected.id == 10);
	assert_int_equal(expected.sequence, expected.id == 5 ? 2 : 6);
}

static int read_once(struct page_copy *code)
{
	const struct bobbin_mem mem = {read_view, NULL};

	page_copy_init(&(struct remote_process){NULL, 1}, code);
	code->page = (uintptr_t)writer->page;
	view.entry_reads = 0;
	return page_copy_parse(code, &mem, NULL);
}

/* All pictures for each word between two sequences; the number of good reads. */
static unsigned int try_window(void)
{
	unsigned int good = 0;

	for (view.word = 0; view.word < WORDS; view.word++) {
		for (view.word_picture = view.first; view.word_picture <= view.last;
		     view.word_picture++) {
			struct page_copy code;
			int r = read_once(&code);

			assert_true(r == 1 || r == -EAGAIN);
			assert_whole(&code);
			good += code.count;
			page_copy_fini(&code);
		}
	}
	return good;
}

static void no_interleaving_gives_a_torn_entry(void **state)
{
	unsigned int good = 0;

	make_pictures();
	for (view.first = 0; view.first < picture_count; view.first++) {
		for (view.last = view.first; view.last < picture_count; view.last++) {
			view.later = view.last;
			good += try_window();
			view.later = picture_count - 1;
			good += try_window();
		}
	}
	print_message("%u pictures, %u good reads\n", picture_count, good);
	assert_true(picture_count > 30 && good > 1000);
	page_writer_close(writer);
	writer = NULL;
}

static void what_changes_counts_can_be_read(void **state)
{
	make_pictures();
	for (unsigned int i = 0; i < picture_count; i++) {
		const struct picture *p = &pictures[i];
		uint64_t done = p->page.changes - pictures[0].page.changes;
		struct page_copy code;
		int r;

		view.first = view.last = view.later = view.word_picture = i;
		view.word = 0;
		r = read_once(&code);
		/* 0: nothing yet, 1: the first is in, 2: out, 3: the second is in, 4: out */
		if (done % 2 && r == 1 && !code.count)
			assert_true(p->entry[0] == 2 * (done + 1));
		else if (done % 2 && r == 1)
			assert_int_equal(code.ranges[0].entry.id, done == 1 ? 5 : 10);
		page_copy_fini(&code);
	}
	assert_int_equal(pictures[picture_count - 1].page.changes - pictures[0].page.changes, 4);
	page_writer_close(writer);
	writer = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_interleaving_gives_a_torn_entry),
		cmocka_unit_test(what_changes_counts_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
