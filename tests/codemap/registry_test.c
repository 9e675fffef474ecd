/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registered code is in the map and on the page until it is unregistered. */
#include "code_samples.h"

#include <errno.h>
#include <stdatomic.h>

#include "codemap/registry.h"

static struct registry *open_registry(void)
{
	struct registry *registry;

	assert_int_equal(registry_open(NULL, &registry), 0);
	return registry;
}

static const struct code *code_at(struct registry *registry, const void *addr)
{
	return code_map_find(registry_map(registry), (uintptr_t)addr, NULL);
}

static const struct bobbin_code_entry *entry_for(struct registry *registry, uint64_t text_start)
{
	const struct bobbin_code_page *page = registry_page(registry);
	const struct bobbin_code_entry *entries;

	assert_non_null(page);
	entries = (const struct bobbin_code_entry *)(uintptr_t)page->entries;
	for (uint64_t i = 0; i < page->entry_count; i++)
		if (entries[i].kind != BOBBIN_CODE_FREE && entries[i].text_start == text_start)
			return &entries[i];
	return NULL;
}

static int register_elf(struct registry *registry, const struct code_elf_info *info)
{
	return code_calls_codectl(registry, CODE_REGISTER_ELF, info, sizeof(*info), 0, NULL);
}

static int unregister_elf(struct registry *registry, const struct code_elf_info *info)
{
	return code_calls_codectl(registry, CODE_UNREGISTER, info, sizeof(*info), 0, NULL);
}

static void a_section_is_found_and_published_until_it_is_unregistered(void **state)
{
	struct registry *registry = open_registry();
	struct sample s = sample_open(3);
	struct sframe_setup setup = setup_of(&s);
	struct bobbin_code_result result = {.place = BOBBIN_CODE_IN_KERNEL};
	const struct bobbin_code_entry *entry;
	const struct code *code;

	(void)state;
	assert_int_equal(code_calls_register(registry, &setup, sizeof(setup), &result), 0);
	assert_int_equal(result.place, BOBBIN_CODE_IN_PROCESS);
	code = code_at(registry, s.text + 2 * s.page);
	assert_non_null(code);
	assert_int_equal(code->kind, CODE_SECTION);
	assert_int_equal(code->sframe.num_fdes, 3);
	assert_ptr_equal(code->sframe.data, s.section);
	assert_null(code_at(registry, s.text + 3 * s.page));
	entry = entry_for(registry, setup.text_start);
	assert_non_null(entry);
	assert_int_equal(entry->kind, BOBBIN_CODE_SFRAME);
	assert_int_equal(entry->table, setup.sframe_start);
	assert_int_equal(entry->table_size, setup.sframe_size);
	assert_int_equal(entry->table_addr, setup.sframe_start);
	assert_int_equal(entry->text_end, text_end(&s));

	setup = (struct sframe_setup){.sframe_start = setup.sframe_start};
	assert_int_equal(code_calls_unregister(registry, &setup, sizeof(setup)), 0);
	assert_null(code_at(registry, s.text));
	assert_null(entry_for(registry, (uintptr_t)s.text));
	assert_int_equal(code_calls_unregister(registry, &setup, sizeof(setup)), -ENOENT);
	registry_close(registry);
	sample_close(&s);
}

static void an_empty_section_is_accepted_and_covers_nothing(void **state)
{
	struct registry *registry = open_registry();
	struct sample s = sample_open(1);
	struct sframe_setup setup = setup_of(&s);
	const struct code *code;

	(void)state;
	memset(s.section, 0, SAMPLE_ROOM);
	setup.sframe_size = SAMPLE_ROOM;
	assert_int_equal(code_calls_register(registry, &setup, sizeof(setup), NULL), 0);
	code = code_at(registry, s.text);
	assert_non_null(code);
	assert_null(code->sframe.data);
	assert_int_equal(code->table, setup.sframe_start);
	assert_int_equal(code->table_size, SAMPLE_ROOM);
	assert_int_equal(code->sframe.addr, setup.sframe_start);
	registry_close(registry);
	sample_close(&s);
}

