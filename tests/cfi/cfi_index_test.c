/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .eh_frame_hdr: the search table is used when it is sane, and nothing is lost
 * when it is not.
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

#define HDR_ADDR 0x4ff000
#define FUNCTIONS 20
#define TABLE 12 /* where the pairs start */

struct file {
	struct cfi_section frame, hdr;
	uint64_t fde[FUNCTIONS];
};

static uint64_t function_start(unsigned int i)
{
	return TEXT + 0x40 * (uint64_t)i;
}

/* Functions of 0x30 bytes, 0x10 apart. */
static void make_frame(struct file *f, const struct bobbin_arch *arch)
{
	const struct cfi_cie cie = {0};
	uint64_t at;

	cfi_section_init(&f->frame, arch);
	at = put_cie(&f->frame, &cie);
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		f->fde[i] = put_fde_of(&f->frame, &cie, at, function_start(i), 0x30, NO_BYTES);
}

static void put_pair(struct file *f, uint64_t start, uint64_t fde)
{
	put(&f->hdr, start - HDR_ADDR, 4);
	put(&f->hdr, SECTION_ADDR + fde - HDR_ADDR, 4);
}

static void begin_header(struct file *f, uint32_t count)
{
	cfi_section_init(&f->hdr, f->frame.arch);
	put_bytes(&f->hdr, BYTES(1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
				 DW_EH_PE_datarel | DW_EH_PE_sdata4));
	put(&f->hdr, SECTION_ADDR - HDR_ADDR - 4, 4);
	put(&f->hdr, count, 4);
}

static struct file make_file(const struct bobbin_arch *arch)
{
	struct file f;

	make_frame(&f, arch);
	begin_header(&f, FUNCTIONS);
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		put_pair(&f, function_start(i), f.fde[i]);
	return f;
}

/* Return: as bobbin_cfi_view_init(). */
static int open_file(const struct file *f, struct bobbin_cfi_view *view, struct bobbin_error *err)
{
	*view = cfi_section_view(&f->frame);
	view->hdr = f->hdr.data;
	view->hdr_size = f->hdr.size;
	view->hdr_addr = HDR_ADDR;
	return bobbin_cfi_view_init(view, err);
}

static void assert_all_found(const struct bobbin_cfi_view *view)
{
	struct bobbin_error err = {0};
	struct bobbin_cfi_fde fde;

	for (uint64_t pc = TEXT - 0x40; pc < function_start(FUNCTIONS); pc++) {
		bool inside = pc >= TEXT && (pc - TEXT) % 0x40 < 0x30;
		int r = bobbin_cfi_find(view, pc, &err, &fde);

		assert_int_equal(r, inside ? 0 : -ENOENT);
		if (inside)
			assert_true(fde.start <= pc && pc < fde.end);
		else
			assert_int_equal(err.reason, BOBBIN_REASON_NO_FUNCTION);
	}
}

static void a_sane_table_is_searched(void **state)
{
	const struct bobbin_arch *const archs[] = {bobbin_arch_amd64(), bobbin_arch_aarch64(),
						   bobbin_arch_s390x()};

	for (unsigned int i = 0; i < 3; i++) {
		struct file f = make_file(archs[i]);
		struct bobbin_cfi_view view;

		assert_int_equal(open_file(&f, &view, NULL), 0);
		assert_int_equal(view.table_count, FUNCTIONS);
		assert_int_equal(view.table, TABLE);
		assert_all_found(&view);
	}
}

/* The table is used: a function that it omits is not found. */
static void a_sane_table_is_believed(void **state)
{
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	struct file f;

	make_frame(&f, bobbin_arch_amd64());
	begin_header(&f, 1);
	put_pair(&f, function_start(0), f.fde[0]);
	assert_int_equal(open_file(&f, &view, NULL), 0);
	assert_int_equal(bobbin_cfi_find(&view, function_start(0), NULL, &fde), 0);
	assert_int_equal(bobbin_cfi_find(&view, function_start(1), NULL, &fde), -ENOENT);
}

