/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * argument_errors.h - each argument error of docs/registration.md, with its errno.
 *
 * For whoever has the calls: the library, and a kernel.  struct arguments is what the calls take;
 * each case changes it, and is refused.
 */
#ifndef TEST_ARGUMENT_ERRORS_H
#define TEST_ARGUMENT_ERRORS_H

#include <bobbin/reason.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sample_code.h"

/* as docs/registration.md has it */
#define CODE_MAX_RANGES 1024

/* What the cases change before the call: all is right at first. */
struct arguments {
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

static inline struct arguments arguments_open(void)
{
	struct arguments w = {.s = sample_open(4)};
	size_t page = w.s.page;

	w.elf = elf_of(&w.s);
	w.setup = setup_of(&w.s);
	w.head = map_pages(page, PROT_READ | PROT_WRITE);
	w.head->reserved_len = 240;
	w.jit = (struct code_jit_info){w.elf.text_start, w.elf.text_end, (uintptr_t)w.head};
	w.gap = map_pages(3 * page, PROT_READ | PROT_WRITE);
	promise(!mprotect(w.gap, page, PROT_NONE));
	promise(!mprotect(w.gap + 2 * page, page, PROT_NONE));
	w.gap += page;
	w.unterminated = malloc(2 * PATH_MAX);
	w.ranges = calloc(CODE_MAX_RANGES + 1, sizeof(*w.ranges));
	promise(w.unterminated && w.ranges);
	memset(w.unterminated, 'x', 2 * PATH_MAX);
	return w;
}

static inline void arguments_close(struct arguments *w)
{
	munmap(w->head, w->s.page);
	munmap(w->gap - w->s.page, 3 * w->s.page);
	free(w->unterminated);
	free(w->ranges);
	sample_close(&w->s);
}

enum argument_call {
	REGISTER_ELF,
	REGISTER_JIT,
	REGISTER_SETUP
};

/* An error by one change; @reason: with -EBADMSG, where the caller is told. */
struct argument_error {
	const char *what;
	enum argument_call call;
	void (*change)(struct arguments *w);
	int error;
	enum bobbin_reason reason;
};

/* A section whose only defect is that it is for another machine. */
static inline void make_foreign(struct arguments *w)
{
	bool is_arm = native_arch() == bobbin_arch_aarch64();
	struct bobbin_sframe_builder builder;

	promise(!bobbin_sframe_builder_init(is_arm ? bobbin_arch_amd64() : bobbin_arch_aarch64(),
					    w->elf.sframe_start, 3, &builder));
	promise(!bobbin_sframe_builder_finish(&builder, w->s.section, SAMPLE_ROOM));
	w->elf.sframe_end = w->elf.sframe_start + bobbin_sframe_builder_size(&builder);
}

#define CHANGE(name, ...) \
	static void name(struct arguments *w) \
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
       w->elf.text_range_count = CODE_MAX_RANGES + 1)
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
CHANGE(unknown_table_flag, w->elf.table_flags = 8)
CHANGE(zstd_without_file, w->elf.table_flags = CODE_TABLE_ZSTD)
CHANGE(compiled_without_file, w->elf.table_flags = CODE_TABLE_COMPILED)
CHANGE(compiled_and_memory, w->elf.table_flags = CODE_TABLE_FILE | CODE_TABLE_COMPILED)
CHANGE(compiled_bad_fd, w->elf.table_flags = CODE_TABLE_FILE | CODE_TABLE_COMPILED;
       w->elf.sframe_start = w->elf.sframe_end = 0; w->elf.table_fd = -1; w->elf.table_size = 1)
