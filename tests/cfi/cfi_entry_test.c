/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CIEs and FDEs: which are read, which are refused, and why.
 */
#include <dwarf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cfi_section.h"

#define AMD64 bobbin_arch_amd64()
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct cfi_section section_of(const struct bobbin_arch *arch)
{
	struct cfi_section s;

	cfi_section_init(&s, arch);
	return s;
}

/* Walk over all entries.  Return: how many FDEs; the starts of the first 8 in @starts. */
static unsigned int walk(const struct cfi_section *s, uint64_t starts[8], unsigned int *refused)
{
	struct bobbin_cfi_view view = cfi_section_view(s);
	struct bobbin_cfi_fde fde;
	unsigned int n = 0;
	uint64_t offset = 0, before = 0;
	int r;

	*refused = 0;
	while ((r = bobbin_cfi_next(&view, &offset, NULL, &fde)) != 0) {
		assert_true(offset > before && offset <= s->size);
		before = offset;
		if (r < 0) {
			assert_int_equal(r, -EBADMSG);
			(*refused)++;
			continue;
		}
		if (n < 8)
			starts[n] = fde.start;
		n++;
	}
	assert_true(offset == s->size);
	return n;
}

static void assert_walks(const struct cfi_section *s, unsigned int fdes, unsigned int refused)
{
	uint64_t starts[8];
	unsigned int got;

	assert_int_equal(walk(s, starts, &got), fdes);
	assert_int_equal(got, refused);
}

/* The FDE at @offset is refused, and the result is unchanged. */
static void assert_refused(const struct cfi_section *s, uint64_t offset, enum bobbin_reason reason)
{
	struct bobbin_cfi_view view = cfi_section_view(s);
	struct bobbin_error err = {UINT64_MAX, BOBBIN_REASON_NONE};
	struct bobbin_cfi_fde fde, before;

	memset(&fde, 0xa5, sizeof(fde));
	memcpy(&before, &fde, sizeof(fde));
	assert_int_equal(bobbin_cfi_fde(&view, offset, &err, &fde), -EBADMSG);
	assert_memory_equal(&fde, &before, sizeof(fde));
	assert_int_equal(err.reason, reason);
	assert_true(err.offset <= s->size);
	assert_int_equal(bobbin_cfi_fde(&view, offset, NULL, &fde), -EBADMSG);
}

/* An FDE of this CIE is refused. */
static void assert_cie_refused(const struct cfi_cie *cie, enum bobbin_reason reason)
{
	struct cfi_section s = section_of(AMD64);
	uint64_t at = put_cie(&s, cie);

	at = put_fde_of(&s, cie, at, TEXT, 16, NO_BYTES);
	assert_refused(&s, at, reason);
	put_fde(&s, TEXT + 16, 16, NO_BYTES);
	assert_walks(&s, 1, 1);
}

/* An FDE of this CIE has the addresses that it was given. */
static void assert_cie_accepted(const struct cfi_cie *cie)
{
	struct cfi_section s = section_of(AMD64);
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	uint64_t cie_at = put_cie(&s, cie), at;

	at = put_fde_of(&s, cie, cie_at, TEXT, 0x123, BYTES(DW_CFA_nop));
	view = cfi_section_view(&s);
	assert_int_equal(bobbin_cfi_fde(&view, at, NULL, &fde), 0);
	assert_true(fde.start == TEXT && fde.end == TEXT + 0x123);
	assert_true(fde.offset == at && fde.cie == cie_at && fde.next == s.size);
	assert_true(fde.insn_end - fde.insn == 1 && fde.data_align == -8);
	assert_true(fde.code_align == 1 && fde.ra_column == 16);
	assert_walks(&s, 1, 0);
}

static void an_fde_has_its_addresses_and_its_cie(void **state)
{
	assert_cie_accepted(&(struct cfi_cie){0});
	assert_cie_accepted(&(struct cfi_cie){.version = 3});
	assert_cie_accepted(&(struct cfi_cie){.version = 4, .address_size = 8});
}