/* Two functions of two pages; the second function begins in a range of its own. */
static void several_ranges_are_one_registration(void **state)
{
	struct registry *registry = open_registry();
	struct sample s = sample_open(5);
	const uint64_t text = (uintptr_t)s.text;
	struct code_text_range more[] = {{text + 2 * s.page, text + 3 * s.page},
					 {text + s.page, text + 2 * s.page}};
	struct code_elf_info info = elf_of(&s);
	struct bobbin_code_result result = {0};
	const struct bobbin_code_entry *first;

	(void)state;
	s.section_size = make_section(s.section, (uintptr_t)s.section, text, 2 * s.page, 2);
	info.sframe_end = info.sframe_start + s.section_size;
	info.text_end = text + s.page;
	info.text_ranges = (uintptr_t)more;
	info.text_range_count = 2;
	assert_int_equal(
		code_calls_codectl(registry, CODE_REGISTER_ELF, &info, sizeof(info), 0, &result),
		-EBADMSG);
	assert_int_equal(result.error.reason, BOBBIN_REASON_SFRAME_TEXT);
	assert_null(code_at(registry, s.text));

	more[0].end += s.page;
	assert_int_equal(register_elf(registry, &info), 0);
	assert_ptr_equal(code_at(registry, s.text), code_at(registry, s.text + 3 * s.page));
	assert_null(code_at(registry, s.text + 4 * s.page));
	assert_int_equal(code_count(registry_map(registry)), 3);
	first = entry_for(registry, info.text_start);
	assert_non_null(first);
	assert_int_equal(first->id, entry_for(registry, more[0].start)->id);
	assert_int_equal(unregister_elf(registry, &info), 0);
	assert_int_equal(code_count(registry_map(registry)), 0);
	assert_null(entry_for(registry, more[0].start));
	registry_close(registry);
	sample_close(&s);
}

static void the_range_that_is_named_first_need_not_be_the_lowest(void **state)
{
	struct registry *registry = open_registry();
	struct sample s = sample_open(2);
	const uint64_t text = (uintptr_t)s.text;
	const struct code_text_range lower = {text, text + s.page};
	struct code_elf_info info = elf_of(&s), other;

	(void)state;
	info.text_start = text + s.page;
	info.text_ranges = (uintptr_t)&lower;
	info.text_range_count = 1;
	other = info;
	other.text_start++;
	assert_int_equal(register_elf(registry, &info), 0);
	assert_int_equal(unregister_elf(registry, &other), -ENOENT);
	assert_int_equal(unregister_elf(registry, &info), 0);
	assert_null(code_at(registry, s.text));
	registry_close(registry);
	sample_close(&s);
}

static void of_several_ranges_all_or_none_are_registered(void **state)
{
	struct registry *registry = open_registry();
	struct sample s = sample_open(3);
	struct code_elf_info taken = {.text_start = (uintptr_t)s.text + 2 * s.page,
				      .text_end = (uintptr_t)s.text + 2 * s.page + 16};
	struct code_text_range more = {taken.text_start, taken.text_end};
	struct code_elf_info info = {.text_start = (uintptr_t)s.text,
				     .text_end = (uintptr_t)s.text + 16,
				     .text_ranges = (uintptr_t)&more,
				     .text_range_count = 1};

	(void)state;
	assert_int_equal(register_elf(registry, &taken), 0);
	assert_int_equal(register_elf(registry, &info), -EEXIST);
	assert_null(code_at(registry, s.text));
	assert_non_null(code_at(registry, s.text + 2 * s.page));
	assert_null(entry_for(registry, info.text_start));
	registry_close(registry);
	sample_close(&s);
}

