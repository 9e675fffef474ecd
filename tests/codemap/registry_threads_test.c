/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads register and unregister beside readers that drop what they find. */
#include "code_samples.h"

#include <pthread.h>
#include <stdatomic.h>

#include "codemap/registry.h"

#define WRITERS 3
#define READERS 2
#define ROUNDS 1500

static struct registry *registry;
static struct sample samples[WRITERS];
static atomic_bool stop;
static atomic_uint failures, drops;

/* Threads count failures: cmocka's assertions are for the main thread. */
static void need(bool condition)
{
	if (!condition)
		atomic_fetch_add(&failures, 1);
}

static void *write_map(void *arg)
{
	const struct sample *s = arg;
	struct sframe_setup setup = setup_of(s), key = {.sframe_start = setup.sframe_start};
	struct code_elf_info info = elf_of(s);

	for (unsigned int i = 0; i < ROUNDS || !atomic_load(&drops); i++) {
		if (i & 1) {
			need(!code_calls_register(registry, &setup, sizeof(setup), NULL));
			need(!code_calls_unregister(registry, &key, sizeof(key)));
			continue;
		}
		need(!code_calls_codectl(registry, CODE_REGISTER_ELF, &info, sizeof(info), 0,
					 NULL));
		need(!code_calls_codectl(registry, CODE_UNREGISTER, &info, sizeof(info), 0, NULL));
	}
	return NULL;
}

static void look(const struct sample *s)
{
	const struct bobbin_error error = {.offset = 4, .reason = BOBBIN_REASON_SFRAME_FDE};
	struct code_map *map = registry_map(registry);
	unsigned int token = read_enter(code_map_readers(map));
	struct code_range range;
	struct code *code = code_map_find(map, (uintptr_t)s->text + s->page, &range);

	if (code) {
		struct bobbin_row row;

		need(range.start == (uintptr_t)s->text && range.end == text_end(s));
		need(code->kind == CODE_SECTION);
		need(!bobbin_sframe_lookup(&code->sframe, range.start + s->page, NULL, &row));
		need(row.start == range.start + s->page);
		registry_drop(registry, code, &error);
		atomic_fetch_add(&drops, 1);
	}
	read_leave(code_map_readers(map), token);
}

static void *read_map(void *arg)
{
	(void)arg;
	while (!atomic_load(&stop))
		for (unsigned int i = 0; i < WRITERS; i++)
			look(&samples[i]);
	return NULL;
}

static void writers_and_readers_do_not_disturb_each_other(void **state)
{
	pthread_t writers[WRITERS], readers[READERS];
	const struct bobbin_code_page *page;
	const struct bobbin_code_entry *entries;

	(void)state;
	assert_int_equal(registry_open(NULL, &registry), 0);
	for (unsigned int i = 0; i < WRITERS; i++)
		samples[i] = sample_open(3);
	for (unsigned int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_map, NULL), 0);
	for (unsigned int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_map, &samples[i]), 0);
	for (unsigned int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);

	assert_int_equal(atomic_load(&failures), 0);
	assert_true(atomic_load(&drops) > 0);
	assert_int_equal(code_count(registry_map(registry)), 0);
	page = registry_page(registry);
	assert_non_null(page);
	entries = (const struct bobbin_code_entry *)(uintptr_t)page->entries;
	for (uint64_t i = 0; i < page->entry_count; i++)
		assert_int_equal(entries[i].kind, BOBBIN_CODE_FREE);
	registry_close(registry);
	for (unsigned int i = 0; i < WRITERS; i++)
		sample_close(&samples[i]);
}

static void *register_first(void *arg)
{
	const struct sframe_setup setup = setup_of(arg);

	need(!bobbin_sframe_register(&setup, sizeof(setup), NULL));
	return NULL;
}

/* All of them find the same map. */
static void the_first_registrations_may_come_at_once(void **state)
{
	pthread_t threads[WRITERS];
	struct sample first[WRITERS];

	(void)state;
	atomic_store(&failures, 0);
	for (unsigned int i = 0; i < WRITERS; i++)
		first[i] = sample_open(1);
	for (unsigned int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, register_first, &first[i]), 0);
	for (unsigned int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&failures), 0);
	for (unsigned int i = 0; i < WRITERS; i++) {
		const struct sframe_setup key = {.sframe_start = (uintptr_t)first[i].section};

		assert_int_equal(bobbin_sframe_unregister(&key, sizeof(key)), 0);
		sample_close(&first[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writers_and_readers_do_not_disturb_each_other),
		cmocka_unit_test(the_first_registrations_may_come_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