static void every_pointer_encoding_is_read(void **state)
{
	static const uint8_t formats[] = {DW_EH_PE_absptr, DW_EH_PE_udata8, DW_EH_PE_sdata8,
					  DW_EH_PE_udata4, DW_EH_PE_sdata4, DW_EH_PE_uleb128,
					  DW_EH_PE_sleb128};

	for (size_t i = 0; i < COUNT(formats); i++)
		assert_cie_accepted(
			&(struct cfi_cie){.augmentation = "zR", .encoding = formats[i]});
	/* the code lies before the section: its distance is negative */
	for (size_t i = 0; i < COUNT(formats); i++)
		if (formats[i] != DW_EH_PE_udata4)
			assert_cie_accepted(&(struct cfi_cie){
				.augmentation = "zR", .encoding = DW_EH_PE_pcrel | formats[i]});
}

static void two_byte_addresses_are_read(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_udata2};
	struct cfi_section s = section_of(AMD64);
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	uint64_t at = put_cie(&s, &cie);

	at = put_fde_of(&s, &cie, at, 0xfff0, 8, NO_BYTES);
	view = cfi_section_view(&s);
	assert_int_equal(bobbin_cfi_fde(&view, at, NULL, &fde), 0);
	assert_true(fde.start == 0xfff0 && fde.end == 0xfff8);
}

static void addresses_that_need_a_process_are_refused(void **state)
{
	static const uint8_t encodings[] = {
		DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_EH_PE_textrel | DW_EH_PE_udata4,
		DW_EH_PE_datarel | DW_EH_PE_sdata4,
		DW_EH_PE_funcrel | DW_EH_PE_udata4,
		DW_EH_PE_aligned,
		DW_EH_PE_omit,
		0x05,
		0x0f,
		DW_EH_PE_pcrel | 0x0d,
	};

	for (size_t i = 0; i < COUNT(encodings); i++)
		assert_cie_refused(
			&(struct cfi_cie){.augmentation = "zR", .encoding = encodings[i]},
			BOBBIN_REASON_CFI_ENCODING);
}

static void known_augmentations_are_read(void **state)
{
	/* personality, 4 bytes pc-relative and indirect; LSDA encoding */
	static const uint8_t data[] = {0x9b, 1, 2, 3, 4, 0x1b, DW_EH_PE_udata8};
	static const uint8_t no_personality[] = {DW_EH_PE_omit, DW_EH_PE_omit, DW_EH_PE_udata8};
	/* a letter's data may be followed by more than we read */
	static const uint8_t longer[] = {DW_EH_PE_udata8, 9, 9, 9};

	assert_cie_accepted(&(struct cfi_cie){.augmentation = "zPLR",
					      .augmentation_data = data,
					      .augmentation_size = sizeof(data),
					      .encoding = DW_EH_PE_udata8});
	assert_cie_accepted(&(struct cfi_cie){.augmentation = "zPLR",
					      .augmentation_data = no_personality,
					      .augmentation_size = sizeof(no_personality),
					      .encoding = DW_EH_PE_udata8});
	assert_cie_accepted(&(struct cfi_cie){.augmentation = "zRG",
					      .augmentation_data = longer,
					      .augmentation_size = sizeof(longer),
					      .encoding = DW_EH_PE_udata8});
	assert_cie_accepted(&(struct cfi_cie){.augmentation = "", .encoding = DW_EH_PE_absptr});
}

/* Then the addresses of functions are known, and the size of the rest. */
static void unknown_letters_after_the_encoding_are_passed_over(void **state)
{
	static const uint8_t data[] = {DW_EH_PE_udata8, 7, 8, 9};

	assert_cie_accepted(&(struct cfi_cie){.augmentation = "zRx",
					      .augmentation_data = data,
					      .augmentation_size = 1,
					      .encoding = DW_EH_PE_udata8});
	assert_cie_accepted(&(struct cfi_cie){.augmentation = "zRSxLP",
					      .augmentation_data = data,
					      .augmentation_size = sizeof(data),
					      .encoding = DW_EH_PE_udata8});
}