static void identity_is_published(void **state)
{
	struct registry *registry = open_registry();
	struct sample s = sample_open(1);
	const uint8_t build_id[] = {1, 2, 3};
	struct code_elf_info info = {.text_start = (uintptr_t)s.text,
				     .text_end = text_end(&s),
				     .pathname = (uintptr_t) "/opt/code",
				     .build_id = (uintptr_t)build_id,
				     .build_id_len = sizeof(build_id),
				     .debug_link_pathname = (uintptr_t) "code.debug",
				     .debug_link_crc = 0x1234};
	const struct bobbin_code_identity *identity;
	const struct bobbin_code_entry *entry;

	(void)state;
	assert_int_equal(register_elf(registry, &info), 0);
	entry = entry_for(registry, info.text_start);
	assert_non_null(entry);
	assert_int_equal(entry->kind, BOBBIN_CODE_NAMED);
	identity = (const struct bobbin_code_identity *)(uintptr_t)entry->identity;
	assert_non_null(identity);
	assert_int_equal(identity->size, sizeof(*identity) + 9 + 3 + 10);
	assert_memory_equal(identity->bytes, "/opt/code\1\2\3code.debug", 22);
	assert_int_equal(identity->debug_link_crc, 0x1234);
	assert_int_equal(unregister_elf(registry, &info), 0);
	registry_close(registry);
	sample_close(&s);
}

static void a_jit_table_is_registered_by_its_head(void **state)
{
	static struct code_jit_unwind_table head = {.reserved_len = 24 * 4};
	struct registry *registry = open_registry();
	struct sample s = sample_open(2);
	struct code_jit_info info = {(uintptr_t)s.text, text_end(&s), (uintptr_t)&head};
	const struct code *code;

	(void)state;
	assert_int_equal(
		code_calls_codectl(registry, CODE_REGISTER_JIT, &info, sizeof(info), 0, NULL), 0);
	code = code_at(registry, s.text + 1);
	assert_non_null(code);
	assert_int_equal(code->kind, CODE_JIT);
	assert_int_equal(code->table, info.unwind_head);
	assert_int_equal(code->text_start, info.text_start);
	assert_int_equal(entry_for(registry, info.text_start)->kind, BOBBIN_CODE_JIT);
	/* it is no section */
	assert_int_equal(code_calls_unregister(
				 registry, &(struct sframe_setup){.sframe_start = info.unwind_head},
				 sizeof(struct sframe_setup)),
			 -ENOENT);
	assert_int_equal(
		code_calls_codectl(registry, CODE_UNREGISTER, &info, sizeof(info), 0, NULL), 0);
	assert_null(code_at(registry, s.text));
	registry_close(registry);
	sample_close(&s);
}

static void what_a_walk_drops_is_published_with_its_reason(void **state)
{
	const struct bobbin_error error = {.offset = 40, .reason = BOBBIN_REASON_SFRAME_FRE};
	struct registry *registry = open_registry();
	struct sample s = sample_open(1);
	struct sframe_setup setup = setup_of(&s);
	const struct bobbin_code_entry *entry;

	(void)state;
	assert_int_equal(code_calls_register(registry, &setup, sizeof(setup), NULL), 0);
	entry = entry_for(registry, setup.text_start);
	assert_int_equal(entry->dropped, 0);
	registry_drop(registry, (struct code *)code_at(registry, s.text), &error);
	assert_int_equal(entry->dropped, 40 << 16 | BOBBIN_REASON_SFRAME_FRE);
	registry_drop(registry, (struct code *)code_at(registry, s.text),
		      &(struct bobbin_error){.reason = BOBBIN_REASON_SFRAME_FDE});
	assert_int_equal(entry->dropped, 40 << 16 | BOBBIN_REASON_SFRAME_FRE);
	registry_close(registry);
	sample_close(&s);
}

static unsigned int freed;

static void free_counted(void *section)
{
	freed++;
	free(section);
}

