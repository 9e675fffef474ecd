/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Go's table of functions, as its linker writes it.
 */
#include "golang/pclntab.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TEXT 0x401000ull
#define NAMES 72
#define VALUES 256
#define FUNCTIONS 512
#define RECORDS (FUNCTIONS + 128)
#define RECORD 64
#define SIZE 2048

#define TOPFRAME 1
#define SPWRITE 2
#define ASSEMBLY 4

#define SP 7
#define FP 6

struct table {
	bool later; /* Go 1.20 */
	unsigned int count;
	uint32_t names, values;
	uint8_t bytes[SIZE];
};

static void store(struct table *t, unsigned int at, uint64_t value, unsigned int size)
{
	assert_true(at + size <= SIZE);
	for (unsigned int i = 0; i < size; i++)
		t->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static void begin(struct table *t, bool later)
{
	*t = (struct table){.later = later};
	store(t, 0, later ? 0xfffffff1 : 0xfffffff0, 4);
	store(t, 4, 0x08010000, 4);
	store(t, 24, TEXT, 8);
	store(t, 32, NAMES, 8);
	store(t, 56, VALUES, 8);
	store(t, 64, FUNCTIONS, 8);
	t->values = 1; /* 0 means none */
}

/* A function that ends at @end; @values: pairs of (zigzag difference, bytes), 0-terminated. */
static void add(struct table *t, uint32_t end, const char *name, const uint8_t *values,
		uint8_t flags)
{
	unsigned int entry = FUNCTIONS + t->count * 8, record = RECORDS + t->count * RECORD;
	size_t length = strlen((const char *)values) + 1;

	store(t, entry + 4, record - FUNCTIONS, 4);
	store(t, entry + 8, end, 4);
	store(t, record + 4, t->names, 4);
	store(t, record + 16, t->values, 4);
	store(t, record + (t->later ? 41 : 37), flags, 1);
	memcpy(t->bytes + NAMES + t->names, name, strlen(name) + 1);
	memcpy(t->bytes + VALUES + t->values, values, length);
	t->names += (uint32_t)strlen(name) + 1;
	t->values += (uint32_t)length;
	store(t, 8, ++t->count, 8);
}

static const uint8_t framed[] = {2, 4, 48, 20, 47, 1, 0}; /* 0, then 24 from 4 on, 0 at 24 */
static const uint8_t frameless[] = {2, 32, 0};
static const uint8_t pushing[] = {2, 10, 16, 20, 0};               /* 8 from 10 on */
static const uint8_t pushed[] = {2, 1, 16, 9, 32, 18, 47, 4, 0};   /* 0, 8, 24, 0 at 28 */
static const uint8_t recorded[] = {2, 4, 16, 9, 16, 10, 15, 9, 0}; /* 0, 8, 16, 8 */

/* Functions of 32 bytes, as they follow each other. */
enum {
	MAIN,
	LEAF,
	ASM,
	SYSTEMSTACK,
	MCALL,
	NANOTIME,
	GOEXIT,
	SIGTRAMP,
	SIGRETURN,
	COUNT
};

static void program(struct table *t, bool later)
{
	begin(t, later);
	add(t, 32, "main.main", framed, 0);
	add(t, 64, "main.leaf", frameless, 0);
	add(t, 96, "main.sum", framed, ASSEMBLY);
	add(t, 128, "runtime.systemstack", frameless, SPWRITE | ASSEMBLY);
	add(t, 160, "runtime.mcall", pushing, SPWRITE | ASSEMBLY);
	add(t, 192, "runtime.nanotime1", framed, SPWRITE | ASSEMBLY);
	add(t, 224, "runtime.goexit", frameless, TOPFRAME | ASSEMBLY);
	add(t, 256, "runtime.sigtramp", framed, TOPFRAME | ASSEMBLY);
	add(t, 288, "runtime.sigreturn__sigaction", frameless, ASSEMBLY);
}

static int lookup(const struct table *t, uint64_t offset, struct bobbin_row *row)
{
	struct pclntab table;
	struct bobbin_error error;

	assert_int_equal(pclntab_init(t->bytes, SIZE, 0, bobbin_arch_amd64(), &error, &table), 0);
	return pclntab_lookup(&table, bobbin_arch_amd64(), TEXT + offset, &error, row);
}

/* The rule at an offset from the start of a function. */
static struct bobbin_rule rule_at(const struct table *t, unsigned int function, uint64_t offset)
{
	struct bobbin_row row;

	assert_int_equal(lookup(t, function * 32 + offset, &row), 0);
	assert_true(row.start <= TEXT + function * 32 + offset);
	assert_true(row.end > TEXT + function * 32 + offset);
	return row.rule;
}

static void assert_measured(struct bobbin_rule rule, uint8_t reg, int32_t cfa, bool saved)
{
	assert_int_equal(rule.cfa.how, BOBBIN_HOW_AT_REG);
	assert_int_equal(rule.cfa.reg, reg);
	assert_int_equal(rule.cfa.off, cfa);
	assert_int_equal(rule.ra.how, BOBBIN_HOW_IN_CFA_MEM);
	assert_int_equal(rule.ra.off, -8);
	assert_int_equal(rule.fp.how, saved ? BOBBIN_HOW_IN_CFA_MEM : BOBBIN_HOW_SAME);
	assert_int_equal(rule.fp.off, saved ? -16 : 0);
}

static void a_frame_is_measured_from_the_stack_pointer(void **state)
{
	struct table t;

	for (int later = 0; later < 2; later++) {
		program(&t, later);
		assert_measured(rule_at(&t, MAIN, 3), SP, 8, false);
		assert_measured(rule_at(&t, MAIN, 4), SP, 32, true);
		assert_measured(rule_at(&t, MAIN, 23), SP, 32, true);
		assert_measured(rule_at(&t, MAIN, 24), SP, 8, false);
		assert_measured(rule_at(&t, LEAF, 31), SP, 8, false);
	}
}

static void assembly_is_not_believed_to_save_the_frame_pointer(void **state)
{
	struct table t;

	program(&t, false);
	assert_measured(rule_at(&t, ASM, 10), SP, 32, false);
}

static void what_follows_a_function_is_in_none(void **state)
{
	struct bobbin_row row = {.start = 5};
	struct table t;

	program(&t, false);
	assert_int_equal(lookup(&t, 25, &row), -ENOENT);
	assert_int_equal(lookup(&t, COUNT * 32, &row), -ENOENT);
	assert_int_equal(lookup(&t, (uint64_t)-1, &row), -ENOENT);
	assert_int_equal(row.start, 5);
}

static void assert_switched(struct bobbin_rule rule)
{
	assert_int_equal(rule.cfa.how, BOBBIN_HOW_NO_RULE);
	assert_int_equal(rule.reason, BOBBIN_REASON_OTHER_STACK);
}

static void a_switch_of_stacks_is_said_to_be_one(void **state)
{
	struct table t;

	program(&t, true);
	assert_switched(rule_at(&t, SYSTEMSTACK, 20));
	assert_switched(rule_at(&t, MCALL, 5));
}

/* The call that never returns is where its argument has been pushed. */
static void who_has_left_for_the_scheduler_has_no_caller(void **state)
{
	struct table t;

	program(&t, true);
	for (unsigned int offset = 10; offset < 30; offset++)
		assert_int_equal(rule_at(&t, MCALL, offset).ra.how, BOBBIN_HOW_UNDEFINED);
	/* since Go 1.21 the frame pointer is pushed before it */
	begin(&t, true);
	add(&t, 32, "runtime.mcall", recorded, SPWRITE | ASSEMBLY);
	assert_switched(rule_at(&t, 0, 3));
	assert_switched(rule_at(&t, 0, 9));
	assert_int_equal(rule_at(&t, 0, 14).ra.how, BOBBIN_HOW_UNDEFINED);
	assert_switched(rule_at(&t, 0, 30));
}

struct rows {
	struct table *table;
	uint64_t next; /* offset of the next row */
};

static int compare_row(void *ctx, const struct bobbin_row *row)
{
	struct rows *rows = ctx;

	assert_int_equal(row->start, TEXT + rows->next);
	assert_true(row->end > row->start);
	for (; rows->next < row->end - TEXT; rows->next++) {
		struct bobbin_row found;

		if (lookup(rows->table, rows->next, &found)) {
			assert_int_equal(row->rule.cfa.how, BOBBIN_HOW_NO_RULE);
			assert_int_equal(row->rule.reason, BOBBIN_REASON_NO_ROW);
			continue;
		}
		assert_true(bobbin_rule_equal(&row->rule, &found.rule));
		assert_int_equal(row->function, found.function);
	}
	return 0;
}

static void rows_say_what_lookups_say(void **state)
{
	struct table t;
	struct rows rows = {.table = &t};
	struct bobbin_error error;
	struct pclntab table;

	program(&t, true);
	assert_int_equal(pclntab_init(t.bytes, SIZE, 0, bobbin_arch_amd64(), &error, &table), 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		assert_int_equal(pclntab_rows(&table, bobbin_arch_amd64(), i, compare_row, &rows),
				 0);
		assert_int_equal(rows.next, 32 * (i + 1));
	}
}

static void functions_in_no_order_have_no_rows(void **state)
{
	struct table t;
	struct rows rows = {.table = &t};
	struct bobbin_error error;
	struct pclntab table;

	program(&t, true);
	store(&t, FUNCTIONS + 8, 64, 4);
	store(&t, FUNCTIONS + 16, 32, 4);
	assert_int_equal(pclntab_init(t.bytes, SIZE, 0, bobbin_arch_amd64(), &error, &table), 0);
	assert_int_equal(pclntab_rows(&table, bobbin_arch_amd64(), 1, compare_row, &rows),
			 -EBADMSG);
	assert_int_equal(rows.next, 0);
}

static void a_frame_pointer_leads_across_a_switch(void **state)
{
	struct bobbin_rule rule;
	struct table t;

	program(&t, true);
	assert_measured(rule_at(&t, NANOTIME, 0), SP, 8, false);
	/* sub, mov, lea */
	assert_measured(rule_at(&t, NANOTIME, 4), SP, 32, false);
	assert_measured(rule_at(&t, NANOTIME, 13), SP, 32, false);
	rule = rule_at(&t, NANOTIME, 14);
	assert_measured(rule, FP, 16, true);
	assert_int_equal(rule.flags, BOBBIN_RULE_SWITCH);
}

/* Since Go 1.21: push, mov; what is taken from the stack pointer later may be of another stack. */
static void a_frame_pointer_that_was_pushed_does_so_too(void **state)
{
	struct bobbin_rule rule;
	struct table t;

	begin(&t, true);
	add(&t, 32, "runtime.asmcgocall.abi0", pushed, SPWRITE | ASSEMBLY);
	assert_measured(rule_at(&t, 0, 0), SP, 8, false);
	assert_measured(rule_at(&t, 0, 1), SP, 16, false);
	assert_measured(rule_at(&t, 0, 3), SP, 16, false);
	for (unsigned int offset = 4; offset < 28; offset++) {
		rule = rule_at(&t, 0, offset);
		assert_measured(rule, FP, 16, true);
		assert_int_equal(rule.flags, BOBBIN_RULE_SWITCH);
	}
	assert_measured(rule_at(&t, 0, 28), SP, 8, false);
}

/* Before, asmcgocall() pushed nothing: the frame pointer of what it calls on another stack is cgocall()'s. */
static void before_the_caller_of_c_is_measured_from_its_frame(void **state)
{
	struct bobbin_error error;
	struct pclntab table;
	struct bobbin_row row;
	struct table t;

	begin(&t, false);
	add(&t, 32, "runtime.cgocallback", recorded, 0);
	add(&t, 64, "runtime.cgocall", framed, 0);
	add(&t, 96, "runtime.asmcgocall.abi0", frameless, SPWRITE | ASSEMBLY);
	add(&t, 128, "runtime.other", frameless, SPWRITE | ASSEMBLY);
	assert_int_equal(pclntab_init(t.bytes, SIZE, 0, bobbin_arch_amd64(), &error, &table), 0);
	pclntab_note_c_call(&table, TEXT + 64 + 20);
	assert_int_equal(table.c_returns, TEXT + 64 + 20);
	for (unsigned int offset = 64; offset < 128; offset++) {
		assert_int_equal(
			pclntab_lookup(&table, bobbin_arch_amd64(), TEXT + offset, &error, &row),
			0);
		if (TEXT + offset != table.c_returns - 1) {
			assert_switched(row.rule);
			continue;
		}
		assert_measured(row.rule, FP, 8 - 24, false);
		assert_int_equal(row.rule.flags, BOBBIN_RULE_SWITCH);
		assert_int_equal(row.start, TEXT + offset);
		assert_int_equal(row.end, TEXT + offset + 1);
	}
	/* whose frame is not known */
	store(&t, NAMES + 20 + 8, 'x', 1);
	assert_int_equal(pclntab_init(t.bytes, SIZE, 0, bobbin_arch_amd64(), &error, &table), 0);
	pclntab_note_c_call(&table, TEXT + 64 + 20);
	assert_int_equal(pclntab_lookup(&table, bobbin_arch_amd64(), TEXT + 64 + 19, &error, &row),
			 0);
	assert_switched(row.rule);
}

static void roots_have_no_caller(void **state)
{
	struct table t;

	program(&t, true);
	assert_int_equal(rule_at(&t, GOEXIT, 0).ra.how, BOBBIN_HOW_UNDEFINED);
}

static void the_handler_of_signals_is_no_root(void **state)
{
	struct table t;

	program(&t, true);
	assert_measured(rule_at(&t, SIGTRAMP, 10), SP, 32, false);
}

static void the_signal_frame_is_found_from_all_of_the_trampoline(void **state)
{
	struct table t;

	program(&t, true);
	for (uint64_t offset = SIGRETURN * 32 - 1; offset < SIGRETURN * 32 + 32; offset++) {
		struct bobbin_row row;

		assert_int_equal(lookup(&t, offset, &row), 0);
		assert_int_equal(row.rule.flags, BOBBIN_RULE_SIGNAL);
	}
}

static void assert_refused(const struct table *t, uint64_t size, const struct bobbin_arch *arch)
{
	struct bobbin_error error = {0};
	struct pclntab table = {.count = 7};

	assert_int_equal(pclntab_init(t->bytes, size, 0, arch, &error, &table), -EBADMSG);
	assert_int_equal(error.reason, BOBBIN_REASON_GO_TABLE);
	assert_int_equal(table.count, 7);
}

static void other_versions_machines_and_sizes_are_refused(void **state)
{
	struct table t;

	program(&t, true);
	assert_refused(&t, 71, bobbin_arch_amd64());
	assert_refused(&t, FUNCTIONS + COUNT * 8 + 3, bobbin_arch_amd64());
	assert_refused(&t, SIZE, bobbin_arch_aarch64());
	store(&t, 8, 1ull << 61, 8);
	assert_refused(&t, SIZE, bobbin_arch_amd64());
	program(&t, true);
	store(&t, 64, SIZE + 1, 8);
	assert_refused(&t, SIZE, bobbin_arch_amd64());
	program(&t, true);
	store(&t, 0, 0xfffffffb, 4);
	assert_refused(&t, SIZE, bobbin_arch_amd64());
}

/* As Go 1.26 writes them: each function would seem to be at its offset. */
static void the_start_of_the_code_comes_from_elsewhere(void **state)
{
	struct bobbin_error error;
	struct pclntab table;
	struct table t;

	program(&t, true);
	assert_true(pclntab_says_text(t.bytes, SIZE));
	/* what the header says counts */
	assert_int_equal(pclntab_init(t.bytes, SIZE, 1, bobbin_arch_amd64(), &error, &table), 0);
	assert_int_equal(table.text_start, TEXT);
	store(&t, 24, 0, 8);
	assert_false(pclntab_says_text(t.bytes, SIZE));
	assert_refused(&t, SIZE, bobbin_arch_amd64());
	assert_int_equal(pclntab_init(t.bytes, SIZE, TEXT, bobbin_arch_amd64(), &error, &table), 0);
	assert_int_equal(table.text_start, TEXT);
}

static void functions_have_names(void **state)
{
	struct bobbin_error error;
	struct pclntab table = {0};
	uint64_t start = 0;
	struct table t;

	assert_null(pclntab_name(&table, TEXT, &start));
	program(&t, true);
	assert_int_equal(pclntab_init(t.bytes, SIZE, 0, bobbin_arch_amd64(), &error, &table), 0);
	assert_string_equal(pclntab_name(&table, TEXT + 131, &start), "runtime.mcall");
	assert_int_equal(start, TEXT + 128);
	assert_null(pclntab_name(&table, TEXT - 1, &start));
	/* the end of the table is no end of a name */
	table.names = SIZE - 4;
	memset(t.bytes + SIZE - 4, 'x', 4);
	assert_null(pclntab_name(&table, TEXT + 131, &start));
}

static void malformed_functions_are_refused_alone(void **state)
{
	struct bobbin_row row;
	struct table t;

	program(&t, true);
	store(&t, FUNCTIONS + 4, SIZE, 4); /* the first one's record */
	assert_int_equal(lookup(&t, 3, &row), -EBADMSG);
	assert_int_equal(lookup(&t, 35, &row), 0);
	program(&t, true);
	store(&t, VALUES + 2, 0, 1); /* a run without bytes */
	assert_int_equal(lookup(&t, 3, &row), -EBADMSG);
	program(&t, true);
	store(&t, VALUES + 3, 46 + 1, 1); /* a frame of less than nothing */
	assert_int_equal(lookup(&t, 10, &row), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_measured_from_the_stack_pointer),
		cmocka_unit_test(assembly_is_not_believed_to_save_the_frame_pointer),
		cmocka_unit_test(what_follows_a_function_is_in_none),
		cmocka_unit_test(a_switch_of_stacks_is_said_to_be_one),
		cmocka_unit_test(who_has_left_for_the_scheduler_has_no_caller),
		cmocka_unit_test(rows_say_what_lookups_say),
		cmocka_unit_test(functions_in_no_order_have_no_rows),
		cmocka_unit_test(a_frame_pointer_leads_across_a_switch),
		cmocka_unit_test(a_frame_pointer_that_was_pushed_does_so_too),
		cmocka_unit_test(before_the_caller_of_c_is_measured_from_its_frame),
		cmocka_unit_test(roots_have_no_caller),
		cmocka_unit_test(the_handler_of_signals_is_no_root),
		cmocka_unit_test(the_signal_frame_is_found_from_all_of_the_trampoline),
		cmocka_unit_test(other_versions_machines_and_sizes_are_refused),
		cmocka_unit_test(the_start_of_the_code_comes_from_elsewhere),
		cmocka_unit_test(functions_have_names),
		cmocka_unit_test(malformed_functions_are_refused_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