static void without_a_header_functions_are_scanned(void **state)
{
	struct file f = make_file(bobbin_arch_amd64());
	struct bobbin_error err = {0};
	struct bobbin_cfi_view view;

	f.hdr.size = 0;
	assert_int_equal(open_file(&f, &view, &err), -ENODATA);
	assert_int_equal(err.reason, BOBBIN_REASON_CFI_HEADER);
	assert_all_found(&view);
}

static void assert_insane(const struct file *f)
{
	struct bobbin_error err = {UINT64_MAX, BOBBIN_REASON_NONE};
	struct bobbin_cfi_view view;

	assert_int_equal(open_file(f, &view, &err), -EBADMSG);
	assert_int_equal(err.reason, BOBBIN_REASON_CFI_HEADER);
	assert_true(err.offset <= f->hdr.size);
	assert_int_equal(view.table_count, 0);
	assert_int_equal(view.table, 0);
	assert_all_found(&view);
}

static void a_header_with_a_wrong_byte_falls_back_to_scanning(void **state)
{
	static const struct {
		uint8_t at, value;
	} wrong[] = {
		{0, 2},                            /* version */
		{1, DW_EH_PE_omit},                /* no frame pointer */
		{1, 0x80 | 0x1b},                  /* it lies in memory */
		{1, DW_EH_PE_udata4},              /* it points elsewhere */
		{2, DW_EH_PE_omit},                /* no count */
		{2, 0x0f},                         /* unknown count */
		{3, DW_EH_PE_omit},                /* no table */
		{3, DW_EH_PE_pcrel | 0x0b},        /* no table that can be searched */
		{3, DW_EH_PE_datarel | 0x0c},      /* likewise */
		{4, 0x01},                         /* frame pointer */
		{8, 0},                            /* no entries */
		{8, FUNCTIONS + 1},                /* one too many */
		{11, 0xff},                        /* many too many */
		{TABLE + 3, 0x7f},                 /* first start after all others */
		{TABLE + 8 * FUNCTIONS - 1, 0x7f}, /* last FDE outside */
		{TABLE + 7, 0x80},                 /* first FDE before the section */
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct file f = make_file(bobbin_arch_amd64());

		f.hdr.data[wrong[i].at] = wrong[i].value;
		assert_insane(&f);
	}
}

static void a_cut_header_falls_back_to_scanning(void **state)
{
	struct file f = make_file(bobbin_arch_amd64());

	for (f.hdr.size--; f.hdr.size; f.hdr.size--)
		assert_insane(&f);
}

static void unsorted_pairs_fall_back_to_scanning(void **state)
{
	struct file f;

	make_frame(&f, bobbin_arch_amd64());
	begin_header(&f, FUNCTIONS);
	for (unsigned int i = FUNCTIONS; i-- > 0;)
		put_pair(&f, function_start(i), f.fde[i]);
	assert_insane(&f);
}

static void a_pair_that_points_to_no_fde_is_refused(void **state)
{
	struct bobbin_error err = {0};
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	struct file f;

	make_frame(&f, bobbin_arch_amd64());
	begin_header(&f, 2);
	put_pair(&f, function_start(0), 0); /* the CIE */
	put_pair(&f, function_start(1), f.fde[1] + 1);
	assert_int_equal(open_file(&f, &view, NULL), 0);
	assert_int_equal(bobbin_cfi_find(&view, function_start(0), &err, &fde), -EBADMSG);
	assert_int_equal(err.reason, BOBBIN_REASON_CFI_HEADER);
	assert_int_equal(bobbin_cfi_find(&view, function_start(1), &err, &fde), -EBADMSG);
	assert_int_not_equal(err.reason, BOBBIN_REASON_NONE);
}