CHANGE(compiled_empty_part, w->elf.table_flags = CODE_TABLE_FILE | CODE_TABLE_COMPILED;
       w->elf.sframe_start = w->elf.sframe_end = 0)
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
static const struct argument_error argument_errors[] = {
#define CASE(call, change, ...) {#change, call, change, __VA_ARGS__}
	CASE(REGISTER_ELF, elf_no_text, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_empty_text, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_backward_text, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_text_not_executable, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_text_unmapped, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_text_data, -EBADMSG, BOBBIN_REASON_SFRAME_TEXT),
	CASE(REGISTER_ELF, elf_text_upper, -EBADMSG, BOBBIN_REASON_SFRAME_TEXT),
	CASE(REGISTER_ELF, elf_text_huge, -EINVAL, 0),
	CASE(REGISTER_ELF, ranges_without_count, -EINVAL, 0),
	CASE(REGISTER_ELF, count_without_ranges, -EINVAL, 0),
	CASE(REGISTER_ELF, ranges_unreadable, -EFAULT, 0),
	CASE(REGISTER_ELF, ranges_too_many, -E2BIG, 0),
	CASE(REGISTER_ELF, ranges_zero, -EINVAL, 0),
	CASE(REGISTER_ELF, ranges_overlap, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_half_section, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_other_half_section, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_empty_section, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_backward_section, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_section_unmapped, -EFAULT, 0),
	CASE(REGISTER_ELF, elf_section_half_mapped, -EFAULT, 0),
	CASE(REGISTER_ELF, elf_section_protected, -EFAULT, 0),
	CASE(REGISTER_ELF, elf_section_upper, -EFAULT, 0),
	CASE(REGISTER_ELF, elf_section_large, -EFBIG, 0),
	CASE(REGISTER_ELF, bad_magic, -EBADMSG, BOBBIN_REASON_SFRAME_MAGIC),
	CASE(REGISTER_ELF, bad_version, -EBADMSG, BOBBIN_REASON_SFRAME_VERSION),
	CASE(REGISTER_ELF, unknown_abi, -EBADMSG, BOBBIN_REASON_SFRAME_ABI),
	CASE(REGISTER_ELF, elf_text_data_only, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_text_upper_only, -EINVAL, 0),
	CASE(REGISTER_ELF, foreign_section, -EBADMSG, BOBBIN_REASON_ELF_MACHINE),
	CASE(REGISTER_ELF, section_cut, -EBADMSG, BOBBIN_REASON_SFRAME_HEADER),
	CASE(REGISTER_ELF, byte_after_the_section, -EBADMSG, BOBBIN_REASON_SFRAME_TRAILING),
	CASE(REGISTER_ELF, function_outside, -EBADMSG, BOBBIN_REASON_SFRAME_TEXT),
	CASE(REGISTER_ELF, function_before, -EBADMSG, BOBBIN_REASON_SFRAME_TEXT),
	CASE(REGISTER_ELF, elf_half_image, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_other_half_image, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_backward_image, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_image_no_elf, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_image_without_text, -EINVAL, 0),
	CASE(REGISTER_ELF, elf_image_unreadable, -EFAULT, 0),
	CASE(REGISTER_ELF, path_unreadable, -EFAULT, 0),
	CASE(REGISTER_ELF, path_runs_out, -EFAULT, 0),
	CASE(REGISTER_ELF, path_unterminated, -ENAMETOOLONG, 0),
	CASE(REGISTER_ELF, link_unterminated, -ENAMETOOLONG, 0),
	CASE(REGISTER_ELF, link_unreadable, -EFAULT, 0),
	CASE(REGISTER_ELF, crc_without_link, -EINVAL, 0),
	CASE(REGISTER_ELF, build_id_without_length, -EINVAL, 0),
	CASE(REGISTER_ELF, length_without_build_id, -EINVAL, 0),
	CASE(REGISTER_ELF, build_id_too_long, -EINVAL, 0),
	CASE(REGISTER_ELF, build_id_absurd, -EINVAL, 0),
	CASE(REGISTER_ELF, build_id_unreadable, -EFAULT, 0),
	CASE(REGISTER_ELF, elf_reserved, -EINVAL, 0),
	CASE(REGISTER_ELF, unknown_table_flag, -EINVAL, 0),
	CASE(REGISTER_ELF, zstd_without_file, -EINVAL, 0),
	CASE(REGISTER_ELF, compiled_without_file, -EINVAL, 0),
	CASE(REGISTER_ELF, compiled_and_memory, -EINVAL, 0),
	CASE(REGISTER_ELF, compiled_bad_fd, -EBADF, 0),
	CASE(REGISTER_ELF, compiled_empty_part, -EINVAL, 0),
	CASE(REGISTER_ELF, fd_without_file, -EINVAL, 0),
	CASE(REGISTER_ELF, offset_without_file, -EINVAL, 0),
	CASE(REGISTER_ELF, size_without_file, -EINVAL, 0),
	CASE(REGISTER_ELF, address_without_file, -EINVAL, 0),
	CASE(REGISTER_ELF, file_and_memory, -EINVAL, 0),
	CASE(REGISTER_ELF, bad_fd, -EBADF, 0),
	CASE(REGISTER_ELF, empty_file_part, -EINVAL, 0),
	CASE(REGISTER_JIT, jit_no_text, -EINVAL, 0),
	CASE(REGISTER_JIT, jit_backward_text, -EINVAL, 0),
	CASE(REGISTER_JIT, jit_text_not_executable, -EINVAL, 0),
	CASE(REGISTER_JIT, jit_text_too_large, -EINVAL, 0),
	CASE(REGISTER_JIT, jit_no_head, -EINVAL, 0),
	CASE(REGISTER_JIT, jit_misaligned_head, -EINVAL, 0),
	CASE(REGISTER_JIT, jit_head_unreadable, -EFAULT, 0),
	CASE(REGISTER_JIT, jit_head_runs_out, -EFAULT, 0),
	CASE(REGISTER_JIT, jit_head_at_the_end, -EFAULT, 0),
	CASE(REGISTER_JIT, jit_reserved_wraps, -EBADMSG, BOBBIN_REASON_JIT_TABLE),
	CASE(REGISTER_JIT, jit_used_more_than_reserved, -EBADMSG, BOBBIN_REASON_JIT_TABLE),
	CASE(REGISTER_JIT, jit_used_half_an_entry, -EBADMSG, BOBBIN_REASON_JIT_TABLE),
	CASE(REGISTER_SETUP, setup_flags, -EINVAL, 0),
	CASE(REGISTER_SETUP, setup_no_text, -EINVAL, 0),
	CASE(REGISTER_SETUP, setup_empty_text, -EINVAL, 0),
	CASE(REGISTER_SETUP, setup_text_wraps, -EINVAL, 0),
	CASE(REGISTER_SETUP, setup_text_to_the_end, -EINVAL, 0),
	CASE(REGISTER_SETUP, setup_text_not_executable, -EINVAL, 0),
	CASE(REGISTER_SETUP, setup_no_section, -EINVAL, 0),
	CASE(REGISTER_SETUP, setup_empty_section, -EINVAL, 0),
	CASE(REGISTER_SETUP, setup_section_wraps, -EINVAL, 0),
	CASE(REGISTER_SETUP, setup_section_unmapped, -EFAULT, 0),
	CASE(REGISTER_SETUP, setup_section_cut, -EBADMSG, BOBBIN_REASON_TRUNCATED),
#undef CASE
};
/* clang-format on */

#endif
