/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each defect that bobbin_sframe_validate() knows, in a section that has no
 * other, and sections that have none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <bobbin/sframe_validate.h>
#include <cmocka.h>

#include "sframe_bytes.h"

#define ADDR 0x400000
#define TEXT 0x1000
#define TEXT_END 0x3000
#define NOWHERE BOBBIN_SFRAME_NOWHERE

/* Offsets in the sections of two(): header, two functions, rows. */
#define FDE(v, i) (28 + (i) * (v))
#define V1 17
#define V2 20
#define V3 16
#define FRES(v) (28 + 2 * (v))

struct findings {
	struct bobbin_sframe_defect defects[16];
	size_t count;
};

static bool met[BOBBIN_REASON_COUNT];

static void find(void *ctx, const struct bobbin_sframe_defect *defect)
{
	struct findings *f = ctx;

	assert_true(f->count < 16);
	f->defects[f->count++] = *defect;
	met[defect->reason] = true;
}

/* Two functions of AMD64, of 6 and 16 bytes. */
static struct section_spec two(uint8_t version)
{
	return (struct section_spec){
		.version = version,
		.flags = version == 3 ? SORTED | PCREL : SORTED,
		.abi = AMD64,
		.fixed_ra = -8,
		.addr = ADDR,
		.num_funcs = 2,
		.funcs = {{.start = TEXT,
			   .size = 6,
			   .num_fres = 3,
			   ROWS(0, 3, 8, 1, 5, 16, 0xf0, 4, 4, 16, 0xf0)},
			  {.start = TEXT + 16, .size = 16, .num_fres = 1, ROWS(0, 3, 8)}},
	};
}

static struct section_spec two_of(uint8_t version, uint8_t abi)
{
	struct section_spec s = two(version);

	s.abi = abi;
	s.fixed_ra = abi == AMD64 ? -8 : 0;
	if (abi != AMD64) {
		/* CFA, RA, FP; s390x: 160 + 0 and 160 + 16 * 8 */
		static const uint8_t rows[] = {0, 3, 0, 1, 7, 16, 0xf0, 0xe8};

		memcpy(s.funcs[0].rows, rows, sizeof(rows));
		s.funcs[0].rows_size = sizeof(rows);
		s.funcs[0].num_fres = 2;
		s.funcs[1].rows[2] = 0;
	}
	return s;
}

static int validate_built(const struct built *s, const struct bobbin_sframe_bounds *bounds,
			  uint64_t size, struct findings *ret)
{
	struct bobbin_sframe_view view;

	*ret = (struct findings){.count = 0};
	assert_int_equal(bobbin_sframe_view(s->data, size, ADDR, NULL, &view), 0);
	return bobbin_sframe_validate(&view, bounds, find, ret);
}

/* Validate with all that can be known. */
static int validate(const struct built *s, struct findings *ret)
{
	static const struct bobbin_range text = {TEXT, TEXT_END};
	struct bobbin_sframe_order order[8];
	struct bobbin_sframe_bounds bounds = {
		.available = s->size,
		.text = &text,
		.text_count = 1,
		.order = order,
		.order_max = 8,
	};

	return validate_built(s, &bounds, s->size, ret);
}

static void assert_clean(const struct section_spec *spec)
{
	struct built s = build(spec);
	struct findings f;

	assert_int_equal(validate(&s, &f), BOBBIN_SFRAME_CLEAN);
	assert_int_equal(f.count, 0);
	free(s.data);
}

static void assert_defect(const struct findings *f, enum bobbin_reason reason, uint64_t offset,
			  uint32_t fde, uint32_t fre)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct bobbin_sframe_defect *d = &f->defects[i];

		if (d->reason != reason || d->offset != offset || d->fde != fde || d->fre != fre)
			continue;
		assert_int_equal(d->severity, bobbin_sframe_severity(reason));
		return;
	}
	for (size_t i = 0; i < f->count; i++)
		print_message("%s at %#llx, function %d, row %d\n",
			      bobbin_reason_name(f->defects[i].reason),
			      (unsigned long long)f->defects[i].offset, (int)f->defects[i].fde,
			      (int)f->defects[i].fre);
	fail_msg("no %s at %#llx", bobbin_reason_name(reason), (unsigned long long)offset);
}

