/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each argument error of docs/codectl.md, with its errno; nothing stays registered. */
#include "code_samples.h"

#include <errno.h>
#include <limits.h>

#include "base/native_arch.h"
#include "codemap/code_calls.h"
#include "codemap/elf_request.h"
#include "codemap/struct_copy.h"

/* What the cases change before the call. */
struct world {
	struct registry *registry;
	struct sample s;
	struct code_elf_info elf;
	struct code_jit_info jit;
	struct sframe_setup setup;
	struct code_jit_unwind_table *head;
	uint8_t *gap;       /* a page between two that cannot be read */
	char *unterminated; /* PATH_MAX bytes and more */
	uint8_t build_id[64];
	struct code_text_range *ranges;
};

static struct world open_world(void)
{
	struct world w = {.s = sample_open(4)};
	size_t page = w.s.page;

	assert_int_equal(registry_open(NULL, &w.registry), 0);
	w.elf = elf_of(&w.s);
	w.setup = setup_of(&w.s);
	w.head = map_pages(page, PROT_READ | PROT_WRITE);
	w.head->reserved_len = 240;
	w.jit = (struct code_jit_info){w.elf.text_start, w.elf.text_end, (uintptr_t)w.head};
	w.gap = map_pages(3 * page, PROT_READ | PROT_WRITE);
	assert_int_equal(mprotect(w.gap, page, PROT_NONE), 0);
	assert_int_equal(mprotect(w.gap + 2 * page, page, PROT_NONE), 0);
	w.gap += page;
	w.unterminated = malloc(2 * PATH_MAX);
	w.ranges = calloc(ELF_REQUEST_MAX_RANGES + 1, sizeof(*w.ranges));
	assert_non_null(w.unterminated);
	assert_non_null(w.ranges);
	memset(w.unterminated, 'x', 2 * PATH_MAX);
	return w;
}

static void close_world(struct world *w)
{
	registry_close(w->registry);
	munmap(w->head, w->s.page);
	munmap(w->gap - w->s.page, 3 * w->s.page);
	free(w->unterminated);
	free(w->ranges);
	sample_close(&w->s);
}

static int register_elf(struct world *w, struct bobbin_code_result *ret)
{
	return code_calls_codectl(w->registry, CODE_REGISTER_ELF, &w->elf, sizeof(w->elf), 0, ret);
}

static int register_jit(struct world *w, struct bobbin_code_result *ret)
{
	return code_calls_codectl(w->registry, CODE_REGISTER_JIT, &w->jit, sizeof(w->jit), 0, ret);
}

static int register_setup(struct world *w, struct bobbin_code_result *ret)
{
	return code_calls_register(w->registry, &w->setup, sizeof(w->setup), ret);
}

/* An error by the change of one world; @reason: with -EBADMSG. */
struct argument_error {
	const char *what;
	int (*call)(struct world *w, struct bobbin_code_result *ret);
	void (*change)(struct world *w);
	int error;
	enum bobbin_reason reason;
};

/* A section whose only defect is that it is for another machine. */
static void make_foreign(struct world *w)
{
	bool is_arm = native_arch() == bobbin_arch_aarch64();
	struct bobbin_sframe_builder builder;

	assert_int_equal(
		bobbin_sframe_builder_init(is_arm ? bobbin_arch_amd64() : bobbin_arch_aarch64(),
					   w->elf.sframe_start, 3, &builder),
		0);
	assert_int_equal(bobbin_sframe_builder_finish(&builder, w->s.section, SAMPLE_ROOM), 0);
	w->elf.sframe_end = w->elf.sframe_start + bobbin_sframe_builder_size(&builder);
}

#define CHANGE(name, ...) \
	static void name(struct world *w) \
	{ \
		__VA_ARGS__; \
	}

/* text */
CHANGE(elf_no_text, w->elf.text_start = w->elf.text_end = 0)
CHANGE(elf_empty_text, w->elf.text_end = w->elf.text_start)
CHANGE(elf_backward_text, w->elf.text_end = w->elf.text_start - 1)
CHANGE(elf_text_not_executable, w->elf.text_end++)
CHANGE(elf_text_unmapped, munmap(w->s.text + w->s.page, w->s.page))
CHANGE(elf_text_data, w->elf.text_start = (uintptr_t)w->gap;
       w->elf.text_end = w->elf.text_start + 16)
CHANGE(elf_text_upper, w->elf.text_start = 0xffffffffff600000;
       w->elf.text_end = w->elf.text_start + 16)