static void the_letters_of_signals_and_keys_are_kept(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zRSB", .encoding = DW_EH_PE_udata8};
	struct cfi_section s = section_of(AMD64);
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	uint64_t at = put_cie(&s, &cie), plain;

	at = put_fde_of(&s, &cie, at, TEXT, 16, NO_BYTES);
	plain = put_fde(&s, TEXT, 16, NO_BYTES);
	view = cfi_section_view(&s);
	assert_int_equal(bobbin_cfi_fde(&view, at, NULL, &fde), 0);
	assert_true(fde.signal && fde.key_b);
	assert_int_equal(bobbin_cfi_fde(&view, plain, NULL, &fde), 0);
	assert_false(fde.signal || fde.key_b);
}

static void unknown_augmentations_are_refused(void **state)
{
	static const char *const unknown[] = {
		"eh", "R", "S", "zxR", "zx", "Rz", "armcc+", "zSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS"};

	for (size_t i = 0; i < COUNT(unknown); i++)
		assert_cie_refused(&(struct cfi_cie){.augmentation = unknown[i]},
				   BOBBIN_REASON_CFI_AUGMENTATION);
}

static void augmentation_data_that_is_cut_is_refused(void **state)
{
	static const uint8_t data[] = {DW_EH_PE_udata8};

	/* the personality's pointer is missing; its encoding is unknown */
	assert_cie_refused(&(struct cfi_cie){.augmentation = "zRP",
					     .augmentation_data = data,
					     .augmentation_size = sizeof(data)},
			   BOBBIN_REASON_CFI_LENGTH);
	assert_cie_refused(&(struct cfi_cie){.augmentation = "zP",
					     .augmentation_data = (const uint8_t[]){0x0f},
					     .augmentation_size = 1},
			   BOBBIN_REASON_CFI_ENCODING);
}

static void an_augmentation_size_beyond_the_cie_is_refused(void **state)
{
	struct cfi_section s = section_of(AMD64);
	uint64_t at = put_fde(&s, TEXT, 16, NO_BYTES);

	/* length 4, id 4, version 1, "zR" 3, alignments 2, column 1 */
	assert_int_equal(s.data[15], 1);
	s.data[15] = 0x7f;
	assert_refused(&s, at, BOBBIN_REASON_CFI_LENGTH);
}

static void a_negative_range_is_refused(void **state)
{
	struct cfi_section s = section_of(AMD64);
	uint64_t at = put_fde(&s, TEXT, -(uint64_t)16, NO_BYTES);

	assert_refused(&s, at, BOBBIN_REASON_CFI_LENGTH);
}

/* Each function would run it. */
static void a_cie_of_absurd_length_is_refused(void **state)
{
	static const uint8_t nothing[4096];

	assert_cie_accepted(&(struct cfi_cie){.insn = nothing, .insn_size = 4000});
	assert_cie_refused(&(struct cfi_cie){.insn = nothing, .insn_size = 4096},
			   BOBBIN_REASON_CFI_LENGTH);
}

static void unknown_versions_are_refused(void **state)
{
	static const uint8_t versions[] = {2, 5, 0xff};

	for (size_t i = 0; i < COUNT(versions); i++)
		assert_cie_refused(&(struct cfi_cie){.version = versions[i]},
				   BOBBIN_REASON_CFI_VERSION);
	assert_cie_refused(&(struct cfi_cie){.version = 4, .address_size = 4},
			   BOBBIN_REASON_CFI_VERSION);
	assert_cie_refused(&(struct cfi_cie){.version = 4, .address_size = 8, .segment_size = 2},
			   BOBBIN_REASON_CFI_VERSION);
}

static void rows_of_a_foreign_return_address_column_are_refused(void **state)
{
	const struct cfi_cie cie = {.ra = 30};
	struct cfi_section s = section_of(AMD64);
	uint64_t cie_at = put_cie(&s, &cie), at = put_fde_of(&s, &cie, cie_at, TEXT, 16, NO_BYTES);
	struct bobbin_cfi_view view = cfi_section_view(&s);
	struct bobbin_cfi_rows rows;
	struct bobbin_cfi_fde fde;
	struct bobbin_error err;
	struct bobbin_row row;

	/* its addresses are given nevertheless */
	assert_int_equal(bobbin_cfi_fde(&view, at, NULL, &fde), 0);
	assert_true(fde.start == TEXT && fde.end == TEXT + 16 && fde.ra_column == 30);
	assert_int_equal(bobbin_cfi_rows_init(&view, &fde, &err, &rows), -EBADMSG);
	assert_true(err.reason == BOBBIN_REASON_CFI_RA_COLUMN && err.offset == cie_at);
	assert_int_equal(bobbin_cfi_lookup(&view, TEXT + 8, &rows, &err, &row), -EBADMSG);
	assert_int_equal(err.reason, BOBBIN_REASON_CFI_RA_COLUMN);
}