/* The section has this one defect and no other. */
static void assert_only(const struct built *s, enum bobbin_reason reason, uint64_t offset,
			uint32_t fde, uint32_t fre)
{
	struct findings f;
	int worst = validate(s, &f);

	assert_defect(&f, reason, offset, fde, fre);
	assert_int_equal(f.count, 1);
	assert_int_equal(worst, bobbin_sframe_severity(reason));
	free(s->data);
}

static void assert_among(const struct built *s, enum bobbin_reason reason, uint64_t offset,
			 uint32_t fde, uint32_t fre)
{
	struct findings f;

	validate(s, &f);
	assert_defect(&f, reason, offset, fde, fre);
	free(s->data);
}

static struct built with_byte(struct section_spec spec, size_t at, uint8_t value)
{
	struct built s = build(&spec);

	assert_true(at < s.size);
	s.data[at] = value;
	return s;
}

static void sound_sections_of_all_versions_and_abis_are_clean(void **state)
{
	for (uint8_t version = 1; version <= 3; version++)
		for (uint8_t abi = AARCH64_BE; abi <= S390X; abi++) {
			struct section_spec spec = two_of(version, abi);

			if (abi != S390X || version > 1)
				assert_clean(&spec);
		}
}

static void the_header_is_looked_at(void **state)
{
	struct section_spec spec = two(3);
	struct built s;

	spec.aux_len = 2;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_AUXILIARY, 7, NOWHERE, NOWHERE);
	s = with_byte(two(2), 3, SORTED | 2);
	assert_only(&s, BOBBIN_REASON_SFRAME_KEEPS_FP, 3, NOWHERE, NOWHERE);
	spec = two(3);
	spec.flags = PCREL;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_UNSORTED, 3, NOWHERE, NOWHERE);
	spec.flags = SORTED;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_SECTION_RELATIVE, 3, NOWHERE, NOWHERE);
	spec = two(3);
	spec.fixed_fp = -16;
	s = build(&spec);
	assert_among(&s, BOBBIN_REASON_SFRAME_FIXED, 5, NOWHERE, NOWHERE);
	spec = two(3);
	spec.fixed_ra = -24;
	s = build(&spec);
	assert_among(&s, BOBBIN_REASON_SFRAME_FIXED, 6, NOWHERE, NOWHERE);
	s = with_byte(two(3), 12, 5);
	assert_only(&s, BOBBIN_REASON_SFRAME_COUNT, 12, NOWHERE, NOWHERE);
}

static void the_section_is_for_the_machine_of_its_file(void **state)
{
	struct bobbin_sframe_bounds bounds = {.arch = bobbin_arch_amd64()};
	struct section_spec spec = two(3);
	struct built s = build(&spec);
	struct findings f;

	assert_int_equal(validate_built(&s, &bounds, s.size, &f), BOBBIN_SFRAME_CLEAN);
	bounds.arch = bobbin_arch_aarch64();
	assert_int_equal(validate_built(&s, &bounds, s.size, &f), BOBBIN_SFRAME_ERROR);
	assert_defect(&f, BOBBIN_REASON_SFRAME_FOREIGN, 4, NOWHERE, NOWHERE);
	free(s.data);
}

static void sub_sections_stand_next_to_each_other(void **state)
{
	struct section_spec spec = two(3);
	struct built s;

	/* the auxiliary header becomes a gap before the functions */
	spec.aux_len = 4;
	s = build(&spec);
	s.data[7] = 0;
	s.data[20] = 4;
	s.data[24] += 4;
	assert_only(&s, BOBBIN_REASON_SFRAME_GAP, 20, NOWHERE, NOWHERE);
	/* a third function that is not counted becomes a gap after them */
	spec = two(3);
	spec.funcs[2] = (struct func_spec){.start = TEXT + 64, .size = 1};
	spec.num_funcs = 3;
	s = with_byte(spec, 8, 2);
	assert_among(&s, BOBBIN_REASON_SFRAME_GAP, 24, NOWHERE, NOWHERE);
}

