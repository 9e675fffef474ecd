/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks that are given out once, and what the recorder makes of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpfwalk/stack_intern.h"

#define DEPTH 40
#define SLOTS_MAX 4096

/* What the program in the kernel does, with a table of known hashes of any size. */
struct teller {
	struct stack_key key;
	uint64_t epoch, known[SLOTS_MAX];
	unsigned int slots;
	uint64_t words; /* that were given out */
};

static uint64_t *slot_of(struct teller *t, uint64_t hash)
{
	return &t->known[(hash >> 32) % t->slots];
}

/* The record of a stack; @arrives: there is room for it. */
static struct stack_part tell(struct teller *t, uint64_t list, const uint64_t *frames,
			      uint32_t count, bool arrives)
{
	struct stack_part part = {.words = frames, .epoch = (uint16_t)t->epoch};
	uint64_t hashes[KERNEL_FRAMES + 1];

	hashes[count] = stack_root(&t->key, t->epoch, list);
	for (uint32_t i = count; i--;)
		hashes[i] = stack_hash(t->key.factor, hashes[i + 1], frames[i]);
	while (part.count < count && *slot_of(t, hashes[part.count]) != hashes[part.count])
		part.count++;
	part.from_root = part.count == count;
	part.outer = part.from_root ? list : hashes[part.count];
	for (uint32_t i = 0; arrives && i < part.count; i++)
		*slot_of(t, hashes[i]) = hashes[i];
	t->words += part.count;
	return part;
}

static struct teller *new_teller(const struct stack_intern *store, unsigned int slots)
{
	struct teller *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->key = store->key;
	t->slots = slots;
	return t;
}

static int take_some(struct stack_intern *store, const struct stack_part *part, uint64_t *ret,
		     uint32_t max, uint64_t *list)
{
	uint32_t node;
	int r = stack_intern_add(store, part, &node);

	return r ? r : stack_intern_read(store, part->epoch, node, ret, max, list);
}

static int take(struct stack_intern *store, const struct stack_part *part, uint64_t *ret,
		uint64_t *list)
{
	return take_some(store, part, ret, KERNEL_FRAMES, list);
}

static void assert_stack(struct stack_intern *store, const struct stack_part *part, uint64_t list,
			 const uint64_t *frames, uint32_t count)
{
	uint64_t got[KERNEL_FRAMES], from;

	assert_int_equal(take(store, part, got, &from), count);
	assert_int_equal(from, list);
	assert_memory_equal(got, frames, count * sizeof(*frames));
}

/* A stack of a small program: of few functions, most of them the same as before. */
static uint32_t change_stack(uint64_t *frames, uint32_t count)
{
	uint32_t leave = (uint32_t)rand() % 4, enter = (uint32_t)rand() % 5;

	leave = leave > count ? count : leave;
	memmove(frames, frames + leave, (count - leave) * sizeof(*frames));
	count -= leave;
	for (; enter && count < DEPTH; enter--, count++) {
		memmove(frames + 1, frames, count * sizeof(*frames));
		frames[0] = 0x555500000000 + (uint64_t)(rand() % 3) * 0x10;
	}
	return count;
}

static void run(unsigned int slots, int lost_of_ten)
{
	struct stack_intern store;
	struct teller *t;
	uint64_t frames[2][DEPTH];
	uint32_t counts[2] = {0};

	stack_intern_init(&store);
	t = new_teller(&store, slots);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		int list = rand() % 2;
		uint64_t *f = frames[list];
		bool arrives = rand() % 10 >= lost_of_ten;
		struct stack_part part;

		counts[list] = change_stack(f, counts[list]);
		part = tell(t, (uint64_t)list + 1, f, counts[list], arrives);
		if (arrives)
			assert_stack(&store, &part, (uint64_t)list + 1, f, counts[list]);
		if (i % 3000 == 2999) {
			stack_intern_renew(&store);
			t->epoch = store.epoch;
		}
	}
	stack_intern_fini(&store);
	free(t);
}

static void stacks_come_whole(void **state)
{
	run(SLOTS_MAX, 0);
}

static void stacks_come_whole_though_records_are_lost(void **state)
{
	run(SLOTS_MAX, 3);
}

static void stacks_come_whole_though_the_program_forgets(void **state)
{
	run(16, 0);
	run(16, 3);
	run(1, 0);
}