static void own_sections_are_freed_when_they_are_removed(void **state)
{
	struct registry *registry = open_registry();
	struct sample s = sample_open(1);
	struct code_text_range text = {(uintptr_t)s.text, text_end(&s)};
	uint8_t *section = malloc(SAMPLE_ROOM);
	size_t size;

	(void)state;
	assert_non_null(section);
	size = make_section(section, (uintptr_t)section, text.start, s.page, 1);
	freed = 0;
	assert_int_equal(registry_add_section(registry, 77, section, size, &text, 1, free_counted),
			 0);
	assert_int_equal(registry_add_section(registry, 77, section, size, &text, 1, free_counted),
			 -EEXIST);
	assert_int_equal(freed, 0);
	assert_int_equal(registry_remove(registry, 78), -ENOENT);
	assert_int_equal(registry_remove(registry, 77), 0);
	assert_int_equal(freed, 1);
	assert_int_equal(registry_remove(registry, 77), -ENOENT);
	registry_close(registry);
	sample_close(&s);
}

static unsigned int released;

static void count_release(struct code *code)
{
	(void)code;
	released++;
}

static void a_registration_cuts_a_loaded_object(void **state)
{
	struct registry *registry = open_registry();
	struct code_map *map = registry_map(registry);
	struct sample s = sample_open(4);
	struct code object = {.kind = CODE_OBJECT, .release = count_release};
	struct code_elf_info info = {.text_start = (uintptr_t)s.text + s.page,
				     .text_end = (uintptr_t)s.text + 2 * s.page};

	(void)state;
	released = 0;
	registry_lock(registry);
	assert_int_equal(
		code_map_add(map, &(struct code_range){(uintptr_t)s.text, text_end(&s), &object}),
		0);
	registry_unlock(registry);
	assert_int_equal(register_elf(registry, &info), 0);
	assert_ptr_equal(code_at(registry, s.text), &object);
	assert_int_equal(code_at(registry, s.text + s.page)->kind, CODE_NAMED);
	assert_ptr_equal(code_at(registry, s.text + 2 * s.page), &object);
	assert_int_equal(object.ranges, 2);
	assert_int_equal(unregister_elf(registry, &info), 0);
	assert_int_equal(released, 0);

	/* all that is left of it */
	info.text_start = (uintptr_t)s.text;
	info.text_end = text_end(&s);
	assert_int_equal(register_elf(registry, &info), 0);
	code_map_wait(map);
	assert_int_equal(released, 1);
	registry_close(registry);
	assert_int_equal(released, 1);
	sample_close(&s);
}

static void many_registrations_come_and_go(void **state)
{
	enum {
		COUNT = 5000
	};
	struct registry *registry = open_registry();
	struct sample s = sample_open(32);
	struct code_elf_info info = {0};

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		info.text_start = (uintptr_t)s.text + 16 * i;
		info.text_end = info.text_start + 16;
		assert_int_equal(register_elf(registry, &info), 0);
	}
	assert_int_equal(code_count(registry_map(registry)), COUNT);
	for (size_t i = 0; i < COUNT; i += 2) {
		info.text_start = (uintptr_t)s.text + 16 * i;
		info.text_end = info.text_start + 16;
		assert_int_equal(unregister_elf(registry, &info), 0);
	}
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(code_at(registry, s.text + 16 * i + 15) != NULL, i & 1);
	registry_close(registry);
	sample_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_section_is_found_and_published_until_it_is_unregistered),
		cmocka_unit_test(an_empty_section_is_accepted_and_covers_nothing),
		cmocka_unit_test(several_ranges_are_one_registration),
		cmocka_unit_test(the_range_that_is_named_first_need_not_be_the_lowest),
		cmocka_unit_test(of_several_ranges_all_or_none_are_registered),
		cmocka_unit_test(identity_is_published),
		cmocka_unit_test(a_jit_table_is_registered_by_its_head),
		cmocka_unit_test(what_a_walk_drops_is_published_with_its_reason),
		cmocka_unit_test(own_sections_are_freed_when_they_are_removed),
		cmocka_unit_test(a_registration_cuts_a_loaded_object),
		cmocka_unit_test(many_registrations_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