static void bytes_after_the_section_are_zero(void **state)
{
	struct section_spec spec = two(3);
	struct bobbin_sframe_bounds bounds = {0};
	struct built s = build(&spec);
	struct findings f;

	s.data = realloc(s.data, s.size + 8);
	memset(s.data + s.size, 0, 8);
	bounds.available = s.size + 8;
	assert_int_equal(validate_built(&s, &bounds, s.size + 8, &f), BOBBIN_SFRAME_CLEAN);
	s.data[s.size + 5] = 1;
	assert_int_equal(validate_built(&s, &bounds, s.size + 8, &f), BOBBIN_SFRAME_WARNING);
	assert_defect(&f, BOBBIN_REASON_SFRAME_TRAILING, s.size + 5, NOWHERE, NOWHERE);
	assert_int_equal(f.count, 1);
	free(s.data);
}

static void rows_fill_their_sub_section(void **state)
{
	struct section_spec spec = two(2);
	struct built s;

	/* one byte too many after the first function's rows, and after all */
	spec.funcs[0].rows[11] = 0;
	spec.funcs[0].rows_size++;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_UNUSED, FRES(V2) + 11, NOWHERE, NOWHERE);
	spec = two(2);
	spec.funcs[1].rows_size++;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_UNUSED, FRES(V2) + 14, NOWHERE, NOWHERE);
	/* the second function uses a part of the first one's */
	s = with_byte(two(2), FDE(V2, 1) + 8, 7);
	assert_among(&s, BOBBIN_REASON_SFRAME_ROWS_OVERLAP, FDE(V2, 1) + 8, 1, NOWHERE);
	/* or all of the same */
	spec = two(2);
	spec.funcs[1] = spec.funcs[0];
	spec.funcs[1].start += 16;
	spec.funcs[1].rows_size = 0;
	s = with_byte(spec, FDE(V2, 1) + 8, 0);
	assert_only(&s, BOBBIN_REASON_SFRAME_SHARED, FDE(V2, 1) + 8, 1, NOWHERE);
	/* which may be too many for it */
	spec.funcs[1].size = 3;
	s = with_byte(spec, FDE(V2, 1) + 8, 0);
	assert_among(&s, BOBBIN_REASON_SFRAME_RANGE, FRES(V2) + 7, 1, NOWHERE);
	s = with_byte(two(2), FDE(V2, 1) + 9, 1);
	assert_only(&s, BOBBIN_REASON_SFRAME_ROWS_OUTSIDE, FDE(V2, 1) + 8, 1, NOWHERE);
	s = with_byte(two(3), FDE(V3, 1) + 12, 20);
	assert_only(&s, BOBBIN_REASON_SFRAME_ROWS_OUTSIDE, FDE(V3, 1) + 12, 1, NOWHERE);
}

static void types_are_known_and_reserved_bits_zero(void **state)
{
	/* V3: attributes in front of the rows */
	struct built s = with_byte(two(3), FRES(V3) + 2, 3);

	assert_only(&s, BOBBIN_REASON_SFRAME_FRE_TYPE, FRES(V3) + 2, 0, NOWHERE);
	s = with_byte(two(1), FDE(V1, 0) + 16, 0x0f);
	assert_only(&s, BOBBIN_REASON_SFRAME_FRE_TYPE, FDE(V1, 0) + 16, 0, NOWHERE);
	s = with_byte(two(3), FRES(V3) + 3, 2);
	assert_only(&s, BOBBIN_REASON_SFRAME_FDE_TYPE, FRES(V3) + 3, 0, NOWHERE);
	s = with_byte(two(3), FRES(V3) + 3, 0x80);
	assert_only(&s, BOBBIN_REASON_SFRAME_RESERVED, FRES(V3) + 3, 0, NOWHERE);
	s = with_byte(two(3), FRES(V3) + 2, 0x40);
	assert_only(&s, BOBBIN_REASON_SFRAME_RESERVED, FRES(V3) + 2, 0, NOWHERE);
	s = with_byte(two(2), FDE(V2, 1) + 16, 0x80);
	assert_only(&s, BOBBIN_REASON_SFRAME_RESERVED, FDE(V2, 1) + 16, 1, NOWHERE);
	s = with_byte(two(2), FDE(V2, 1) + 19, 1);
	assert_only(&s, BOBBIN_REASON_SFRAME_RESERVED, FDE(V2, 1) + 18, 1, NOWHERE);
	s = with_byte(two(3), FRES(V3) + 2, KEY_B);
	assert_only(&s, BOBBIN_REASON_SFRAME_KEY, FRES(V3) + 2, 0, NOWHERE);
}

