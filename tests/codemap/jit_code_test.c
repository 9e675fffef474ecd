/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sections of their own for pieces of code, as the process's map has them. */
#include <bobbin/jit.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/native_arch.h"
#include "codemap/own_registry.h"

#define PIECE 64
#define PIECES 512
#define TEXT_SIZE (PIECE * PIECES)

static uint8_t *text;

static int map_text(void **state)
{
	(void)state;
	text = mmap(NULL, TEXT_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return text == MAP_FAILED;
}

static int unmap_text(void **state)
{
	(void)state;
	return munmap(text, TEXT_SIZE);
}

static struct bobbin_rule rule_of(unsigned int piece)
{
	return bobbin_jit_rule_sp(native_arch(), 160 + 16 * (int32_t)piece, -24, 0);
}

/* A function of one row at a place in the text. */
static int open_piece(unsigned int piece, struct bobbin_jit_code **ret)
{
	const struct bobbin_sframe_row row = {0, rule_of(piece)};
	const struct bobbin_sframe_function function = {
		.start = (uintptr_t)text + piece * PIECE, .size = PIECE, .rows = &row, .count = 1};

	return bobbin_jit_code_open(native_arch(), &function, 1, ret);
}

/* What a walk would find. */
static int look(uint64_t pc, struct bobbin_row *ret)
{
	struct code_map *map = registry_map(own_registry());
	struct reader_epochs *readers = code_map_readers(map);
	unsigned int token = read_enter(readers);
	const struct code *code = code_map_find(map, pc, NULL);
	int status = code ? bobbin_sframe_lookup(&code->sframe, pc, NULL, ret) : -ENOENT;

	read_leave(readers, token);
	return status;
}

static void assert_found(unsigned int piece)
{
	const struct bobbin_rule rule = rule_of(piece);
	const uint64_t start = (uintptr_t)text + piece * PIECE;
	struct bobbin_row row;

	assert_int_equal(look(start + PIECE - 1, &row), 0);
	assert_int_equal(row.start, start);
	assert_int_equal(row.end, start + PIECE);
	assert_true(bobbin_rule_equal(&row.rule, &rule));
}

static void a_piece_is_found_until_it_is_closed(void **state)
{
	struct bobbin_jit_code *code;
	struct bobbin_row row;

	(void)state;
	assert_int_equal(open_piece(3, &code), 0);
	assert_found(3);
	assert_int_equal(look((uintptr_t)text + 2 * PIECE, &row), -ENOENT);
	assert_int_equal(look((uintptr_t)text + 4 * PIECE, &row), -ENOENT);
	assert_int_equal(bobbin_jit_code_close(code), 0);
	assert_int_equal(look((uintptr_t)text + 3 * PIECE, &row), -ENOENT);
	assert_int_equal(bobbin_jit_code_close(NULL), 0);
}

static void pieces_come_and_go_in_any_order(void **state)
{
	struct bobbin_jit_code *codes[PIECES] = {NULL};
	struct bobbin_row row;

	(void)state;
	srand(1);
	for (unsigned int i = 0; i < 4 * PIECES; i++) {
		unsigned int piece = (unsigned int)rand() % PIECES;

		if (codes[piece]) {
			assert_int_equal(bobbin_jit_code_close(codes[piece]), 0);
			codes[piece] = NULL;
			assert_int_equal(look((uintptr_t)text + piece * PIECE, &row), -ENOENT);
		} else {
			assert_int_equal(open_piece(piece, &codes[piece]), 0);
			assert_found(piece);
		}
	}
	for (unsigned int i = 0; i < PIECES; i++) {
		if (codes[i])
			assert_found(i);
		assert_int_equal(bobbin_jit_code_close(codes[i]), 0);
	}
}

static void several_functions_share_a_section(void **state)
{
	const struct bobbin_sframe_row rows[] = {{0, rule_of(1)}, {8, rule_of(2)}};
	const struct bobbin_sframe_function functions[] = {
		{.start = (uintptr_t)text + 100, .size = 28, .rows = rows, .count = 2},
		{.start = (uintptr_t)text, .size = 50, .rows = rows, .count = 2},
		{.start = (uintptr_t)text + 50, .size = 20},
	};
	struct bobbin_jit_code *code;
	struct bobbin_row row;

	(void)state;
	assert_int_equal(bobbin_jit_code_open(native_arch(), functions, 3, &code), 0);
	assert_int_equal(look((uintptr_t)text + 120, &row), 0);
	assert_int_equal(row.start, (uintptr_t)text + 108);
	assert_int_equal(look((uintptr_t)text + 7, &row), 0);
	assert_int_equal(row.end, (uintptr_t)text + 8);
	assert_int_equal(look((uintptr_t)text + 60, &row), 0);
	assert_int_equal(row.rule.ra.how, BOBBIN_HOW_UNDEFINED);
	assert_int_equal(look((uintptr_t)text + 80, &row), -ENOENT);
	assert_int_equal(bobbin_jit_code_close(code), 0);
}

static void bad_functions_are_refused(void **state)
{
	struct bobbin_rule unknown = rule_of(0);
	struct bobbin_sframe_row row = {0, rule_of(0)};
	struct bobbin_sframe_function function = {
		.start = (uintptr_t)text, .size = 0, .rows = &row, .count = 1};
	struct bobbin_jit_code *code = NULL;

	(void)state;
	assert_int_equal(bobbin_jit_code_open(native_arch(), &function, 0, &code), -EINVAL);
	assert_int_equal(bobbin_jit_code_open(native_arch(), &function, 1, &code), -EINVAL);
	function.size = 16;
	function.start = UINT64_MAX - 3;
	assert_int_equal(bobbin_jit_code_open(native_arch(), &function, 1, &code), -EINVAL);
	function.start = (uintptr_t)text;
	row.start = 16;
	assert_int_equal(bobbin_jit_code_open(native_arch(), &function, 1, &code), -EINVAL);
	unknown.index = 3;
	row = (struct bobbin_sframe_row){0, unknown};
	assert_int_equal(bobbin_jit_code_open(native_arch(), &function, 1, &code), -ERANGE);
	assert_null(code);
}

static void pieces_do_not_overlap(void **state)
{
	struct bobbin_jit_code *code, *twin = NULL;

	(void)state;
	assert_int_equal(open_piece(0, &code), 0);
	assert_int_equal(open_piece(0, &twin), -EEXIST);
	assert_null(twin);
	assert_int_equal(bobbin_jit_code_close(code), 0);
}

/* In a child: its copy of a piece goes without its parent's. */
static int close_in_child(struct bobbin_jit_code *code)
{
	struct bobbin_row row;
	struct bobbin_jit_code *other;

	if (look((uintptr_t)text, &row) || bobbin_jit_code_close(code))
		return 1;
	return look((uintptr_t)text, &row) != -ENOENT || open_piece(1, &other);
}

static void a_forked_child_has_pieces_of_its_own(void **state)
{
	struct bobbin_jit_code *code;
	struct bobbin_row row;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(open_piece(0, &code), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(close_in_child(code));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_found(0);
	assert_int_equal(look((uintptr_t)text + PIECE, &row), -ENOENT);
	assert_int_equal(bobbin_jit_code_close(code), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, map_text, unmap_text)
		TEST(a_piece_is_found_until_it_is_closed),
		TEST(pieces_come_and_go_in_any_order),
		TEST(several_functions_share_a_section),
		TEST(bad_functions_are_refused),
		TEST(pieces_do_not_overlap),
		TEST(a_forked_child_has_pieces_of_its_own),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