CHANGE(elf_text_huge, w->elf.text_end = w->elf.text_start + ((uint64_t)1 << 40) + 1)
CHANGE(ranges_without_count, w->elf.text_ranges = (uintptr_t)w->ranges)
CHANGE(count_without_ranges, w->elf.text_range_count = 1)
CHANGE(ranges_unreadable, w->elf.text_ranges = (uintptr_t)w->gap + w->s.page - 8;
       w->elf.text_range_count = 1)
CHANGE(ranges_too_many, w->elf.text_ranges = (uintptr_t)w->ranges;
       w->elf.text_range_count = ELF_REQUEST_MAX_RANGES + 1)
CHANGE(ranges_zero, w->elf.text_ranges = (uintptr_t)w->ranges; w->elf.text_range_count = 1)
CHANGE(ranges_overlap,
       w->ranges[0] = (struct code_text_range){w->elf.text_end - 1, w->elf.text_end};
       w->elf.text_ranges = (uintptr_t)w->ranges; w->elf.text_range_count = 1)
/* tables in memory */
CHANGE(elf_half_section, w->elf.sframe_end = 0)
CHANGE(elf_other_half_section, w->elf.sframe_start = 0)
CHANGE(elf_empty_section, w->elf.sframe_end = w->elf.sframe_start)
CHANGE(elf_backward_section, w->elf.sframe_end = w->elf.sframe_start - 1)
CHANGE(elf_section_unmapped, w->elf.sframe_start = (uintptr_t)w->gap + w->s.page;
       w->elf.sframe_end = w->elf.sframe_start + 100)
CHANGE(elf_section_half_mapped, w->elf.sframe_start = (uintptr_t)w->gap;
       w->elf.sframe_end = w->elf.sframe_start + w->s.page + 1)
CHANGE(elf_section_protected, mprotect(w->s.section, SAMPLE_ROOM, PROT_NONE))
CHANGE(elf_section_upper, w->elf.sframe_start = 0xffffffff80000000;
       w->elf.sframe_end = w->elf.sframe_start + 100)
CHANGE(elf_section_large, w->elf.sframe_end = w->elf.sframe_start + ((uint64_t)256 << 20) + 1)
CHANGE(bad_magic, w->s.section[0] ^= 1)
CHANGE(bad_version, w->s.section[2] = 9)
CHANGE(unknown_abi, w->s.section[4] = 0xee)
CHANGE(elf_text_data_only, w->elf.text_start = (uintptr_t)w->gap;
       w->elf.text_end = w->elf.text_start + 16; w->elf.sframe_start = w->elf.sframe_end = 0)
CHANGE(elf_text_upper_only, w->elf.text_start = 0xffffffffff600000;
       w->elf.text_end = w->elf.text_start + 16; w->elf.sframe_start = w->elf.sframe_end = 0)
CHANGE(foreign_section, make_foreign(w))
CHANGE(section_cut, w->elf.sframe_end--)
CHANGE(byte_after_the_section, w->elf.sframe_end++; w->s.section[w->s.section_size] = 1)
CHANGE(function_outside, w->elf.text_end -= 1)
CHANGE(function_before, w->elf.text_start += 1)
/* identity */
CHANGE(elf_half_image, w->elf.elf_start = (uintptr_t)w->s.text)
CHANGE(elf_other_half_image, w->elf.elf_end = text_end(&w->s))
CHANGE(elf_backward_image, w->elf.elf_start = text_end(&w->s);
       w->elf.elf_end = (uintptr_t)w->s.text)
CHANGE(elf_image_no_elf, w->elf.elf_start = (uintptr_t)w->s.text; w->elf.elf_end = text_end(&w->s))
CHANGE(elf_image_without_text, w->elf.elf_start = (uintptr_t)w->gap;
       w->elf.elf_end = w->elf.elf_start + w->s.page; memcpy(w->gap, "\177ELF", 4))
CHANGE(elf_image_unreadable, w->elf.elf_start = w->s.page; w->elf.elf_end = text_end(&w->s))
CHANGE(path_unreadable, w->elf.pathname = 1)
CHANGE(path_runs_out, w->elf.pathname = (uintptr_t)w->gap + w->s.page - 3;
       memset(w->gap, 'x', w->s.page))