static void blocks_have_a_size_if_and_only_if_they_repeat(void **state)
{
	struct section_spec spec = two(2);
	struct built s;

	spec.funcs[1].info = PCMASK;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_REP_ZERO, FDE(V2, 1) + 17, 1, NOWHERE);
	spec.funcs[1].rep_size = 16;
	assert_clean(&spec);
	spec.funcs[1].rep_size = 7;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_REP_REST, FDE(V2, 1) + 16, 1, NOWHERE);
	spec.funcs[1].info = 0;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_REP_UNUSED, FDE(V2, 1) + 17, 1, NOWHERE);
}

static void functions_lie_apart_in_order_and_in_code(void **state)
{
	struct section_spec spec = two(3);
	struct built s;

	spec.funcs[1].start = TEXT + 5;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_OVERLAP, FDE(V3, 1), 1, NOWHERE);
	spec.flags = PCREL;
	spec.funcs[1].start = TEXT;
	spec.funcs[0].start = TEXT + 15;
	s = build(&spec);
	assert_among(&s, BOBBIN_REASON_SFRAME_OVERLAP, FDE(V3, 0), 0, NOWHERE);
	spec.flags = SORTED | PCREL;
	spec.funcs[0].start = TEXT + 16;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_ORDER, FDE(V3, 1), 1, NOWHERE);
	spec = two(3);
	spec.funcs[1].start = TEXT_END - 15;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_TEXT, FDE(V3, 1), 1, NOWHERE);
	spec.funcs[1].start = UINT64_MAX - 14;
	s = build(&spec);
	assert_among(&s, BOBBIN_REASON_SFRAME_WRAP, FDE(V3, 1), 1, NOWHERE);
	/* it overlaps nothing, and its row need not be in it */
	spec = two(3);
	spec.funcs[1].start = TEXT;
	spec.funcs[1].size = 0;
	spec.flags = PCREL;
	s = build(&spec);
	assert_among(&s, BOBBIN_REASON_SFRAME_NO_CODE, FDE(V3, 1), 1, NOWHERE);
}

static void functions_have_no_more_rows_than_bytes(void **state)
{
	struct section_spec spec = two(2);
	struct built s;

	spec.funcs[0].size = 1;
	s = build(&spec);
	assert_among(&s, BOBBIN_REASON_SFRAME_ROW_COUNT, FDE(V2, 0) + 12, 0, NOWHERE);
	spec = two(2);
	spec.funcs[1].num_fres = 0;
	spec.funcs[1].rows_size = 0;
	s = build(&spec);
	assert_only(&s, BOBBIN_REASON_SFRAME_NO_ROWS, FDE(V2, 1) + 12, 1, NOWHERE);
	spec.version = 3;
	spec.flags = SORTED | PCREL;
	assert_clean(&spec);
}

/* The first function of V2; its rows are at FRES(V2). */
static struct built with_rows(uint8_t abi, uint32_t size, const uint8_t *rows, size_t rows_size,
			      uint32_t num_fres)
{
	struct section_spec spec = two_of(2, abi);

	memcpy(spec.funcs[0].rows, rows, rows_size);
	spec.funcs[0].rows_size = rows_size;
	spec.funcs[0].size = size;
	spec.funcs[0].num_fres = num_fres;
	return build(&spec);
}

