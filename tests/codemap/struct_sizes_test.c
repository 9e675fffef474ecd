/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Old and new callers: structures of every size, and pointers that lead nowhere. */
#include "code_samples.h"

#include <errno.h>

#include "codemap/registry.h"
#include "codemap/struct_copy.h"

#define BEYOND 64

/* A structure of which a part is needed. */
struct sized {
	const char *name;
	size_t known, needed; /* the structure, and the part that a registration needs */
	int (*call)(struct registry *registry, const void *bytes, size_t size);
	int (*undo)(struct registry *registry, const void *bytes, size_t size);
};

static int call_elf(struct registry *registry, const void *bytes, size_t size)
{
	return code_calls_codectl(registry, CODE_REGISTER_ELF, bytes, size, 0, NULL);
}

static int call_jit(struct registry *registry, const void *bytes, size_t size)
{
	return code_calls_codectl(registry, CODE_REGISTER_JIT, bytes, size, 0, NULL);
}

static int call_unregister(struct registry *registry, const void *bytes, size_t size)
{
	return code_calls_codectl(registry, CODE_UNREGISTER, bytes, size, 0, NULL);
}

static int call_setup(struct registry *registry, const void *bytes, size_t size)
{
	return code_calls_register(registry, bytes, size, NULL);
}

static int call_unregister_setup(struct registry *registry, const void *bytes, size_t size)
{
	struct sframe_setup setup = {0};

	memcpy(&setup.sframe_start, bytes, sizeof(setup.sframe_start));
	memset(&setup.sframe_size, 0, sizeof(setup) - sizeof(setup.sframe_start));
	return code_calls_unregister(registry, &setup, sizeof(setup.sframe_start));
}

static const struct sized elf_sizes = {"code_elf_info", sizeof(struct code_elf_info),
				       offsetof(struct code_elf_info, pathname), call_elf,
				       call_unregister};
static const struct sized jit_sizes = {"code_jit_info", sizeof(struct code_jit_info),
				       sizeof(struct code_jit_info), call_jit, call_unregister};
static const struct sized setup_sizes = {"sframe_setup", sizeof(struct sframe_setup),
					 offsetof(struct sframe_setup, flags), call_setup,
					 call_unregister_setup};

static int call_and_undo(struct registry *registry, const struct sized *s, const void *bytes,
			 size_t size)
{
	int r = s->call(registry, bytes, size);

	if (!r)
		assert_int_equal(s->undo(registry, bytes, size), 0);
	return r;
}

/* As if followed by zeros.  At the end of a page, so that a byte too many is not readable. */
static void check_size(struct registry *registry, const struct sized *s, const void *info,
		       uint8_t *end, size_t size)
{
	uint8_t *at = end - size, whole[sizeof(struct code_elf_info)];
	int r;

	memset(at, 0, size);
	memcpy(at, info, size < s->known ? size : s->known);
	memset(whole, 0, sizeof(whole));
	memcpy(whole, info, size < s->known ? size : s->known);
	r = call_and_undo(registry, s, whole, s->known);
	assert_int_equal(call_and_undo(registry, s, at, size), size ? r : -EINVAL);
	if (size >= s->needed)
		assert_int_equal(r, 0);
	for (size_t i = s->known; i < size; i++) {
		at[i] = 1;
		assert_int_equal(s->call(registry, at, size), -E2BIG);
		at[i] = 0;
	}
	/* the last byte is on no page */
	if (size)
		assert_int_equal(s->call(registry, at + 1, size), -EFAULT);
	assert_int_equal(code_count(registry_map(registry)), 0);
}

static void check_sizes(const struct sized *s, const void *info)
{
	struct registry *registry;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *memory = map_pages(3 * page, PROT_READ | PROT_WRITE);

	assert_int_equal(mprotect(memory + 2 * page, page, PROT_NONE), 0);
	assert_int_equal(registry_open(NULL, &registry), 0);
	for (size_t size = 0; size <= s->known + BEYOND; size++)
		check_size(registry, s, info, memory + 2 * page, size);
	check_size(registry, s, info, memory + 2 * page, STRUCT_COPY_MAX);
	assert_int_equal(s->call(registry, memory, STRUCT_COPY_MAX + 1), -E2BIG);
	assert_int_equal(s->call(registry, memory, SIZE_MAX), -E2BIG);
	assert_int_equal(s->call(registry, NULL, s->known), -EFAULT);
	assert_int_equal(s->call(registry, (void *)-8l, s->known), -EFAULT);
	assert_int_equal(s->call(registry, (void *)(uintptr_t)0xffff800000000000, s->known),
			 -EFAULT);
	registry_close(registry);
	munmap(memory, 3 * page);
}

