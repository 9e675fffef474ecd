/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that is registered by its .eh_frame bytes, as walks find it.
 */
#include <bobbin/frames.h>

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "codemap/own_registry.h"
#include "conversion.h"
#include "placed_frames.h"

#define NOTHING NO_BYTES

static struct cfi_section s;

static int set_up(void **state)
{
	cfi_section_init(&s, bobbin_arch_amd64());
	return 0;
}

/* The map's row for an address, as in row_text(), or why there is none. */
static void assert_row(uint64_t pc, const char *wanted)
{
	struct code_map *map = registry_map(own_registry());
	unsigned int token = read_enter(code_map_readers(map));
	struct code *code = code_map_find(map, pc, NULL);
	char text[256] = "no code";
	struct bobbin_row row;

	if (code && bobbin_sframe_lookup(&code->sframe, pc, NULL, &row))
		strcpy(text, "no row");
	else if (code)
		row_text(text, sizeof(text), &row, 0);
	read_leave(code_map_readers(map), token);
	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, wanted);
}

static size_t ranges(void)
{
	struct code_range range = {0};
	size_t count = 0;

	while (code_map_next(registry_map(own_registry()), range.end, &range))
		count++;
	return count;
}

static struct bobbin_frames_result registered(const void *begin)
{
	struct bobbin_frames_result result;

	assert_int_equal(bobbin_frames_register(begin, &result), 0);
	return result;
}