#define V2_ROWS(abi, size, count, ...) \
	with_rows(abi, size, (const uint8_t[]){__VA_ARGS__}, \
		  sizeof((const uint8_t[]){__VA_ARGS__}), count)

static void rows_start_in_order_in_their_function(void **state)
{
	struct built s = V2_ROWS(AMD64, 6, 2, 0, 3, 8, 7, 3, 16);

	assert_only(&s, BOBBIN_REASON_SFRAME_RANGE, FRES(V2) + 3, 0, 1);
	s = V2_ROWS(AMD64, 6, 2, 0, 3, 8, 6, 3, 16);
	assert_only(&s, BOBBIN_REASON_SFRAME_ROW_AT_END, FRES(V2) + 3, 0, 1);
	s = V2_ROWS(AMD64, 6, 3, 0, 3, 8, 5, 3, 16, 4, 3, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_ORDER, FRES(V2) + 6, 0, 2);
	s = V2_ROWS(AMD64, 6, 2, 0, 3, 8, 0, 3, 16);
	assert_only(&s, BOBBIN_REASON_SFRAME_TWIN_ROWS, FRES(V2) + 3, 0, 1);
	s = V2_ROWS(AMD64, 6, 1, 1, 3, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_LATE_ROW, FRES(V2), 0, 0);
}

static void rows_have_words_that_mean_something(void **state)
{
	struct built s = V2_ROWS(AMD64, 6, 1, 0, 3 | 0x60, 8, 0, 0, 0);

	assert_among(&s, BOBBIN_REASON_SFRAME_WORD_SIZE, FRES(V2) + 1, 0, 0);
	s = V2_ROWS(AMD64, 6, 1, 0, 7, 8, 0xf0, 0xe8);
	assert_only(&s, BOBBIN_REASON_SFRAME_WORD_COUNT, FRES(V2) + 1, 0, 0);
	s = V2_ROWS(AMD64, 6, 1, 0, 15, 8, 0, 0, 0, 0, 0, 0);
	assert_only(&s, BOBBIN_REASON_SFRAME_WORD_COUNT, FRES(V2) + 1, 0, 0);
	/* V2 has rows that end a trace, V1 has not */
	s = V2_ROWS(AMD64, 6, 1, 0, 1);
	assert_only(&s, BOBBIN_REASON_SFRAME_RESERVED, FRES(V2) + 1, 0, 0);
	s = with_byte(two(1), FRES(V1) + 12, 0);
	assert_among(&s, BOBBIN_REASON_SFRAME_WORD_COUNT, FRES(V1) + 12, 1, 0);
	s = V2_ROWS(AMD64, 6, 1, 0, 3 | 0x80, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_MANGLED, FRES(V2) + 1, 0, 0);
	/* the last row of the section lacks its word */
	s = with_byte(two(2), FRES(V2) + 12, 3 | 0x20);
	assert_only(&s, BOBBIN_REASON_SFRAME_ROW_CUT, FRES(V2) + 11, 1, 0);
}

static void words_of_s390x_are_scaled_and_may_be_registers(void **state)
{
	/* before V3: register * 2 + 1 */
	struct built s = V2_ROWS(S390X, 6, 1, 0, 7, 0, 33, 35);
	struct findings f;

	assert_int_equal(validate(&s, &f), BOBBIN_SFRAME_CLEAN);
	free(s.data);
	s = V2_ROWS(S390X, 6, 1, 0, 7, 0, 33, 65);
	assert_only(&s, BOBBIN_REASON_SFRAME_REGISTER, FRES(V2) + 4, 0, 0);
	s = V2_ROWS(S390X, 6, 1, 0, 3 | 0x40, 0x10, 0, 0, 0);
	assert_only(&s, BOBBIN_REASON_SFRAME_CFA_RANGE, FRES(V2) + 2, 0, 0);
}