CHANGE(path_unterminated, w->elf.pathname = (uintptr_t)w->unterminated)
CHANGE(link_unterminated, w->elf.debug_link_pathname = (uintptr_t)w->unterminated)
CHANGE(link_unreadable, w->elf.debug_link_pathname = (uintptr_t)w->gap + w->s.page)
CHANGE(crc_without_link, w->elf.debug_link_crc = 1)
CHANGE(build_id_without_length, w->elf.build_id = (uintptr_t)w->build_id)
CHANGE(length_without_build_id, w->elf.build_id_len = 20)
CHANGE(build_id_too_long, w->elf.build_id = (uintptr_t)w->build_id; w->elf.build_id_len = 21)
CHANGE(build_id_absurd, w->elf.build_id = (uintptr_t)w->build_id; w->elf.build_id_len = UINT32_MAX)
CHANGE(build_id_unreadable, w->elf.build_id = (uintptr_t)w->gap + w->s.page - 4;
       w->elf.build_id_len = 20)
/* after the posted fields */
CHANGE(elf_reserved, w->elf.reserved = 1)
CHANGE(unknown_table_flag, w->elf.table_flags = 4)
CHANGE(zstd_without_file, w->elf.table_flags = CODE_TABLE_ZSTD)
CHANGE(fd_without_file, w->elf.table_fd = 3)
CHANGE(offset_without_file, w->elf.table_offset = 3)
CHANGE(size_without_file, w->elf.table_size = 3)
CHANGE(address_without_file, w->elf.table_addr = 3)
CHANGE(file_and_memory, w->elf.table_flags = CODE_TABLE_FILE)
CHANGE(bad_fd, w->elf.table_flags = CODE_TABLE_FILE; w->elf.sframe_start = w->elf.sframe_end = 0;
       w->elf.table_fd = -1; w->elf.table_size = 1)
CHANGE(empty_file_part, w->elf.table_flags = CODE_TABLE_FILE;
       w->elf.sframe_start = w->elf.sframe_end = 0)
/* JIT */
CHANGE(jit_no_text, w->jit.text_start = w->jit.text_end = 0)
CHANGE(jit_backward_text, w->jit.text_end = w->jit.text_start - 1)
CHANGE(jit_text_not_executable, w->jit.text_end++)
CHANGE(jit_text_too_large, w->jit.text_end = w->jit.text_start + ((uint64_t)1 << 32))
CHANGE(jit_no_head, w->jit.unwind_head = 0)
CHANGE(jit_misaligned_head, w->jit.unwind_head += 4)
CHANGE(jit_head_unreadable, w->jit.unwind_head = (uintptr_t)w->gap + w->s.page)
CHANGE(jit_head_runs_out, w->jit.unwind_head = (uintptr_t)w->gap + w->s.page - 16)
CHANGE(jit_head_at_the_end, w->jit.unwind_head = (uint64_t)-8)
CHANGE(jit_reserved_wraps, w->head->reserved_len = (uint64_t)-24)
CHANGE(jit_used_more_than_reserved, w->head->used_len = 264)
CHANGE(jit_used_half_an_entry, w->head->used_len = 25)
/* sframe_register() */
CHANGE(setup_flags, w->setup.flags = 1)
CHANGE(setup_no_text, w->setup.text_start = w->setup.text_size = 0)
CHANGE(setup_empty_text, w->setup.text_size = 0)
CHANGE(setup_text_wraps, w->setup.text_size = -w->setup.text_start + 1)
CHANGE(setup_text_to_the_end, w->setup.text_size = -w->setup.text_start)
CHANGE(setup_text_not_executable, w->setup.text_size++)
CHANGE(setup_no_section, w->setup.sframe_start = 0)
CHANGE(setup_empty_section, w->setup.sframe_size = 0)
CHANGE(setup_section_wraps, w->setup.sframe_size = -w->setup.sframe_start + 1)
CHANGE(setup_section_unmapped, w->setup.sframe_start = w->s.page)
CHANGE(setup_section_cut, w->setup.sframe_size = 10)