static void empty_functions_do_not_hide_real_ones(void **state)
{
	const struct cfi_cie cie = {0};

	for (unsigned int real = 0; real < 5; real++) {
		struct bobbin_cfi_view view;
		struct bobbin_cfi_fde fde;
		struct file f;
		uint64_t at;

		cfi_section_init(&f.frame, bobbin_arch_amd64());
		at = put_cie(&f.frame, &cie);
		for (unsigned int i = 0; i < 5; i++)
			f.fde[i] = put_fde_of(&f.frame, &cie, at, TEXT, i == real ? 16 : 0,
					      NO_BYTES);
		begin_header(&f, 5);
		for (unsigned int i = 0; i < 5; i++)
			put_pair(&f, TEXT, f.fde[i]);
		assert_int_equal(open_file(&f, &view, NULL), 0);
		assert_int_equal(bobbin_cfi_find(&view, TEXT + 15, NULL, &fde), 0);
		assert_int_equal(bobbin_cfi_find(&view, TEXT + 16, NULL, &fde), -ENOENT);
	}
}

/* BOLT's table has one pair for each address, and that may be the empty function's. */
static void a_real_function_after_an_empty_one_is_found(void **state)
{
	const struct cfi_cie cie = {0};
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	struct file f;
	uint64_t at;

	cfi_section_init(&f.frame, bobbin_arch_amd64());
	at = put_cie(&f.frame, &cie);
	f.fde[0] = put_fde_of(&f.frame, &cie, at, TEXT, 0, NO_BYTES);
	f.fde[1] = put_fde_of(&f.frame, &cie, at, TEXT, 16, NO_BYTES);
	begin_header(&f, 1);
	put_pair(&f, TEXT, f.fde[0]);
	assert_int_equal(open_file(&f, &view, NULL), 0);
	assert_int_equal(bobbin_cfi_find(&view, TEXT + 1, NULL, &fde), 0);
	assert_true(fde.offset == f.fde[1]);
	assert_int_equal(bobbin_cfi_find(&view, TEXT + 16, NULL, &fde), -ENOENT);
}

/* Open a file with functions of these ranges, with a table or without. */
static void open_ranges(struct file *f, const struct bobbin_range *ranges, unsigned int count,
			bool table, struct bobbin_cfi_view *ret)
{
	const struct cfi_cie cie = {0};
	uint64_t at;

	cfi_section_init(&f->frame, bobbin_arch_amd64());
	at = put_cie(&f->frame, &cie);
	begin_header(f, count);
	for (unsigned int i = 0; i < count; i++) {
		f->fde[i] = put_fde_of(&f->frame, &cie, at, TEXT + ranges[i].start,
				       ranges[i].end - ranges[i].start, NO_BYTES);
		put_pair(f, TEXT + ranges[i].start, f->fde[i]);
	}
	if (!table)
		f->hdr.size = 0;
	assert_int_equal(open_file(f, ret, NULL), table ? 0 : -ENODATA);
}

/* @wanted: for each 16 bytes, which function is live there; '-' none. */
static void assert_live(const struct bobbin_range *ranges, unsigned int count,
			const struct bobbin_range *code, size_t code_count, const char *wanted)
{
	for (int table = 0; table < 2; table++) {
		struct bobbin_cfi_view view;
		struct bobbin_cfi_fde fde;
		struct file f;

		open_ranges(&f, ranges, count, table, &view);
		view.code = code;
		view.code_count = code_count;
		for (size_t i = 0; wanted[i]; i++) {
			int r = bobbin_cfi_find(&view, TEXT + 16 * i + 8, NULL, &fde);

			assert_int_equal(r, wanted[i] == '-' ? -ENOENT : 0);
			if (!r)
				assert_int_equal(fde.offset, f.fde[wanted[i] - '0']);
		}
	}
}

static void functions_outside_of_code_are_not_found(void **state)
{
	const struct bobbin_range code = {TEXT + 0x20, TEXT + 0x60};
	const struct bobbin_range ranges[] = {{0, 0x40}, {0x20, 0x30}, {0x50, 0x60}, {0x58, 0x80}};

	assert_live(ranges, 4, &code, 1, "--1--2--");
}

