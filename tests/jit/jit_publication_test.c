/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writer and reader of JIT tables under every order that the memory model allows.
 *
 * The writer's stores are recorded: its code is compiled into this file with an
 * atomic store that first looks what plain stores have changed.  A store becomes
 * visible after earlier ones to the same place, and if it is a release after all
 * earlier ones; otherwise in any order.  The reader's code runs for each choice of
 * what a load can find: anything that is visible no earlier than what the loads
 * before the last fence have found.  For each content that a load can find, as few
 * other stores as possible count as visible, which leaves most to later loads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void record_atomic(void *addr, uint64_t value, int order);
static void fence(void);

#define __atomic_store_n(addr, value, order) record_atomic(addr, value, order)
#define __atomic_thread_fence(order) fence()
#define __atomic_signal_fence(order) fence()
#include "../../src/jit/jit_table.c"
#include "../../src/jit/jit_writer.c"

#define TEXT 0x10000
#define GARBAGE 0xa5
#define WORDS 32
#define MAX_STORES 32
#define MAX_LOADS 64
#define TABLE_WORDS 16 /* 3 for the head, 3 for each entry */
#define FUNCTIONS 3

/* Two tables, the first for two entries; what the reader sees of them, and as they are. */
static uint64_t memory[WORDS], before[WORDS], image[WORDS];

struct store {
	size_t at, size; /* bytes of the memory */
	uint64_t value;
	bool release;
};

static struct store stores[MAX_STORES];
static unsigned int store_count;
static unsigned int published[FUNCTIONS]; /* stores up to the one that makes it visible */

/* What is to be left out. */
static struct {
	bool release_of_used, release_of_next, fences, dependencies;
} without;

/* One run of the reader: which of its choices each load takes. */
static struct {
	unsigned int choice[MAX_LOADS], choices[MAX_LOADS], count;
	uint32_t found;  /* visible to some load */
	uint32_t fenced; /* visible to all loads from here on */
	uint32_t next;   /* visible when the address of the second table was loaded */
	uint32_t seen;   /* stores whose value was loaded: loads of one place do not go back */
} run;

static void record(size_t at, size_t size, bool release)
{
	assert_true(store_count < MAX_STORES);
	stores[store_count] = (struct store){.at = at, .size = size, .release = release};
	memcpy(&stores[store_count++].value, (uint8_t *)memory + at, size);
	memcpy((uint8_t *)before + at, (uint8_t *)memory + at, size);
}

/* The smallest unit whose order counts: 4 bytes of an entry, a word of a head. */
static size_t unit_at(size_t at)
{
	return at % (TABLE_WORDS * 8) < sizeof(struct code_jit_unwind_table) ? 8 : 4;
}

static void record_plain(void)
{
	for (size_t at = 0; at < sizeof(memory); at += unit_at(at))
		if (memcmp((uint8_t *)memory + at, (uint8_t *)before + at, unit_at(at)))
			record(at, unit_at(at), false);
}

static void record_atomic(void *addr, uint64_t value, int order)
{
	record_plain();
	memcpy(addr, &value, sizeof(value));
	record((size_t)((uint8_t *)addr - (uint8_t *)memory), sizeof(value),
	       order == __ATOMIC_RELEASE);
}

static bool is_release(const struct store *s)
{
	size_t field = s->at % (TABLE_WORDS * 8);

	if (field == offsetof(struct code_jit_unwind_table, used_len) && without.release_of_used)
		return false;
	if (field == offsetof(struct code_jit_unwind_table, next) && without.release_of_next)
		return false;
	return s->release;
}

static bool overlap(const struct store *s, size_t at, size_t size)
{
	return s->at < at + size && at < s->at + s->size;
}

/* @mask, and the stores that become visible before those in it. */
static uint32_t closure(uint32_t mask)
{
	for (unsigned int i = store_count; i--;) {
		if (!(mask >> i & 1))
			continue;
		for (unsigned int j = 0; j < i; j++)
			if (is_release(&stores[i]) ||
			    overlap(&stores[j], stores[i].at, stores[i].size))
				mask |= 1u << j;
	}
	return mask;
}