static void wide_lengths_are_read(void **state)
{
	assert_cie_accepted(&(struct cfi_cie){.wide = true});
}

static void lengths_that_leave_the_section_end_the_walk(void **state)
{
	struct cfi_section s = section_of(AMD64);
	uint64_t at;

	put_fde(&s, TEXT, 16, NO_BYTES);
	at = put_fde(&s, TEXT + 16, 16, NO_BYTES);
	assert_walks(&s, 2, 0);
	s.data[at]++;
	assert_refused(&s, at, BOBBIN_REASON_CFI_LENGTH);
	assert_walks(&s, 1, 1);
	memset(s.data + at, 0xff, 4);
	assert_refused(&s, at, BOBBIN_REASON_CFI_LENGTH);
	s.data[at] = 0xf0; /* reserved by DWARF */
	assert_refused(&s, at, BOBBIN_REASON_CFI_LENGTH);
	assert_walks(&s, 1, 1);
}

static void lengths_without_room_for_the_fields_are_refused(void **state)
{
	for (uint8_t length = 1; length < 17; length++) {
		struct cfi_section s = section_of(AMD64);
		uint64_t at = put_fde(&s, TEXT, 16, NO_BYTES);

		s.data[at] = length;
		if (length < 13)
			assert_refused(&s, at, BOBBIN_REASON_CFI_LENGTH);
	}
}

/* Every prefix of a section: no entry is read beyond its end. */
static void cut_sections_are_refused(void **state)
{
	struct cfi_section s = section_of(AMD64), cut;
	uint64_t at = put_fde(&s, TEXT, 16, NO_BYTES);

	for (uint64_t size = at; size < s.size; size++) {
		cut = s;
		cut.size = size;
		if (size > at)
			assert_walks(&cut, 0, 1);
		assert_refused(&cut, at, BOBBIN_REASON_CFI_LENGTH);
	}
}

static void an_fde_without_a_cie_is_refused(void **state)
{
	const struct cfi_cie cie = {0};
	struct cfi_section s = section_of(AMD64);
	uint64_t at = put_fde(&s, TEXT, 16, NO_BYTES), other;

	other = put_fde_of(&s, &cie, at, TEXT + 16, 16, NO_BYTES);
	assert_refused(&s, other, BOBBIN_REASON_CFI_CIE); /* it points to an FDE */
	other = put_fde_of(&s, &cie, s.size + 8, TEXT + 32, 16, NO_BYTES);
	assert_walks(&s, 1, 2); /* forward, that is, from before the section */
	memset(s.data + other + 4, 0xff, 4);
	assert_refused(&s, other, BOBBIN_REASON_CFI_CIE);
	put_fde(&s, TEXT + 48, 16, NO_BYTES);
	assert_walks(&s, 2, 2);
}

static void a_function_that_wraps_is_refused(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_udata8};
	struct cfi_section s = section_of(AMD64);
	uint64_t at = put_cie(&s, &cie);

	at = put_fde_of(&s, &cie, at, UINT64_MAX - 15, 16, NO_BYTES);
	assert_refused(&s, at, BOBBIN_REASON_CFI_LENGTH);
}

static void cies_and_terminators_are_no_functions(void **state)
{
	struct cfi_section s = section_of(AMD64);
	struct bobbin_error err = {0};
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	uint64_t end;

	put_fde(&s, TEXT, 16, NO_BYTES);
	end = s.size;
	put(&s, 0, 4);
	view = cfi_section_view(&s);
	assert_int_equal(bobbin_cfi_fde(&view, 0, &err, &fde), -ENOENT);
	assert_int_equal(err.reason, BOBBIN_REASON_NO_FUNCTION);
	assert_int_equal(bobbin_cfi_fde(&view, end, &err, &fde), -ENOENT);
	assert_refused(&s, s.size, BOBBIN_REASON_CFI_LENGTH);
}