/* clang-format off */
static const struct argument_error errors[] = {
#define CASE(call, change, ...) {#change, call, change, __VA_ARGS__}
	CASE(register_elf, elf_no_text, -EINVAL, 0),
	CASE(register_elf, elf_empty_text, -EINVAL, 0),
	CASE(register_elf, elf_backward_text, -EINVAL, 0),
	CASE(register_elf, elf_text_not_executable, -EINVAL, 0),
	CASE(register_elf, elf_text_unmapped, -EINVAL, 0),
	CASE(register_elf, elf_text_data, -EBADMSG, BOBBIN_REASON_SFRAME_TEXT),
	CASE(register_elf, elf_text_upper, -EBADMSG, BOBBIN_REASON_SFRAME_TEXT),
	CASE(register_elf, elf_text_huge, -EINVAL, 0),
	CASE(register_elf, ranges_without_count, -EINVAL, 0),
	CASE(register_elf, count_without_ranges, -EINVAL, 0),
	CASE(register_elf, ranges_unreadable, -EFAULT, 0),
	CASE(register_elf, ranges_too_many, -E2BIG, 0),
	CASE(register_elf, ranges_zero, -EINVAL, 0),
	CASE(register_elf, ranges_overlap, -EINVAL, 0),
	CASE(register_elf, elf_half_section, -EINVAL, 0),
	CASE(register_elf, elf_other_half_section, -EINVAL, 0),
	CASE(register_elf, elf_empty_section, -EINVAL, 0),
	CASE(register_elf, elf_backward_section, -EINVAL, 0),
	CASE(register_elf, elf_section_unmapped, -EFAULT, 0),
	CASE(register_elf, elf_section_half_mapped, -EFAULT, 0),
	CASE(register_elf, elf_section_protected, -EFAULT, 0),
	CASE(register_elf, elf_section_upper, -EFAULT, 0),
	CASE(register_elf, elf_section_large, -EFBIG, 0),
	CASE(register_elf, bad_magic, -EBADMSG, BOBBIN_REASON_SFRAME_MAGIC),
	CASE(register_elf, bad_version, -EBADMSG, BOBBIN_REASON_SFRAME_VERSION),
	CASE(register_elf, unknown_abi, -EBADMSG, BOBBIN_REASON_SFRAME_ABI),
	CASE(register_elf, elf_text_data_only, -EINVAL, 0),
	CASE(register_elf, elf_text_upper_only, -EINVAL, 0),
	CASE(register_elf, foreign_section, -EBADMSG, BOBBIN_REASON_ELF_MACHINE),
	CASE(register_elf, section_cut, -EBADMSG, BOBBIN_REASON_SFRAME_HEADER),
	CASE(register_elf, byte_after_the_section, -EBADMSG, BOBBIN_REASON_SFRAME_TRAILING),
	CASE(register_elf, function_outside, -EBADMSG, BOBBIN_REASON_SFRAME_TEXT),
	CASE(register_elf, function_before, -EBADMSG, BOBBIN_REASON_SFRAME_TEXT),
	CASE(register_elf, elf_half_image, -EINVAL, 0),
	CASE(register_elf, elf_other_half_image, -EINVAL, 0),
	CASE(register_elf, elf_backward_image, -EINVAL, 0),
	CASE(register_elf, elf_image_no_elf, -EINVAL, 0),
	CASE(register_elf, elf_image_without_text, -EINVAL, 0),
	CASE(register_elf, elf_image_unreadable, -EFAULT, 0),
	CASE(register_elf, path_unreadable, -EFAULT, 0),
	CASE(register_elf, path_runs_out, -EFAULT, 0),
	CASE(register_elf, path_unterminated, -ENAMETOOLONG, 0),
	CASE(register_elf, link_unterminated, -ENAMETOOLONG, 0),
	CASE(register_elf, link_unreadable, -EFAULT, 0),
	CASE(register_elf, crc_without_link, -EINVAL, 0),
	CASE(register_elf, build_id_without_length, -EINVAL, 0),
	CASE(register_elf, length_without_build_id, -EINVAL, 0),
	CASE(register_elf, build_id_too_long, -EINVAL, 0),
	CASE(register_elf, build_id_absurd, -EINVAL, 0),
	CASE(register_elf, build_id_unreadable, -EFAULT, 0),
	CASE(register_elf, elf_reserved, -EINVAL, 0),
	CASE(register_elf, unknown_table_flag, -EINVAL, 0),
	CASE(register_elf, zstd_without_file, -EINVAL, 0),
	CASE(register_elf, fd_without_file, -EINVAL, 0),
	CASE(register_elf, offset_without_file, -EINVAL, 0),
	CASE(register_elf, size_without_file, -EINVAL, 0),
	CASE(register_elf, address_without_file, -EINVAL, 0),
	CASE(register_elf, file_and_memory, -EINVAL, 0),
	CASE(register_elf, bad_fd, -EBADF, 0),
	CASE(register_elf, empty_file_part, -EINVAL, 0),
	CASE(register_jit, jit_no_text, -EINVAL, 0),
	CASE(register_jit, jit_backward_text, -EINVAL, 0),
	CASE(register_jit, jit_text_not_executable, -EINVAL, 0),
	CASE(register_jit, jit_text_too_large, -EINVAL, 0),
	CASE(register_jit, jit_no_head, -EINVAL, 0),
	CASE(register_jit, jit_misaligned_head, -EINVAL, 0),
	CASE(register_jit, jit_head_unreadable, -EFAULT, 0),
	CASE(register_jit, jit_head_runs_out, -EFAULT, 0),
	CASE(register_jit, jit_head_at_the_end, -EFAULT, 0),
	CASE(register_jit, jit_reserved_wraps, -EBADMSG, BOBBIN_REASON_JIT_TABLE),
	CASE(register_jit, jit_used_more_than_reserved, -EBADMSG, BOBBIN_REASON_JIT_TABLE),
	CASE(register_jit, jit_used_half_an_entry, -EBADMSG, BOBBIN_REASON_JIT_TABLE),
	CASE(register_setup, setup_flags, -EINVAL, 0),
	CASE(register_setup, setup_no_text, -EINVAL, 0),
	CASE(register_setup, setup_empty_text, -EINVAL, 0),
	CASE(register_setup, setup_text_wraps, -EINVAL, 0),
	CASE(register_setup, setup_text_to_the_end, -EINVAL, 0),
	CASE(register_setup, setup_text_not_executable, -EINVAL, 0),
	CASE(register_setup, setup_no_section, -EINVAL, 0),
	CASE(register_setup, setup_empty_section, -EINVAL, 0),
	CASE(register_setup, setup_section_wraps, -EINVAL, 0),
	CASE(register_setup, setup_section_unmapped, -EFAULT, 0),
	CASE(register_setup, setup_section_cut, -EBADMSG, BOBBIN_REASON_TRUNCATED),
#undef CASE
};
/* clang-format on */