static void rules_have_aligned_offsets_within_the_frame(void **state)
{
	struct built s = V2_ROWS(AMD64, 6, 1, 0, 3, 12);
	struct findings f;

	assert_only(&s, BOBBIN_REASON_SFRAME_UNALIGNED, FRES(V2), 0, 0);
	s = V2_ROWS(AMD64, 6, 1, 0, 5, 16, 0xf1);
	assert_only(&s, BOBBIN_REASON_SFRAME_UNALIGNED, FRES(V2), 0, 0);
	s = V2_ROWS(AARCH64_LE, 6, 1, 0, 3, 24);
	assert_only(&s, BOBBIN_REASON_SFRAME_STACK_ALIGN, FRES(V2), 0, 0);
	/* the frame pointer may be anywhere, but not the stack pointer */
	s = V2_ROWS(AMD64, 6, 2, 0, 3, 8, 1, 2, 0xf0);
	assert_int_equal(validate(&s, &f), BOBBIN_SFRAME_CLEAN);
	free(s.data);
}

static void impossible_frames_are_told(void **state)
{
	struct built s = V2_ROWS(AMD64, 6, 1, 0, 3, 0);

	assert_only(&s, BOBBIN_REASON_SFRAME_CFA_BELOW, FRES(V2), 0, 0);
	s = V2_ROWS(AARCH64_LE, 6, 1, 0, 3, 0xf0);
	assert_only(&s, BOBBIN_REASON_SFRAME_CFA_BELOW, FRES(V2), 0, 0);
	s = V2_ROWS(S390X, 6, 1, 0, 3, 0xff);
	assert_only(&s, BOBBIN_REASON_SFRAME_CFA_BELOW, FRES(V2), 0, 0);
	/* saved at the CFA; below the stack pointer; two in one place */
	s = V2_ROWS(AMD64, 6, 1, 0, 5, 16, 0);
	assert_only(&s, BOBBIN_REASON_SFRAME_SLOT, FRES(V2), 0, 0);
	s = V2_ROWS(AARCH64_LE, 6, 1, 0, 5, 16, 0xe8);
	assert_only(&s, BOBBIN_REASON_SFRAME_SLOT, FRES(V2), 0, 0);
	s = V2_ROWS(AMD64, 6, 1, 0, 5, 16, 0xf8);
	assert_only(&s, BOBBIN_REASON_SFRAME_SLOT, FRES(V2), 0, 0);
}

/* The first function of V3; its row follows five bytes of attributes. */
static struct built flexible(const uint8_t *row, size_t size)
{
	struct section_spec spec = two(3);

	memcpy(spec.funcs[0].rows, row, size);
	spec.funcs[0].rows_size = size;
	spec.funcs[0].num_fres = 1;
	spec.funcs[0].info2 = FLEX;
	return build(&spec);
}

