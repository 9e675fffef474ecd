/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far .eh_frame bytes of unknown length are read.
 */
#include "frames/frame_copy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "placed_frames.h"

#define NOTHING BYTES(0)

static struct cfi_section section_of(unsigned int functions)
{
	struct cfi_section s;

	cfi_section_init(&s, bobbin_arch_amd64());
	for (unsigned int i = 0; i < functions; i++)
		put_fde(&s, TEXT + 64 * i, 64, NOTHING);
	return s;
}

static void assert_copied(const void *at, const struct cfi_section *s, uint64_t size, bool cut)
{
	struct frame_copy copy;

	assert_int_equal(frame_copy_init((uintptr_t)at, &copy), 0);
	assert_int_equal(copy.addr, (uintptr_t)at);
	assert_int_equal(copy.size, size);
	assert_memory_equal(copy.bytes, s->data, size);
	assert_int_equal(copy.cut, cut);
	frame_copy_fini(&copy);
}

static void a_section_ends_with_its_terminator(void **state)
{
	struct cfi_section s = section_of(3);
	uint64_t size = s.size;

	put(&s, 0, 4);
	put_fde(&s, TEXT, 64, NOTHING);
	assert_copied(place(&s), &s, size, false);
}

static void a_section_of_many_pages_is_read_whole(void **state)
{
	struct cfi_section s = section_of(190);

	assert_true(s.size > 0x1800);
	assert_copied(place(&s), &s, s.size, false);
}

static void a_section_without_terminator_ends_with_its_memory(void **state)
{
	struct cfi_section s = section_of(3);

	assert_copied(place_at_end(&s), &s, s.size, true);
}

static void an_entry_that_goes_on_in_unreadable_memory_is_left_out(void **state)
{
	struct cfi_section s = section_of(3);
	uint64_t size = s.size;

	for (uint64_t missing = 1; missing < 8; missing++) {
		s = section_of(3);
		/* the last entry has more bytes than there are */
		put(&s, 8, 4);
		put_bytes(&s, (const uint8_t[8]){0}, 8 - missing);
		assert_copied(place_at_end(&s), &s, size, true);
	}
}

static void a_length_is_not_read_beyond_the_memory(void **state)
{
	for (unsigned int bytes = 1; bytes < 4; bytes++) {
		struct cfi_section s = section_of(2);
		uint64_t size = s.size;

		put(&s, 16, bytes);
		assert_copied(place_at_end(&s), &s, size, true);
	}
}

static void what_follows_a_section_without_terminator_is_not_taken_for_entries(void **state)
{
	struct cfi_section s = section_of(2);
	uint64_t size = s.size;

	put(&s, 20, 4);
	put(&s, 7, 4); /* no CIE begins there */
	put_bytes(&s, (const uint8_t[64]){0}, 64);
	assert_copied(place(&s), &s, size, true);

	s = section_of(2);
	put(&s, 0x70000000, 4);
	put_bytes(&s, (const uint8_t[64]){0}, 64);
	assert_copied(place(&s), &s, size, true);
}

static void entries_with_long_lengths_are_entries(void **state)
{
	const struct cfi_cie wide = {.wide = true};
	struct cfi_section s = section_of(0);

	put_fde_of(&s, &wide, put_cie(&s, &wide), TEXT, 64, NOTHING);
	assert_copied(place(&s), &s, s.size, false);
}

static void only_a_short_length_of_zero_is_a_terminator(void **state)
{
	struct cfi_section s = section_of(2);
	uint64_t size = s.size;

	put(&s, 0xffffffff, 4);
	put(&s, 0, 8);
	assert_copied(place(&s), &s, size, true);
}

static void an_empty_section_has_no_data(void **state)
{
	struct cfi_section s = section_of(0);
	struct frame_copy copy;

	assert_int_equal(frame_copy_init((uintptr_t)place(&s), &copy), -ENODATA);
}

static void what_cannot_be_read_is_refused(void **state)
{
	struct frame_copy copy;

	assert_int_equal(frame_copy_init(SECTION_ADDR + PLACE_SIZE - 16, &copy), -EFAULT);
	assert_int_equal(frame_copy_init(0, &copy), -EFAULT);
	assert_int_equal(frame_copy_init(UINT64_MAX - 2, &copy), -EFAULT);
}

/* As LLVM's libunwind takes them: an FDE alone, whose CIE stands anywhere before. */
static void assert_alone(unsigned int between)
{
	struct cfi_section s = section_of(0);
	const struct cfi_cie plain = {0};
	struct bobbin_cfi_fde found;
	struct frame_copy copy;
	struct bobbin_cfi_view view = {.arch = s.arch};
	uint64_t cie = put_cie(&s, &plain), fde, offset = 0;
	uint8_t *bytes;

	for (unsigned int i = 0; i < between; i++)
		put(&s, 0xee, 1);
	fde = put_fde_of(&s, &plain, cie, TEXT, 64, NOTHING);
	put_fde_of(&s, &plain, cie, TEXT + 64, 64, NOTHING);
	bytes = place(&s);
	assert_int_equal(frame_copy_init((uintptr_t)bytes + fde, &copy), 0);
	assert_int_equal(copy.addr, (uintptr_t)bytes + cie);
	view.frame = copy.bytes;
	view.frame_size = copy.size;
	view.frame_addr = copy.addr;
	assert_int_equal(bobbin_cfi_next(&view, &offset, NULL, &found), 1);
	assert_int_equal(found.start, TEXT);
	assert_int_equal(bobbin_cfi_next(&view, &offset, NULL, &found), 0);
	frame_copy_fini(&copy);
}

static void an_fde_is_taken_alone_with_its_cie(void **state)
{
	for (unsigned int between = 0; between < 64; between++)
		assert_alone(between);
	assert_alone(3000);
}

static void an_fde_without_cie_is_refused(void **state)
{
	struct cfi_section s = section_of(1);
	struct frame_copy copy;
	uint8_t *bytes = place(&s);
	uint32_t fde = 4 + bytes[0], far = 0x3000000, back = (uint32_t)-64;

	memcpy(bytes + fde + 4, &far, sizeof(far));
	assert_int_equal(frame_copy_init((uintptr_t)bytes + fde, &copy), -EBADMSG);
	memcpy(bytes + fde + 4, &back, sizeof(back));
	assert_int_equal(frame_copy_init((uintptr_t)bytes + fde, &copy), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_section_ends_with_its_terminator),
		cmocka_unit_test(a_section_of_many_pages_is_read_whole),
		cmocka_unit_test(a_section_without_terminator_ends_with_its_memory),
		cmocka_unit_test(an_entry_that_goes_on_in_unreadable_memory_is_left_out),
		cmocka_unit_test(a_length_is_not_read_beyond_the_memory),
		cmocka_unit_test(
			what_follows_a_section_without_terminator_is_not_taken_for_entries),
		cmocka_unit_test(entries_with_long_lengths_are_entries),
		cmocka_unit_test(only_a_short_length_of_zero_is_a_terminator),
		cmocka_unit_test(an_empty_section_has_no_data),
		cmocka_unit_test(what_cannot_be_read_is_refused),
		cmocka_unit_test(an_fde_is_taken_alone_with_its_cie),
		cmocka_unit_test(an_fde_without_cie_is_refused),
	};

	return cmocka_run_group_tests(tests, place_open, place_close);
}