static void every_wrong_argument_has_its_errno(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct world w = open_world();
		struct bobbin_code_result result = {.place = BOBBIN_CODE_IN_KERNEL};
		int r;

		errors[i].change(&w);
		r = errors[i].call(&w, &result);
		if (r != errors[i].error || result.error.reason != errors[i].reason)
			print_error("%s: %d, %s\n", errors[i].what, r,
				    bobbin_reason_name(result.error.reason));
		assert_int_equal(r, errors[i].error);
		assert_int_equal(result.error.reason, errors[i].reason);
		assert_int_equal(result.place, BOBBIN_CODE_IN_KERNEL);
		assert_int_equal(code_count(registry_map(w.registry)), 0);
		close_world(&w);
	}
}

static void the_unchanged_arguments_are_accepted(void **state)
{
	struct world w = open_world();

	(void)state;
	w.elf.build_id = (uintptr_t)w.build_id;
	w.elf.build_id_len = 20;
	w.elf.pathname = (uintptr_t) "/a";
	w.elf.debug_link_pathname = (uintptr_t) "b";
	w.elf.debug_link_crc = 7;
	w.unterminated[PATH_MAX - 1] = 0;
	w.elf.pathname = (uintptr_t)w.unterminated;
	assert_int_equal(register_elf(&w, NULL), 0);
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &w.elf, sizeof(w.elf), 0, NULL), 0);
	assert_int_equal(register_jit(&w, NULL), 0);
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &w.jit, sizeof(w.jit), 0, NULL), 0);
	assert_int_equal(register_setup(&w, NULL), 0);
	close_world(&w);
}

static void unknown_options_and_flags_are_refused(void **state)
{
	struct world w = open_world();
	struct registry *r = w.registry;

	(void)state;
	assert_int_equal(code_calls_codectl(r, 3, &w.elf, sizeof(w.elf), 0, NULL), -EINVAL);
	assert_int_equal(code_calls_codectl(r, -1u, &w.elf, sizeof(w.elf), 0, NULL), -EINVAL);
	for (unsigned int bit = 0; bit < 32; bit++)
		for (unsigned int option = 0; option < 4; option++)
			assert_int_equal(code_calls_codectl(r, option, &w.elf, sizeof(w.elf),
							    1u << bit, NULL),
					 -EINVAL);
	assert_int_equal(code_calls_prctl(r, 0, 0, 0, 0, 0), -EINVAL);
	close_world(&w);
}