static void an_elf_info_may_have_any_size(void **state)
{
	struct sample s = sample_open(2);
	struct code_elf_info info = elf_of(&s);

	(void)state;
	/* without a section, the text is enough to be in the map; 32 bytes */
	assert_true(elf_sizes.needed > offsetof(struct code_elf_info, sframe_start));
	info.sframe_start = info.sframe_end = 0;
	check_sizes(&(struct sized){"code_elf_info", sizeof(info),
				    offsetof(struct code_elf_info, sframe_start), call_elf,
				    call_unregister},
		    &info);
	sample_close(&s);
}

/*
 * An address of which no part is an address: a structure that is cut inside it points
 * into no memory, where low addresses are mapped as well (a sanitizer's shadow).
 */
static void *whole_address_page(size_t page)
{
	void *at = (void *)(((uintptr_t)1 << 45) + page);

	assert_ptr_equal(mmap(at, page, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
			 at);
	return at;
}

static void a_jit_info_may_have_any_size(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct code_jit_unwind_table *head = whole_address_page(page);
	struct sample s = sample_open(2);
	struct code_jit_info info = {(uintptr_t)s.text, text_end(&s), (uintptr_t)head};

	(void)state;
	check_sizes(&jit_sizes, &info);
	sample_close(&s);
	munmap(head, page);
}

static void a_setup_may_have_any_size(void **state)
{
	struct sample s = sample_open(2);
	struct sframe_setup setup = setup_of(&s);

	(void)state;
	check_sizes(&setup_sizes, &setup);
	sample_close(&s);
}

/* All or nothing: the whole text, and the whole section or none. */
static bool is_told(const struct code_elf_info *info, size_t size)
{
	struct code_elf_info told = {0};

	memcpy(&told, info, size);
	return told.text_end == info->text_end &&
	       (!told.sframe_start || told.sframe_end == info->sframe_end);
}

static void sections_of_cut_structures_are_not_half_registered(void **state)
{
	struct registry *registry;
	struct sample s = sample_open(2);
	struct code_elf_info info = elf_of(&s);

	(void)state;
	assert_int_equal(registry_open(NULL, &registry), 0);
	for (size_t size = 1; size < elf_sizes.needed; size++) {
		int r = call_elf(registry, &info, size);

		assert_int_equal(!r, is_told(&info, size));
		if (!r)
			assert_int_equal(call_unregister(registry, &info, size), 0);
	}
	assert_int_equal(call_elf(registry, &info, elf_sizes.needed), 0);
	assert_int_equal(call_elf(registry, &info, CODE_ELF_INFO_SIZE_VER0), -EEXIST);
	registry_close(registry);
	sample_close(&s);
}

static void a_refused_structure_leaves_the_copy_alone(void **state)
{
	const uint8_t longer[] = {1, 2, 3, 4, 5};
	uint8_t copy[4] = {9, 9, 9, 9};

	(void)state;
	assert_int_equal(struct_copy(copy, sizeof(copy), longer, 0), -EINVAL);
	assert_int_equal(struct_copy(copy, sizeof(copy), longer, sizeof(longer)), -E2BIG);
	assert_int_equal(struct_copy(copy, sizeof(copy), NULL, 2), -EFAULT);
	assert_memory_equal(copy, "\t\t\t\t", 4);
	assert_int_equal(struct_copy(copy, sizeof(copy), longer, 2), 0);
	assert_memory_equal(copy, "\1\2\0\0", 4);
}

static void strings_end_before_a_page_that_is_not_there(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = map_pages(2 * page, PROT_READ | PROT_WRITE), copy[16];

	(void)state;
	assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
	memset(memory, 'x', page);
	assert_int_equal(string_copy(copy, sizeof(copy), (uintptr_t)memory + page - 4), -EFAULT);
	assert_int_equal(string_copy(copy, 4, (uintptr_t)memory + page - 4), -ENAMETOOLONG);
	memory[page - 1] = 0;
	assert_int_equal(string_copy(copy, sizeof(copy), (uintptr_t)memory + page - 4), 0);
	assert_string_equal(copy, "xxx");
	assert_int_equal(string_copy(copy, 4, (uintptr_t)memory + page - 4), 0);
	munmap(memory, 2 * page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_elf_info_may_have_any_size),
		cmocka_unit_test(a_jit_info_may_have_any_size),
		cmocka_unit_test(a_setup_may_have_any_size),
		cmocka_unit_test(sections_of_cut_structures_are_not_half_registered),
		cmocka_unit_test(a_refused_structure_leaves_the_copy_alone),
		cmocka_unit_test(strings_end_before_a_page_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