#define V3_FLEX(...) \
	flexible((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void control_words_fit_their_places(void **state)
{
	const uint64_t row = FRES(V3) + 5;
	struct built s = V3_FLEX(0, 0x0a, 0x51, 0, 0, 0x33, 0);
	struct findings f;

	assert_int_equal(validate(&s, &f), BOBBIN_SFRAME_CLEAN);
	free(s.data);
	/* the CFA needs a register, a return address a load, and the rest is no padding */
	s = V3_FLEX(0, 0x04, 0x02, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_CONTROL, row + 2, 0, 0);
	s = V3_FLEX(0, 0x08, 0x39, 8, 0x04, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_CONTROL, row + 4, 0, 0);
	s = V3_FLEX(0, 0x0a, 0x39, 8, 0, 0, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_WORD_COUNT, row + 1, 0, 0);
	s = V3_FLEX(0, 0x0a, 0x39, 8, 0, 0x37, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_CONTROL, row + 5, 0, 0);
	s = V3_FLEX(0, 0x08, 0x39, 8, 0x0a, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_RESERVED, row + 4, 0, 0);
	s = V3_FLEX(0, 0x24, 0x01, 0x01, 8, 0);
	assert_only(&s, BOBBIN_REASON_SFRAME_REGISTER, row + 2, 0, 0);
	s = V3_FLEX(0, 0x04, 0x81, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_BASE, row, 0, 0);
	s = V3_FLEX(0, 0x06, 0x39, 8, 0x33);
	assert_only(&s, BOBBIN_REASON_SFRAME_WORD_COUNT, row + 1, 0, 0);
	s = V3_FLEX(0, 0x0c, 0x39, 8, 0, 0x33, 0, 1);
	assert_only(&s, BOBBIN_REASON_SFRAME_WORD_COUNT, row + 1, 0, 0);
	s = V3_FLEX(0, 0x05, 0x39, 8);
	assert_only(&s, BOBBIN_REASON_SFRAME_RESERVED, row + 1, 0, 0);
}

static void padding_of_flexible_rows_is_no_defect(void **state)
{
	struct findings f;
	struct built s = V3_FLEX(0, 0x06, 0x39, 8, 0);

	assert_int_equal(validate(&s, &f), BOBBIN_SFRAME_CLEAN);
	free(s.data);
	s = V3_FLEX(0, 0x08, 0x39, 8, 0, 0);
	assert_int_equal(validate(&s, &f), BOBBIN_SFRAME_CLEAN);
	free(s.data);
	s = V3_FLEX(0, 0x0a, 0x39, 8, 0x11, 0, 0);
	assert_int_equal(validate(&s, &f), BOBBIN_SFRAME_CLEAN);
	free(s.data);
	/* but not after all values */
	s = V3_FLEX(0, 0x0c, 0x39, 8, 0, 0x33, 0, 0);
	assert_only(&s, BOBBIN_REASON_SFRAME_RESERVED, FRES(V3) + 5 + 1, 0, 0);
}

static void every_defect_of_a_section_is_told(void **state)
{
	struct built s;
	struct findings f;

	s = V2_ROWS(AMD64, 6, 3, 1, 3, 0, 2, 3, 4, 2, 3 | 0x80, 8);
	assert_int_equal(validate(&s, &f), BOBBIN_SFRAME_WARNING);
	assert_int_equal(f.count, 6);
	assert_defect(&f, BOBBIN_REASON_SFRAME_LATE_ROW, FRES(V2), 0, 0);
	assert_defect(&f, BOBBIN_REASON_SFRAME_CFA_BELOW, FRES(V2), 0, 0);
	assert_defect(&f, BOBBIN_REASON_SFRAME_UNALIGNED, FRES(V2) + 3, 0, 1);
	assert_defect(&f, BOBBIN_REASON_SFRAME_CFA_BELOW, FRES(V2) + 3, 0, 1);
	assert_defect(&f, BOBBIN_REASON_SFRAME_TWIN_ROWS, FRES(V2) + 6, 0, 2);
	assert_defect(&f, BOBBIN_REASON_SFRAME_MANGLED, FRES(V2) + 7, 0, 2);
	free(s.data);
}

/* Bare bytes lie at address 0: code before the section is at the end of the space. */
static void functions_on_both_sides_of_the_section_are_in_order(void **state)
{
	struct section_spec spec = two(3);
	struct bobbin_sframe_view view;
	struct findings f = {.count = 0};
	struct built s;

	spec.addr = 0;
	spec.funcs[0].start = -(uint64_t)TEXT;
	s = build(&spec);
	assert_int_equal(bobbin_sframe_view(s.data, s.size, 0, NULL, &view), 0);
	assert_int_equal(bobbin_sframe_validate(&view, NULL, find, &f), 0);
	assert_int_equal(f.count, 0);
	free(s.data);
}

static void nothing_but_the_section_is_needed(void **state)
{
	struct section_spec spec = two(3);
	struct bobbin_sframe_view view;
	struct built s = build(&spec);

	assert_int_equal(bobbin_sframe_view(s.data, s.size, ADDR, NULL, &view), 0);
	assert_int_equal(bobbin_sframe_validate(&view, NULL, NULL, NULL), BOBBIN_SFRAME_CLEAN);
	s.data[FRES(V3) + 2] = 3;
	assert_int_equal(bobbin_sframe_validate(&view, NULL, NULL, NULL), BOBBIN_SFRAME_ERROR);
	free(s.data);
}

/* 1000 functions share 1000 rows, which a validator that sorts reads only once. */
static void work_is_bounded_without_memory_to_sort_in(void **state)
{
	enum {
		COUNT = 1000
	};
	static struct bobbin_sframe_order order[COUNT];
	struct bobbin_sframe_bounds bounds = {.order = order, .order_max = COUNT};
	struct writer head = {.pos = 0};
	struct built s = {.size = 28 + COUNT * 20 + COUNT * 4};
	struct findings f;
	uint8_t *p;

	put(&head, 0xdee2, 2);
	put_bytes(&head, (const uint8_t[]){2, SORTED, AMD64, 0, 0xf8, 0}, 6);
	put(&head, COUNT, 4);
	put(&head, COUNT * COUNT, 4);
	put(&head, COUNT * 4, 4);
	put(&head, 0, 4);
	put(&head, COUNT * 20, 4);
	s.data = calloc(1, s.size);
	memcpy(s.data, head.bytes, head.pos);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct writer fde = {.pos = 0};

		put(&fde, i * 2000, 4);
		put(&fde, 2000, 4);
		put(&fde, 0, 4);
		put(&fde, COUNT, 4);
		put(&fde, ADDR2, 1);
		memcpy(s.data + 28 + i * 20, fde.bytes, fde.pos);
		p = s.data + 28 + COUNT * 20 + i * 4;
		memcpy(p, (const uint8_t[]){(uint8_t)i, (uint8_t)(i >> 8), 3, 8}, 4);
	}
	assert_int_equal(validate_built(&s, &bounds, s.size, &f), BOBBIN_SFRAME_NOTE);
	assert_int_equal(f.count, 1);
	assert_defect(&f, BOBBIN_REASON_SFRAME_SHARED, 28 + 20 + 8, 1, NOWHERE);
	assert_int_equal(validate_built(&s, NULL, s.size, &f), -ENOBUFS);
	free(s.data);
}

/* Last of all. */
static void every_reason_was_met(void **state)
{
	for (int i = BOBBIN_REASON_SFRAME_AUXILIARY; i <= BOBBIN_REASON_SFRAME_SLOT; i++)
		if (!met[i])
			fail_msg("%s was not met", bobbin_reason_name((enum bobbin_reason)i));
	assert_true(met[BOBBIN_REASON_SFRAME_ORDER] && met[BOBBIN_REASON_SFRAME_RANGE]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_sections_of_all_versions_and_abis_are_clean),
		cmocka_unit_test(the_header_is_looked_at),
		cmocka_unit_test(the_section_is_for_the_machine_of_its_file),
		cmocka_unit_test(sub_sections_stand_next_to_each_other),
		cmocka_unit_test(bytes_after_the_section_are_zero),
		cmocka_unit_test(rows_fill_their_sub_section),
		cmocka_unit_test(types_are_known_and_reserved_bits_zero),
		cmocka_unit_test(blocks_have_a_size_if_and_only_if_they_repeat),
		cmocka_unit_test(functions_lie_apart_in_order_and_in_code),
		cmocka_unit_test(functions_have_no_more_rows_than_bytes),
		cmocka_unit_test(rows_start_in_order_in_their_function),
		cmocka_unit_test(rows_have_words_that_mean_something),
		cmocka_unit_test(words_of_s390x_are_scaled_and_may_be_registers),
		cmocka_unit_test(rules_have_aligned_offsets_within_the_frame),
		cmocka_unit_test(impossible_frames_are_told),
		cmocka_unit_test(control_words_fit_their_places),
		cmocka_unit_test(padding_of_flexible_rows_is_no_defect),
		cmocka_unit_test(every_defect_of_a_section_is_told),
		cmocka_unit_test(functions_on_both_sides_of_the_section_are_in_order),
		cmocka_unit_test(nothing_but_the_section_is_needed),
		cmocka_unit_test(work_is_bounded_without_memory_to_sort_in),
		cmocka_unit_test(every_reason_was_met),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