/* Linkers that join sections keep their terminators. */
static void terminators_in_the_middle_are_stepped_over(void **state)
{
	struct cfi_section s = section_of(AMD64);
	uint64_t starts[8];
	unsigned int refused;

	put(&s, 0, 4);
	put_fde(&s, TEXT, 16, NO_BYTES);
	put(&s, 0, 4);
	put(&s, 0, 4);
	put_fde(&s, TEXT + 16, 16, NO_BYTES);
	put(&s, 0xffffffff, 4); /* a terminator of 64 bits */
	put(&s, 0, 8);
	put_fde(&s, TEXT + 32, 16, NO_BYTES);
	put(&s, 0, 4);
	assert_int_equal(walk(&s, starts, &refused), 3);
	assert_int_equal(refused, 0);
	assert_true(starts[0] == TEXT && starts[1] == TEXT + 16 && starts[2] == TEXT + 32);
}

static void an_empty_section_has_no_functions(void **state)
{
	struct cfi_section s = section_of(AMD64);

	assert_walks(&s, 0, 0);
	put(&s, 0, 4);
	assert_walks(&s, 0, 0);
}

static void a_function_of_size_zero_has_no_rows(void **state)
{
	struct cfi_section s = section_of(AMD64);
	struct bobbin_cfi_view view;
	struct bobbin_error err = {0};
	struct bobbin_cfi_fde fde;
	struct bobbin_cfi_rows rows;
	struct bobbin_row row;
	char text[ROWS_TEXT];
	uint64_t at = put_fde(&s, TEXT, 0, BYTES(DW_CFA_def_cfa_offset, 16));

	view = cfi_section_view(&s);
	rows_text(&view, at, text);
	assert_string_equal(text, "");
	assert_int_equal(bobbin_cfi_fde(&view, at, NULL, &fde), 0);
	assert_int_equal(bobbin_cfi_rows_init(&view, &fde, NULL, &rows), 0);
	assert_int_equal(bobbin_cfi_rows_find(&rows, TEXT, &err, &row), -ENOENT);
	assert_int_equal(err.reason, BOBBIN_REASON_NO_ROW);
	assert_int_equal(bobbin_cfi_find(&view, TEXT, &err, &fde), -ENOENT);
	assert_int_equal(err.reason, BOBBIN_REASON_NO_FUNCTION);
}

static void one_cie_serves_many_functions(void **state)
{
	const struct cfi_cie cie = {0};
	struct cfi_section s = section_of(AMD64);
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	uint64_t cie_at = put_cie(&s, &cie);

	for (uint64_t i = 0; i < 100; i++)
		put_fde_of(&s, &cie, cie_at, TEXT + 16 * i, 16, NO_BYTES);
	assert_walks(&s, 100, 0);
	view = cfi_section_view(&s);
	for (uint64_t i = 0; i < 1600; i++) {
		assert_int_equal(bobbin_cfi_find(&view, TEXT + i, NULL, &fde), 0);
		assert_true(fde.start == ((TEXT + i) & ~15ull));
	}
}

static void big_endian_sections_are_read(void **state)
{
	const struct bobbin_arch *const archs[] = {bobbin_arch_s390x(), bobbin_arch_aarch64_be()};

	for (size_t i = 0; i < COUNT(archs); i++) {
		for (int wide = 0; wide < 2; wide++) {
			const struct cfi_cie cie = {.wide = wide};
			struct cfi_section s = section_of(archs[i]);
			struct bobbin_cfi_view view;
			struct bobbin_cfi_fde fde;
			uint64_t at = put_cie(&s, &cie);

			at = put_fde_of(&s, &cie, at, TEXT, 0x10203, NO_BYTES);
			view = cfi_section_view(&s);
			assert_int_equal(bobbin_cfi_fde(&view, at, NULL, &fde), 0);
			assert_true(fde.start == TEXT && fde.end == TEXT + 0x10203);
		}
	}
}