static void fence(void)
{
	if (!without.fences)
		run.fenced |= run.found;
}

/* Stores that touch bytes of the memory. */
static uint32_t touching(size_t at, size_t size)
{
	uint32_t mask = 0;

	for (unsigned int i = 0; i < store_count; i++)
		if (overlap(&stores[i], at, size))
			mask |= 1u << i;
	return mask;
}

/* What a load can find at least. */
static uint32_t base_of_load(size_t at, size_t size)
{
	uint32_t base = run.fenced | (run.seen & touching(at, size));

	if (at >= TABLE_WORDS * 8 && !without.dependencies)
		base |= run.next;
	return closure(base);
}

/* The @n-th way in which more of the stores that touch the bytes are visible; 0: no such. */
static bool nth_view(uint32_t base, uint32_t touch, unsigned int n, uint32_t *ret)
{
	uint32_t open = touch & ~base, subset = 0;

	do {
		uint32_t mask = closure(base | subset);

		if ((mask & touch) == ((base & touch) | subset) && !n--) {
			*ret = mask;
			return true;
		}
		subset = (subset - open) & open;
	} while (subset);
	return false;
}

static enum bobbin_reason load_some(void *ctx, uint64_t addr, void *dst, size_t len)
{
	size_t at = (size_t)(addr - (uintptr_t)memory);
	uint32_t base, touch, mask = 0, unused;
	unsigned int n = run.count++;

	(void)ctx;
	if (addr < (uintptr_t)memory || at > sizeof(memory) - len)
		return BOBBIN_REASON_NO_MEMORY;
	assert_true(n < MAX_LOADS);
	base = base_of_load(at, len);
	touch = touching(at, len);
	assert_true(nth_view(base, touch, run.choice[n], &mask));
	run.choices[n] = run.choice[n] + 1 + nth_view(base, touch, run.choice[n] + 1, &unused);

	memset(image, GARBAGE, sizeof(image));
	image[0] = 2 * sizeof(struct code_jit_unwind_fre);
	image[1] = image[2] = 0;
	for (unsigned int i = 0; i < store_count; i++)
		if (mask >> i & 1)
			memcpy((uint8_t *)image + stores[i].at, &stores[i].value, stores[i].size);
	memcpy(dst, (uint8_t *)image + at, len);
	run.found |= mask;
	run.seen |= mask & touch;
	if (at == offsetof(struct code_jit_unwind_table, next))
		run.next = mask;
	return BOBBIN_REASON_NONE;
}

static const struct bobbin_arch *host(void)
{
	return BOBBIN_HOST_BIG_ENDIAN ? bobbin_arch_s390x() : bobbin_arch_amd64();
}

static struct bobbin_sframe_row row_of(unsigned int i)
{
	return (struct bobbin_sframe_row){
		.rule = bobbin_jit_rule_sp(host(), 1000 + 8 * (int32_t)i, -24, -16)};
}

static void append(struct bobbin_jit_writer *writer, unsigned int i)
{
	const struct bobbin_sframe_row row = row_of(i);
	const struct bobbin_sframe_function function = {
		.start = TEXT + 16 * i, .size = 16, .rows = &row, .count = 1};

	assert_int_equal(bobbin_jit_writer_append(writer, &function), 0);
	published[i] = store_count;
}

/* Two entries, a second table, an entry in it. */
static struct code_jit_info write_tables(void)
{
	const size_t fre = sizeof(struct code_jit_unwind_fre), head = 24;
	struct bobbin_jit_writer writer;
	struct code_jit_info info;

	store_count = 0;
	memset(memory, GARBAGE, sizeof(memory));
	assert_int_equal(
		bobbin_jit_writer_init(host(), TEXT, 0x1000, memory, head + 2 * fre, &writer), 0);
	memcpy(before, memory, sizeof(memory));
	append(&writer, 0);
	append(&writer, 1);
	assert_int_equal(bobbin_jit_writer_extend(&writer, memory + TABLE_WORDS, head + fre), 0);
	append(&writer, 2);
	bobbin_jit_writer_info(&writer, &info);
	return info;
}

