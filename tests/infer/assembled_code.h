/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * assembled_code.h - rules of small functions that the assembler has made.  They are data of the test, and
 * are looked at where they are; nobody calls them.
 */
#ifndef BOBBIN_TESTS_INFER_ASSEMBLED_CODE_H
#define BOBBIN_TESTS_INFER_ASSEMBLED_CODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bobbin/arch.h>
#include <cmocka.h>

#include "infer/infer.h"
#include "infer/program_code.h"
#include "infer/x86_decode.h"

/* A function, and the first byte after it. */
#define CODE(name, text) \
	extern const uint8_t name[], name##_end[]; \
	__asm__(".pushsection .rodata\n\t.balign 16\n" #name ":\n" text "\n" #name \
		"_end:\n\t.popsection")

#define MOST_RULES 24

struct made {
	struct program program;
	struct infer_rows rows;
	uint64_t start, end;
};

static inline int setup(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->program.machine = &machine_amd64;
	*state = m;
	return 0;
}

static inline int teardown(void **state)
{
	struct made *m = *state;

	program_fini(&m->program);
	infer_rows_fini(&m->rows);
	free(m);
	return 0;
}

/* Without what was made. */
static inline struct made *begin_again(void **state)
{
	assert_int_equal(teardown(state) || setup(state), 0);
	return *state;
}

/* Bytes that are loaded from where they are. */
static inline void add_bytes(struct program *p, const uint8_t *start, const uint8_t *end, bool exec)
{
	const size_t size = (size_t)(end - start);
	uint8_t *copy = malloc(size);

	assert_non_null(copy);
	memcpy(copy, start, size);
	p->spans = reallocarray(p->spans, p->span_count + 1, sizeof(*p->spans));
	assert_non_null(p->spans);
	p->spans[p->span_count++] = (struct program_span){(uintptr_t)start, size, copy, exec};
	if (!exec)
		return;
	assert_int_equal(coverage_add(&p->code, (uintptr_t)start, (uintptr_t)end), 0);
	coverage_settle(&p->code);
}

static inline void infer_all(struct made *m)
{
	const struct infer_options options = {0};

	assert_int_equal(infer_rows(&m->program, &options, &m->rows), 0);
}

/* The rules of one function that is called, and ends where its code does. */
static inline void infer_function(struct made *m, const uint8_t *start, const uint8_t *end)
{
	m->start = (uintptr_t)start;
	m->end = (uintptr_t)end;
	add_bytes(&m->program, start, end, true);
	assert_int_equal(program_add_start(&m->program, m->start, START_SYMBOL), 0);
	infer_all(m);
}

static inline const struct infer_row *row_at(const struct made *m, uint64_t pc)
{
	for (size_t i = 0; i < m->rows.count; i++)
		if (m->rows.rows[i].start <= pc && pc < m->rows.rows[i].end)
			return &m->rows.rows[i];
	return NULL;
}

/* "sp+16 c-16": where the CFA and the caller's frame pointer are; "-": no rule. */
static inline void spell(const struct infer_row *row, char ret[BOBBIN_RULE_STR_MAX])
{
	char whole[BOBBIN_RULE_STR_MAX], *cfa, *fp;
	struct bobbin_rule rule;

	if (!row) {
		strcpy(ret, "-");
		return;
	}
	bobbin_rule_unpack(row->word, &rule);
	bobbin_rule_str(bobbin_arch_amd64(), &rule, whole);
	cfa = strstr(whole, "CFA=") + 4;
	fp = strstr(whole, "FP=") + 3;
	*strchr(cfa, ' ') = 0;
	snprintf(ret, BOBBIN_RULE_STR_MAX, "%s %s", cfa, fp);
}

/* The rules before each instruction, in the order of addresses. */
static inline void rules_are(const struct made *m, const char *const expected[MOST_RULES])
{
	struct insn_decoder *decoder = x86_decoder_open();
	struct insn insn = {0};
	char found[BOBBIN_RULE_STR_MAX];
	unsigned int i = 0;

	assert_non_null(decoder);
	for (uint64_t pc = m->start; pc < m->end; pc += insn.len, i++) {
		x86_decode(decoder, (const uint8_t *)(uintptr_t)pc, m->end - pc, pc, &insn);
		assert_true(i < MOST_RULES && expected[i]);
		spell(row_at(m, pc), found);
		if (strcmp(found, expected[i]))
			fail_msg("instruction %u: %s, not %s", i, found, expected[i]);
	}
	x86_decoder_close(decoder);
	assert_true(i == MOST_RULES || !expected[i]);
}

#define RULES(m, ...) rules_are(m, (const char *const[MOST_RULES]){__VA_ARGS__})

static inline void all_are_verified(const struct made *m, bool verified)
{
	assert_true(m->rows.count > 0);
	for (size_t i = 0; i < m->rows.count; i++)
		assert_int_equal(m->rows.rows[i].verified, verified);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