static void a_stack_is_given_out_once(void **state)
{
	const uint64_t frames[] = {1, 2, 3, 4};
	struct stack_intern store;
	struct stack_part part;
	struct teller *t;

	stack_intern_init(&store);
	t = new_teller(&store, SLOTS_MAX);
	for (int i = 0; i < 10; i++) {
		part = tell(t, 7, frames, 4, true);
		assert_stack(&store, &part, 7, frames, 4);
	}
	assert_int_equal(t->words, 4);
	/* by another list it is another stack */
	part = tell(t, 8, frames, 4, true);
	assert_stack(&store, &part, 8, frames, 4);
	assert_int_equal(t->words, 8);
	stack_intern_fini(&store);
	free(t);
}

static void a_record_that_never_came_is_noticed(void **state)
{
	const uint64_t frames[] = {1, 2, 3, 4}, deeper[] = {5, 1, 2, 3, 4};
	uint64_t got[KERNEL_FRAMES], list;
	struct stack_intern store;
	struct stack_part part;
	struct teller *t;

	stack_intern_init(&store);
	t = new_teller(&store, SLOTS_MAX);
	tell(t, 7, frames, 4, true);
	part = tell(t, 7, deeper, 5, true);
	assert_int_equal(part.count, 1);
	assert_int_equal(take(&store, &part, got, &list), -ENOENT);
	stack_intern_renew(&store);
	t->epoch = store.epoch;
	part = tell(t, 7, deeper, 5, true);
	assert_int_equal(part.count, 5);
	assert_stack(&store, &part, 7, deeper, 5);
	stack_intern_fini(&store);
	free(t);
}

static void the_epoch_before_is_known(void **state)
{
	const uint64_t frames[] = {1, 2, 3, 4};
	uint64_t got[KERNEL_FRAMES], list;
	struct stack_part part, late;
	struct stack_intern store;
	struct teller *t;

	stack_intern_init(&store);
	t = new_teller(&store, SLOTS_MAX);
	for (int i = 0; i < 70000; i++) {
		part = tell(t, 7, frames, 4, true);
		assert_int_equal(part.count, 4);
		assert_stack(&store, &part, 7, frames, 4);
		late = tell(t, 7, frames, 4, true);
		stack_intern_renew(&store);
		assert_stack(&store, &late, 7, frames, 4);
		stack_intern_renew(&store);
		assert_int_equal(take(&store, &late, got, &list), -ENOENT);
		t->epoch = store.epoch;
	}
	stack_intern_fini(&store);
	free(t);
}

static void many_stacks_make_it_full(void **state)
{
	struct stack_intern store;
	struct teller *t;
	uint64_t frame = 0;

	stack_intern_init(&store);
	t = new_teller(&store, SLOTS_MAX);
	for (; !stack_intern_is_full(&store); frame++) {
		struct stack_part part = tell(t, 7, &frame, 1, true);

		assert_stack(&store, &part, 7, &frame, 1);
		assert_true(frame < STACK_NODES);
	}
	assert_true(frame >= STACK_NODES - 2);
	stack_intern_renew(&store);
	assert_false(stack_intern_is_full(&store));
	stack_intern_fini(&store);
	free(t);
}

static void a_stack_with_too_many_frames_is_refused(void **state)
{
	uint64_t frames[2] = {1, 2}, got[KERNEL_FRAMES], list;
	struct stack_intern store;
	struct stack_part part;
	struct teller *t;

	stack_intern_init(&store);
	t = new_teller(&store, SLOTS_MAX);
	part = tell(t, 7, frames, 2, true);
	assert_int_equal(take_some(&store, &part, got, 1, &list), -ENOENT);
	assert_int_equal(take_some(&store, &part, got, 2, &list), 2);
	stack_intern_fini(&store);
	free(t);
}

static void stores_have_keys_of_their_own(void **state)
{
	struct stack_intern a, b;

	stack_intern_init(&a);
	stack_intern_init(&b);
	assert_int_not_equal(a.key.seed, b.key.seed);
	assert_int_not_equal(a.key.factor, b.key.factor);
	assert_true(a.key.factor & b.key.factor & 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_come_whole),
		cmocka_unit_test(stacks_come_whole_though_records_are_lost),
		cmocka_unit_test(stacks_come_whole_though_the_program_forgets),
		cmocka_unit_test(a_stack_is_given_out_once),
		cmocka_unit_test(a_record_that_never_came_is_noticed),
		cmocka_unit_test(the_epoch_before_is_known),
		cmocka_unit_test(many_stacks_make_it_full),
		cmocka_unit_test(a_stack_with_too_many_frames_is_refused),
		cmocka_unit_test(stores_have_keys_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