static void functions_in_which_others_start_are_not_found(void **state)
{
	const struct bobbin_range ranges[] = {{0, 0x30}, {0x20, 0x60}, {0x50, 0x70}};

	assert_live(ranges, 3, NULL, 0, "-----22-");
}

static void empty_functions_inside_others_do_not_hide_them(void **state)
{
	const struct bobbin_range ranges[] = {{0, 0x30}, {0x10, 0x10}, {0x20, 0x20}, {0x30, 0x40}};

	assert_live(ranges, 4, NULL, 0, "0003");
}

static void of_functions_with_one_start_the_longest_that_ends_in_time_is_found(void **state)
{
	const struct bobbin_range ranges[] = {{0, 0x20}, {0, 0x80},    {0, 0x40},
					      {0, 0x10}, {0x40, 0x60}, {0x40, 0x60}};

	assert_live(ranges, 6, NULL, 0, "222255--");
}

static void scanning_goes_on_after_malformed_entries(void **state)
{
	struct bobbin_cfi_view view;
	struct bobbin_cfi_fde fde;
	struct cfi_section s;
	uint64_t at;

	cfi_section_init(&s, bobbin_arch_amd64());
	at = put_fde(&s, TEXT, 16, NO_BYTES);
	s.data[at + 5] = 0x7f; /* the CIE lies before the section */
	put_fde(&s, TEXT + 16, 16, NO_BYTES);
	view = cfi_section_view(&s);
	assert_int_equal(bobbin_cfi_find(&view, TEXT, NULL, &fde), -ENOENT);
	assert_int_equal(bobbin_cfi_find(&view, TEXT + 16, NULL, &fde), 0);
}

static void a_failed_look_up_leaves_its_results_alone(void **state)
{
	struct file f = make_file(bobbin_arch_amd64());
	struct bobbin_cfi_fde fde, fde_before;
	struct bobbin_row row, row_before;
	struct bobbin_cfi_rows rows;
	struct bobbin_cfi_view view;

	assert_int_equal(open_file(&f, &view, NULL), 0);
	memset(&fde, 0xa5, sizeof(fde));
	memset(&row, 0xa5, sizeof(row));
	memcpy(&fde_before, &fde, sizeof(fde));
	memcpy(&row_before, &row, sizeof(row));
	assert_int_equal(bobbin_cfi_find(&view, TEXT + 0x30, NULL, &fde), -ENOENT);
	assert_int_equal(bobbin_cfi_lookup(&view, TEXT + 0x30, &rows, NULL, &row), -ENOENT);
	assert_int_equal(bobbin_cfi_lookup(&view, 0, &rows, NULL, &row), -ENOENT);
	assert_memory_equal(&fde, &fde_before, sizeof(fde));
	assert_memory_equal(&row, &row_before, sizeof(row));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sane_table_is_searched),
		cmocka_unit_test(a_sane_table_is_believed),
		cmocka_unit_test(without_a_header_functions_are_scanned),
		cmocka_unit_test(a_header_with_a_wrong_byte_falls_back_to_scanning),
		cmocka_unit_test(a_cut_header_falls_back_to_scanning),
		cmocka_unit_test(unsorted_pairs_fall_back_to_scanning),
		cmocka_unit_test(a_pair_that_points_to_no_fde_is_refused),
		cmocka_unit_test(empty_functions_do_not_hide_real_ones),
		cmocka_unit_test(a_real_function_after_an_empty_one_is_found),
		cmocka_unit_test(functions_outside_of_code_are_not_found),
		cmocka_unit_test(functions_in_which_others_start_are_not_found),
		cmocka_unit_test(empty_functions_inside_others_do_not_hide_them),
		cmocka_unit_test(
			of_functions_with_one_start_the_longest_that_ends_in_time_is_found),
		cmocka_unit_test(scanning_goes_on_after_malformed_entries),
		cmocka_unit_test(a_failed_look_up_leaves_its_results_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