static void what_is_registered_cannot_be_registered_again(void **state)
{
	struct world w = open_world();
	struct sample other = sample_open(1);
	struct sframe_setup setup = setup_of(&other);

	(void)state;
	assert_int_equal(register_setup(&w, NULL), 0);
	assert_int_equal(register_setup(&w, NULL), -EEXIST);
	assert_int_equal(register_elf(&w, NULL), -EEXIST);
	assert_int_equal(register_jit(&w, NULL), -EEXIST);
	/* the same section for other text */
	memset(w.s.section, 0, SAMPLE_ROOM);
	setup.sframe_start = w.setup.sframe_start;
	assert_int_equal(code_calls_register(w.registry, &setup, sizeof(setup), NULL), -EEXIST);
	assert_int_equal(code_count(registry_map(w.registry)), 1);
	sample_close(&other);
	close_world(&w);
}

static int unregister_setup(struct world *w, uint64_t start, uint64_t size, uint64_t text,
			    uint64_t text_size, uint64_t flags)
{
	const struct sframe_setup setup = {start, size, text, text_size, flags};

	return code_calls_unregister(w->registry, &setup, sizeof(setup));
}

static void unregistering_takes_the_start_of_the_section_and_nothing_else(void **state)
{
	struct world w = open_world();
	uint64_t start = w.setup.sframe_start;

	(void)state;
	assert_int_equal(unregister_setup(&w, start, 0, 0, 0, 0), -ENOENT);
	assert_int_equal(register_elf(&w, NULL), 0);
	assert_int_equal(unregister_setup(&w, 0, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(unregister_setup(&w, start, 1, 0, 0, 0), -EINVAL);
	assert_int_equal(unregister_setup(&w, start, 0, 1, 0, 0), -EINVAL);
	assert_int_equal(unregister_setup(&w, start, 0, 0, 1, 0), -EINVAL);
	assert_int_equal(unregister_setup(&w, start, 0, 0, 0, 1), -EINVAL);
	assert_int_equal(unregister_setup(&w, start + 1, 0, 0, 0, 0), -ENOENT);
	assert_int_equal(unregister_setup(&w, start, 0, 0, 0, 0), 0);
	close_world(&w);
}

static void codectl_unregisters_what_is_told_as_it_was(void **state)
{
	struct world w = open_world();
	struct code_elf_info other = w.elf;

	(void)state;
	assert_int_equal(register_setup(&w, NULL), 0);
	other.text_end--;
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &other, sizeof(other), 0, NULL),
		-ENOENT);
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &w.jit, sizeof(w.jit), 0, NULL),
		-ENOENT);
	memset(&other, 0, sizeof(other));
	assert_int_equal(
		code_calls_codectl(w.registry, CODE_UNREGISTER, &other, sizeof(other), 0, NULL),
		-EINVAL);
	assert_int_equal(code_calls_codectl(w.registry, CODE_UNREGISTER, NULL, 24, 0, NULL),
			 -EFAULT);
	/* registered by one call, unregistered by the other */
	assert_int_equal(code_calls_codectl(w.registry, CODE_UNREGISTER, &w.elf,
					    offsetof(struct code_elf_info, pathname), 0, NULL),
			 0);
	close_world(&w);
}

static void the_prctl_pair_leads_to_the_same_place(void **state)
{
	struct world w = open_world();
	unsigned long start = w.elf.sframe_start, end = w.elf.sframe_end;
	unsigned long text = w.elf.text_start, after = w.elf.text_end;
	struct registry *r = w.registry;

	(void)state;
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_ADD_SFRAME, start, start, text, after),
			 -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_ADD_SFRAME, start, start - 1, text, after),
			 -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_ADD_SFRAME, start, end, text, text),
			 -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_ADD_SFRAME, start, end, text, after), 0);
	assert_int_equal(register_setup(&w, NULL), -EEXIST);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 1, 0, 0), -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 0, 1, 0), -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 0, 0, 1), -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, 0, 0, 0, 0), -EINVAL);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 0, 0, 0), 0);
	assert_int_equal(code_calls_prctl(r, BOBBIN_PR_REMOVE_SFRAME, start, 0, 0, 0), -ENOENT);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_wrong_argument_has_its_errno),
		cmocka_unit_test(the_unchanged_arguments_are_accepted),
		cmocka_unit_test(unknown_options_and_flags_are_refused),
		cmocka_unit_test(what_is_registered_cannot_be_registered_again),
		cmocka_unit_test(unregistering_takes_the_start_of_the_section_and_nothing_else),
		cmocka_unit_test(codectl_unregisters_what_is_told_as_it_was),
		cmocka_unit_test(the_prctl_pair_leads_to_the_same_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