static void functions_are_found_by_their_addresses(void **state)
{
	struct bobbin_frames_result result;
	void *begin;

	put_fde(&s, TEXT, 64, BYTES(ADVANCE(1), CFA_OFFSET(16)));
	put_fde(&s, TEXT + 64, 32, BYTES(ADVANCE(4), CFA_OFFSET(48)));
	begin = place(&s);
	result = registered(begin);
	assert_int_equal(result.functions, 2);
	assert_int_equal(result.rows, 4);
	assert_int_equal(result.lost_functions, 0);
	assert_int_equal(result.lost_rows, 0);
	assert_int_equal(result.cut, 0);
	assert_row(TEXT - 1, "no code");
	assert_row(TEXT, "401000 r7+8 c-8 same");
	assert_row(TEXT + 63, "401001 r7+16 c-8 same");
	assert_row(TEXT + 64, "401040 r7+8 c-8 same");
	assert_row(TEXT + 95, "401044 r7+48 c-8 same");
	assert_row(TEXT + 96, "no code");
	assert_int_equal(ranges(), 1);
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void what_was_taken_back_is_found_no_more(void **state)
{
	void *begin;

	put_fde(&s, TEXT, 64, NOTHING);
	begin = place(&s);
	registered(begin);
	assert_int_equal(bobbin_frames_unregister(begin), 0);
	assert_row(TEXT, "no code");
	assert_int_equal(ranges(), 0);
	assert_int_equal(bobbin_frames_unregister(begin), -ENOENT);
	registered(begin);
	assert_row(TEXT, "401000 r7+8 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void the_bytes_are_not_needed_after_the_call(void **state)
{
	void *begin;

	put_fde(&s, TEXT, 64, BYTES(CFA_OFFSET(32)));
	begin = place(&s);
	registered(begin);
	memset(begin, 0xff, s.size);
	assert_row(TEXT, "401000 r7+32 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void code_of_others_between_functions_stays_theirs(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_absptr};
	struct cfi_section others;
	void *begin, *between;

	put_fde(&s, TEXT, 64, NOTHING);
	put_fde(&s, TEXT + 0x80, 64, NOTHING);
	begin = place(&s);
	registered(begin);
	assert_int_equal(ranges(), 2);
	assert_row(TEXT + 64, "no code");
	assert_row(TEXT + 0x7f, "no code");
	assert_row(TEXT + 0x80, "401080 r7+8 c-8 same");

	cfi_section_init(&others, bobbin_arch_amd64());
	put_fde_of(&others, &cie, put_cie(&others, &cie), TEXT + 64, 64, BYTES(CFA_OFFSET(24)));
	between = place_further(&others);
	registered(between);
	assert_row(TEXT + 63, "401000 r7+8 c-8 same");
	assert_row(TEXT + 64, "401040 r7+24 c-8 same");
	assert_row(TEXT + 0x80, "401080 r7+8 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
	assert_row(TEXT, "no code");
	assert_row(TEXT + 64, "401040 r7+24 c-8 same");
	assert_int_equal(bobbin_frames_unregister(between), 0);
}

static void only_alignment_joins_functions(void **state)
{
	void *begin;

	put_fde(&s, TEXT, 50, NOTHING);      /* then 14 bytes up to */
	put_fde(&s, TEXT + 64, 40, NOTHING); /* then 8 up to one that is not aligned */
	put_fde(&s, TEXT + 112 - 4, 4, NOTHING);
	begin = place(&s);
	registered(begin);
	assert_int_equal(ranges(), 2);
	assert_row(TEXT + 50, "no row");
	assert_row(TEXT + 105, "no code");
	assert_row(TEXT + 108, "40106c r7+8 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void functions_in_any_order_are_found(void **state)
{
	void *begin;

	put_fde(&s, TEXT + 128, 64, BYTES(CFA_OFFSET(24)));
	put_fde(&s, TEXT, 64, NOTHING);
	put_fde(&s, TEXT + 64, 64, BYTES(CFA_OFFSET(16)));
	begin = place(&s);
	registered(begin);
	assert_int_equal(ranges(), 1);
	assert_row(TEXT + 1, "401000 r7+8 c-8 same");
	assert_row(TEXT + 65, "401040 r7+16 c-8 same");
	assert_row(TEXT + 129, "401080 r7+24 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void addresses_of_all_encodings_are_understood(void **state)
{
	static const uint8_t encodings[] = {
		DW_EH_PE_absptr,
		DW_EH_PE_udata4,
		DW_EH_PE_udata8,
		DW_EH_PE_sdata4,
		DW_EH_PE_sdata8,
		DW_EH_PE_uleb128,
		DW_EH_PE_pcrel | DW_EH_PE_absptr,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_EH_PE_pcrel | DW_EH_PE_sdata8,
	};

	for (unsigned int i = 0; i < sizeof(encodings); i++) {
		const struct cfi_cie cie = {.augmentation = "zR", .encoding = encodings[i]};
		void *begin;

		cfi_section_init(&s, bobbin_arch_amd64());
		put_fde_of(&s, &cie, put_cie(&s, &cie), TEXT, 64, NOTHING);
		begin = place(&s);
		assert_int_equal(registered(begin).lost_functions, 0);
		assert_row(TEXT + 63, "401000 r7+8 c-8 same");
		assert_row(TEXT + 64, "no code");
		assert_int_equal(bobbin_frames_unregister(begin), 0);
	}
}

static void code_may_be_far_from_everything(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_absptr};
	const uint64_t low = 0x10000, high = 0x7ff000000000;
	void *begin;

	put_fde_of(&s, &cie, put_cie(&s, &cie), low, 64, NOTHING);
	put_fde_of(&s, &cie, put_cie(&s, &cie), high, 64, BYTES(CFA_OFFSET(16)));
	begin = place(&s);
	registered(begin);
	assert_row(low + 5, "10000 r7+8 c-8 same");
	assert_row(high + 5, "7ff000000000 r7+16 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void a_section_without_terminator_at_the_end_of_memory_is_registered(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_absptr};
	uint64_t at = put_cie(&s, &cie);
	struct bobbin_frames_result result;
	void *begin;

	put_fde_of(&s, &cie, at, TEXT, 64, NOTHING);
	put_fde_of(&s, &cie, at, TEXT + 64, 64, BYTES(CFA_OFFSET(16)));
	begin = place_at_end(&s);
	result = registered(begin);
	assert_int_equal(result.cut, 1);
	assert_int_equal(result.functions, 2);
	assert_row(TEXT + 127, "401040 r7+16 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void an_fde_alone_is_registered_alone(void **state)
{
	const struct cfi_cie cie = {0};
	uint64_t at = put_cie(&s, &cie), first, second;
	uint8_t *begin;

	first = put_fde_of(&s, &cie, at, TEXT, 64, NOTHING);
	second = put_fde_of(&s, &cie, at, TEXT + 64, 64, BYTES(CFA_OFFSET(16)));
	begin = place(&s);
	assert_int_equal(registered(begin + second).functions, 1);
	assert_row(TEXT, "no code");
	assert_row(TEXT + 64, "401040 r7+16 c-8 same");
	assert_int_equal(registered(begin + first).functions, 1);
	assert_row(TEXT, "401000 r7+8 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin + second), 0);
	assert_row(TEXT + 64, "no code");
	assert_int_equal(bobbin_frames_unregister(begin + first), 0);
}

static void what_sframe_cannot_express_is_left_out_and_counted(void **state)
{
	struct bobbin_frames_result result;
	void *begin;

	put_fde(&s, TEXT, 64,
		BYTES(ADVANCE(8), INEXPRESSIBLE, ADVANCE(4), DW_CFA_same_value, 6, CFA_OFFSET(16)));
	begin = place(&s);
	result = registered(begin);
	assert_int_equal(result.rows, 3);
	assert_int_equal(result.lost_rows, 1);
	assert_int_equal(result.lost_functions, 0);
	assert_row(TEXT, "401000 r7+8 c-8 same");
	assert_row(TEXT + 8, "no row");
	assert_row(TEXT + 12, "40100c r7+16 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void malformed_functions_do_not_cost_the_others(void **state)
{
	struct bobbin_frames_result result;
	void *begin;

	put_fde(&s, TEXT, 64, BYTES(DW_CFA_restore_state));
	put_fde(&s, TEXT + 64, 64, NOTHING);
	begin = place(&s);
	result = registered(begin);
	assert_int_equal(result.lost_functions, 1);
	assert_int_equal(result.lost_rows, 1);
	assert_row(TEXT + 64, "401040 r7+8 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

/*
 * Functions that are too large are left out, which uncovers others of the same start,
 * which are lost themselves.
 */
static void no_more_functions_are_lost_than_there_are(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_absptr};
	const uint64_t starts[] = {0x10000, 0x1000000000}, far = 0x7ff000000000;
	uint64_t at = put_cie(&s, &cie);
	struct bobbin_frames_result result;
	void *begin;

	for (unsigned int i = 0; i < 2; i++) {
		put_fde_of(&s, &cie, at, starts[i], 64, BYTES(DW_CFA_restore_state));
		put_fde_of(&s, &cie, at, starts[i], 1ull << 33, NOTHING);
	}
	put_fde_of(&s, &cie, at, far, 64, NOTHING);
	begin = place(&s);
	result = registered(begin);
	assert_int_equal(result.functions, 5);
	assert_int_equal(result.lost_functions, 4);
	assert_row(far, "7ff000000000 r7+8 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

/* By another door, with the address that would be the key. */
static void what_others_registered_is_not_taken_back(void **state)
{
	struct code_elf_info info = {0};
	struct code_match match = {0};
	struct registry *registry;
	void *begin;

	assert_int_equal(own_registry_open(&registry), 0);
	info.text_start = (uintptr_t)functions_are_found_by_their_addresses;
	info.text_end = info.text_start + 1;
	assert_int_equal(bobbin_codectl(CODE_REGISTER_ELF, &info, sizeof(info), 0, NULL), 0);
	assert_int_equal(bobbin_frames_unregister((void *)info.text_start), -ENOENT);
	assert_int_equal(ranges(), 1);
	assert_int_equal(bobbin_codectl(CODE_UNREGISTER, &info, sizeof(info), 0, NULL), 0);

	put_fde(&s, TEXT, 64, NOTHING);
	begin = place(&s);
	registered(begin);
	match.key = (uintptr_t)begin;
	assert_int_equal(registry_unregister(registry, &match), -ENOENT);
	assert_row(TEXT, "401000 r7+8 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

/* Their files' own tables serve them. */
static void functions_of_loaded_files_are_passed_over(void **state)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_absptr};
	uint64_t at = put_cie(&s, &cie);
	void *begin;

	put_fde_of(&s, &cie, at, (uintptr_t)strlen, 16, NOTHING);
	put_fde_of(&s, &cie, at, (uintptr_t)functions_are_found_by_their_addresses, 16, NOTHING);
	begin = place(&s);
	assert_int_equal(bobbin_frames_register(begin, NULL), -ENODATA);
	put_fde_of(&s, &cie, at, TEXT, 16, NOTHING);
	begin = place(&s);
	assert_int_equal(registered(begin).lost_functions, 2);
	assert_int_equal(ranges(), 1);
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void nothing_is_not_registered(void **state)
{
	struct bobbin_frames_result result = {.rows = 99};
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_absptr};

	assert_int_equal(bobbin_frames_register(place(&s), &result), -ENODATA);
	put_cie(&s, &cie);
	assert_int_equal(bobbin_frames_register(place(&s), &result), -ENODATA);
	/* a function that a linker has dropped */
	put_fde_of(&s, &cie, 0, 0, 64, NOTHING);
	assert_int_equal(bobbin_frames_register(place(&s), &result), -ENODATA);
	assert_int_equal(bobbin_frames_register(NULL, &result), -EFAULT);
	assert_int_equal(result.rows, 99);
}

static void code_cannot_be_registered_twice(void **state)
{
	uint8_t *begin;

	put_fde(&s, TEXT, 64, NOTHING);
	begin = place(&s);
	registered(begin);
	assert_int_equal(bobbin_frames_register(begin, NULL), -EEXIST);
	assert_row(TEXT, "401000 r7+8 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static void sections_of_a_table_are_registered_together(void **state)
{
	struct bobbin_frames_result result;
	const void *table[4] = {0};
	uint64_t second;
	uint8_t *begin;

	put_fde(&s, TEXT, 64, NOTHING);
	put(&s, 0, 4);
	second = s.size;
	put_fde(&s, TEXT + 64, 64, BYTES(CFA_OFFSET(16)));
	put(&s, 0, 4);
	begin = place(&s);
	table[0] = begin;
	table[1] = begin + s.size; /* an empty one */
	table[2] = begin + second;
	assert_int_equal(bobbin_frames_register_table(table, &result), 0);
	assert_int_equal(result.functions, 2);
	assert_row(TEXT, "401000 r7+8 c-8 same");
	assert_row(TEXT + 64, "401040 r7+16 c-8 same");
	assert_int_equal(bobbin_frames_unregister(table), 0);
	assert_row(TEXT + 64, "no code");
	assert_int_equal(bobbin_frames_register_table(table + 3, NULL), -ENODATA);
	assert_int_equal(bobbin_frames_register_table(NULL, NULL), -EFAULT);
}

#define THREADS 4

/* Register code of the thread's own, find it, take it back. */
static void *come_and_go(void *ctx)
{
	const struct cfi_cie cie = {.augmentation = "zR", .encoding = DW_EH_PE_absptr};
	uint64_t start = TEXT + 0x10000 * *(unsigned int *)ctx;
	struct cfi_section own;
	char row[64];

	cfi_section_init(&own, bobbin_arch_amd64());
	put_fde_of(&own, &cie, put_cie(&own, &cie), start, 64, BYTES(CFA_OFFSET(16)));
	snprintf(row, sizeof(row), "%" PRIx64 " r7+16 c-8 same", start);
	for (unsigned int i = 0; i < 100; i++) {
		assert_int_equal(bobbin_frames_register(own.data, NULL), 0);
		assert_row(start + 5, row);
		assert_int_equal(bobbin_frames_unregister(own.data), 0);
		assert_row(start + 5, "no code");
	}
	return NULL;
}

static void threads_register_at_the_same_time(void **state)
{
	unsigned int numbers[THREADS];
	pthread_t threads[THREADS];

	for (unsigned int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &numbers[i]), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(ranges(), 0);
}

static void a_child_has_what_was_registered_and_a_map_of_its_own(void **state)
{
	unsigned int number = 1;
	int status = -1;
	void *begin;
	pid_t child;

	put_fde(&s, TEXT, 64, NOTHING);
	begin = place(&s);
	registered(begin);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		assert_row(TEXT, "401000 r7+8 c-8 same");
		come_and_go(&number);
		assert_int_equal(bobbin_frames_unregister(begin), 0);
		assert_row(TEXT, "no code");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_row(TEXT, "401000 r7+8 c-8 same");
	assert_int_equal(bobbin_frames_unregister(begin), 0);
}

static int open_all(void **state)
{
	struct registry *registry;

	return own_registry_open(&registry) ? -1 : place_open(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(functions_are_found_by_their_addresses, set_up),
		cmocka_unit_test_setup(what_was_taken_back_is_found_no_more, set_up),
		cmocka_unit_test_setup(the_bytes_are_not_needed_after_the_call, set_up),
		cmocka_unit_test_setup(code_of_others_between_functions_stays_theirs, set_up),
		cmocka_unit_test_setup(only_alignment_joins_functions, set_up),
		cmocka_unit_test_setup(functions_in_any_order_are_found, set_up),
		cmocka_unit_test_setup(addresses_of_all_encodings_are_understood, set_up),
		cmocka_unit_test_setup(code_may_be_far_from_everything, set_up),
		cmocka_unit_test_setup(
			a_section_without_terminator_at_the_end_of_memory_is_registered, set_up),
		cmocka_unit_test_setup(an_fde_alone_is_registered_alone, set_up),
		cmocka_unit_test_setup(what_sframe_cannot_express_is_left_out_and_counted, set_up),
		cmocka_unit_test_setup(malformed_functions_do_not_cost_the_others, set_up),
		cmocka_unit_test_setup(no_more_functions_are_lost_than_there_are, set_up),
		cmocka_unit_test_setup(what_others_registered_is_not_taken_back, set_up),
		cmocka_unit_test_setup(functions_of_loaded_files_are_passed_over, set_up),
		cmocka_unit_test_setup(nothing_is_not_registered, set_up),
		cmocka_unit_test_setup(code_cannot_be_registered_twice, set_up),
		cmocka_unit_test_setup(sections_of_a_table_are_registered_together, set_up),
		cmocka_unit_test_setup(threads_register_at_the_same_time, set_up),
		cmocka_unit_test_setup(a_child_has_what_was_registered_and_a_map_of_its_own,
				       set_up),
	};

	return cmocka_run_group_tests(tests, open_all, place_close);
}