/* Take the next choice; false: there are no more. */
static bool next_run(void)
{
	while (run.count) {
		unsigned int n = run.count - 1;

		if (run.choice[n] + 1 < run.choices[n]) {
			run.choice[n]++;
			return true;
		}
		run.choice[n] = 0;
		run.count--;
	}
	return false;
}

static bool right(int status, const struct bobbin_row *row, unsigned int function,
		  bool must_be_found)
{
	const struct bobbin_rule rule = row_of(function).rule;

	if (status)
		return status == -BOBBIN_ENOENT && !must_be_found;
	return row->start == TEXT + 16 * function && row->end == row->start + 16 &&
	       row->function == row->start && bobbin_rule_equal(&row->rule, &rule);
}

/* Whether a run that begins when @started stores are visible goes wrong. */
static bool explore(const struct code_jit_info *info, unsigned int function, unsigned int started,
		    unsigned long *runs)
{
	const struct bobbin_mem mem = {load_some, NULL};

	memset(&run, 0, sizeof(run));
	do {
		struct bobbin_row row;
		int status;

		run.count = 0;
		run.found = run.fenced = closure((uint32_t)((1ull << started) - 1));
		run.next = run.seen = 0;
		status = jit_table_lookup(&(struct jit_chain){host(), info, &mem, NULL},
					  TEXT + 16 * function + 5, &row);
		++*runs;
		if (!right(status, &row, function, started >= published[function]))
			return true;
	} while (next_run());
	return false;
}

/* For each function and each moment at which a reader may come, up to the first wrong row. */
static bool goes_wrong(unsigned long *runs)
{
	const struct code_jit_info info = write_tables();

	*runs = 0;
	for (unsigned int function = 0; function < FUNCTIONS; function++)
		for (unsigned int started = 0; started <= store_count; started++)
			if (explore(&info, function, started, runs))
				return true;
	return false;
}

static int set_up(void **state)
{
	(void)state;
	memset(&without, 0, sizeof(without));
	return 0;
}

static void the_writer_stores_what_the_abi_says(void **state)
{
	unsigned int releases = 0;

	(void)state;
	write_tables();
	for (unsigned int i = 0; i < store_count; i++)
		releases += stores[i].release;
	/* three times used_len, once next; six words of an entry, a head of three */
	assert_int_equal(releases, 4);
	assert_true(store_count >= 4 + 3 * 5 + 3);
	assert_int_equal(memory[1], 48);
	assert_int_equal(memory[2], (uintptr_t)(memory + TABLE_WORDS));
}

static void readers_see_nothing_or_all_of_an_entry(void **state)
{
	unsigned long runs;

	(void)state;
	assert_false(goes_wrong(&runs));
	assert_true(runs > 100);
	print_message("%lu runs\n", runs);
}

static void without_release_of_used_len_they_see_half_an_entry(void **state)
{
	unsigned long runs;

	(void)state;
	without.release_of_used = true;
	assert_true(goes_wrong(&runs));
}

static void without_release_of_next_they_see_half_a_table(void **state)
{
	unsigned long runs;

	(void)state;
	without.release_of_next = true;
	assert_true(goes_wrong(&runs));
}

static void without_fences_they_see_half_an_entry(void **state)
{
	unsigned long runs;

	(void)state;
	without.fences = true;
	assert_true(goes_wrong(&runs));
	without.dependencies = true;
	assert_true(goes_wrong(&runs));
}

static void with_fences_not_even_dependent_loads_need_their_order(void **state)
{
	unsigned long runs;

	(void)state;
	without.dependencies = true;
	assert_false(goes_wrong(&runs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_writer_stores_what_the_abi_says, set_up),
		cmocka_unit_test_setup(readers_see_nothing_or_all_of_an_entry, set_up),
		cmocka_unit_test_setup(without_release_of_used_len_they_see_half_an_entry, set_up),
		cmocka_unit_test_setup(without_release_of_next_they_see_half_a_table, set_up),
		cmocka_unit_test_setup(without_fences_they_see_half_an_entry, set_up),
		cmocka_unit_test_setup(with_fences_not_even_dependent_loads_need_their_order,
				       set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