/* .debug_frame: ids of all ones, CIEs by offset, absolute addresses. */
static void debug_frame_is_read_in_all_versions_and_widths(void **state)
{
	static const uint8_t versions[] = {1, 3, 4};

	for (unsigned int i = 0; i < 6; i++) {
		const struct cfi_cie cie = {
			.version = versions[i / 2], .address_size = 8, .wide = i % 2};
		struct cfi_section s = section_of(AMD64);
		struct bobbin_cfi_view view;
		char text[ROWS_TEXT];
		uint64_t at;

		s.debug_frame = true;
		put_cie(&s, &cie);
		at = put_cie(&s, &cie); /* the one at offset 0 must not be taken */
		at = put_fde_of(&s, &cie, at, TEXT, 64,
				BYTES(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 32));
		view = cfi_section_view(&s);
		rows_text(&view, at, text);
		assert_string_equal(text, "401000 r7+8 c-8 same\n401004 r7+32 c-8 same\n");
		assert_walks(&s, 1, 0);
	}
}

static void debug_frame_with_wild_cie_pointers_is_refused(void **state)
{
	static const uint64_t wild[] = {1, 4, 0x1000, 0xfffffffe, UINT64_MAX - 1, 1ull << 63};

	for (size_t i = 0; i < COUNT(wild); i++) {
		const struct cfi_cie cie = {.wide = wild[i] > UINT32_MAX};
		struct cfi_section s = section_of(AMD64);
		struct bobbin_cfi_view view;
		struct bobbin_cfi_fde fde;
		struct bobbin_error err = {UINT64_MAX, BOBBIN_REASON_NONE};
		uint64_t at;

		s.debug_frame = true;
		put_cie(&s, &cie);
		at = put_fde_of(&s, &cie, wild[i], TEXT, 64, NO_BYTES);
		view = cfi_section_view(&s);
		assert_int_equal(bobbin_cfi_fde(&view, at, &err, &fde), -EBADMSG);
		assert_int_not_equal(err.reason, BOBBIN_REASON_NONE);
		assert_true(err.offset <= s.size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_fde_has_its_addresses_and_its_cie),
		cmocka_unit_test(every_pointer_encoding_is_read),
		cmocka_unit_test(two_byte_addresses_are_read),
		cmocka_unit_test(addresses_that_need_a_process_are_refused),
		cmocka_unit_test(known_augmentations_are_read),
		cmocka_unit_test(the_letters_of_signals_and_keys_are_kept),
		cmocka_unit_test(unknown_letters_after_the_encoding_are_passed_over),
		cmocka_unit_test(unknown_augmentations_are_refused),
		cmocka_unit_test(augmentation_data_that_is_cut_is_refused),
		cmocka_unit_test(an_augmentation_size_beyond_the_cie_is_refused),
		cmocka_unit_test(a_negative_range_is_refused),
		cmocka_unit_test(a_cie_of_absurd_length_is_refused),
		cmocka_unit_test(unknown_versions_are_refused),
		cmocka_unit_test(rows_of_a_foreign_return_address_column_are_refused),
		cmocka_unit_test(wide_lengths_are_read),
		cmocka_unit_test(lengths_that_leave_the_section_end_the_walk),
		cmocka_unit_test(lengths_without_room_for_the_fields_are_refused),
		cmocka_unit_test(cut_sections_are_refused),
		cmocka_unit_test(an_fde_without_a_cie_is_refused),
		cmocka_unit_test(a_function_that_wraps_is_refused),
		cmocka_unit_test(cies_and_terminators_are_no_functions),
		cmocka_unit_test(terminators_in_the_middle_are_stepped_over),
		cmocka_unit_test(an_empty_section_has_no_functions),
		cmocka_unit_test(a_function_of_size_zero_has_no_rows),
		cmocka_unit_test(one_cie_serves_many_functions),
		cmocka_unit_test(big_endian_sections_are_read),
		cmocka_unit_test(debug_frame_is_read_in_all_versions_and_widths),
		cmocka_unit_test(debug_frame_with_wild_cie_pointers_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
